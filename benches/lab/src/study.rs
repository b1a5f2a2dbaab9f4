//! The common part of all studies: their options, the device, the number of rounds, and the turns.
use blockmul::{Csc, Device, Element, Result, device::DeviceKind, element::ElementType, extra::host::Progress};
use blockmul_cli::bench::{
    matrices::{Input, Padded, Source},
    measure::Patience,
    record::median,
};
use blockmul_cli::failure::Failure;
use blockmul_cli::input::Reading;
use blockmul_cli::messages::{Messages, Tone, Unit, tell};
use blockmul_cli::target;
use std::num::NonZero;
use std::time::Instant;

/// The options of studies.
#[derive(clap::Args)]
pub struct StudyArgs {
    /// A family with its sizes, as in uniform:20000x8, or a file [default: what the study
    /// generates].
    #[arg(value_name = "INPUT", value_parser = Input::parse)]
    pub inputs: Vec<Input>,
    /// auto (a GPU, else a CPU), gpu, cpu, an index or part of a name from `blockmul devices`
    /// [env: BLOCKMUL_DEVICE] [default: auto].
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
    /// Maximum number of products of a generated matrix, or of elements for formats of A·x
    /// [default: 1 million on CPUs; on other devices 100 million, 10 million elements].
    #[arg(long, value_name = "N", value_parser = products)]
    max_products: Option<NonZero<u64>>,
    #[command(flatten)]
    patience: Patience,
    #[command(flatten)]
    reading: Reading,
    /// Print neither messages nor the table.
    #[arg(short, long)]
    pub quiet: bool,
}

/// Parses a number of products, such as 1000000 or 1e6.
fn products(text: &str) -> std::result::Result<NonZero<u64>, String> {
    let number = text.parse::<f64>().ok().filter(|number| (1.0..=1e12).contains(number));
    number.and_then(|number| NonZero::new(number as u64)).ok_or_else(|| "a number from 1 to 1e12 is wanted".into())
}

/// The device and the settings of a study.
pub struct Lab {
    pub device: Device,
    pub patience: Patience,
    pub messages: Messages,
    reading: Reading,
    max_products: Option<NonZero<u64>>,
}

impl StudyArgs {
    /// Opens the device for elements of this type.
    pub fn lab(&self, element: ElementType) -> Result<Lab> {
        Ok(Lab {
            device: target::select_for(element, self.device.as_deref())?,
            patience: self.patience,
            messages: Messages::new(self.quiet),
            reading: self.reading,
            max_products: self.max_products,
        })
    }
}

impl Lab {
    /// Says which device measures.
    pub fn begin(&self) {
        let info = self.device.info();
        self.messages.show_compiling(&self.device);
        self.messages.say(&format!("device: {} ({})", info.name, info.platform));
    }

    /// Maximum number of products of entries, for a generated matrix.
    pub fn most(&self) -> u64 {
        self.most_or([1_000_000, 100_000_000])
    }

    /// Maximum number of elements of a generated matrix that is multiplied by vectors.
    pub fn most_elements(&self) -> u64 {
        self.most_or([1_000_000, 10_000_000])
    }

    fn most_or(&self, [of_cpu, of_other]: [u64; 2]) -> u64 {
        let default = if self.device.info().kind == DeviceKind::Cpu { of_cpu } else { of_other };
        self.max_products.map_or(default, NonZero::get)
    }

    /// Reads an input for products in the usual algebra of plus and times.
    pub fn open(&self, input: &Input) -> std::result::Result<Source, Failure> {
        Source::open(input, None, Padded::Kept, &self.reading, &self.messages)
    }

    /// Reads an input in its own blocks and returns it as scalars, with its transpose if it is not
    /// square.
    pub fn open_scalars<T: Element>(&self, input: &Input) -> std::result::Result<(Csc<T>, Option<Csc<T>>), Failure> {
        let source = self.open(input)?;
        let a = source.matrix::<T>(source.default_block())?.to_scalars();
        let b = (a.nrows() != a.ncols()).then(|| a.try_transpose()).transpose()?;
        Ok((a, b))
    }

    pub fn progress(&self, what: impl Into<String>) -> Progress {
        self.messages.measured(what, Unit::Runs)
    }

    /// Reports that one of several inputs could not be measured.
    pub fn note(&self, what: &str, failure: &Failure) {
        self.messages.pause(|| tell(Tone::Error, &failure.of(what)));
    }

    /// Runs `make`. Returns the result of `make`, and the milliseconds until the device has
    /// finished.
    pub fn timed<R>(&self, make: impl FnOnce() -> Result<R>) -> Result<(R, f64)> {
        self.device.finish()?;
        let clock = Instant::now();
        let made = make()?;
        self.device.finish()?;
        Ok((made, clock.elapsed().as_secs_f64() * 1e3))
    }

    /// The mean milliseconds of `times` executions that are enqueued together, so that the time of
    /// a launch does not count.
    pub fn together(&self, times: u32, run: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
        let ((), ms) = self.timed(|| (0..times).try_for_each(|_| run()))?;
        Ok(ms / f64::from(times))
    }

    /// Times the entrants with the given indices. Each entrant has one turn in a round, so that a
    /// change of the machine's speed affects all of them.
    pub fn turns<T>(
        &self,
        progress: &Progress,
        entrants: &[usize],
        mut run: impl FnMut(usize) -> Result<T>,
    ) -> Result<Vec<(usize, Vec<T>)>> {
        let mut times: Vec<(usize, Vec<T>)> = entrants.iter().map(|&at| (at, Vec::new())).collect();
        self.patience.rounds(progress, &mut || {
            for (at, times) in &mut times {
                times.push(run(*at)?);
            }
            // Each round has the opposite order of the round before, so that no entrant always
            // follows the same one.
            times.reverse();
            Ok(())
        })?;
        Ok(times)
    }
}

/// Returns the outcome of a study in which `wrong` results were wrong. `failed` is the exit status
/// of the first failure.
pub fn end(wrong: usize, failed: Option<u8>) -> std::result::Result<(), Failure> {
    match (wrong, failed) {
        (0, None) => Ok(()),
        (0, Some(status)) => Err(Failure::Reported(status)),
        (wrong, _) => Err(Failure::Verification(format!(
            "{wrong} results are not the reference's bit for bit; they were not timed"
        ))),
    }
}

/// Runs shorter than this many milliseconds take longer if another product ran before them.
const SHORT_MS: f64 = 50.0;
/// A turn repeats a product for at least this many milliseconds, but at most `MOST_RUNS` times. A
/// single run of 0.1 ms may be measured 50 % too long, if a thread sleeps meanwhile. Some machines
/// stay slow for a while, so many short turns are more reliable than a few long ones.
const TURN_MS: f64 = 2.0;
const MOST_RUNS: usize = 50;

/// The time of a product that takes turns with others. If the product is short, the first run of
/// its turn is left out, because the caches then hold another product's data. The result is the
/// median of the further runs of the turn.
pub fn in_turn(mut run: impl FnMut() -> Result<f64>) -> Result<f64> {
    let first = run()?;
    if first >= SHORT_MS {
        return Ok(first);
    }
    let mut times = vec![run()?];
    while times.len() < MOST_RUNS && times.iter().sum::<f64>() < TURN_MS {
        times.push(run()?);
    }
    Ok(median(&times).expect("a run"))
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

    #[test]
    fn of_short_products_in_turn_the_first_run_does_not_count() {
        let of = |times: &[f64]| {
            let mut times = times.iter();
            let ms = in_turn(|| Ok(*times.next().unwrap())).unwrap();
            (ms, times.len())
        };
        assert_eq!(of(&[80.0, 70.0]), (80.0, 1), "one that is long runs once");
        assert_eq!(of(&[40.0, 30.0, 20.0]), (30.0, 1));
        assert_eq!(of(&[4.0, 0.5, 1.25, 0.75, 9.0]), (0.75, 1), "the median of 2 ms");
        assert_eq!(of(&[0.01; 60]), (0.01, 9), "but of no more than 50 runs");
    }
}
