//! Writing: coordinate real general, every entry on a line, the fewest digits that read back to the same bits.
use std::any::Any;
use std::io::{self, Write};
use std::path::Path;

use crate::io::{WriteOptions, output::write_whole};
use crate::{Element, Matrix, Result, matrix::CbcView};

/// Writes `matrix` to the file at `path`, gzip when the name ends in `.gz`, in place of what was there once it is whole.
///
/// Values have the fewest digits of their own type (`f16` 0.1 is `0.1`) from which [`read`](super::read) and
/// [`Element::from_f64`] make the same bits; -0, infinities and NaN included, but of a NaN only its sign.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) with the path; a file that was there is then as it was.
pub fn write<M: Matrix>(path: impl AsRef<Path>, matrix: &M, options: &WriteOptions) -> Result<()> {
    write_whole(path.as_ref(), |writer| write_to(writer, matrix, options))
}

/// Writes `matrix` as [`write()`] does, plain, to anything; a few KiB at a time, so `writer` need not be buffered.
///
/// Every element of a block is written, zeros too.
///
/// # Errors
/// Those of `writer`.
pub fn write_to<M: Matrix>(mut writer: impl Write, matrix: &M, _options: &WriteOptions) -> io::Result<()> {
    const BUFFER_BYTES: usize = 1 << 16;
    let CbcView { pattern, shape, .. } = matrix.as_cbc();
    let (rows, cols) = (shape.rows(), shape.cols());
    let oriented = |row: u64, col: u64| if M::ROW_MAJOR { (col, row) } else { (row, col) };
    let (nrows, ncols) = oriented((pattern.nrows() * rows) as u64, (pattern.ncols() * cols) as u64);
    let mut text = Vec::with_capacity(BUFFER_BYTES + 128);
    writeln!(text, "%%MatrixMarket matrix coordinate real general")?;
    writeln!(text, "{nrows} {ncols} {}", pattern.nnz() * shape.area())?;
    for (block_col, inner) in (0..pattern.ncols()).flat_map(|block_col| (0..cols).map(move |inner| (block_col, inner)))
    {
        for entry in pattern.entries(block_col) {
            let first = pattern.row_idx()[entry] as usize * rows;
            for (i, &value) in matrix.as_cbc().block(entry)[inner * rows..][..rows].iter().enumerate() {
                let (row, col) = oriented((first + i) as u64, (block_col * cols + inner) as u64);
                write!(text, "{} {} ", row + 1, col + 1)?;
                write_value(&mut text, value)?;
                text.push(b'\n');
                if text.len() >= BUFFER_BYTES {
                    writer.write_all(&text)?;
                    text.clear();
                }
            }
        }
    }
    writer.write_all(&text)
}

pub(in crate::io) fn write_value<T: Element>(text: &mut Vec<u8>, value: T) -> io::Result<()> {
    let wide = value.to_f64();
    if wide.is_nan() {
        return write!(text, "{}nan", if wide.is_sign_negative() { "-" } else { "" });
    }
    if wide.is_infinite() {
        return write!(text, "{}inf", if wide < 0.0 { "-" } else { "" });
    }
    // Plain where that is short; the shortest digits of both notations are the same.
    let plain = wide == 0.0 || (1e-5..1e16).contains(&wide.abs());
    if (&value as &dyn Any).is::<f64>() {
        return if plain { write!(text, "{wide}") } else { write!(text, "{wide:e}") };
    }
    let start = text.len();
    if let Some(&narrow) = (&value as &dyn Any).downcast_ref::<f32>() {
        if plain { write!(text, "{narrow}") } else { write!(text, "{narrow:e}") }?;
        if reads_back(&text[start..], value) {
            return Ok(());
        }
        text.truncate(start);
    }
    // Types the standard library does not know: more digits until they are enough; 17 are for any f64.
    for digits in 0..17 {
        let rounded: f64 = format!("{wide:.digits$e}").parse().unwrap_or(wide);
        if plain { write!(text, "{rounded}") } else { write!(text, "{rounded:e}") }?;
        if reads_back(&text[start..], value) {
            break;
        }
        text.truncate(start);
    }
    Ok(())
}

/// Whether the digits, read as `f64` and rounded from there to `T`, give `value`. Rounding twice can differ from once.
fn reads_back<T: Element>(text: &[u8], value: T) -> bool {
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).is_some_and(|wide| T::from_f64(wide) == value)
}

#[cfg(test)]
mod tests {
    use half::f16;
    use proptest::prelude::*;

    use super::*;
    use crate::io::{ReadOptions, matrix_market::read_from};
    use crate::{Csc, Pattern};

    /// A matrix of one column holding `values`.
    fn column<T: Element>(values: Vec<T>) -> Csc<T> {
        let rows = values.len() as u32;
        let pattern = Pattern::new(rows as usize, 1, vec![0, rows.into()], (0..rows).collect()).unwrap();
        Csc::new(pattern, values).unwrap()
    }

    /// The values after writing and reading, in `T`.
    fn there_and_back<T: Element>(matrix: &Csc<T>) -> Vec<T> {
        let mut text = Vec::new();
        write_to(&mut text, matrix, &Default::default()).unwrap();
        let file = read_from(&text[..], "t", &ReadOptions::default()).unwrap();
        assert_eq!(file.matrix.pattern(), matrix.as_cbc().pattern);
        file.matrix.values().iter().map(|&value| T::from_f64(value)).collect()
    }

    #[test]
    fn every_f16_comes_back_in_few_digits() {
        let all: Vec<_> = (0..=u16::MAX).map(f16::from_bits).filter(|value| !value.is_nan()).collect();
        let back = there_and_back(&column(all.clone()));
        assert!(all.iter().zip(&back).all(|(a, b)| a.to_bits() == b.to_bits()));
        let mut text = Vec::new();
        write_to(&mut text, &column(all), &Default::default()).unwrap();
        let text = String::from_utf8(text).unwrap();
        let longest = text.lines().skip(2).map(|line| {
            let mantissa = line.split(' ').nth(2).unwrap().split('e').next().unwrap();
            mantissa.trim_start_matches(['-', '0', '.']).trim_end_matches('0').replace('.', "").len()
        });
        // 11 bits need at most ceil(1 + 11 log10(2)) = 5 digits.
        assert_eq!(longest.max(), Some(5));
    }

    #[test]
    fn digits_are_those_of_the_type() {
        let digits = |text: Vec<u8>| {
            String::from_utf8(text).unwrap().lines().skip(2).map(|l| l[4..].to_owned()).collect::<Vec<_>>()
        };
        let mut text = Vec::new();
        let values = vec![0.1, -0.0, 1e16, 12345678.5, f64::MIN_POSITIVE, f64::from_bits(1), f64::NAN, -f64::INFINITY];
        write_to(&mut text, &column(values), &Default::default()).unwrap();
        let expected = ["0.1", "-0", "1e16", "12345678.5", "2.2250738585072014e-308", "5e-324", "nan", "-inf"];
        assert_eq!(digits(text), expected);
        let mut text = Vec::new();
        write_to(&mut text, &column(vec![0.1f32, 16777216.0, f32::from_bits(1), f32::MAX]), &Default::default())
            .unwrap();
        assert_eq!(digits(text), ["0.1", "16777216", "1e-45", "3.4028235e38"]);
        let mut text = Vec::new();
        write_to(&mut text, &column(vec![f16::from_f32(0.1), f16::MAX, f16::from_bits(1)]), &Default::default())
            .unwrap();
        assert_eq!(digits(text), ["0.1", "65500", "6e-8"]);
    }

    proptest! {
        #[test]
        fn any_f64_and_f32_come_back_to_the_bit(
            wide in prop::collection::vec(prop_oneof![any::<u64>(), 0..1u64 << 53, Just(1 << 63)], 0..40),
            narrow in prop::collection::vec(any::<u32>(), 0..40),
        ) {
            // Text keeps the sign of a NaN, not its other bits.
            let one_nan = |value: f64| if value.is_nan() { f64::NAN.copysign(value) } else { value };
            let wide: Vec<_> = wide.into_iter().map(|bits| one_nan(f64::from_bits(bits))).collect();
            let back = there_and_back(&column(wide.clone()));
            prop_assert!(wide.iter().zip(&back).all(|(a, b)| a.to_bits() == b.to_bits()), "{:?} {:?}", wide, back);
            let narrow: Vec<_> = narrow.into_iter().map(f32::from_bits).filter(|value| !value.is_nan()).collect();
            let back = there_and_back(&column(narrow.clone()));
            prop_assert!(narrow.iter().zip(&back).all(|(a, b)| a.to_bits() == b.to_bits()), "{:?} {:?}", narrow, back);
        }
    }
}
