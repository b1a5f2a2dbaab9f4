//! One product by several variants in turn: by the choice, and by every method that can compute all
//! of it. So a change of the machine concerns all of them.
use super::entrant::{Entrant, LONG_MS, are_noisy, fastest, in_turns};
use crate::regret::left_out::LeftOut;
use crate::study::{Lab, in_turn};
use blockmul::{
    DeviceMatrix, Error, Matrix, Method, Product, Result,
    extra::tuning::MethodCosts,
    product::{Bin, Report},
    reference,
};
use blockmul_cli::bench::{measure::same, record::median};
use blockmul_cli::matrix_size::Size;
use blockmul_cli::table::number;
use blockmul_cli::tune::ByMethod;
use serde::Serialize;

/// Explained runs of each method, of which the fastest counts.
const EXPLAINED: usize = 2;

/// A way to compute the product.
#[derive(Clone)]
pub struct Variant {
    pub name: String,
    pub method: Method,
    /// Costs to choose by, instead of the device's.
    pub costs: Option<MethodCosts>,
}

/// The variants that take part in a contest, and its rules.
#[derive(Clone, Copy)]
pub struct Wanted<'v> {
    pub variants: &'v [Variant],
    /// Whether variants that are much slower than the fastest take no turns.
    pub only_fast: bool,
    /// Whether each method runs with the times of its bins, too.
    pub explained: bool,
}

/// The times of a product, the choice first.
#[derive(Serialize, Default)]
pub struct Contest {
    pub matrix: String,
    pub family: String,
    pub a: Size,
    pub b: Size,
    pub products: u64,
    /// Entries (blocks) of C.
    pub c_nnz: u64,
    /// The variants that computed all of the product.
    pub entrants: Vec<Entrant>,
    /// The variants that did not, and why.
    pub left_out: Vec<LeftOut>,
    /// Entries of the longest column of B; of a product of rows, those of the longest row of A.
    pub longest: usize,
    /// Whether the choice or the fastest method has one time only, or its quartiles are further
    /// apart than the median is large: the regret says little.
    pub noisy: bool,
    /// Whether all was measured again for that.
    pub repeated: bool,
    /// The runs that costs are fitted to, with what their bins were predicted to take.
    pub explained: Vec<ByMethod>,
}

impl Variant {
    /// A method as it is, or the choice.
    pub fn of(method: Method) -> Self {
        Self { name: method.name().into(), method, costs: None }
    }

    /// The choice, and every method that needs no mask.
    pub fn all() -> Vec<Self> {
        [Method::Auto].iter().chain(Method::ALL).filter(|method| !method.needs_mask()).map(|&m| Self::of(m)).collect()
    }

    fn product<'a, M: Matrix>(&self, a: &'a DeviceMatrix<M>, b: &'a DeviceMatrix<M>) -> Product<'a, DeviceMatrix<M>> {
        let product = Product::of(a, b).method(self.method);
        match self.costs {
            Some(costs) => product.costs(costs),
            None => product,
        }
    }
}

impl Contest {
    /// Times A·B (A·A without B) by each of the variants.
    pub fn of<M: Matrix>(
        lab: &Lab,
        [matrix, family]: [&str; 2],
        a: &M,
        b: Option<&M>,
        wanted: Wanted<'_>,
    ) -> Result<Self> {
        lab.messages.step(format!("{matrix}: the reference"));
        let want = reference::multiply(a, b.unwrap_or(a))?;
        let (sizes, products) = ([Size::of(a), Size::of(b.unwrap_or(a))], reference::products(a, b.unwrap_or(a)));
        let of_columns = if M::ROW_MAJOR { a } else { b.unwrap_or(a) };
        let longest =
            of_columns.as_cbc().pattern.col_ptr().windows(2).map(|of| of[1] - of[0]).max().unwrap_or(0) as usize;
        let (a, b) = (lab.device.upload(a)?, b.map(|b| lab.device.upload(b)).transpose()?);
        let b = b.as_ref().unwrap_or(&a);
        let progress = lab.progress(format!("{matrix} on {}", lab.device.info().name));
        let (mut entrants, mut left_out) = (Vec::new(), Vec::new());
        let mut of_entrants = Vec::new();
        for variant in wanted.variants {
            match first_run(variant, (&a, b), &want) {
                Ok(Ok(entrant)) => {
                    of_entrants.push(variant);
                    entrants.push(entrant);
                }
                Ok(Err(part)) => left_out.push(LeftOut {
                    name: variant.name.clone(),
                    why: format!("leaves {:.1} % of the products to others", 100.0 * part),
                    part: Some(part),
                }),
                Err(error @ (Error::Memory { .. } | Error::TooLarge { .. } | Error::Unsupported { .. })) => {
                    left_out.push(LeftOut { name: variant.name.clone(), why: error.to_string(), part: None });
                }
                Err(error) => return Err(error),
            }
        }
        let c_nnz = want.as_cbc().pattern.nnz() as u64;
        drop(want);
        let run = |at: usize| Ok(of_entrants[at].product(&a, b).untimed().run_with_report()?.1.total_ms);
        let order = in_turns(&mut entrants, wanted.only_fast, run)?;
        let (mut noisy, mut repeated) = (true, false);
        // A noisy contest is measured once more, and the second times count.
        for again in [false, true] {
            if again && !(noisy && wanted.only_fast && lab.patience.rounds.get() > 1) {
                break;
            }
            repeated = again;
            for (at, times) in lab.turns(&progress, &order, |at| in_turn(|| run(at)))? {
                entrants[at].timed(times);
            }
            noisy = are_noisy(&entrants);
        }
        let methods = of_entrants
            .iter()
            .zip(&entrants)
            .filter(|(variant, entrant)| wanted.explained && entrant.verified && variant.method != Method::Auto);
        let explained =
            methods.map(|(variant, entrant)| by_method(variant, entrant.ms, (&a, b))).collect::<Result<_>>()?;
        let ([a, b], [matrix, family]) = (sizes, [matrix, family].map(str::to_owned));
        Ok(Self { matrix, family, a, b, products, c_nnz, entrants, left_out, longest, noisy, repeated, explained })
    }

    /// The first entrant by a method.
    pub fn entrant(&self, method: Method) -> Option<&Entrant> {
        self.entrants.iter().find(|entrant| entrant.method == method)
    }

    /// The time of a method.
    pub fn ms(&self, method: Method) -> Option<f64> {
        self.entrant(method).and_then(|entrant| entrant.ms)
    }

    /// The time of the choice.
    pub fn auto_ms(&self) -> Option<f64> {
        self.ms(Method::Auto)
    }

    /// The first entrant of a name.
    pub fn named(&self, name: &str) -> Option<&Entrant> {
        self.entrants.iter().find(|entrant| entrant.name == name)
    }

    /// The fastest method.
    pub fn best(&self) -> Option<&Entrant> {
        fastest(&self.entrants)
    }

    /// The extra time of the choice over the fastest method, as a part of the fastest time; less
    /// than 0 if several methods together are faster. `None` without products: then no column is
    /// chosen for.
    pub fn regret(&self) -> Option<f64> {
        (self.products > 0).then_some(())?;
        Some(self.auto_ms()? / self.best()?.ms? - 1.0)
    }

    /// The method that launched what the choice did, bin by bin: both times are of one program.
    fn same_as_auto(&self) -> Option<[&Entrant; 2]> {
        let launched = |of: &Entrant| {
            let bins: Vec<_> = of.bins.iter().map(|bin| (bin.method, bin.columns, bin.products)).collect();
            (of.launches, bins)
        };
        let (autos, methods): (Vec<_>, Vec<_>) =
            self.entrants.iter().filter(|of| of.ms.is_some()).partition(|of| of.method == Method::Auto);
        let auto = *autos.first()?;
        Some([auto, methods.into_iter().find(|of| launched(of) == launched(auto))?])
    }

    /// The regret of [`Contest::regret`], but if a method launched what the choice did, the times
    /// of both are taken together: their difference is noise.
    pub fn regret_of_choice(&self) -> Option<f64> {
        let Some([auto, same]) = self.same_as_auto().filter(|_| self.products > 0) else { return self.regret() };
        let together = median(&[&auto.runs_ms[..], &same.runs_ms].concat())?;
        let others = self.entrants.iter().filter(|of| of.method != Method::Auto && of.name != same.name);
        let best = others.filter_map(|of| of.ms).fold(together, f64::min);
        Some(together / best - 1.0)
    }

    /// The product, the choice and the fastest method with their times, in a line.
    pub fn line(&self) -> String {
        let best = self.best().map(|best| format!(", {} {} ms", best.name, number(best.ms, 3))).unwrap_or_default();
        format!("{}: auto {} ms{best}", self.matrix, number(self.auto_ms(), 3))
    }

    /// Results that differ from the reference.
    pub fn wrong(&self) -> usize {
        self.entrants.iter().filter(|entrant| !entrant.verified).count()
    }
}

/// Runs a variant twice, if it is not long: the first result is compared, the second run has its
/// kernels loaded. An `Err` within is the part of the products that a method leaves to others.
fn first_run<M: Matrix>(
    variant: &Variant,
    (a, b): (&DeviceMatrix<M>, &DeviceMatrix<M>),
    want: &M,
) -> Result<std::result::Result<Entrant, f64>> {
    let product = variant.product(a, b);
    let (c, first) = product.run_with_report()?;
    let others = |bin: &&Bin| bin.method != variant.method && bin.products > 0;
    if variant.method != Method::Auto && first.bins.iter().any(|bin| others(&bin)) {
        let by_others: u64 = first.bins.iter().filter(others).map(|bin| bin.products).sum();
        return Ok(Err(by_others as f64 / first.products.max(1) as f64));
    }
    let verified = same(&c.download()?, want);
    drop(c);
    let last = if first.total_ms > LONG_MS { first } else { product.run_with_report()?.1 };
    let Report { bins, stages, launches, peak_device_bytes, total_ms, .. } = last;
    let (name, method) = (variant.name.clone(), variant.method);
    let of_report = Entrant { peak_device_bytes, launches, bins, stages, ..Entrant::default() };
    let mut entrant = Entrant { name, method, verified, ..of_report };
    if verified {
        entrant.timed(vec![total_ms]);
    }
    Ok(Ok(entrant))
}

/// The fastest of a few explained runs, of one if it is long, with the time of the product as it
/// is.
fn by_method<M: Matrix>(
    variant: &Variant,
    ms: Option<f64>,
    (a, b): (&DeviceMatrix<M>, &DeviceMatrix<M>),
) -> Result<ByMethod> {
    let product = variant.product(a, b).explained();
    let runs = if ms > Some(LONG_MS) { 1 } else { EXPLAINED };
    let reports = (0..runs).map(|_| Ok(product.run_with_report()?.1)).collect::<Result<_>>()?;
    let mut run = ByMethod::of(variant.method, reports);
    run.total_ms = ms.unwrap_or(run.total_ms);
    Ok(run)
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// The contest of methods with their launches and times.
    pub fn contest(entrants: &[(Method, u32, &[f64])]) -> Contest {
        let entrant = |&(method, launches, runs): &(Method, u32, &[f64])| {
            let name = method.to_string();
            let mut entrant = Entrant { name, method, verified: true, launches, ..Entrant::default() };
            entrant.timed(runs.to_vec());
            entrant
        };
        Contest { products: 1, entrants: entrants.iter().map(entrant).collect(), ..Contest::default() }
    }

    #[test]
    fn times_of_one_program_are_taken_together() {
        let regrets = |of: &Contest| [of.regret(), of.regret_of_choice()].map(|of| (100.0 * of.unwrap()).round());
        let noisy =
            [(Method::Auto, 3, &[4.0, 3.0, 2.0][..]), (Method::Dense, 3, &[2.0, 2.0]), (Method::Esc, 9, &[8.0])];
        assert_eq!(regrets(&contest(&noisy)), [50.0, 0.0]);
        // Another one was faster than both, which are together as fast as their median, 2.
        let wrong = [noisy[0], noisy[1], (Method::Esc, 9, &[1.0])];
        assert_eq!(regrets(&contest(&wrong)), [200.0, 100.0]);
        // None launched the same.
        let analysed = [(Method::Auto, 5, noisy[0].2), noisy[1], noisy[2]];
        assert_eq!(regrets(&contest(&analysed)), [50.0, 50.0]);
    }
}
