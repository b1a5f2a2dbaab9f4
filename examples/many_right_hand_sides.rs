//! Solves A·X = B by conjugate gradients for 16 right-hand sides, all at once and then one after
//! another. A is a five-point stencil on a square grid, whose side is the argument.
use blockmul::{Csc, Device, solver::ConjugateGradients};
use nalgebra::DMatrix;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let side: usize = std::env::args().nth(1).map_or(Ok(100), |side| side.parse())?;
    let device = Device::auto()?;
    let n = side * side;
    let entries = (0..n).flat_map(|at| {
        let beside = (at % side + 1 < side).then_some(at + 1);
        let below = (at + side < n).then_some(at + side);
        let pairs = beside.into_iter().chain(below).flat_map(move |other| [(at, other, -1.0), (other, at, -1.0)]);
        std::iter::once((at, at, 4.01)).chain(pairs)
    });
    let a = device.upload(&Csc::from_triplets(n, n, entries)?)?;
    let b = DMatrix::from_fn(n, 16, |row, col| f64::from(u8::from(row % (col + 2) == 0)));

    let at_once = ConjugateGradients::new(&a.pattern(), 16)?.limits(1e-8, 1000);
    let alone = ConjugateGradients::new(&a.pattern(), 1)?.limits(1e-8, 1000);
    let whole = device.upload_dense(&b)?;
    let columns = (0..16).map(|col| device.upload_dense(&b.columns(col, 1).into_owned()));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    at_once.solve(&a, &whole)?; // compiles kernels and allocates memory
    alone.solve(&a, &columns[0])?;

    let start = Instant::now();
    let (x, solved) = at_once.solve(&a, &whole)?;
    let of_all = start.elapsed();
    let start = Instant::now();
    let one_by_one = columns.iter().map(|b| alone.solve(&a, b)).collect::<Result<Vec<_>, _>>()?;
    let of_each = start.elapsed();

    let (x, steps) = (x.download()?, solved.iter().map(|column| column.steps).max().unwrap_or(0));
    for (col, (one, end)) in one_by_one.iter().enumerate() {
        let same = one.download()?.iter().zip(&x.column(col)).all(|(one, of_all)| one.to_bits() == of_all.to_bits());
        assert!(end[0].converged && same, "column {col}");
    }
    println!("{n} unknowns, 16 right-hand sides, up to {steps} steps on {}", device.info().name);
    println!("at once {of_all:.1?}, one after another {of_each:.1?}, every bit the same");
    Ok(())
}
