//! Tests that matrices are read back as they were written, and that malformed files are refused.
use super::*;
use crate::{Bsr, Cbc, Csc, Csr};

/// A file that is built from its parts.
struct File(Vec<u8>);

impl File {
    fn bcsr(sizes: [i64; 3], kinds: [i32; 2]) -> Self {
        Self(BCSR.to_vec()).longs(&sizes).ints(&kinds)
    }

    fn bsr(sizes: [i64; 5]) -> Self {
        Self(BSR.to_vec()).longs(&sizes)
    }

    fn longs(mut self, numbers: &[i64]) -> Self {
        numbers.iter().for_each(|number| self.0.extend(number.to_le_bytes()));
        self
    }

    fn ints(mut self, numbers: &[i32]) -> Self {
        numbers.iter().for_each(|number| self.0.extend(number.to_le_bytes()));
        self
    }

    fn doubles(mut self, numbers: &[f64]) -> Self {
        numbers.iter().for_each(|number| self.0.extend(number.to_le_bytes()));
        self
    }

    fn read(&self) -> Result<MatrixFile> {
        read_from(&self.0[..], "a.bin", &ReadOptions::default())
    }

    fn refusal(&self) -> String {
        self.read().unwrap_err().to_string()
    }
}

#[test]
fn scalars_of_every_kind() {
    let want =
        |values: [f64; 3]| Csc::from_triplets(2, 3, [(0, 0, values[0]), (0, 2, values[1]), (1, 1, values[2])]).unwrap();
    // The columns of a row may be in any order.
    let head = |kind| File::bcsr([2, 3, 3], [1, kind]).ints(&[0, 2, 3]).ints(&[2, 0, 1]);
    let file = head(0).read().unwrap();
    assert_eq!((file.matrix, file.field, file.layout), (want([1.0; 3]), ValueType::Pattern, None));
    let mut floats = head(1);
    [0.5f32, 1.5, -2.5].iter().for_each(|value| floats.0.extend(value.to_le_bytes()));
    assert_eq!(floats.read().unwrap().matrix, want([1.5, 0.5, -2.5]));
    let file = head(2).doubles(&[0.1, 0.2, 0.3]).read().unwrap();
    assert_eq!((file.matrix, file.field, file.stored), (want([0.2, 0.1, 0.3]), ValueType::Real, 3));
    assert_eq!((file.format, file.symmetry), (FileFormat::Binary, Symmetry::General));
    let sides = File::bcsr([2, 2, 0], [2, 0]).ints(&[0, 0, 0]).read().unwrap();
    assert_eq!(sides.layout, Some(BlockLayout::Uniform(BlockShape::new(2, 2).unwrap())));
    assert_eq!(File::bcsr([0, 0, 0], [0, 0]).ints(&[0]).read().unwrap().matrix.nnz(), 0);
}

#[test]
fn every_type_comes_back_plain_and_packed() {
    let shape = BlockShape::new(2, 3).unwrap();
    let scalars = Csc::from_triplets(4, 6, [(0, 1, 2.5), (3, 3, -1.0), (1, 5, 0.25)]).unwrap();
    let blocks: Cbc<f64> = scalars.to_blocks(shape).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str| crate::io::read(folder.path().join(name), &ReadOptions::default()).unwrap();
    for name in ["a.bin", "a.bsr", "a.bin.gz", "a.bin.bz2", "a.BSR"] {
        write(folder.path().join(name), &blocks).unwrap();
        let file = read(name);
        assert_eq!((file.matrix, file.layout), (blocks.to_scalars(), Some(BlockLayout::Uniform(shape))), "{name}");
    }
    write(folder.path().join("b.bin"), &Bsr::from_transpose(blocks.transpose())).unwrap();
    assert_eq!(read("b.bin").matrix, blocks.to_scalars());
    for name in ["c.bin", "c.bcsr", "c.bcsr.gz"] {
        write(folder.path().join(name), &scalars).unwrap();
        assert_eq!(read(name).matrix, scalars, "{name}");
        write(folder.path().join(name), &Csr::from_transpose(scalars.clone()).into_transpose().cast::<f32>()).unwrap();
        assert_eq!(read(name).layout, None, "{name}");
    }
    assert_eq!(std::fs::read(folder.path().join("c.bcsr")).unwrap()[..8], BCSR);
    let error = write(folder.path().join("b.bcsr"), &blocks).unwrap_err().to_string();
    assert!(error.contains("b.bcsr: BCSR0001 holds scalars"), "{error}");
}

#[test]
fn what_is_wrong_is_refused_with_its_place() {
    let bsr = |ends: &[i32], cols: &[i32]| File::bsr([2, 3, 2, 1, 2]).ints(ends).ints(cols).doubles(&[1.0; 4]);
    let big = i64::from(i32::MAX) + 1;
    for (file, reason) in [
        (File(b"BCSR".to_vec()), "magic: the file ends after 4 of 8 numbers"),
        (File(b"%%MatrixMarket".to_vec()), "magic: neither BCSR0001 nor BSR1"),
        (File(BSR.to_vec()).longs(&[1, 2]), "sizes: the file ends after 2 of 5 numbers"),
        (File::bsr([1, -2, 0, 1, 1]), "sizes: number 1 is -2"),
        (File::bsr([1, 1, 0, 0, 1]), "sizes: blocks of 0x1; sides are 1 to 32"),
        (File::bsr([1, 1, 0, 1, 33]), "sizes: blocks of 1x33; sides are 1 to 32"),
        (File::bsr([1, 1, 0, i64::MAX, 1]), "sizes: blocks of 9223372036854775807x1; sides are 1 to 32"),
        (File::bcsr([1, 1, 0], [-1, 0]), "sizes: blocks of -1x-1; sides are 1 to 32"),
        (File::bcsr([1, 1, 0], [1, 3]), "sizes: values of kind 3; there are 0, 1 and 2"),
        (File::bcsr([3, 4, 0], [2, 0]), "sizes: 3 x 4 is not made of blocks of 2x2"),
        (File::bsr([i64::MAX, 1, 0, 32, 1]), "sizes: 18446744073709551615 rows"),
        (File::bsr([1, 1 << 25, 0, 1, 1]), "sizes: 33554432 columns for 0 entries"),
        (File::bsr([1, 1, big, 1, 1]), "sizes: 2147483648 entries"),
        (bsr(&[1, 1, 2], &[0, 1]), "offset 0: 1, not 0"),
        (bsr(&[0, 2, 1], &[0, 1]), "offset 2: 1 after 2"),
        (bsr(&[0, 3, 2], &[0, 1]), "offset 2: 2 after 3"),
        (bsr(&[0, -1, 2], &[0, 1]), "offset 1: -1 after 0"),
        (bsr(&[0, 1, 3], &[0, 1]), "offset 2: 3, where there are 2 entries"),
        (bsr(&[0, 1, 2], &[0, 3]), "entry 1: column 3 of 3"),
        (bsr(&[0, 1, 2], &[-1, 2]), "entry 0: column -1 of 3"),
        (bsr(&[0, 0, 2], &[1, 1]), "row 1: column 1 stands twice"),
        (bsr(&[0, 1, 2], &[0, 1]).ints(&[7]), "end: the file goes on after the last value"),
        (File::bsr([2, 3, 2, 1, 2]).ints(&[0, 1, 2, 0]), "columns: the file ends after 1 of 2 numbers"),
    ] {
        let refusal = file.refusal();
        assert!(refusal.starts_with(&format!("a.bin: {reason}")), "{refusal}: {reason}");
    }
    let summed = ReadOptions { sum_duplicates: true, ..Default::default() };
    let file = read_from(&bsr(&[0, 0, 2], &[1, 1]).0[..], "a", &summed).unwrap();
    assert_eq!(file.matrix, Csc::from_triplets(2, 6, [(1, 2, 2.0), (1, 3, 2.0)]).unwrap());
}

/// A short file that claims two thousand million entries is refused, and no memory is allocated for
/// these entries.
#[test]
fn sizes_alone_get_no_memory() {
    let most = i64::from(i32::MAX);
    let refusal = File::bcsr([1, 1, most], [1, 2]).ints(&[0, i32::MAX]).refusal();
    assert!(refusal.contains("columns: the file ends after 0 of 2147483647"), "{refusal}");
    let refusal = File::bsr([most, most, most, 32, 32]).ints(&[0; 100]).refusal();
    assert!(refusal.contains("rows"), "{refusal}");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, &BSR).unwrap();
    let mut packed = packed.finish().unwrap();
    packed.truncate(packed.len() - 4);
    assert!(File(packed).refusal().starts_with("a.bin: "));
}

proptest::proptest! {
    #[test]
    fn no_bytes_panic(tail in proptest::collection::vec(proptest::num::u8::ANY, 0..200), small in proptest::collection::vec(0..5i64, 5)) {
        let _ = File(tail.clone()).read();
        let sizes: [i64; 5] = small.clone().try_into().unwrap();
        let mut file = File::bsr(sizes);
        file.0.extend(&tail);
        let _ = file.read();
        let mut file = File::bcsr([small[0], small[1], small[2]], [small[3] as i32, small[4] as i32]);
        file.0.extend(&tail);
        let _ = file.read();
    }
}
