//! A·x of one matrix by the format that `auto` chooses and by every format. The formats take turns,
//! so that a change of the machine's speed affects all of them.
use super::choice::Choice;
use super::prepared::{Asked, Prepared};
use crate::paper::of_type;
use crate::regret::left_out::{self, LeftOut};
use crate::study::{Lab, in_turn};
use blockmul::{
    BlockShape, Cbc, Device, DeviceMatrix, DeviceVector, Error, Matrix, Result,
    device::DeviceKind,
    element::{Field, Order},
    matrix::Pattern,
    plan::Format,
    reference,
};
use blockmul_cli::bench::measure::same_bits;
use blockmul_cli::matrix_size::Size;
use serde::Serialize;

/// Numbers of executions of A·x with the same values. The choice of `auto` is judged for each of
/// these numbers. The judged time includes the conversion.
pub const USES: [u64; 3] = [1, 10, 1000];

/// Maximum number of executions that are enqueued together, after the first one, unless an option
/// gives their number.
const TOGETHER: u32 = 10;

/// Executions that are enqueued together take about this many milliseconds, if `TOGETHER` does not
/// limit them.
const TOGETHER_MS: f64 = 20.0;

/// A format that takes this many times as long as the fastest is not timed.
const HOPELESS: f64 = 20.0;

/// Before the rounds, the time of a format is the shortest of this many executions, because the
/// machine may delay one of them.
const JUDGED: u32 = 3;

/// The form in which a matrix is stored on the device.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stored {
    Rows,
    Columns,
    Triangle,
}

/// The array from which an execution reads A's values.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Values {
    /// The values are read from A's own arrays.
    InPlace,
    /// The values are copied in the order of the format when the plan is made.
    Packed,
}

/// The times of one matrix.
#[derive(Serialize)]
pub struct Contest {
    pub matrix: String,
    pub family: String,
    pub stored: Stored,
    pub values: Values,
    pub a: Size,
    pub longest_row: usize,
    pub entrants: Vec<Entrant>,
    /// Formats that do not support the matrix or are far too slow, and why.
    #[serde(serialize_with = "left_out::formats")]
    pub left_out: Vec<LeftOut>,
    pub choices: Vec<Choice>,
}

/// A format, or the choice of `auto` for a number of uses, and its times.
#[derive(Serialize)]
pub struct Entrant {
    /// Whether `auto` chose the format.
    pub auto: bool,
    pub format: Format,
    /// Whether y has the reference's bits. An entrant with a wrong y has no times.
    pub verified: bool,
    /// Milliseconds in each round of the conversion and the first execution.
    pub first_ms: Vec<f64>,
    /// Milliseconds in each round of a further execution.
    pub next_ms: Vec<f64>,
    #[serde(skip)]
    asked: Asked,
    /// Milliseconds of an execution before the rounds: the least of several.
    #[serde(skip)]
    before_ms: f64,
}

/// The operands on the device, and the expected results.
struct Operands<'a, M: Matrix> {
    lab: &'a Lab,
    a: DeviceMatrix<M>,
    x: DeviceVector<M::Element>,
    y: DeviceVector<M::Element>,
    together: u32,
    /// The reference's y for each order of sums that was needed so far.
    wanted: &'a mut Wanted<M::Element>,
}

/// The reference's y of a matrix, for several orders of sums.
pub type Wanted<T> = Vec<(Order, Vec<T>)>;

/// The subject of a contest: the whole matrix, and the stored matrix, which may be one triangle.
pub struct Subject<'a, T: Field, M: Matrix<Element = T>> {
    pub matrix: &'a str,
    pub family: &'a str,
    pub whole: &'a Cbc<T>,
    pub a: &'a M,
    pub stored: Stored,
    pub values: Values,
}

impl Contest {
    /// Times the choices, and every format that a choice may take. The reference results are stored
    /// in `wanted`, so that the next contest of the same matrix does not compute them again.
    pub fn of<T: Field, M: Matrix<Element = T>>(
        lab: &Lab,
        together: Option<u32>,
        subject: &Subject<'_, T, M>,
        wanted: &mut Wanted<T>,
    ) -> Result<Self> {
        let &Subject { matrix, family, whole, a, stored, values } = subject;
        let (device, x) = (&lab.device, of_type::<T>(whole.scalar_cols()));
        let mut operands = Operands {
            lab,
            a: device.upload(a)?,
            x: device.upload_vector(&x)?,
            y: device.upload_vector(&vec![T::from_f64(0.0); whole.scalar_rows()])?,
            together: together.unwrap_or(TOGETHER),
            wanted,
        };
        let what = format!("{matrix} by {} on {}", stored.name(), device.info().name);
        lab.messages.step(format!("{what}: compiling and verifying"));
        let (mut entrants, mut left_out, mut choices) = (Vec::<Entrant>::new(), Vec::new(), Vec::new());
        let (packed, symmetric) = (values == Values::Packed, stored == Stored::Triangle);
        let asked = |format, uses, any_order| Asked { format, uses, any_order, packed, symmetric };
        let blocks = whole.shape() != BlockShape::SCALAR;
        for &any_order in if packed { &[false, true][..] } else { &[false] } {
            for uses in USES {
                let asked = asked(Format::Auto, uses, any_order);
                let prepared = Prepared::new(&operands.a, asked)?;
                let format = prepared.format();
                choices.push((uses, any_order, format));
                if !entrants.iter().any(|entrant| entrant.format == format) {
                    entrants.push(operands.entrant(asked, &prepared, whole, &x)?);
                }
            }
        }
        let of_shape = Format::ALL.iter().filter(|format| !blocks || format.has_blocks());
        for &format in of_shape.filter(|format| packed || format.order() == Order::Ascending) {
            let asked = asked(format, 1, false);
            match tried(format, device, || Prepared::new(&operands.a, asked))? {
                Ok(prepared) => entrants.push(operands.entrant(asked, &prepared, whole, &x)?),
                Err(reason) => left_out.push(reason),
            }
        }
        left_out.extend(without_hopeless(&mut entrants));
        let right: Vec<usize> = (0..entrants.len()).filter(|&at| entrants[at].verified).collect();
        for (at, times) in lab.turns(&lab.progress(what), &right, |at| operands.turn(entrants[at].asked))? {
            (entrants[at].first_ms, entrants[at].next_ms) = times.into_iter().unzip();
        }
        let choice = |(uses, any_order, format)| Choice::of(uses, any_order, format, &entrants);
        let choices = choices.into_iter().filter_map(choice).collect();
        Ok(Self {
            matrix: matrix.into(),
            family: family.into(),
            stored,
            values,
            a: Size::of(whole),
            longest_row: longest_column(&whole.pattern().transpose().0),
            entrants,
            left_out,
            choices,
        })
    }

    /// Number of results that differ from the reference.
    pub fn wrong(&self) -> usize {
        self.entrants.iter().filter(|entrant| !entrant.verified).count()
    }
}

/// Makes something for a format. If the matrix or the device does not support the format, returns
/// the reason instead.
pub fn tried<R>(
    format: Format,
    device: &Device,
    make: impl FnOnce() -> Result<R>,
) -> Result<std::result::Result<R, LeftOut>> {
    // On a GPU `csc` takes thousands of times as long as other formats.
    if format == Format::Csc && device.info().kind != DeviceKind::Cpu {
        return Ok(Err(LeftOut::format(format, "it is for CPUs".into())));
    }
    match make() {
        Ok(made) => Ok(Ok(made)),
        Err(error @ (Error::Argument(_) | Error::Unsupported { .. } | Error::Memory { .. })) => {
            Ok(Err(LeftOut::format(format, error.to_string())))
        }
        Err(error) => Err(error),
    }
}

/// The most entries of a column. For the pattern of a transpose the result is the most entries of a
/// row.
pub fn longest_column(pattern: &Pattern) -> usize {
    (0..pattern.ncols()).map(|col| pattern.column(col).len()).max().unwrap_or(0)
}

/// Removes the formats that take many times as long as the fastest, except the chosen ones.
fn without_hopeless(entrants: &mut Vec<Entrant>) -> Vec<LeftOut> {
    let least = entrants.iter().map(|entrant| entrant.before_ms).fold(f64::MAX, f64::min);
    let chosen: Vec<Format> = entrants.iter().filter(|of| of.auto).map(|of| of.format).collect();
    let is_hopeless = |of: &mut Entrant| of.verified && !chosen.contains(&of.format) && of.before_ms > HOPELESS * least;
    let hopeless = entrants.extract_if(.., is_hopeless);
    let why = |of: &Entrant| format!("it takes {:.0} times as long as the fastest format", of.before_ms / least);
    hopeless.map(|of| LeftOut::format(of.format, why(&of))).collect()
}

impl<T: Field, M: Matrix<Element = T>> Operands<'_, M> {
    /// Executes a plan once and compares the y of the plan with the expected one.
    fn entrant(&mut self, asked: Asked, prepared: &Prepared<M>, whole: &Cbc<T>, x: &[T]) -> Result<Entrant> {
        let (format, order) = (prepared.format(), prepared.format().order());
        prepared.execute(&self.a, &self.x, &mut self.y)?;
        let y = self.y.download()?;
        if !self.wanted.iter().any(|(of, _)| *of == order) {
            let mut want = vec![T::from_f64(0.0); y.len()];
            reference::multiply_vector_in(order, whole, x, (1.0, 0.0), &mut want)?;
            self.wanted.push((order, want));
        }
        let verified = self.wanted.iter().any(|(of, want)| *of == order && same_bits(&y, want));
        let mut before_ms = f64::MAX;
        for _ in 0..JUDGED {
            before_ms = before_ms.min(self.lab.timed(|| prepared.execute(&self.a, &self.x, &mut self.y))?.1);
        }
        let auto = asked.format == Format::Auto;
        Ok(Entrant { auto, format, verified, first_ms: Vec::new(), next_ms: Vec::new(), asked, before_ms })
    }

    /// Milliseconds of the conversion and the first execution together, and of a further execution.
    fn turn(&mut self, asked: Asked) -> Result<(f64, f64)> {
        let mut prepared = None;
        let first_ms = in_turn(|| {
            // The memory of the old plan is freed first, so that the next plan uses it.
            prepared = None;
            let make = || {
                let made = prepared.insert(Prepared::new(&self.a, asked)?);
                made.execute(&self.a, &self.x, &mut self.y)
            };
            Ok(self.lab.timed(make)?.1)
        })?;
        let fit = (TOGETHER_MS / first_ms).ceil().clamp(1.0, self.together.into()) as u32;
        let mut run = || prepared.as_ref().map_or(Ok(()), |made| made.execute(&self.a, &self.x, &mut self.y));
        Ok((first_ms, self.lab.together(fit, &mut run)?))
    }
}

impl Entrant {
    /// Returns the milliseconds in each round of the conversion and `uses` executions.
    pub fn totals(&self, uses: u64) -> Vec<f64> {
        self.first_ms.iter().zip(&self.next_ms).map(|(first, next)| first + (uses - 1) as f64 * next).collect()
    }
}

impl Stored {
    pub fn name(self) -> &'static str {
        match self {
            Self::Rows => "rows",
            Self::Columns => "columns",
            Self::Triangle => "triangle",
        }
    }
}

impl Values {
    pub fn name(self) -> &'static str {
        match self {
            Self::InPlace => "in place",
            Self::Packed => "packed",
        }
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn entrant(auto: bool, format: Format, first_ms: [f64; 3], next_ms: [f64; 3]) -> Entrant {
        let asked = Asked { format, uses: 1, any_order: false, packed: true, symmetric: false };
        Entrant {
            auto,
            format,
            verified: true,
            first_ms: first_ms.into(),
            next_ms: next_ms.into(),
            asked,
            before_ms: first_ms[0],
        }
    }

    #[test]
    fn what_takes_many_times_as_long_is_not_timed() {
        let of = |auto, format, ms| entrant(auto, format, [ms; 3], [ms; 3]);
        // The chosen format is timed even if it is slow.
        let (csr, ell) = (Format::Csr, Format::Ell);
        let mut entrants =
            vec![of(true, csr, 300.0), of(false, csr, 300.0), of(false, ell, 10.0), of(false, Format::Hyb, 199.0)];
        entrants.push(of(false, Format::Coo, 201.0));
        let left_out = without_hopeless(&mut entrants);
        assert_eq!((entrants.len(), left_out.len(), &*left_out[0].name), (4, 1, "coo"));
        assert_eq!(left_out[0].why, "it takes 20 times as long as the fastest format");
    }
}
