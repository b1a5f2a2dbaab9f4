//! Table 1: times and rates of A·A, and the paper's numbers beside those of its matrices and
//! models.
use super::Timed;
use super::matrices::MODELS;
use crate::paper::Setting;
use crate::paper::report::{Report, counted, mean, shown};
use crate::regret::methods::Contest;
use blockmul_cli::matrix_size::Size;

/// A row of the paper's Table 1.
pub struct Printed {
    pub matrix: &'static str,
    pub nnz_per_row: f64,
    flop: f64,
    /// The paper's speed on the K40, or `None` if the product did not fit the memory.
    on_k40: Option<OnK40>,
}

/// The paper's ESC on a Tesla K40.
struct OnK40 {
    mflop_s: f64,
    /// The time of CSparse on one core, divided by that of ESC.
    csparse: f64,
}

const fn k40(mflop_s: f64, csparse: f64) -> Option<OnK40> {
    Some(OnK40 { mflop_s, csparse })
}

pub const PRINTED: [Printed; 9] = [
    Printed { matrix: "roadNet-CA", nnz_per_row: 2.807, flop: 22.138e6, on_k40: k40(223.662, 7.823) },
    Printed { matrix: "web-Google", nnz_per_row: 5.571, flop: 91.665e6, on_k40: k40(368.356, 21.347) },
    Printed { matrix: "email-Enron", nnz_per_row: 10.020, flop: 72.510e6, on_k40: k40(418.961, 6.645) },
    Printed { matrix: "amazon0312", nnz_per_row: 7.987, flop: 42.368e6, on_k40: k40(344.389, 13.488) },
    Printed { matrix: "ca-CondMat", nnz_per_row: 8.081, flop: 5.899e6, on_k40: k40(394.591, 9.347) },
    Printed { matrix: "p2p-Gnutella31", nnz_per_row: 2.363, flop: 539.035e3, on_k40: k40(190.560, 11.304) },
    Printed { matrix: "wiki-Vote", nnz_per_row: 12.497, flop: 7.254e6, on_k40: k40(482.961, 5.482) },
    Printed { matrix: "cit-Patents", nnz_per_row: 4.376, flop: 95.457e6, on_k40: k40(214.127, 30.089) },
    Printed { matrix: "as-Skitter", nnz_per_row: 13.081, flop: 53.771e9, on_k40: None },
];

/// The numbers in a row of the table whose means are computed, such as rates.
type Rates = Vec<Option<f64>>;

/// Writes Table 1 and, if one of the paper's matrices or of their models was measured, the paper's
/// numbers beside them.
pub fn table(setting: &Setting<'_>, report: &mut Report, squares: &[Timed], own_blocks: &[Contest]) {
    let libraries = setting.peers.libraries();
    let mut header = vec!["matrix", "nnz/row", "FLOP", "ESC ms", "auto ms", "auto, own blocks ms", "serial ms"];
    let of_peers: Vec<String> = libraries.iter().map(|name| format!("{name} ms")).collect();
    let ratios: Vec<String> = libraries.iter().map(|name| format!("× {name}")).collect();
    header.extend(of_peers.iter().map(String::as_str));
    header.extend(["ESC MFLOP/s", "auto MFLOP/s", "× ESC", "× serial"]);
    header.extend(ratios.iter().map(String::as_str));
    let (mut rows, mut rates) = (Vec::new(), Vec::new());
    for Timed { serial_ms, contest: of } in squares {
        let (auto, esc) = (of.auto_ms(), of.ms(setting.esc()));
        let blocks = own_blocks.iter().find(|blocks| blocks.matrix == of.matrix).and_then(Contest::auto_ms);
        let fastest = blocks.into_iter().chain(auto).reduce(f64::min);
        let peers = libraries.iter().map(|library| setting.peers.ms(library, &of.matrix));
        let mut row = vec![of.matrix.clone(), shown(mean_row(&of.a), 3), counted(flop(of))];
        row.extend([esc, auto, blocks, *serial_ms].into_iter().chain(peers.clone()).map(|ms| shown(ms, 3)));
        let mut of_row = vec![mflop_s(of, esc), mflop_s(of, auto), over(esc, auto), over(*serial_ms, fastest)];
        of_row.extend(peers.map(|ms| over(ms, fastest)));
        rows.push(row);
        rates.push(of_row);
    }
    report.say("## Table 1");
    report.say(
        "C = A·A, A·Aᵀ if A is not square, as scalars. FLOP counts multiplications and additions, 2 · products - \
         nnz(C). *Serial* is Gustavson's algorithm on one thread of the host, in place of CSparse: the library's \
         reference, by columns, with C in canonical order in memory of its own. × ESC is ESC over auto. The other × \
         are how many times longer the other takes than the faster of auto and auto in the file's own blocks. Means \
         are arithmetic, as the paper's.",
    );
    report.table(&header, with_means(rows, &rates));
    beside_the_paper(setting, report, squares);
    report.libraries(squares.iter().flat_map(|of| setting.peers.of(&of.contest.matrix)));
}

/// Writes the matrices of the paper's Table 1, or the models in their place, beside the paper's
/// numbers.
fn beside_the_paper(setting: &Setting<'_>, report: &mut Report, squares: &[Timed]) {
    let (mut rows, mut rates) = (Vec::new(), Vec::new());
    for Timed { serial_ms, contest: of } in squares {
        let Some(model) = MODELS.iter().find(|model| model.is_of(&of.matrix)) else { continue };
        let Some(printed) = PRINTED.iter().find(|printed| printed.matrix == model.name) else { continue };
        let what = if of.matrix == model.name { "a file" } else { model.what };
        let numbers = [shown(mean_row(&of.a), 3), shown(Some(printed.nnz_per_row), 3)];
        let flops = [flop(of), printed.flop].map(counted);
        rows.push([of.matrix.clone(), what.into()].into_iter().chain(numbers).chain(flops).collect());
        let (auto, esc) = (of.auto_ms(), of.ms(setting.esc()));
        let of_paper = |number: fn(&OnK40) -> f64| printed.on_k40.as_ref().map(number);
        let mflop_s = [mflop_s(of, esc), mflop_s(of, auto), of_paper(|k40| k40.mflop_s)];
        let serial = [over(*serial_ms, esc), over(*serial_ms, auto), of_paper(|k40| k40.csparse)];
        rates.push([mflop_s, serial].concat());
    }
    if rows.is_empty() {
        return;
    }
    report.say(
        "The paper's matrices, or models in their place, beside its Table 1. Its rates are of a Tesla K40, and its \
         serial algorithm is CSparse.",
    );
    let header = ["matrix", "what", "nnz/row", "nnz/row in the paper", "FLOP", "FLOP in the paper"];
    let of_rates = ["ESC MFLOP/s", "auto MFLOP/s", "MFLOP/s in the paper"];
    let of_serial = ["serial / ESC", "serial / auto", "serial / ESC in the paper"];
    report.table(&[&header[..], &of_rates, &of_serial].concat(), with_means(rows, &rates));
}

/// The rows with their rates, and a last row with the means of the rates.
fn with_means(rows: Vec<Vec<String>>, rates: &[Rates]) -> Vec<Vec<String>> {
    let (names, columns) = (rows.first().map_or(0, Vec::len), rates.first().map_or(0, Vec::len));
    let means: Rates = (0..columns).map(|at| mean(rates.iter().filter_map(|of| of[at]))).collect();
    let mean_row = std::iter::once("mean".to_string()).chain(vec![String::new(); names.saturating_sub(1)]).collect();
    let all = rows.into_iter().zip(rates).chain((names > 0).then_some((mean_row, &means)));
    all.map(|(row, rates)| row.into_iter().chain(rates.iter().map(|rate| shown(*rate, 2))).collect()).collect()
}

fn over(ms: Option<f64>, ours: Option<f64>) -> Option<f64> {
    ms.zip(ours).map(|(ms, ours)| ms / ours)
}

fn mflop_s(of: &Contest, ms: Option<f64>) -> Option<f64> {
    ms.map(|ms| flop(of) / ms / 1e3)
}

/// Multiplications and additions of scalars, counted as in the paper.
pub fn flop(contest: &Contest) -> f64 {
    (2 * contest.products - contest.c_nnz.min(2 * contest.products)) as f64
}

/// Mean number of entries (blocks) in a row of blocks.
fn mean_row(of: &Size) -> Option<f64> {
    let rows = of.rows() / of.block.map_or(1, |[rows, _]| rows);
    (rows > 0).then(|| of.nnz() as f64 / rows as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The conclusion of the paper has these means: 329.7 MFLOP/s, 13.19 times CSparse.
    #[test]
    fn means_are_those_of_the_paper() {
        let rates =
            |of: &Printed| vec![of.on_k40.as_ref().map(|k40| k40.mflop_s), of.on_k40.as_ref().map(|k40| k40.csparse)];
        let rates: Vec<Rates> = PRINTED.iter().map(rates).collect();
        let names = PRINTED.iter().map(|of| vec![of.matrix.to_string(), String::new()]).collect();
        let rows = with_means(names, &rates);
        assert_eq!(rows.len(), 10);
        assert_eq!(rows[0], ["roadNet-CA", "", "223.66", "7.82"]);
        assert_eq!(rows[9], ["mean", "", "329.70", "13.19"]);
        assert!(with_means(Vec::new(), &[]).is_empty());
    }
}
