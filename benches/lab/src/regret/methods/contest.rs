//! One product by several variants: by the choice of `auto`, and by every method that can compute
//! the whole product. The variants take turns, so that a change of the machine's speed affects all
//! of them.
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

/// Number of runs of each method that also measure the times of bins. Of the runs that measure
/// bins, the times of the fastest are used.
const EXPLAINED: usize = 2;

/// A way to compute the product.
#[derive(Clone)]
pub struct Variant {
    pub name: String,
    pub method: Method,
    /// Costs by which `auto` chooses, instead of the device's costs.
    pub costs: Option<MethodCosts>,
}

/// The variants that take part in a contest, and the options of the contest.
#[derive(Clone, Copy)]
pub struct Wanted<'v> {
    pub variants: &'v [Variant],
    /// Whether variants that are much slower than the fastest take no turns.
    pub only_fast: bool,
    /// Whether each method is also run with the times of its bins (an explained run).
    pub explained: bool,
}

/// The times of one product by several variants; `auto` comes first.
#[derive(Serialize, Default)]
pub struct Contest {
    pub matrix: String,
    pub family: String,
    pub a: Size,
    pub b: Size,
    pub products: u64,
    /// Entries (blocks) of C.
    pub c_nnz: u64,
    /// The variants that computed the whole product.
    pub entrants: Vec<Entrant>,
    /// The variants that did not compute the whole product, and why.
    pub left_out: Vec<LeftOut>,
    /// The most entries of a column of B. If rows are multiplied, the most entries of a row of A.
    pub longest: usize,
    /// Whether the regret is unreliable: the choice or the fastest method has only one time, or an
    /// interquartile range above its median.
    pub noisy: bool,
    /// Whether everything was measured a second time because the first times were noisy.
    pub repeated: bool,
    /// The explained runs, to which costs are fitted, with the predicted times of their bins.
    pub explained: Vec<ByMethod>,
}

impl Variant {
    /// A method without further options, or `auto`.
    pub fn of(method: Method) -> Self {
        Self { name: method.name().into(), method, costs: None }
    }

    /// `auto`, and every method that needs no mask.
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
    /// Times A·B by each of the variants. Multiplies A·A if there is no B.
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
        // A noisy contest is measured once more, and the second times are used.
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

    /// The first entrant that uses a method.
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

    /// The first entrant with a name.
    pub fn named(&self, name: &str) -> Option<&Entrant> {
        self.entrants.iter().find(|entrant| entrant.name == name)
    }

    /// The fastest method.
    pub fn best(&self) -> Option<&Entrant> {
        fastest(&self.entrants)
    }

    /// The extra time of `auto` over the fastest method, divided by the fastest time. The regret is
    /// below 0 if `auto` combines several methods and is faster than each. The function returns
    /// `None` if there are no entries to multiply, because `auto` then chooses nothing.
    pub fn regret(&self) -> Option<f64> {
        (self.products > 0).then_some(())?;
        Some(self.auto_ms()? / self.best()?.ms? - 1.0)
    }

    /// The entrant of `auto`, and the method that launched the same kernels for the same bins, if
    /// there is one. The times of the two differ only by noise.
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

    /// The regret without noise between equal programs: if a method launched the same kernels as
    /// `auto`, the times of both are pooled. If no method did, the regret is that of
    /// [`Contest::regret`].
    pub fn regret_of_choice(&self) -> Option<f64> {
        let Some([auto, same]) = self.same_as_auto().filter(|_| self.products > 0) else { return self.regret() };
        let together = median(&[&auto.runs_ms[..], &same.runs_ms].concat())?;
        let others = self.entrants.iter().filter(|of| of.method != Method::Auto && of.name != same.name);
        let best = others.filter_map(|of| of.ms).fold(together, f64::min);
        Some(together / best - 1.0)
    }

    /// One line with the product, and the times of `auto` and of the fastest method.
    pub fn line(&self) -> String {
        let best = self.best().map(|best| format!(", {} {} ms", best.name, number(best.ms, 3))).unwrap_or_default();
        format!("{}: auto {} ms{best}", self.matrix, number(self.auto_ms(), 3))
    }

    /// Number of results that differ from the reference.
    pub fn wrong(&self) -> usize {
        self.entrants.iter().filter(|entrant| !entrant.verified).count()
    }
}

/// Runs a variant, and runs it again if the first run is short, because the first run may load
/// kernels. The first result is compared with the reference. The inner `Err` is the fraction of the
/// products that a method leaves to others.
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

/// The fastest of a few explained runs, with the time `ms` of the product when it is not explained.
/// A long run is explained only once.
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

    /// Makes a contest of methods with given numbers of launches and times.
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
        // The third method is faster than the equal programs, whose pooled median is 2.
        let wrong = [noisy[0], noisy[1], (Method::Esc, 9, &[1.0])];
        assert_eq!(regrets(&contest(&wrong)), [200.0, 100.0]);
        // No method launched the same kernels as `auto`.
        let analysed = [(Method::Auto, 5, noisy[0].2), noisy[1], noisy[2]];
        assert_eq!(regrets(&contest(&analysed)), [50.0, 50.0]);
    }
}
