//! Values of options: block shapes, sizes, element types.
use blockmul::BlockShape;
use clap::ValueEnum;

/// The type of the elements.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ElementType {
    F64,
    F32,
    F16,
}

/// `RxK`, or `3` for 3x3.
pub fn block_shape(text: &str) -> Result<BlockShape, String> {
    let side = |word: &str| {
        word.parse::<usize>().map_err(|_| format!("\"{text}\" is not a block shape: give RxK, or 3 for 3x3"))
    };
    let (rows, cols) = match text.split_once(['x', 'X']) {
        Some((rows, cols)) => (side(rows)?, side(cols)?),
        None => (side(text)?, side(text)?),
    };
    BlockShape::new(rows, cols).map_err(|error| error.to_string())
}

/// Bytes, with an optional unit: `2GiB`, `500MB`, `4096`.
pub fn bytes(text: &str) -> Result<u64, String> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        "kb" => 1000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        other => return Err(format!("unknown unit \"{other}\", use KiB, MiB, GiB, TiB or KB, MB, GB, TB")),
    };
    let number: f64 = number.parse().map_err(|_| format!("\"{text}\" is not a number of bytes, such as 2GiB"))?;
    let bytes = number * factor as f64;
    if bytes >= 1.0 && bytes < u64::MAX as f64 {
        Ok(bytes as u64)
    } else {
        Err(format!("{text} is not a possible limit"))
    }
}

/// Bytes for a person.
pub fn human(bytes: u64) -> String {
    let units = [("GiB", 1u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match units.iter().find(|(_, size)| bytes >= *size) {
        Some((unit, size)) => format!("{:.1} {unit}", bytes as f64 / *size as f64),
        None => format!("{bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_and_sizes_are_read_as_people_write_them() {
        assert_eq!(block_shape("3"), Ok(BlockShape::new(3, 3).unwrap()));
        assert_eq!(block_shape("6x3"), Ok(BlockShape::new(6, 3).unwrap()));
        assert!(
            block_shape("6x").is_err()
                && block_shape("0").is_err()
                && block_shape("33x1").is_err()
                && block_shape("a").is_err()
        );
        assert_eq!(
            (bytes("2GiB"), bytes("1.5k"), bytes("7"), bytes("3 MB")),
            (Ok(2 << 30), Ok(1536), Ok(7), Ok(3_000_000))
        );
        assert!(bytes("x").is_err() && bytes("2 parsecs").is_err() && bytes("0").is_err() && bytes("-1").is_err());
        assert_eq!((human(3 << 30), human(100)), ("3.0 GiB".into(), "100 B".into()));
    }
}
