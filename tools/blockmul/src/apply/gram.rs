//! y = Jᵀ·(W·(J·x)) for the J that is A, or its transpose.
use super::Args;
use super::report;
use super::run::{Applied, Run, Took, executed, options, run};
use crate::dense::DenseOperand;
use crate::failure::Failure;
use crate::gram::{HostWeights, OnHost, borrow, upload};
use crate::input::{self, Reading};
use crate::messages::Messages;
use crate::overflow::{Converted, Overflow};
use crate::report::Size;
use crate::symmetric::{Halves, entries};
use crate::wrapping::{Sums, magnitude, whole};
use blockmul::{
    BlockShape, Csc, Device, DeviceVector, Planned,
    element::{AnyValues, ElementType, Order},
    matrix::AnyMatrix,
    plan::{GramOperands, WeighedVector},
    product::Weights,
};
use std::{path::Path, time::Instant};

/// The product with J and that with Jᵀ, and the weights between them.
struct Gram {
    weights: Option<HostWeights>,
}

/// Multiplies, with the weights of a file if there is one.
pub fn multiply(
    args: &Args,
    (a, converted): (&Halves, Converted),
    x: &DenseOperand,
    messages: &Messages,
) -> Result<(), Failure> {
    let size = Size::of(&a.whole);
    let rows = if args.transpose { (size.cols(), size.block[1]) } else { (size.rows(), size.block[0]) };
    let weights = args
        .weights
        .as_ref()
        .map(|path| read(path, x.matrix.element(), rows, (&args.reading, messages)))
        .transpose()?;
    let (weights, of_weights) = weights.unzip();
    let of_vectors = x.converted.and(of_weights.unwrap_or(Converted::EXACT));
    let overflow = Overflow::of_operands(converted, of_vectors);
    run(args, &Gram { weights }, a, (x.matrix.values(), overflow), messages)
}

impl Gram {
    fn on_host<'a>(&'a self, args: &Args, a: &'a AnyMatrix, x: &'a AnyValues) -> OnHost<'a> {
        let weights = self.weights.as_ref();
        OnHost { semiring: args.semiring, transposed: args.transpose, a, weights, x }
    }
}

impl Applied for Gram {
    fn turns(&self) -> u64 {
        2
    }

    fn y_len(&self, args: &Args, a: &Size) -> usize {
        if args.transpose { a.rows() } else { a.cols() }
    }

    fn on_device(&self, args: &Args, device: &Device, a: &AnyMatrix, x: &AnyValues) -> Result<Run, Failure> {
        let (j, x) = (device.upload(a)?, device.upload_any_vector(x)?);
        let weights = self.weights.as_ref().map(|weights| upload(device, weights)).transpose()?;
        let weights = weights.as_ref().map(borrow);
        device.finish()?;
        let clock = Instant::now();
        let options = options(args, &j);
        if args.repeat.is_some() {
            let packed = options.pack_gram(&j)?;
            let operands = || weights.map_or_else(|| WeighedVector::from(&x), |weights| (weights, &x).into());
            let run = |y: &mut DeviceVector<_>| Ok(packed.execute_with_report(operands(), y)?.total_ms);
            let formats = packed.products().map(|product| (product.format(), product.why().to_owned()));
            return executed((device, clock, args.repeat), (formats.into(), packed.cost()), packed.output()?, run);
        }
        let plan = options.gram()?;
        let operands = || weights.map_or_else(|| GramOperands::from((&j, &x)), |weights| (&j, weights, &x).into());
        let run = |y: &mut DeviceVector<_>| Ok(plan.execute_with_report(operands(), y)?.total_ms);
        let formats = plan.products().map(|product| (product.format(), product.why().to_owned()));
        executed((device, clock, None), (formats.into(), plan.cost()), plan.output()?, run)
    }

    fn by_reference(&self, args: &Args, a: &AnyMatrix, x: &AnyValues) -> Result<AnyValues, Failure> {
        Ok(self.on_host(args, a, x).product([Order::Ascending; 2])?)
    }

    fn wrong(&self, args: &Args, a: &AnyMatrix, x: &AnyValues, run: &Run) -> Result<usize, Failure> {
        Ok(self.on_host(args, a, x).wrong(&run.y, [0, 1].map(|turn| run.took.format(turn)))?)
    }

    fn bound(&self, args: &Args, sums: Sums, a: &AnyMatrix, x: &AnyValues) -> f64 {
        let of_j = sums.bound_of_vectors(a, args.transpose, magnitude(x.numbers()));
        let weighed = self.weights.as_ref().map_or(of_j, |weights| of_j * most_weight(weights));
        sums.bound_of_vectors(a, !args.transpose, weighed)
    }

    fn exact(&self, args: &Args, sums: Sums, a: &AnyMatrix, x: &AnyValues) -> Option<Vec<i128>> {
        let size = Size::of(a);
        let [rows, cols] = if args.transpose { [size.cols(), size.rows()] } else { [size.rows(), size.cols()] };
        let of_j = self.weights.is_none().then(|| sums.exact(a, args.transpose, rows, |k| whole(x.number(k))))?;
        Some(sums.exact(a, !args.transpose, cols, |k| of_j[k]))
    }

    fn gram(&self, took: &Took) -> Option<report::Gram> {
        let weights = self.weights.as_ref().map(|weights| match weights {
            Weights::Information(_) | Weights::Scaled { .. } => "blocks",
            Weights::BlockRows(_) => "block-rows",
            Weights::Rows(_) => "rows",
        });
        Some(report::Gram::new(weights, took))
    }
}

/// The most by which weights of integers enlarge a number.
fn most_weight(weights: &HostWeights) -> f64 {
    let most = |vector: &AnyValues| magnitude(vector.numbers());
    let of_blocks = |matrix: &AnyMatrix| matrix.shape().cols() as f64 * most(matrix.values());
    match weights {
        Weights::Information(information) => of_blocks(information),
        Weights::Scaled { information, weights } => of_blocks(information) * most(weights),
        Weights::BlockRows(weights) | Weights::Rows(weights) => most(weights),
    }
}

/// Weights of a file for a J of `n` rows, in blocks with `side` rows: a vector, with a number for
/// each row of J or of its blocks, or a matrix with blocks of `side` rows on its diagonal.
fn read(
    path: &Path,
    element: ElementType,
    (n, side): (usize, usize),
    (reading, messages): (&Reading, &Messages),
) -> Result<(HostWeights, Converted), Failure> {
    let w = input::read_any(path, reading, messages)?.matrix;
    let converted = input::check_cast(element, &w, ("W", path), messages)?;
    let vector = || AnyValues::F64(w.to_dense().as_slice().to_vec()).cast(element);
    let weights = match (w.nrows(), w.ncols()) {
        (found, 1) if found == n => Weights::Rows(vector()),
        (found, 1) if found * side == n => Weights::BlockRows(vector()),
        (nrows, ncols) if nrows == n && ncols == n => Weights::Information(on_diagonal(&w, side)?.cast(element)),
        (nrows, ncols) => {
            let (of_blocks, diagonal) = match side {
                1 => (String::new(), "and diagonal".to_owned()),
                side => (format!(", {} x 1", n / side), format!("with blocks of {side}x{side} on its diagonal")),
            };
            let wanted = format!("{n} x 1{of_blocks} or {n} x {n} {diagonal}");
            let path = path.display();
            return Err(Failure::Usage(format!("{path}: W is {nrows} x {ncols}, for {n} rows of J it is {wanted}")));
        }
    };
    Ok((weights, converted))
}

/// The blocks on the diagonal of a matrix that has entries in them alone. Places without an entry
/// are 0.
fn on_diagonal(w: &Csc<f64>, side: usize) -> Result<AnyMatrix, Failure> {
    if let Some((row, col, _)) = entries(w).find(|(row, col, _)| row / side != col / side) {
        let place = format!("W has an entry at row {}, column {}", row + 1, col + 1);
        let why = match side {
            1 => "outside its diagonal; --block cuts J into blocks, as high as those of W".into(),
            side => format!("outside the blocks of {side}x{side} on its diagonal"),
        };
        return Err(Failure::Usage(format!("{place}, {why}")));
    }
    let is_empty = |&i: &usize| w.pattern().column(i).binary_search(&(i as u32)).is_err();
    let zeros = (0..w.ncols()).filter(is_empty).map(|i| (i, i, 0.0));
    let whole = Csc::from_triplets(w.nrows(), w.ncols(), entries(w).chain(zeros))?;
    Ok(input::cut(whole.into(), Some(BlockShape::new(side, side)?))?)
}
