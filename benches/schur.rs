//! The Schur complement of a bundle adjustment, stage by stage: 9x3 and 6x3 blocks.
//!
//! ```text
//! cargo bench --bench schur -- [--device NAME] [--no-reference] [CAMERASxPOINTSxVIEWS ...]
//! ```
//!
//! Every result is compared with the reference, bit for bit, before it is timed.
#[path = "common/median.rs"]
mod median;

use blockmul::{
    BlockShape, Cbc, Device, Planned,
    element::Real,
    generate::{self, Values},
    reference,
    solver::{Damping, Elimination, NormalEquations},
};
use median::median;
use nalgebra::DMatrix;
use std::time::Instant;

const ROUNDS: usize = 11;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut sizes, mut wanted, mut check) = (Vec::new(), "auto".to_owned(), true);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--device" => wanted = args.next().ok_or("--device needs a name")?,
            "--no-reference" => check = false,
            "--bench" => {}
            _ => sizes.push(arg.split('x').map(str::parse).collect::<Result<Vec<usize>, _>>()?),
        }
    }
    if sizes.is_empty() {
        sizes = vec![vec![50, 8_000, 5], vec![500, 100_000, 6]];
    }
    let device = Device::select(&wanted)?;
    println!("{}, milliseconds, medians of {ROUNDS}", device.info().name);
    println!(
        "{:<20} {:>5} {:>4} {:>9} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "cameras x points",
        "block",
        "",
        "products",
        "nnz(S)",
        "execute",
        "factor",
        "solve",
        "product",
        "base",
        "rhs",
        "back"
    );
    for size in sizes {
        let [cameras, points, views] = size[..] else { return Err("sizes are CAMERASxPOINTSxVIEWS".into()) };
        for c in [9, 6] {
            let w = generate::bundle_adjustment(cameras, points, views, BlockShape::new(c, 3)?, Values::Real, 1)?;
            // Heavy diagonals: U and V as large as what is seen makes them.
            let diagonal = |n: usize, side: usize, weight: f64| {
                let block = DMatrix::from_fn(side, side, |i, j| if i == j { weight } else { 0.1 });
                Cbc::from_triplets(n, n, BlockShape::new(side, side)?, (0..n).map(|i| (i, i, block.clone())))
            };
            let u = diagonal(cameras, c, (points * views / cameras) as f64 * 10.0)?;
            let v = diagonal(points, 3, views as f64 * 10.0)?;
            measure::<f64>(&device, (&u, &w, &v), check)?;
            measure::<f32>(&device, (&u.cast(), &w.cast(), &v.cast()), check)?;
        }
    }
    Ok(())
}

fn measure<T: Real>(device: &Device, (u, w, v): (&Cbc<T>, &Cbc<T>, &Cbc<T>), check: bool) -> blockmul::Result<()> {
    let ones = |n: usize| vec![T::one(); n];
    let (b_c, b_p) = (ones(u.scalar_rows()), ones(v.scalar_rows()));
    let (du, dw, dv) = (device.upload(u)?, device.upload(w)?, device.upload(v)?);
    let (dc, dp) = (device.upload_vector(&b_c)?, device.upload_vector(&b_p)?);
    let plan = Elimination::formed(&du.pattern(), &dw.pattern(), &dv.pattern())?;
    let mut reduced = plan.output()?;
    let damping = Damping::Marquardt(1e-4);
    let equations = NormalEquations { u: &du, w: &dw, v: &dv, b_c: &dc, b_p: &dp, damping };
    let mut x_p = device.zero_vector(b_p.len())?;
    plan.execute(equations, &mut reduced)?;
    plan.back_substitute(&reduced, &dc, &mut x_p)?;
    if check {
        let want = reference::schur(u, w, v, &b_c, &b_p, damping)?;
        let bits = |values: &[T]| bytemuck::cast_slice::<T, u8>(values).to_vec();
        assert!(bits(reduced.s()?.download()?.values()) == bits(want.s.values()), "S is not the reference's");
        assert!(bits(&reduced.rhs()?.download()?) == bits(&want.rhs), "r is not the reference's");
        assert!(bits(&x_p.download()?) == bits(&want.back_substitute(&b_c)?), "x_p is not the reference's");
    }
    let (mut total, mut back, mut stages) = (vec![], vec![], vec![vec![]; 5]);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        plan.execute(equations, &mut reduced)?;
        device.finish()?;
        total.push(start.elapsed().as_secs_f64() * 1e3);
        reduced.check()?;
        let start = Instant::now();
        plan.back_substitute(&reduced, &dc, &mut x_p)?;
        device.finish()?;
        back.push(start.elapsed().as_secs_f64() * 1e3);
        let times = plan.execute_with_report(equations, &mut reduced)?.stages;
        times.iter().zip(&mut stages).for_each(|(time, all)| all.push(time.ms.unwrap_or(f64::NAN)));
    }
    print!("{:<20} {:>5} {:>4}", format!("{} x {}", u.ncols(), v.ncols()), w.shape().to_string(), T::NAME);
    print!(" {:>9} {:>8} {:>8.3}", plan.cost().products, plan.pattern().nnz(), median(total));
    stages.into_iter().for_each(|times| print!(" {:>8.3}", median(times)));
    println!(" {:>8.3}", median(back));
    Ok(())
}
