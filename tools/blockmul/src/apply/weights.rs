//! W of `apply --gram`: weights from a file.
use crate::failure::Failure;
use crate::input::{self, Reading};
use crate::messages::Messages;
use crate::overflow::Converted;
use blockmul::{
    BlockShape, Csc,
    element::{AnyValues, ElementType},
    matrix::AnyMatrix,
    product::Weights,
};
use std::path::Path;

/// Weights on the host.
pub type HostWeights = Weights<AnyMatrix, AnyValues>;

/// The kind of weights in a report.
pub fn kind(weights: &HostWeights) -> &'static str {
    match weights {
        Weights::Information(_) | Weights::Scaled { .. } => "blocks",
        Weights::BlockRows(_) => "block-rows",
        Weights::Rows(_) => "rows",
    }
}

/// The largest factor by which weights can increase the magnitude of an integer.
pub fn most(weights: &HostWeights) -> f64 {
    let of_blocks = |matrix: &AnyMatrix| matrix.shape().cols() as f64 * matrix.values().magnitude();
    match weights {
        Weights::Information(information) => of_blocks(information),
        Weights::Scaled { information, weights } => of_blocks(information) * weights.magnitude(),
        Weights::BlockRows(weights) | Weights::Rows(weights) => weights.magnitude(),
    }
}

/// Reads weights for a J of `n` rows, whose blocks have `side` rows. The file contains a vector,
/// with a number for each row of J or for each row of blocks, or a matrix with blocks of `side`
/// rows on its diagonal.
pub fn read(
    path: &Path,
    element: ElementType,
    (n, side): (usize, usize),
    reading: &Reading,
    messages: &Messages,
) -> Result<(HostWeights, Converted), Failure> {
    let w = input::read_any(path, reading, messages)?.matrix;
    let converted = input::check_cast(element, &w, "W", path, messages)?;
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

/// The blocks on the diagonal of a matrix; fails if there are entries elsewhere. Places of a block
/// without an entry become 0.
fn on_diagonal(w: &Csc<f64>, side: usize) -> Result<AnyMatrix, Failure> {
    if let Some((row, col, _)) = w.entries().find(|(row, col, _)| row / side != col / side) {
        let place = format!("W has an entry at row {}, column {}", row + 1, col + 1);
        let why = match side {
            1 => "outside its diagonal; --block cuts J into blocks, as high as those of W".into(),
            side => format!("outside the blocks of {side}x{side} on its diagonal"),
        };
        return Err(Failure::Usage(format!("{place}, {why}")));
    }
    let is_empty = |&i: &usize| w.pattern().column(i).binary_search(&(i as u32)).is_err();
    let zeros = (0..w.ncols()).filter(is_empty).map(|i| (i, i, 0.0));
    let whole = Csc::from_triplets(w.nrows(), w.ncols(), w.entries().chain(zeros))?;
    Ok(input::cut(whole.into(), Some(BlockShape::new(side, side)?))?)
}
