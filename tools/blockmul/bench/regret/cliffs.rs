//! Cliffs: products of generated matrices whose parameter steps across a threshold of the choice.
//! Where neighbours differ little, their times should.
use super::super::measure::{Bench, equal, in_turn};
use super::super::record::median;
use crate::messages::Unit;
use crate::patterns::{Factors, banded, drawn, single, skewed, uniform, uniform_blocks};
use blockmul::{
    BlockShape, Csc, Device, DeviceMatrix, Error, Matrix, Product, Result, element::Field, reference, tuning::Numbers,
};
use serde::Serialize;

/// Steps to either side of a threshold.
const STEPS: usize = 4;
/// Most products of a point: enough for thresholds in columns.
const MOST_PRODUCTS: u64 = 20_000_000;
/// Products of a point as a part of what a matrix may have: a sweep has many points.
const PART: u64 = 4;

/// A parameter that steps across a threshold.
pub struct Sweep {
    /// The parameter, and what decides by it.
    what: &'static str,
    points: Vec<usize>,
    /// Factors at a value of the parameter, with about so many products.
    make: Box<dyn Fn(usize, usize) -> Result<Factors>>,
    /// Whether the parameter is the side of the factors' blocks.
    of_blocks: bool,
}

/// The times along a sweep.
#[derive(Serialize)]
pub struct Cliff {
    pub what: &'static str,
    pub points: Vec<Point>,
    /// The largest jump between neighbours, and the value of the parameter before it.
    pub jump: Option<f64>,
    pub at: Option<usize>,
    /// Results that differ from the reference.
    pub wrong: usize,
}

/// The choice at one value of the parameter.
#[derive(Serialize)]
pub struct Point {
    pub value: usize,
    pub products: u64,
    /// Multiplications of elements.
    pub multiplications: u64,
    pub ms: f64,
    pub methods: String,
}

/// The sweeps of a device with these numbers, of at most so many products a matrix.
pub fn sweeps(numbers: &Numbers, most: u64) -> Vec<Sweep> {
    let around = |at: usize, step: usize| -> Vec<usize> {
        (0..=2 * STEPS).map(|k| (at + step * k).saturating_sub(step * STEPS)).filter(|&value| value > 0).collect()
    };
    let budget = budget(most);
    let narrow = 32 * numbers.adaptive_narrow_words;
    let sweep = |what, points, make: Box<dyn Fn(usize, usize) -> Result<Factors>>| {
        let of_blocks = false;
        Sweep { what, points, make, of_blocks }
    };
    let mut sweeps = Vec::new();
    for (what, at) in [
        ("products of a column, at 32", 32),
        ("products of a column, at 64", 64),
        ("products of a column, at 128", 128),
        ("products of a column, at 256", 256),
    ] {
        let step = (at / 32usize).max(2) & !1;
        sweeps.push(sweep(what, around(at, step), Box::new(move |p, products| columns([narrow, 2, p / 2], products))));
    }
    let (long, few) = (numbers.adaptive_long_column, numbers.adaptive_few_columns);
    sweeps.push(sweep(
        "products of a few hundred columns, at the longest that are sorted if they are few",
        around(long, 4),
        Box::new(move |p, products| columns([narrow, 4, p / 4], products.min(300 * p))),
    ));
    let entries = long / 4 + 8;
    if (few * 4 * entries) as u64 <= most {
        sweeps.push(sweep(
            "columns, at the fewest that are sorted if they are long",
            around(few, few / 64),
            Box::new(move |cols, _| columns([narrow, 4, entries], cols * 4 * entries)),
        ));
    }
    for (what, words) in [
        ("rows in the range of a column, at a narrow one", numbers.adaptive_narrow_words),
        ("rows in the range of a column, at a medium one", numbers.adaptive_medium_words),
        ("rows in the range of a column, at a window of a wide one", numbers.adaptive_wide_words),
        ("rows in the range of a column, at the most windows", WINDOWS * numbers.adaptive_wide_words),
    ] {
        let points = around(32 * words, (words / 32).max(1) * 32);
        sweeps.push(sweep(what, points, Box::new(|rows, products| columns([rows, 16, 32], products))));
    }
    let big = numbers.adaptive_big_products;
    sweeps.push(sweep(
        "products of a column, at many",
        around(big, 256),
        Box::new(|p, products| columns([1 << 14, 128, p / 128], products)),
    ));
    sweeps.push(sweep(
        "entries of a column of B, at a hub",
        around(numbers.adaptive_hub_entries, 2),
        Box::new(move |entries, products| columns([narrow, 8, entries], products)),
    ));
    sweeps.push(sweep(
        "products of an entry of B, at a hub",
        around(numbers.adaptive_hub_average, 2),
        Box::new(move |average, products| columns([1 << 14, average, 160], products)),
    ));
    let (far, far_rows) = (numbers.adaptive_far_products, 64 * numbers.adaptive_far_words);
    sweeps.push(sweep(
        "products of a column with rows far apart, at the most that are hashed",
        around(far, 64),
        Box::new(move |p, products| columns([far_rows, 64, p / 64], products)),
    ));
    let shares = vec![0, 1, 2, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90];
    sweeps.push(sweep("products of 100 in one column", shares, Box::new(|share, products| skewed(products, 8, share))));
    // From a thousand products on, four sizes for each that doubles, until the host takes none.
    let most = if numbers.host_entries > 0 { budget.max(PAST_HOST) } else { budget };
    let sizes =
        |most| (40..).map(|k: i32| 2f64.powf(f64::from(k) / 4.0) as usize).take_while(move |&size| size <= most);
    sweeps.push(sweep("products in all", sizes(most).collect(), Box::new(|products, _| uniform(products / 64, 8))));
    if numbers.host_entries > 0 {
        sweeps.extend(host_sweeps(numbers, sizes(PAST_HOST).collect()));
    }
    let of_blocks = |what, columns| Sweep {
        what,
        points: (1..=8).collect(),
        make: Box::new(move |side, _| Ok((uniform_blocks(columns, 4, side)?, None))),
        of_blocks: true,
    };
    sweeps.push(of_blocks("side of blocks, of 1600 products", 100));
    sweeps.push(of_blocks("side of blocks, of 16,000 products", 1000));
    sweeps
}

/// Products that no host computes faster than the device.
const PAST_HOST: usize = 200_000;

/// Sweeps past the sizes up to which the host computes a product.
fn host_sweeps(numbers: &Numbers, sizes: Vec<usize>) -> Vec<Sweep> {
    let sweep = |what, points, make: fn(usize, usize) -> Result<Factors>| {
        let of_blocks = false;
        Sweep { what, points, make: Box::new(make), of_blocks }
    };
    // A and its columns, beside the 2100 entries and columns of a B of 2000 products.
    let read = (numbers.host_entries / 2).saturating_sub(1050);
    let around = (0..=2 * STEPS).map(|k| (read + 400 * k).saturating_sub(400 * STEPS).max(20)).collect();
    vec![
        sweep("products in all, of a band", sizes.clone(), |products, _| {
            Ok((banded((products / 289).max(17), 8)?, None))
        }),
        sweep("products in all, of columns with one", sizes, |products, _| single(products / 8)),
        sweep("columns of A, at the most that the host reads", around, |columns, _| {
            Ok((drawn([columns, columns], 1)?, Some(drawn([columns, 100], 20)?)))
        }),
    ]
}

/// Windows of rows beyond which bitmaps are too many.
const WINDOWS: usize = 16;

/// Products of a point.
fn budget(most: u64) -> usize {
    (most / PART).clamp(1, MOST_PRODUCTS) as usize
}

/// A with so many entries in each column, B with so many, and as many columns of B as give the
/// products.
fn columns([rows, of_a, of_b]: [usize; 3], products: usize) -> Result<Factors> {
    let of_b = of_b.max(1);
    let cols = (products / (of_a * of_b)).max(1);
    let inner = INNER.min(cols * of_b).max(of_b);
    Ok((drawn([rows, inner], of_a)?, Some(drawn([inner, cols], of_b)?)))
}

/// Most columns of A: so few that a wide range of rows does not make A large.
const INNER: usize = 4096;

impl Sweep {
    /// Times the choice along the sweep, its points in turn.
    pub fn run<T: Field>(&self, bench: &Bench<'_>, device: &Device, most: u64) -> Result<Cliff> {
        match self.of_blocks {
            true => self.timed(bench, device, most, |of: Csc<T>, side| of.to_blocks(BlockShape::new(side, side)?)),
            false => self.timed(bench, device, most, |of: Csc<T>, _| Ok(of)),
        }
    }

    /// The same of matrices that are made of those of scalars.
    fn timed<M: Matrix, T: Field>(
        &self,
        bench: &Bench<'_>,
        device: &Device,
        most: u64,
        made: impl Fn(Csc<T>, usize) -> Result<M>,
    ) -> Result<Cliff> {
        let progress = bench.messages.measured(self.what, Unit::Runs);
        let (mut wrong, mut operands, mut points) = (0, Vec::new(), Vec::new());
        for &value in &self.points {
            let (a, b) = (self.make)(value, budget(most))?;
            let (a, b) = (made(a.cast(), value)?, b.map(|b| made(b.cast(), value)).transpose()?);
            let want = reference::multiply(&a, b.as_ref().unwrap_or(&a))?;
            let uploaded = (device.upload(&a)?, b.as_ref().map(|b| device.upload(b)).transpose()?);
            let (c, report) = of(&uploaded).run_with_report()?;
            if !equal(&c.download()?, &want) {
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
        let rounds = bench.patience.rounds(&progress, &mut || {
            let run = |uploaded: &Uploaded<M>| {
                let product = of(uploaded).untimed();
                in_turn(|| Ok(product.run_with_report()?.1.total_ms))
            };
            operands.iter().map(run).collect::<Result<Vec<f64>>>()
        })?;
        for (at, point) in points.iter_mut().enumerate() {
            let times: Vec<f64> = rounds.iter().map(|round| round[at]).collect();
            point.ms = median(&times).ok_or_else(|| Error::Argument("no round".into()))?;
        }
        let jumps = points.windows(2).map(|two| (jump(&two[0], &two[1]), two[0].value));
        let largest = jumps.max_by(|one, other| one.0.total_cmp(&other.0));
        Ok(Cliff { what: self.what, points, jump: largest.map(|of| of.0), at: largest.map(|of| of.1), wrong })
    }
}

type Uploaded<M> = (DeviceMatrix<M>, Option<DeviceMatrix<M>>);

fn of<M: Matrix>((a, b): &Uploaded<M>) -> Product<'_, DeviceMatrix<M>> {
    Product::of(a, b.as_ref().unwrap_or(a))
}

/// By how much the time of a step leaves what is expected, as a part: between the same time and one
/// in proportion to the multiplications.
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

    #[test]
    fn sweeps_cross_their_thresholds_and_have_the_products() -> Result<()> {
        let device = Device::select(&std::env::var("BLOCKMUL_TEST_DEVICE").unwrap_or("auto".into()))?;
        let mut numbers = device.info().numbers();
        (numbers.host_entries, numbers.host_multiplication_ps) = (40_000, 2500);
        let sweeps = sweeps(&numbers, 400_000);
        assert!(sweeps.len() > 16 && sweeps.iter().filter(|sweep| sweep.of_blocks).count() == 2);
        for sweep in &sweeps {
            assert!(sweep.points.is_sorted() && sweep.points.len() >= 7, "{}: {:?}", sweep.what, sweep.points);
            let (a, b) = (sweep.make)(sweep.points[STEPS], budget(400_000))?;
            let of_a_block = if sweep.of_blocks { (sweep.points[STEPS] as u64).pow(3) } else { 1 };
            let products = reference::products(&a, b.as_ref().unwrap_or(&a)) / of_a_block;
            assert!((900..=200_000).contains(&products), "{}: {products}", sweep.what);
        }
        let hub = sweeps.iter().find(|sweep| sweep.what.contains("of B, at a hub")).expect("a sweep");
        assert!(hub.points.contains(&numbers.adaptive_hub_entries));
        Ok(())
    }
}
