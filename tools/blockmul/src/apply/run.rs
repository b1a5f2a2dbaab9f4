//! Runs a product with one vector, compares it with the reference, and reports it.
use super::Args;
use super::report::finish;
use super::weights::{HostWeights, most};
use crate::failure::Failure;
use crate::matrix_size::Size;
use crate::messages::Messages;
use crate::overflow::{Named, Overflow};
use crate::runs::{repeatedly, timed};
use crate::symmetric::Halves;
use crate::target::Target;
use crate::vector;
use blockmul::{
    Device, DeviceMatrix, DeviceVector, Error, Method, Planned, Result, Semiring,
    element::{Any, AnyValues, Order},
    matrix::AnyMatrix,
    plan::{Accum, Apply, ApplyOptions, Format, GramOperands, WeighedVector},
    product::{Factor, Weights},
    reference::{self, IntegerSums, Onto, verify},
};
use std::{num::NonZero, time::Instant};

/// y = A·x, or Aᵀ·x, with `--onto` added to an old y; with `--gram` y = Jᵀ·(W·(J·x)), where J is A
/// or its transpose.
pub struct Product<'a> {
    pub args: &'a Args,
    pub a: &'a Halves,
    pub x: &'a AnyValues,
    /// W, if there is one.
    pub weights: Option<&'a HostWeights>,
    /// The earlier contents of y, to which the product is added.
    pub old: Option<&'a AnyValues>,
}

/// y, with the times and the memory of the product.
struct Run {
    y: AnyValues,
    took: Took,
}

pub struct Took {
    /// The formats with the reasons for them: one for A·x, two for the products with J and Jᵀ of
    /// --gram. No formats if the reference multiplies.
    pub formats: Vec<(Format, String)>,
    pub convert_ms: Option<f64>,
    pub device_bytes: u64,
    pub runs_ms: Vec<f64>,
}

impl Took {
    /// The order of the sums in product number `turn`: 0 for A·x or J·x, 1 for the product with Jᵀ.
    pub fn order(&self, turn: usize) -> Order {
        self.formats.get(turn).map_or(Order::Ascending, |(format, _)| format.order())
    }
}

/// Multiplies, verifies, reports, and writes y.
pub fn run(product: &Product<'_>, overflow: Overflow, messages: &Messages) -> std::result::Result<(), Failure> {
    let Product { args, x, .. } = *product;
    let target = Target::choose(args.run.device.as_deref(), x.element(), Method::Auto, messages)?;
    messages.step("multiplying");
    let Run { y, took } = match &target {
        Target::Device(device) => product.on_device(device)?,
        Target::Reference if args.format != Format::Auto => {
            return Err(Failure::Usage(format!("--format {} needs an OpenCL device", args.format)));
        }
        Target::Reference => {
            let (y, runs_ms) = repeatedly(args.run.repeat, || timed(|| product.by_reference()))?;
            Run { y, took: Took { formats: Vec::new(), convert_ms: None, device_bytes: 0, runs_ms } }
        }
    };
    let different = messages.verifying(args.run.verify, || product.wrong(&y, &took))?;
    let overflowed = match (IntegerSums::of(x.element(), args.semiring), args.semiring) {
        (Some(sums), _) => {
            let exact = || args.run.verify.then(|| product.exact(sums)).flatten();
            let count = || exact().map(|y| sums.outside(y));
            overflow.of_integers(Named::of("y", &y), product.bound(sums), count, messages)
        }
        (None, Semiring::PlusTimes) => overflow.of_values("y", &y, messages),
        (None, _) => overflow,
    };
    finish(product, &target, took, different, overflowed, messages)?;
    args.output.as_deref().map_or(Ok(()), |path| vector::write(path, &y))
}

impl Product<'_> {
    /// Returns the first factor: A or its transpose.
    fn factor(&self) -> Factor<'_, AnyMatrix> {
        Factor { operand: &self.a.whole, transposed: self.args.transpose }
    }

    /// The factor of the old y; 0 without `--onto`.
    pub fn beta(&self) -> f64 {
        self.old.map_or(0.0, |_| self.args.beta.unwrap_or(1.0))
    }

    /// Returns the old y and its factor.
    fn onto(&self) -> Option<Onto<'_>> {
        self.old.map(|old| Onto { beta: self.beta(), old })
    }

    fn weights(&self) -> Option<Weights<&AnyMatrix, &AnyValues>> {
        self.weights.map(Weights::as_ref)
    }

    /// Returns the numbers of rows and columns of A, or of its transpose.
    fn sides(&self) -> [usize; 2] {
        let size = Size::of(&self.a.whole);
        if self.args.transpose { [size.cols(), size.rows()] } else { [size.rows(), size.cols()] }
    }

    /// The number of elements of y.
    pub fn y_len(&self) -> usize {
        self.sides()[usize::from(self.args.gram)]
    }

    /// Converts A, multiplies, and reads y back. For a single product A's values are not copied
    /// into the format's order, because the copy would take longer than it saves.
    fn on_device(&self, device: &Device) -> Result<Run> {
        let (a, x) = (device.upload(self.a.stored())?, device.upload_any_vector(self.x)?);
        let upload = |weights: Weights<&AnyMatrix, &AnyValues>| {
            weights.map(|matrix| device.upload(matrix), |vector| device.upload_any_vector(vector)).transpose()
        };
        let weights = self.weights().map(upload).transpose()?;
        let weights = weights.as_ref().map(Weights::as_ref);
        device.finish()?;
        let clock = Instant::now();
        let options = self.options(&a);
        match (self.args.gram, self.args.run.repeat.is_some()) {
            (true, true) => {
                let packed = options.pack_gram(&a)?;
                let formats = packed.products().map(|product| (product.format(), product.why().to_owned()));
                let inputs = || weights.map_or_else(|| WeighedVector::from(&x), |weights| (weights, &x).into());
                self.executed(clock, &packed, formats.into(), inputs)
            }
            (true, false) => {
                let plan = options.gram()?;
                let formats = plan.products().map(|product| (product.format(), product.why().to_owned()));
                let inputs =
                    || weights.map_or_else(|| GramOperands::from((&a, &x)), |weights| (&a, weights, &x).into());
                self.executed(clock, &plan, formats.into(), inputs)
            }
            (false, true) => {
                let packed = options.vectors_of(self.x.element())?.pack(&a)?;
                self.executed(clock, &packed, vec![(packed.format(), packed.why().to_owned())], || &x)
            }
            (false, false) => {
                let plan = options.vectors_of(self.x.element())?.plan()?;
                self.executed(clock, &plan, vec![(plan.format(), plan.why().to_owned())], || (&a, &x))
            }
        }
    }

    fn options(&self, a: &DeviceMatrix<AnyMatrix>) -> ApplyOptions<AnyMatrix> {
        let args = self.args;
        let uses = args.run.repeat.map_or(1, NonZero::get);
        let options = Apply::of(a).format(args.format).semiring(args.semiring).uses(uses.into());
        let options = if args.transpose { options.transposed() } else { options };
        let options = if args.symmetric { options.symmetric() } else { options };
        let options = options.split(args.split.unwrap_or_default());
        if args.any_order { options.any_order() } else { options }
    }

    /// Executes a plan once, or several times after a warm-up, and reads y back. The plan must be
    /// new; `clock` was started before it was made.
    fn executed<'i, P: Planned<Output = DeviceVector<Any>>>(
        &self,
        clock: Instant,
        plan: &P,
        formats: Vec<(Format, String)>,
        inputs: impl Fn() -> P::Inputs<'i>,
    ) -> Result<Run> {
        let mut y = plan.output()?;
        plan.device().finish()?;
        let convert_ms = Some(clock.elapsed().as_secs_f64() * 1e3);
        let run = || {
            if let Some(old) = self.old {
                y = plan.device().upload_any_vector(old)?;
            }
            let into = Accum::into(&mut y).beta(self.beta());
            Ok::<_, Error>(((), plan.execute_with_report(inputs(), into)?.total_ms))
        };
        let ((), runs_ms) = repeatedly(self.args.run.repeat, run)?;
        let took = Took { formats, convert_ms, device_bytes: plan.cost().device_bytes, runs_ms };
        Ok(Run { y: y.download()?, took })
    }

    /// Computes the product by the reference, with terms added in ascending order.
    fn by_reference(&self) -> Result<AnyValues> {
        let (Args { semiring, gram, .. }, order) = (self.args, Order::Ascending);
        match (gram, self.onto()) {
            (true, _) => {
                reference::multiply_any_vector_gram(*semiring, [order; 2], self.factor(), self.weights(), self.x)
            }
            (false, None) => reference::multiply_any_vector(*semiring, order, self.factor(), self.x),
            (false, Some(onto)) => reference::multiply_any_vector_onto(*semiring, order, self.factor(), self.x, onto),
        }
    }

    /// Returns the number of elements of y that differ from the reference's, whose sums are in the
    /// order of the formats. Elements are compared bit for bit or, if a format has no fixed order,
    /// within rounding.
    fn wrong(&self, y: &AnyValues, took: &Took) -> Result<usize> {
        let (semiring, orders) = (self.args.semiring, [0, 1].map(|turn| took.order(turn)));
        match (self.args.gram, self.onto()) {
            (true, _) => verify::verify_vector_gram(semiring, orders, self.factor(), self.weights(), self.x, y),
            (false, None) => verify::verify_vector(semiring, orders[0], self.factor(), self.x, y),
            (false, Some(onto)) => verify::verify_vector_onto(semiring, orders[0], self.factor(), self.x, onto, y),
        }
    }

    /// An upper bound of the magnitudes of all sums of integers.
    fn bound(&self, sums: IntegerSums) -> f64 {
        let a = self.factor();
        let first = sums.bound_of_vectors(a, self.x.magnitude());
        match self.args.gram {
            true => sums.bound_of_vectors(a.t(), self.weights.map_or(first, |weights| first * most(weights))),
            false => first + self.old.map_or(0.0, |old| self.beta().abs() * old.magnitude()),
        }
    }

    /// The exact sums of integers, or `None` if they are not known.
    fn exact(&self, sums: IntegerSums) -> Option<Vec<i128>> {
        let a = self.factor();
        let first = sums.exact(a, |k| self.x.number(k) as i128);
        match (self.args.gram, self.weights) {
            (false, _) => Some(match self.old {
                None => first,
                Some(old) => {
                    let added = |(k, sum): (usize, &i128)| sum + self.beta() as i128 * old.number(k) as i128;
                    first.iter().enumerate().map(added).collect()
                }
            }),
            (true, None) => Some(sums.exact(a.t(), |k| first[k])),
            (true, Some(_)) => None,
        }
    }
}
