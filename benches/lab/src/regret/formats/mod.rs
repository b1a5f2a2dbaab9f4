//! `lab regret` of formats of A·x. `contest` times the choice beside every format, `choice`
//! compares it with the best format, `prepared` makes the plans.
mod choice;
mod contest;
mod prepared;

use super::families::{self, FAMILIES};
use super::summary::ForUses;
use super::{Args, Findings, Study, left_out, table};
use crate::study::Lab;
use blockmul::{Bsr, Cbc, Matrix, element::Field, matrix::AnyMatrix};
use blockmul_cli::bench::matrices::Input;
use blockmul_cli::failure::Failure;
use blockmul_cli::symmetric::lower;
pub use choice::Choice;
pub use contest::{Contest, USES, Values, longest_column, tried};
use contest::{Stored, Subject, Wanted};
use serde::Serialize;
use std::num::NonZero;

/// The findings about formats.
#[derive(Serialize, Default)]
struct Found {
    max_elements: u64,
    summary: Vec<ForUses>,
    contests: Vec<Contest>,
}

impl Findings for Found {
    const SCHEMA: &'static str = "blockmul-regret-of-formats/1";

    fn is_empty(&self) -> bool {
        self.contests.is_empty()
    }

    fn wrong(&self) -> usize {
        self.contests.iter().map(Contest::wrong).sum()
    }

    fn text(&self) -> String {
        let mut parts = vec![table::families(&self.contests)];
        parts.extend(table::wrong(&self.contests));
        parts.extend(left_out::text(self.contests.iter().map(|of| &of.left_out), ""));
        parts.push(table::summaries(&self.summary));
        parts.join("\n\n")
    }
}

/// Measures the inputs or, if there are none, the families.
pub fn study<T: Field>(args: &Args, lab: &Lab) -> Result<(), Failure> {
    let (most, inputs) = (lab.most_elements(), &args.study.inputs);
    let mut study = Study::new::<T>(args, lab, Found { max_elements: most, ..Found::default() });
    let together = args.together.map(NonZero::get);
    for input in inputs {
        let name = input.matrix_name();
        let a = of_input::<T>(input, args, lab);
        study.add(&name, |found| found.matrix(lab, together, [&name, &name], a, args.symmetric))?;
    }
    for size in families::sizes(most).filter(|_| inputs.is_empty()) {
        for family in FAMILIES.iter().filter(|family| family.symmetric || !args.symmetric) {
            let Some(make) = family.elements else { continue };
            let name = family.member(size);
            lab.messages.step(format!("{name}: making operands"));
            let a = make(size as usize).map(|a| a.cast::<T>()).map_err(Failure::from);
            study.add(&name, |found| found.matrix(lab, together, [&name, family.name], a, family.symmetric))?;
        }
    }
    study.finish()
}

/// Reads a file or generates a family's matrix, in its own blocks or in those that were requested.
fn of_input<T: Field>(input: &Input, args: &Args, lab: &Lab) -> Result<Cbc<T>, Failure> {
    let source = lab.open(input)?;
    Ok(source.matrix(args.block.unwrap_or(source.default_block()))?)
}

impl Found {
    /// Measures a matrix by rows and by columns. If the matrix is symmetric, also measures one
    /// triangle of it.
    fn matrix<T: Field>(
        &mut self,
        lab: &Lab,
        together: Option<u32>,
        [matrix, family]: [&str; 2],
        a: Result<Cbc<T>, Failure>,
        symmetric: bool,
    ) -> Result<String, Failure> {
        let a = a?;
        let by_rows = Bsr::from_transpose(a.try_transpose()?);
        let (mut wanted, values, whole) = (Wanted::new(), Values::InPlace, &a);
        let rows = Subject { matrix, family, whole, a: &by_rows, stored: Stored::Rows, values };
        self.stored(lab, together, rows, &mut wanted)?;
        let columns = Subject { matrix, family, whole, a: &a, stored: Stored::Columns, values };
        self.stored(lab, together, columns, &mut wanted)?;
        if symmetric {
            let triangle = lower(&AnyMatrix::from(a))?;
            let (whole, triangle) = (triangle.mirrored()?.typed::<Cbc<T>>()?, triangle.typed::<Cbc<T>>()?);
            let triangle = Subject { matrix, family, whole: &whole, a: &triangle, stored: Stored::Triangle, values };
            self.stored(lab, together, triangle, &mut Wanted::new())?;
        }
        Ok(format!("{matrix}: {} cases", self.contests.len()))
    }

    /// Measures a matrix as it is stored, with values that are read in place and with packed
    /// values.
    fn stored<T: Field, M: Matrix<Element = T>>(
        &mut self,
        lab: &Lab,
        together: Option<u32>,
        subject: Subject<'_, T, M>,
        wanted: &mut Wanted<T>,
    ) -> Result<(), Failure> {
        for values in [Values::InPlace, Values::Packed] {
            self.contests.push(Contest::of(lab, together, &Subject { values, ..subject }, wanted)?);
        }
        self.summary = ForUses::all(&self.contests);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blockmul::Result;

    #[test]
    fn sizes_are_about_what_is_wanted() -> Result<()> {
        for family in &FAMILIES {
            for wanted in [3000, 100_000] {
                let Some(make) = family.elements else { continue };
                let a = make(wanted)?;
                let elements = a.nnz() * a.shape().area();
                // A grid has at least four nodes a side, so small sizes are exceeded.
                assert!((wanted / 4..=3 * wanted).contains(&elements), "{}: {elements} of {wanted}", family.name);
                assert!(a.nrows() == a.ncols() || !family.symmetric, "{}", family.name);
            }
        }
        Ok(())
    }

    #[test]
    fn rows_have_the_lengths_that_families_stand_for() -> Result<()> {
        let lengths = |name: &str| -> Result<Vec<usize>> {
            let make = families::of(name).expect("a family").elements.expect("a matrix");
            let by_rows = make(20_000)?.transpose();
            let pattern = by_rows.as_cbc().pattern;
            Ok((0..pattern.ncols()).map(|row| pattern.column(row).len()).collect())
        };
        assert!(lengths("rows-of-2")?.iter().all(|&length| length == 2));
        assert!(lengths("wide")?.iter().all(|&length| length == 400) && lengths("tall")?.iter().all(|&n| n == 4));
        let empty = lengths("empty-rows")?;
        let none = empty.iter().filter(|&&length| length == 0).count();
        assert!((0.85..0.9).contains(&(none as f64 / empty.len() as f64)), "{none} of {}", empty.len());
        let arrow = lengths("arrow")?;
        assert!(arrow[0] == arrow.len() - 1 && arrow[1..].iter().all(|&length| length == 2));
        Ok(())
    }
}
