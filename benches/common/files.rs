//! Matrices from the binary files of other programs.
use blockmul::{BlockShape, Bsr, Cbc, Csr, Pattern};
use std::{io::Read, path::Path};

/// A matrix in `BSR1` form, see [`read_blocks`], or in `BCSR0001` form: the magic, rows, columns and entries (`i64`), the block side and the kind of values (`i32`), offsets and
/// columns (`i32`), then `f32` (kind 1) or `f64` (kind 2) values. Without values (kind 0) they are made up from the number of the entry.
pub fn read_bcsr(path: &Path, shape: Option<BlockShape>) -> std::io::Result<Bsr<f64>> {
    let mut file = std::io::BufReader::new(std::fs::File::open(path)?);
    let other = |text: &str| std::io::Error::other(format!("{}: {text}", path.display()));
    let mut magic = [0; 8];
    file.read_exact(&mut magic)?;
    if magic == BSR_MAGIC.to_le_bytes() {
        return read_blocks(&mut file).map_err(|error| other(&error.to_string()));
    }
    if &magic != b"BCSR0001" {
        return Err(other("neither a BCSR0001 nor a BSR1 file"));
    }
    let sizes: Vec<i64> = words(&mut file, 3)?;
    let kinds: Vec<i32> = words(&mut file, 2)?;
    let (rows, cols, nnz) = (sizes[0] as usize, sizes[1] as usize, sizes[2] as usize);
    let row_ptr: Vec<u64> = words::<i32>(&mut file, rows + 1)?.into_iter().map(|p| p as u64).collect();
    let col_idx: Vec<u32> = words(&mut file, nnz)?;
    let values: Vec<f64> = match kinds[1] {
        0 => (0..nnz as u64).map(made_up).collect(),
        1 => words::<f32>(&mut file, nnz)?.into_iter().map(f64::from).collect(),
        _ => words(&mut file, nnz)?,
    };
    let side = kinds[0].max(1) as usize;
    let refused = |error: blockmul::Error| other(&error.to_string());
    let shape = shape.map_or_else(|| BlockShape::new(side, side), Ok).map_err(refused)?;
    let matrix = Csr::new(rows, cols, row_ptr, col_idx, values).map_err(refused)?;
    let transposed = matrix.into_transpose().to_blocks(shape.transpose()).map_err(refused)?;
    Ok(Bsr::from_transpose(transposed))
}

const BSR_MAGIC: i64 = 0x4253_5231;

/// The rest of a file of blocks, `BSR1`: rows, columns, blocks, rows and columns of a block (`i64`), offsets and columns (`i32`), `f64` values,
/// blocks row-major.
fn read_blocks(file: &mut impl Read) -> Result<Bsr<f64>, Box<dyn std::error::Error>> {
    let sizes = words::<i64>(file, 5)?;
    let [rows, cols, blocks, height, width] = [0, 1, 2, 3, 4].map(|i| sizes[i] as usize);
    let row_ptr = words::<i32>(file, rows + 1)?.into_iter().map(|p| p as u64).collect();
    let col_idx = words::<u32>(file, blocks)?;
    let values = words(file, blocks * height * width)?;
    let transpose = Cbc::new(Pattern::new(cols, rows, row_ptr, col_idx)?, BlockShape::new(width, height)?, values)?;
    Ok(Bsr::from_transpose(transpose))
}

fn made_up(entry: u64) -> f64 {
    0.5 + ((entry.wrapping_mul(2_654_435_761).wrapping_add(12_345) >> 7) & 1023) as f64 / 1024.0
}

fn words<T: bytemuck::Pod>(file: &mut impl Read, count: usize) -> std::io::Result<Vec<T>> {
    let mut words = vec![T::zeroed(); count];
    file.read_exact(bytemuck::cast_slice_mut(&mut words))?;
    Ok(words)
}
