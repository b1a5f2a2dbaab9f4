//! Tests that files are read back as they were written.
use super::*;

fn written<M: Matrix>(matrix: &M) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_to(&mut bytes, matrix, &Default::default()).unwrap();
    bytes
}

#[test]
fn files_are_whole_never_packed_and_the_same_every_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    let matrix = Csc::from_triplets(3, 4, [(0, 3, 5.0), (2, 1, 0.5)]).unwrap();
    write(&path, &matrix, &Default::default()).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), written(&matrix));
    let file = read(&path, &ReadOptions::default()).unwrap();
    assert_eq!(file.matrix, matrix);
    for ending in ["gz", "bz2"] {
        let packed = folder.path().join(format!("a.npz.{ending}"));
        let error = write(&packed, &matrix, &Default::default()).unwrap_err().to_string();
        let end = format!("a.npz.{ending}: an .npz is packed already, name it without .{ending}");
        assert!(error.ends_with(&end), "{error}");
        assert!(matches!(read(&packed, &ReadOptions::default()), Err(Error::Io { .. })));
    }
    assert!(matches!(read(folder.path(), &ReadOptions::default()), Err(Error::Io { .. })));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

fn comes_back<T: Element>(cbc: &Cbc<T>) {
    let read = |bytes: Vec<u8>| from_bytes(bytes, &ReadOptions::default()).unwrap();
    let scalars = cbc.to_scalars();
    let wide = scalars.cast::<f64>();
    for (bytes, expected) in [(written(&scalars), &wide), (written(&Csr::from_transpose(scalars)), &wide.transpose())] {
        let file = read(bytes);
        assert_eq!((&file.matrix, file.layout), (expected, None));
    }
    for (bytes, expected, shape) in [
        (written(cbc), &wide, cbc.shape()),
        (written(&cbc.with_alignment(64).unwrap()), &wide, cbc.shape()),
        (written(&Bsr::from_transpose(cbc.clone())), &wide.transpose(), cbc.shape().transpose()),
    ] {
        let file = read(bytes);
        assert_eq!(&file.matrix, expected);
        let has_blocks = cbc.nrows() > 0 && cbc.ncols() > 0;
        assert_eq!(file.layout.and_then(|layout| layout.uniform()), has_blocks.then_some(shape));
    }
}

#[test]
fn every_nan_has_the_same_bits() {
    let single = |nan: f64| Csc::from_triplets(1, 1, [(0, 0, nan)]).unwrap();
    let other = f64::from_bits(0xfff8_0000_0000_0001);
    assert!(written(&single(other)) == written(&single(f64::NAN)));
    assert!(written(&single(other).cast::<f32>()) == written(&single(f64::NAN).cast::<f32>()));
    let binary = |nan: f64| {
        let mut bytes = Vec::new();
        crate::io::binary::write_to(&mut bytes, &single(nan)).unwrap();
        bytes
    };
    assert_eq!(binary(other), binary(f64::NAN));
}

proptest! {
    #[test]
    fn any_matrix_of_any_type_comes_back(
        (grid, shape) in ((0..5usize, 0..5usize), (1..5usize, 1..5usize)),
        places in prop::collection::btree_map((0..5usize, 0..5usize), -8..8i8, 0..9),
        element in 0..3,
    ) {
        let inside = places.into_iter().filter(|((i, j), _)| *i < grid.0 && *j < grid.1);
        let shape = BlockShape::new(shape.0, shape.1).unwrap();
        let block = |seed: i8| {
            nalgebra::DMatrix::from_fn(shape.rows(), shape.cols(), |i, j| f64::from(seed) + i as f64 * 0.5 - j as f64)
        };
        let cbc = Cbc::from_triplets(grid.0, grid.1, shape, inside.map(|((i, j), seed)| (i, j, block(seed)))).unwrap();
        match element {
            0 => comes_back(&cbc),
            1 => comes_back(&cbc.cast::<f32>()),
            _ => comes_back(&cbc.cast::<f16>()),
        }
    }

    /// Tests that a damaged archive is read as a matrix, or causes an error that names the place.
    #[test]
    fn nothing_panics(
        raw in prop::collection::vec(any::<u8>(), 0..60),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        member in 0..5usize,
        sum_duplicates: bool,
    ) {
        let options = ReadOptions { sum_duplicates, ..Default::default() };
        let check = |bytes: Vec<u8>| match from_bytes(bytes, &options) {
            Err(Error::Malformed { .. }) | Ok(_) => Ok(()),
            Err(error) => Err(TestCaseError::fail(error.to_string())),
        };
        let members: Vec<_> = csr().iter().map(|array| (array.0, npy(array))).collect();
        let mutate = |bytes: &mut Vec<u8>| changes.iter().for_each(|(at, value)| *at.get_mut(bytes) = *value);
        // First a byte of the archive is damaged, then a byte of one member before it is archived.
        let mut whole = zipped(&members, CompressionMethod::Stored);
        mutate(&mut whole);
        check(whole)?;
        let mut inside = members.clone();
        mutate(&mut inside[member].1);
        check(zipped(&inside, CompressionMethod::Deflated))?;
        inside[member].1 = raw.clone();
        check(zipped(&inside, CompressionMethod::Stored))?;
        check(raw)?;
    }
}
