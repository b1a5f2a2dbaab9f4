//! Writes values with the fewest digits that give the same bits when read.
use std::io::{self, Write};

use crate::element::{AnySlice, ElementType};

/// Appends the number `values[at]`, with an exponent if that is shorter than the plain notation.
/// NaN is written as `nan` without a sign, because its sign bit depends on the device that computed
/// it.
pub(crate) fn append(text: &mut Vec<u8>, values: AnySlice<'_>, at: usize) -> io::Result<()> {
    let (wide, element) = (values.number(at), values.element());
    if wide.is_nan() {
        text.extend_from_slice(b"nan");
        return Ok(());
    }
    if wide.is_infinite() {
        return write!(text, "{}inf", if wide < 0.0 { "-" } else { "" });
    }
    if !element.is_real() {
        // All digits of an integer are written. A larger number with fewer digits would also be
        // read as the largest integer, because reading saturates, but it would be another number.
        text.extend_from_slice(itoa::Buffer::new().format(wide as i64).as_bytes());
        return Ok(());
    }
    let start = text.len();
    match values {
        AnySlice::F64(_) => {
            append_shortest(text, wide);
            return Ok(());
        }
        AnySlice::F32(values) => {
            append_shortest(text, values[at]);
            if reads_back(&text[start..], wide, element) {
                return Ok(());
            }
            text.truncate(start);
        }
        _ => {}
    }
    // Digits of an element type that the standard library does not know are added until the value
    // is read back with the same bits. 17 digits suffice for any f64.
    for digits in 0..17 {
        append_shortest(text, format!("{wide:.digits$e}").parse().unwrap_or(wide));
        if reads_back(&text[start..], wide, element) {
            break;
        }
        text.truncate(start);
    }
    Ok(())
}

/// Appends a value in its shortest form. `1.0` is written as `1`, because whole numbers are common
/// and all readers of the format accept this form.
fn append_shortest(text: &mut Vec<u8>, value: impl zmij::Float) {
    let mut buffer = zmij::Buffer::new();
    let digits = buffer.format_finite(value);
    text.extend_from_slice(digits.strip_suffix(".0").unwrap_or(digits).as_bytes());
}

/// Whether the digits, read as `f64` and then rounded to the element type, give `value`. Rounding
/// twice can differ from rounding once.
fn reads_back(text: &[u8], value: f64, element: ElementType) -> bool {
    fast_float2::parse::<f64, _>(text).is_ok_and(|wide| element.nearest(wide) == value)
}

#[cfg(test)]
mod tests {
    use half::f16;
    use proptest::prelude::*;

    use crate::io::matrix_market::{read_from, write_to};
    use crate::io::{ReadOptions, one_nan};
    use crate::{Csc, Element, Matrix, Pattern};

    /// A matrix with one column that holds `values`.
    fn column<T: Element>(values: Vec<T>) -> Csc<T> {
        let rows = values.len() as u32;
        let pattern = Pattern::new(rows as usize, 1, vec![0, rows.into()], (0..rows).collect()).unwrap();
        Csc::new(pattern, values).unwrap()
    }

    /// Writes and reads the matrix and returns its values as `T`.
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
        // The 11 significant bits of an `f16` need at most ceil(1 + 11 log10(2)) = 5 digits.
        assert_eq!(longest.max(), Some(5));
    }

    #[test]
    fn digits_are_those_of_the_type() {
        let digits = |text: Vec<u8>| {
            String::from_utf8(text).unwrap().lines().skip(2).map(|l| l[4..].to_owned()).collect::<Vec<_>>()
        };
        let mut text = Vec::new();
        let values = vec![0.1, -0.0, 1e16, 12345678.5, f64::MIN_POSITIVE, f64::from_bits(1), -f64::NAN, -f64::INFINITY];
        write_to(&mut text, &column(values), &Default::default()).unwrap();
        let expected = ["0.1", "-0", "1e+16", "12345678.5", "2.2250738585072014e-308", "5e-324", "nan", "-inf"];
        assert_eq!(digits(text), expected);
        let mut text = Vec::new();
        write_to(&mut text, &column(vec![0.1f32, 16777216.0, f32::from_bits(1), f32::MAX]), &Default::default())
            .unwrap();
        assert_eq!(digits(text), ["0.1", "16777216", "1e-45", "3.4028235e+38"]);
        let mut text = Vec::new();
        write_to(&mut text, &column(vec![f16::from_f32(0.1), f16::MAX, f16::from_bits(1)]), &Default::default())
            .unwrap();
        assert_eq!(digits(text), ["0.1", "65500", "6e-8"]);
        let mut text = Vec::new();
        write_to(&mut text, &column(vec![i32::MIN, i32::MAX, 0, 1_000_000]), &Default::default()).unwrap();
        assert_eq!(digits(text), ["-2147483648", "2147483647", "0", "1000000"]);
    }

    proptest! {
        #[test]
        fn any_f64_and_f32_come_back_to_the_bit(
            wide in prop::collection::vec(prop_oneof![any::<u64>(), 0..1u64 << 53, Just(1 << 63)], 0..40),
            narrow in prop::collection::vec(any::<u32>(), 0..40),
        ) {
            // Files keep neither the sign nor the payload of a NaN.
            let wide: Vec<_> = wide.into_iter().map(|bits| one_nan(f64::from_bits(bits))).collect();
            let back = there_and_back(&column(wide.clone()));
            prop_assert!(wide.iter().zip(&back).all(|(a, b)| a.to_bits() == b.to_bits()), "{:?} {:?}", wide, back);
            let narrow: Vec<_> = narrow.into_iter().map(f32::from_bits).filter(|value| !value.is_nan()).collect();
            let back = there_and_back(&column(narrow.clone()));
            prop_assert!(narrow.iter().zip(&back).all(|(a, b)| a.to_bits() == b.to_bits()), "{:?} {:?}", narrow, back);
        }
    }
}
