//! Table 3 and figures 6, 7, 15: how often each method or library is the fastest, and how much
//! slower the others are.
use super::super::Setting;
use super::super::report::{Report, geometric_mean, mean, shown};
use super::{Subject, ablations, gflops};
use crate::chart::{Plot, Series};
use crate::regret::methods::Contest;
use blockmul::Method;
use blockmul_cli::failure::Failure;
use serde::Serialize;

/// The paper compares matrices with at least this many products. For smaller products, launches
/// take most of the time.
const LEAST: u64 = 15_000;
/// A method is counted as `far` if it takes this many times as long as the fastest.
const FAR: f64 = 5.0;
/// The number of neighbouring points whose mean is one point of a trend.
const SMOOTHED: usize = 5;

/// A column of table 3.
#[derive(Serialize)]
struct Rank {
    name: String,
    best: usize,
    best_large: usize,
    invalid: usize,
    /// Mean milliseconds over the products that all of these computed: `auto`, and every library
    /// and method that has no invalid product.
    mean_ms: Option<f64>,
    /// Mean ratio of the memory to that of `auto`.
    memory: Option<f64>,
    behind: Option<f64>,
    behind_large: Option<f64>,
    far: usize,
    far_large: usize,
}

/// The names of the methods, `auto` first, and of the libraries that computed at least one product.
pub fn columns<'s>(setting: &Setting<'_>, subjects: impl Iterator<Item = &'s Subject> + Clone) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut add = |name: &str| {
        if !names.iter().any(|known| known == name) {
            names.push(name.into());
        }
    };
    let entrants = |of: &'s Subject| of.contest.entrants.iter().filter(|entrant| !ablations::is_one(&entrant.name));
    subjects.clone().flat_map(entrants).for_each(|entrant| add(&entrant.name));
    for library in setting.peers.libraries() {
        if subjects.clone().any(|of| setting.peers.fastest(library, &of.contest.matrix).is_some()) {
            add(library);
        }
    }
    names
}

/// The milliseconds of a method or a library.
pub fn ms(setting: &Setting<'_>, contest: &Contest, name: &str) -> Option<f64> {
    contest.named(name).map_or_else(|| setting.peers.ms(name, &contest.matrix), |entrant| entrant.ms)
}

/// The memory of a method or a library, in bytes.
pub fn bytes(setting: &Setting<'_>, contest: &Contest, name: &str) -> Option<f64> {
    let of_peer = || setting.peers.fastest(name, &contest.matrix).and_then(|peer| peer.peak_device_bytes);
    contest.named(name).map(|entrant| entrant.peak_device_bytes).or_else(of_peer).map(|bytes| bytes as f64)
}

/// Table 3, and figures 6, 7 and 15.
pub fn tables(setting: &Setting<'_>, report: &mut Report, subjects: &[Subject]) -> Result<(), Failure> {
    let names = columns(setting, subjects.iter());
    let time = |of: &Subject, name: &str| ms(setting, &of.contest, name);
    let fastest = |of: &Subject| names.iter().filter_map(|name| time(of, name)).reduce(f64::min);
    let complete: Vec<&String> =
        names.iter().filter(|name| subjects.iter().all(|of| time(of, name).is_some())).collect();
    let rank = |name: &String| {
        let computed = || subjects.iter().filter_map(|of| Some((of, time(of, name)?, fastest(of)?)));
        let large = |of: &Subject| of.contest.products > LEAST;
        let count = |wanted: &dyn Fn(&Subject, f64, f64) -> bool| {
            computed().filter(|&(of, ms, best)| wanted(of, ms, best)).count()
        };
        let behind = |wanted: &dyn Fn(&Subject) -> bool| {
            mean(computed().filter(|(of, ..)| wanted(of)).map(|(_, ms, best)| ms / best))
        };
        let memory = |of: &Subject| {
            let auto = bytes(setting, &of.contest, Method::Auto.name())?;
            bytes(setting, &of.contest, name).map(|bytes| bytes / auto)
        };
        Rank {
            name: name.clone(),
            best: count(&|_, ms, best| ms == best),
            best_large: count(&|of, ms, best| ms == best && large(of)),
            invalid: subjects.len() - computed().count(),
            mean_ms: complete.contains(&name).then(|| mean(computed().map(|(_, ms, _)| ms))).flatten(),
            memory: mean(computed().filter_map(|(of, ..)| memory(of))),
            behind: behind(&|_| true),
            behind_large: behind(&large),
            far: count(&|_, ms, best| ms > FAR * best),
            far_large: count(&|of, ms, best| ms > FAR * best && large(of)),
        }
    };
    let ranks: Vec<Rank> = names.iter().map(rank).collect();
    report.say("## Table 3: all products");
    report.say(&format!(
        "{} products, {} of them with more than {LEAST} (marked *). #best: products of which it is the fastest of the \
         columns; #inv.: products that it did not compute as a whole, or of which `--peers` has no right result; t: mean \
         time of those that compute all products; m/m(auto): device memory over that of auto; t/t_b: mean of the time \
         over the fastest; #5×: products that take more than five times the fastest time.",
        subjects.len(),
        subjects.iter().filter(|of| of.contest.products > LEAST).count()
    ));
    let row = |of: &Rank| {
        vec![
            of.name.clone(),
            of.best.to_string(),
            of.best_large.to_string(),
            of.invalid.to_string(),
            shown(of.mean_ms, 3),
            shown(of.memory, 2),
            shown(of.behind, 2),
            shown(of.behind_large, 2),
            of.far.to_string(),
            of.far_large.to_string(),
        ]
    };
    let header = ["", "#best", "#best*", "#inv.", "t ms", "m/m(auto)", "t/t_b", "t/t_b*", "#5×", "#5×*"];
    report.table(&header, ranks.iter().map(row));
    report.keep("table_3", &ranks);

    let points = |name: &String| -> Vec<[f64; 2]> {
        let mut points: Vec<[f64; 2]> = subjects
            .iter()
            .filter_map(|of| Some([of.contest.products as f64, gflops(&of.contest, time(of, name))?]))
            .collect();
        points.sort_by(|one, other| one[0].total_cmp(&other[0]));
        points
    };
    let axes = [("products", true), ("GFLOPS", true)];
    let trends = names.iter().map(|name| Series::line(name, smoothed(&points(name)))).collect();
    report.say("## Figure 6: trends");
    let text = format!("GFLOPS by products; a point is the geometric mean of {SMOOTHED} neighbours.");
    report.figure("figure-6.png", &text, Plot::new("GFLOPS by products, smoothed", axes, trends).encode())?;

    let curve = |name: &String| {
        let large = subjects.iter().filter(|of| of.contest.products > LEAST);
        Series::ascending(name, large.filter_map(|of| Some(time(of, name)? / fastest(of)?)).collect())
    };
    let axes_of_curve = [("products, by ascending slowdown", false), ("t / t of the fastest", true)];
    report.say("## Figure 7: slowdown");
    let plot = Plot::new("slowdown to the fastest", axes_of_curve, names.iter().map(curve).collect());
    report.figure("figure-7.png", "Products with more than 15,000 products of entries.", plot.encode())?;

    report.say("## Figure 15: every product");
    let dots = names.iter().map(|name| Series::dots(name, points(name))).collect();
    report.figure("figure-15.png", "GFLOPS of every product.", Plot::new("GFLOPS by products", axes, dots).encode())
}

/// Geometric means of neighbouring points.
fn smoothed(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let mean = |some: &[[f64; 2]], at: usize| geometric_mean(some.iter().map(|point| point[at])).expect("neighbours");
    points.windows(SMOOTHED.min(points.len().max(1))).map(|some| [mean(some, 0), mean(some, 1)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trend_is_the_geometric_mean_of_neighbours() {
        let points: Vec<[f64; 2]> = (0..6).map(|at| [10f64.powi(at), 100.0]).collect();
        let trend = smoothed(&points);
        assert_eq!(trend.len(), 2);
        assert!((trend[0][0] / 100.0 - 1.0).abs() < 1e-12 && (trend[1][1] / 100.0 - 1.0).abs() < 1e-12);
        assert_eq!((smoothed(&points[..1]).len(), smoothed(&[]).len()), (1, 0));
    }
}
