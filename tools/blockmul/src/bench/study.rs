//! Studies: measurements of a question, instead of a list of products.
use super::paper::{Paper, Square};
use crate::failure::Failure;
use blockmul::{Device, device::DeviceKind};
use std::num::NonZero;
use std::path::PathBuf;

/// The options of studies.
#[derive(clap::Args)]
pub struct StudyArgs {
    /// Time the choice of methods beside every method that can compute the whole product, on
    /// products of scalars: files, or else generated families in growing sizes. Also each class of
    /// columns alone, parameters that step across the thresholds of the choice, and a
    /// cross-validation of its costs. With --operation apply the choice of formats beside every
    /// format, for 1, 10 and 1000 uses.
    #[arg(long, conflicts_with_all = ["iterations", "list", "elements", "method", "by_rows", "stages", "columns", "layout", "sharing", "in_place", "format", "semiring"])]
    pub regret: bool,
    /// Repeat the measurements of a paper, on files or on generated matrices that stand for the
    /// paper's, and write a report with figures into a folder.
    #[arg(long, value_name = "PAPER", requires = "output", conflicts_with_all = ["regret", "iterations", "list", "operation", "block", "elements", "method", "stages", "together", "json", "columns", "layout", "sharing", "in_place", "format", "semiring"])]
    pub paper: Option<Paper>,
    /// The folder of --paper, which is made: report.md, report.json, pictures.
    #[arg(short, long, value_name = "FOLDER")]
    pub output: Option<PathBuf>,
    /// With inputs, measure what stands for the matrices of --paper too; with --squares what stands
    /// for those of shi.
    #[arg(long)]
    pub models: bool,
    /// Measure nothing, but write what stands for the matrices of --paper into the folder, as
    /// NAME.bsr, for the programs of benches/peers.
    #[arg(long, conflicts_with_all = ["inputs", "models", "peers", "squares"])]
    pub write_models: bool,
    /// Times of other libraries beside those of --paper: files that benches/peers/run-cpu and
    /// run-gpu keep in FOLDER/records. They are matched by the names of matrices.
    #[arg(long, value_name = "FILE.json,...", value_delimiter = ',', num_args = 1..)]
    pub peers: Vec<PathBuf>,
    /// Most products of a matrix that a study generates, or for --operation apply and --paper
    /// evtushenko most elements [default: 1 million on CPUs; on other devices 100 million, 10
    /// million elements].
    #[arg(long, value_name = "N", value_parser = products)]
    max_products: Option<NonZero<u64>>,
    /// With --regret, step only those parameters across their thresholds whose names have one of
    /// these words in them, such as "at a hub"; with inputs too, which have no steps otherwise.
    #[arg(long, value_name = "WORDS,...", value_delimiter = ',')]
    pub sweeps: Vec<String>,
    /// The random squares of --paper shi, in place of its own squares and models: N rows, of whose
    /// elements the part S are zeros.
    #[arg(long, value_name = "N:S,...", value_delimiter = ',', num_args = 1..)]
    pub squares: Vec<Square>,
}

/// Parses a number of products, such as 1000000 or 1e6.
fn products(text: &str) -> Result<NonZero<u64>, String> {
    let number = text.parse::<f64>().ok().filter(|number| (1.0..=1e12).contains(number));
    number.and_then(|number| NonZero::new(number as u64)).ok_or_else(|| "a number from 1 to 1e12 is wanted".into())
}

impl StudyArgs {
    /// Refuses options of studies without a study.
    pub fn check(&self) -> Result<(), Failure> {
        let only = |given: bool, option: &str, studies: &str| match given {
            true => Err(Failure::Usage(format!("{option} is for {studies}"))),
            false => Ok(()),
        };
        let no_paper = self.paper.is_none();
        only(no_paper && !self.regret && self.max_products.is_some(), "--max-products", "--regret and --paper")?;
        only(!self.regret && !self.sweeps.is_empty(), "--sweeps", "--regret")?;
        only(self.paper != Some(Paper::Shi) && !self.squares.is_empty(), "--squares", "--paper shi")?;
        only(no_paper && self.models, "--models", "--paper")?;
        only(no_paper && self.write_models, "--write-models", "--paper")?;
        only(no_paper && self.output.is_some(), "--output", "--paper")?;
        only(no_paper && !self.peers.is_empty(), "--peers", "--paper")
    }

    /// Most products of a generated matrix.
    pub fn most(&self, device: &Device) -> u64 {
        self.most_or(device, [1_000_000, 100_000_000])
    }

    /// Most elements of a generated matrix that is multiplied with vectors.
    pub fn most_elements(&self, device: &Device) -> u64 {
        self.most_or(device, [1_000_000, 10_000_000])
    }

    fn most_or(&self, device: &Device, [of_cpu, of_other]: [u64; 2]) -> u64 {
        let default = if device.info().kind == DeviceKind::Cpu { of_cpu } else { of_other };
        self.max_products.map_or(default, NonZero::get)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_numbers_with_or_without_an_exponent() {
        assert_eq!(
            (products("1e6"), products("250")),
            (Ok(NonZero::new(1_000_000).unwrap()), Ok(NonZero::new(250).unwrap()))
        );
        for wrong in ["0", "-3", "1e13", "many", "nan"] {
            assert!(products(wrong).unwrap_err().contains("from 1"), "{wrong}");
        }
    }
}
