//! Vectors in files: Matrix Market arrays, and NumPy's `.npy`.
use crate::failure::Failure;
use crate::input;
use crate::messages::Messages;
use crate::output::{is_standard, write_filled};
use blockmul::Element;
use half::f16;
use npyz::{DType, NpyFile, TypeChar};
use std::{fs::File, io::BufReader, path::Path};

/// Reads a vector: a matrix of one column in any format that matrices have, or an array in a file
/// that ends in `.npy`.
pub fn read<T: Element>(path: &Path, len: usize, messages: &Messages) -> Result<Vec<T>, Failure> {
    if is_numpy(path) {
        return Ok(read_numpy(path, len)?.into_iter().map(T::from_f64).collect());
    }
    let file = input::read(path, false, messages)?;
    let x = input::cast_numbers::<T>(&file.matrix, "X", messages)?;
    let (rows, cols) = (x.pattern().nrows(), x.pattern().ncols());
    check_shape(path, (rows as u64, cols as u64), len)?;
    let mut values = vec![T::from_f64(0.0); len];
    for (&row, &value) in x.pattern().row_idx().iter().zip(x.values()) {
        values[row as usize] = value;
    }
    Ok(values)
}

fn check_shape(path: &Path, (rows, cols): (u64, u64), len: usize) -> Result<(), Failure> {
    let refusal = match (rows == len as u64, cols) {
        (true, 1) => return Ok(()),
        (true, _) => "one column at a time is multiplied".into(),
        (false, _) => format!("a vector of {len} x 1 is expected"),
    };
    Err(Failure::Usage(format!("{}: X is {rows} x {cols}, {refusal}", path.display())))
}

/// Reads an array of one axis, or of one column, of floating-point numbers.
fn read_numpy(path: &Path, len: usize) -> Result<Vec<f64>, Failure> {
    let refused = |reason: &dyn std::fmt::Display| Failure::Usage(format!("{}: {reason}", path.display()));
    let file = File::open(path).map_err(|error| refused(&error))?;
    let array = NpyFile::new(BufReader::new(file)).map_err(|error| refused(&error))?;
    match *array.shape() {
        [rows] => check_shape(path, (rows, 1), len)?,
        [rows, cols] => check_shape(path, (rows, cols), len)?,
        ref shape => return Err(refused(&format!("X has {} axes, 1 or 2 are expected", shape.len()))),
    }
    let kind = match array.dtype() {
        DType::Plain(kind) if kind.type_char() == TypeChar::Float => kind.size_field(),
        kind => return Err(refused(&format!("X has elements of type {}, not f8, f4 or f2", kind.descr()))),
    };
    let values = match kind {
        8 => array.into_vec::<f64>(),
        4 => array.into_vec::<f32>().map(|values| values.into_iter().map(f64::from).collect()),
        _ => array.into_vec::<f16>().map(|values| values.into_iter().map(f64::from).collect()),
    };
    values.map_err(|error| refused(&error))
}

/// Refuses a name whose ending names no format of vectors.
pub fn check_name(path: &Path) -> Result<(), Failure> {
    match is_standard(path) || is_numpy(path) || has_ending(path, "mtx") {
        true => Ok(()),
        false => Err(Failure::Usage(format!(
            "{}: vectors are written to .mtx (Matrix Market) and .npy (NumPy)",
            path.display()
        ))),
    }
}

/// Writes a vector: to `.npy` in little-endian numbers of its element, else, and for `-`, as a
/// Matrix Market array with the fewest digits that read back.
pub fn write<T: Element>(path: &Path, values: &[T]) -> Result<(), Failure> {
    write_filled(path, |writer| match is_numpy(path) {
        true => {
            let descr = match (T::NAME.as_bytes()[0], size_of::<T>()) {
                (kind, 1) => format!("|{}1", char::from(kind)),
                (kind, bytes) => format!("<{}{bytes}", char::from(kind)),
            };
            let dictionary = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({},), }}", values.len());
            // Magic, version and length take 10 bytes. The header ends with a newline at a multiple
            // of 64 bytes.
            let length = (10 + dictionary.len() + 1).next_multiple_of(64) - 10;
            writer.write_all(b"\x93NUMPY\x01\x00")?;
            writer.write_all(&(length as u16).to_le_bytes())?;
            writeln!(writer, "{dictionary:<width$}", width = length - 1)?;
            writer.write_all(bytemuck::cast_slice(values))
        }
        false => {
            let field = if T::ARITHMETIC_ROUNDOFF == 0.0 { "integer" } else { "real" };
            writeln!(writer, "%%MatrixMarket matrix array {field} general\n{} 1", values.len())?;
            values.iter().try_for_each(|value| writeln!(writer, "{value:?}"))
        }
    })
}

fn is_numpy(path: &Path) -> bool {
    has_ending(path, "npy")
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}
