//! `lab regret` for the methods of products. `contest` times the choice and every method, each as
//! an `entrant`. `classes` times all methods for each class of columns, `cliffs` at the thresholds
//! of the choice. `sweeps` has the parameters that step across the thresholds. `validation` fits
//! costs to some families and judges the costs on others.
mod classes;
mod cliffs;
pub mod contest;
mod entrant;
mod sweeps;
mod validation;

use super::families::{self, FAMILIES};
use super::summary::Summary;
use super::{Args, Findings, Study, left_out, table};
use crate::patterns::Factors;
use crate::study::Lab;
use blockmul::{Csc, element::Field};
use blockmul_cli::failure::Failure;
pub use classes::Classes;
pub use cliffs::{Cliff, Point};
pub use contest::{Contest, Variant, Wanted};
pub use entrant::Entrant;
use serde::Serialize;
use std::collections::BTreeMap;
pub use validation::{Predicted, Validation};

/// The numbers of a device, by their names in a tuning file.
type Numbers = BTreeMap<&'static str, usize>;

/// The findings about methods.
#[derive(Serialize, Default)]
struct Found {
    max_products: u64,
    summary: Option<Summary>,
    validation: Option<Validation>,
    products: Vec<Contest>,
    classes: Vec<Classes>,
    cliffs: Vec<Cliff>,
}

impl Findings for Found {
    const SCHEMA: &'static str = "blockmul-regret/1";

    fn is_empty(&self) -> bool {
        self.products.is_empty()
    }

    fn wrong(&self) -> usize {
        let of_classes = self.classes.iter().flat_map(|of| &of.classes).map(|of| &of.contest);
        let of_cliffs = self.cliffs.iter().flat_map(|cliff| &cliff.sides);
        let contests = self.products.iter().chain(of_classes).chain(of_cliffs);
        contests.map(Contest::wrong).chain(self.cliffs.iter().map(|cliff| cliff.wrong)).sum()
    }

    fn text(&self) -> String {
        let mut parts = vec![table::products(&self.products)];
        parts.extend(table::noisy(&self.products));
        parts.extend(left_out::text(self.products.iter().map(|of| &of.left_out), " products"));
        parts.extend(self.summary.as_ref().map(table::summary));
        parts.extend((!self.classes.is_empty()).then(|| table::classes(&self.classes)));
        parts.extend((!self.cliffs.is_empty()).then(|| table::cliffs(&self.cliffs)));
        parts.extend(self.validation.as_ref().map(table::validation));
        parts.join("\n\n")
    }
}

/// Measures the inputs or, if there are none, the families and the sweeps.
pub fn study<T: Field>(args: &Args, lab: &Lab) -> Result<(), Failure> {
    let (most, info, inputs) = (lab.most(), lab.device.info(), &args.study.inputs);
    let wanted = match (&args.sweeps[..], inputs.is_empty()) {
        ([], false) => Vec::new(),
        (words, _) => sweeps::named(sweeps::sweeps(&info.numbers_by_name(), most), words)?,
    };
    let mut study = Study::new::<T>(args, lab, Found { max_products: most, ..Found::default() });
    for input in inputs {
        let (name, open) = (input.matrix_name(), || lab.open_scalars::<T>(input));
        study.add(&name, |found| found.product(lab, [&name, &name], open()))?;
    }
    for size in families::sizes(most).filter(|_| inputs.is_empty()) {
        for family in &FAMILIES {
            let Some(make) = family.products else { continue };
            let name = family.member(size);
            lab.messages.step(format!("{name}: making operands"));
            let factors = make(size as usize).map(cast::<T>).map_err(Failure::from);
            study.add(&name, |found| found.product(lab, [&name, family.name], factors))?;
        }
    }
    for sweep in wanted {
        study.add("a sweep", |found| {
            let cliff = sweep.run::<T>(lab, most)?;
            let line = format!("{}: {} points", cliff.what, cliff.points.len());
            found.cliffs.push(cliff);
            Ok(line)
        })?;
    }
    study.found.validation = Validation::of(&study.found.products, info)?;
    study.write()?;
    study.finish()
}

/// A, and B if the product is not A·A.
type Operands<T> = (Csc<T>, Option<Csc<T>>);

fn cast<T: Field>((a, b): Factors) -> Operands<T> {
    (a.cast(), b.map(|b| b.cast()))
}

impl Found {
    /// Measures a product and its classes.
    fn product<T: Field>(
        &mut self,
        lab: &Lab,
        names: [&str; 2],
        factors: Result<Operands<T>, Failure>,
    ) -> Result<String, Failure> {
        let (a, b) = factors?;
        let wanted = Wanted { variants: &Variant::all(), only_fast: true, explained: true };
        let contest = Contest::of(lab, names, &a, b.as_ref(), wanted)?;
        self.classes.extend(Classes::of(lab, (&a, b.as_ref().unwrap_or(&a)), &contest)?);
        let line = contest.line();
        self.products.push(contest);
        self.summary = Summary::of(&self.products);
        Ok(line)
    }
}
