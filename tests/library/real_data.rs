//! Real matrices, from the folder that `BLOCKMUL_DATA` names. If this variable is not set, these
//! tests print a line and pass. `tools/problems` multiplies matrices with more than a million
//! products; it runs the command compiled with optimisation.
use crate::common::{data, device, to_host};
use blockmul::{
    BlockShape, Cbc, Csc, Matrix, Result,
    error::ErrorKind,
    io::{ReadOptions, read},
    reference::{self, verify::verify},
};
use std::path::PathBuf;

/// Rows, columns, entries (with both halves of symmetric matrices), and products of A·A, or of A·Aᵀ
/// if A is not square. The numbers of the table are those that the collections list.
#[rustfmt::skip]
const MATRICES: [(&str, usize, usize, usize, u64); 17] = [
    ("Franz6_id1959_aug.mtx.gz", 10592, 3016, 48472, 964616),
    ("LFAT5.mtx", 14, 14, 46, 166),
    ("Tina_AskCal.mtx", 11, 11, 29, 65),
    ("ash219.mtx", 219, 85, 438, 2424),
    ("b1_ss.mtx", 7, 7, 15, 33),
    ("bayer10.mtx.gz", 13436, 13436, 94926, 663922),
    ("bcsstk01.mtx", 48, 48, 400, 3460),
    ("bcsstk09.mtx", 1083, 1083, 18437, 331973),
    ("bcsstm05.mtx", 153, 153, 153, 153),
    ("lp_afiro.mtx", 27, 51, 102, 264),
    ("p2p-Gnutella31.mtx.gz", 62586, 62586, 147892, 538318),
    ("plskz362_rb.mtx", 362, 362, 1760, 9112),
    ("pyamg_bar.mtx.gz", 600, 600, 23402, 962310),
    ("rajat19.mtx", 1157, 1157, 5399, 172261),
    ("west0479.mtx", 479, 479, 1910, 7587),
    ("wing.mtx.gz", 62032, 62032, 243088, 957396),
    ("zenios.mtx", 2873, 2873, 27191, 596993),
];

/// Number of multiplications and additions in A·A, from the paper's Table 1.
const FLOPS_OF_THE_PAPER: (&str, u64) = ("p2p-Gnutella31.mtx.gz", 539_035);

fn file(path: &str) -> Option<PathBuf> {
    let found = data(path);
    if found.is_none() {
        eprintln!("left out: {path} is not below BLOCKMUL_DATA");
    }
    found
}

/// Reads a matrix of the folder. If the folder does not have it, prints a line and returns `None`.
pub fn matrix(name: &str) -> Option<Csc<f64>> {
    file(&format!("matrix/{name}")).map(|path| read(&path, &ReadOptions::default()).unwrap().matrix)
}

fn same_bits<M: Matrix>(got: &M, want: &M) -> bool {
    let (got, want) = (got.as_cbc(), want.as_cbc());
    got.pattern == want.pattern
        && bytemuck::cast_slice::<_, u8>(got.values) == bytemuck::cast_slice::<_, u8>(want.values)
}

#[test]
fn every_product_is_the_reference_s_to_the_bit() -> Result<()> {
    for (name, rows, cols, entries, products) in MATRICES {
        let Some(a) = matrix(name) else { continue };
        assert_eq!((a.nrows(), a.ncols(), a.nnz()), (rows, cols, entries), "{name}");
        let transposed = (rows != cols).then(|| a.transpose());
        let b = transposed.as_ref().unwrap_or(&a);
        let want = reference::multiply(&a, b)?;
        let (c, report) = to_host(&device(), &a, b, |product| product)?;
        assert_eq!(report.products, products, "{name}");
        assert!(same_bits(&c, &want), "{name}");
        let (counted, flops) = FLOPS_OF_THE_PAPER;
        if name == counted {
            assert_eq!(2 * products - report.c_nnz, flops, "{name}: the paper's count");
        }
    }
    Ok(())
}

#[test]
fn block_products_are_within_the_bound_and_equal_to_the_bit() -> Result<()> {
    // The matrix has 48 rows and columns, so that every side of the blocks below divides them.
    let name = "bcsstk01.mtx";
    let Some(scalars) = matrix(name) else { return Ok(()) };
    let cases = [((3, 3), (3, 3)), ((2, 3), (3, 2)), ((6, 6), (6, 6)), ((8, 8), (8, 8)), ((24, 24), (24, 24))];
    for ((r, k), (l, c)) in cases {
        let (a, b): (Cbc<f64>, _) =
            (scalars.to_blocks(BlockShape::new(r, k)?)?, scalars.to_blocks(BlockShape::new(l, c)?)?);
        let (product, _) = to_host(&device(), &a, &b, |product| product)?;
        let verification = verify(&a, &b, &product)?;
        assert!(verification.passed && verification.bits_equal, "{name} in blocks of {r}x{k}: {verification:?}");
    }
    Ok(())
}

#[test]
fn a_product_too_large_is_a_memory_error_with_numbers_and_at_once() {
    // The product has 46500 x 46500 entries, 26 GB.
    let Some(a) = matrix("arrow.mtx.gz") else { return };
    let start = std::time::Instant::now();
    // The limit makes the library refuse the product even if the device has more memory than the
    // host.
    let refused = to_host(&device(), &a, &a, |product| product.memory_limit(1 << 26));
    let error = refused.map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Memory, "{error}");
    assert!(error.to_string().contains("bytes needed") && start.elapsed().as_secs() < 10, "{error}");
}
