//! Cliffs: jumps of the time when a parameter of generated matrices steps across a threshold of the
//! choice. Neighbouring products of a sweep differ little, so their times should differ little,
//! too. `sweeps` has the parameters.
use super::contest::{Contest, Variant, Wanted};
use super::sweeps::{Sweep, budget};
use crate::study::{Lab, in_turn};
use blockmul::{BlockShape, Csc, DeviceMatrix, Error, Matrix, Product, Result, element::Field, reference};
use blockmul_cli::bench::{measure::same, record::median};
use serde::Serialize;

/// If the largest jump is at least this fraction, every method is timed at the values before and
/// after the jump.
const STEEP: f64 = 0.3;

/// The times along a sweep.
#[derive(Serialize)]
pub struct Cliff {
    pub what: String,
    pub points: Vec<Point>,
    /// The largest jump between neighbours, as a fraction, and the value of the parameter before
    /// it.
    pub jump: Option<f64>,
    pub at: Option<usize>,
    /// If the jump is large, the contests of all methods before and after the jump. The contests
    /// show whether another method is faster beside the jump, or whether the times of all methods
    /// jump.
    pub sides: Vec<Contest>,
    /// Number of results that differ from the reference.
    pub wrong: usize,
}

/// The time of the choice at one value of the parameter.
#[derive(Serialize)]
pub struct Point {
    pub value: usize,
    pub products: u64,
    /// Number of multiplications of elements.
    pub multiplications: u64,
    pub ms: f64,
    pub methods: String,
}

impl Sweep {
    /// Times the choice along the sweep. The points of the sweep take turns.
    pub fn run<T: Field>(&self, lab: &Lab, most: u64) -> Result<Cliff> {
        match self.of_blocks {
            true => self.timed(lab, most, |of: Csc<T>, side| of.to_blocks(BlockShape::new(side, side)?)),
            false => self.timed(lab, most, |of: Csc<T>, _| Ok(of)),
        }
    }

    /// Times a sweep whose matrices are made from matrices of scalars.
    fn timed<M: Matrix, T: Field>(
        &self,
        lab: &Lab,
        most: u64,
        made: impl Fn(Csc<T>, usize) -> Result<M>,
    ) -> Result<Cliff> {
        let progress = lab.progress(&self.what);
        let (mut wrong, mut operands, mut points) = (0, Vec::new(), Vec::new());
        let factors = |value: usize| {
            let (a, b) = (self.make)(value, budget(most))?;
            Ok::<_, Error>((made(a.cast(), value)?, b.map(|b| made(b.cast(), value)).transpose()?))
        };
        for &value in &self.points {
            let (a, b) = factors(value)?;
            let want = reference::multiply(&a, b.as_ref().unwrap_or(&a))?;
            let uploaded = (lab.device.upload(&a)?, b.as_ref().map(|b| lab.device.upload(b)).transpose()?);
            let (c, report) = of(&uploaded).run_with_report()?;
            if !same(&c.download()?, &want) {
                wrong += 1;
                continue;
            }
            drop(c);
            of(&uploaded).run()?;
            let mut methods: Vec<_> = report.bins.iter().map(|bin| bin.method.name()).collect();
            methods.dedup();
            let (products, methods) = (report.products, methods.join(", "));
            let each = if self.of_blocks { (value as u64).pow(3) } else { 1 };
            points.push(Point { value, products, multiplications: products * each, ms: 0.0, methods });
            operands.push(uploaded);
        }
        let all: Vec<usize> = (0..points.len()).collect();
        let products: Vec<_> = operands.iter().map(|uploaded| of(uploaded).untimed()).collect();
        let run = |at: usize| Ok(products[at].run_with_report()?.1.total_ms);
        for (at, times) in lab.turns(&progress, &all, |at| in_turn(|| run(at)))? {
            points[at].ms = median(&times).ok_or_else(|| Error::Argument("no round".into()))?;
        }
        drop(products);
        drop(operands);
        let jumps = points.windows(2).map(|two| (jump(&two[0], &two[1]), [two[0].value, two[1].value]));
        let largest = jumps.max_by(|one, other| one.0.total_cmp(&other.0));
        let wanted = Wanted { variants: &Variant::all(), only_fast: true, explained: false };
        let side = |&value: &usize| {
            let (name, (a, b)) = (format!("{} of {}", value, self.what), factors(value)?);
            Contest::of(lab, [&name, &self.what], &a, b.as_ref(), wanted)
        };
        let steep = largest.as_ref().filter(|largest| largest.0 > STEEP).map_or(&[][..], |largest| &largest.1);
        let sides = steep.iter().map(side).collect::<Result<_>>()?;
        Ok(Cliff {
            what: self.what.clone(),
            points,
            jump: largest.map(|of| of.0),
            at: largest.map(|of| of.1[0]),
            sides,
            wrong,
        })
    }
}

type Uploaded<M> = (DeviceMatrix<M>, Option<DeviceMatrix<M>>);

fn of<M: Matrix>((a, b): &Uploaded<M>) -> Product<'_, DeviceMatrix<M>> {
    Product::of(a, b.as_ref().unwrap_or(a))
}

/// The fraction by which the ratio of two times is outside of the expected range. The expected
/// range is from 1 to the ratio of the multiplications.
fn jump(one: &Point, next: &Point) -> f64 {
    let grown = next.multiplications as f64 / one.multiplications.max(1) as f64;
    let ratio = next.ms / one.ms;
    (ratio / grown.max(1.0)).max(grown.min(1.0) / ratio).max(1.0) - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(multiplications: u64, ms: f64) -> Point {
        Point { value: 0, products: 1, multiplications, ms, methods: String::new() }
    }

    #[test]
    fn a_jump_is_what_neither_the_same_nor_a_proportional_time_explains() {
        let of = |[first, next]: [(u64, f64); 2]| jump(&point(first.0, first.1), &point(next.0, next.1));
        assert_eq!(of([(100, 2.0), (100, 2.0)]), 0.0);
        assert_eq!([of([(100, 2.0), (100, 3.0)]), of([(100, 3.0), (100, 2.0)])], [0.5, 0.5]);
        assert_eq!([of([(100, 2.0), (120, 2.0)]), of([(100, 2.0), (120, 2.4)])], [0.0, 0.0]);
        assert!((of([(100, 2.0), (120, 3.6)]) - 0.5).abs() < 1e-12);
        assert_eq!(of([(100, 2.0), (50, 0.5)]), 1.0);
    }
}
