//! Products of all kinds have the bits of the reference: shapes of blocks, sides, elements,
//! algebras, and numbers of devices.
use super::*;

/// Tests groups of every number of lines, and slots that stage fewer or more entries than a group
/// has.
#[test]
fn lines_of_a_group_and_staged_entries_change_no_bit() -> Result<()> {
    let device = test_device();
    let a = Csr::from_transpose(scalars::<f64>(67, 43, &[(9, 43), (10, 43), (11, 40), (40, 43)])?);
    for numbers in numbers(&device) {
        let lines = [1, 2, 3, 4, 8, 16, 32].map(|lines| (lines, 32));
        let staged = [64, 128, 256, 512, 1024].map(|staged| (4, staged));
        for (dense_group_lines, dense_staged) in lines.into_iter().chain(staged).chain([(32, 1024)]) {
            let numbers = DenseNumbers { dense_group_lines, dense_staged, ..numbers };
            check(&device, &a, Case { method: DenseMethod::Gcoo, ..plain(3, numbers) })?;
        }
    }
    Ok(())
}

/// Numbers that are set for a device replace the numbers of the table. Numbers that no kernel
/// supports are refused.
#[test]
fn plans_take_the_numbers_of_their_device() -> Result<()> {
    let with = |lines: usize| {
        let numbers = format!(r#"{{"dense_group_lines": {lines}}}"#);
        test_device().info().with_file(&format!(r#"{{"cpu": {numbers}, "gpu": {numbers}}}"#))
    };
    let pattern = Device::open(&with(7)?)?.upload(&scalars::<f32>(23, 19, &[])?)?.pattern();
    let plan = ApplyDense::<Csc<f32>>::with(&pattern, 3).method(DenseMethod::Gcoo).plan()?;
    assert!(plan.why().contains("groups of 7 rows"));
    let refused = with(33).unwrap_err().to_string();
    assert!(refused.ends_with(": dense_group_lines is 33, not from 1 to 32"), "{refused}");
    Ok(())
}

/// Tests C and D of various sizes that a CPU writes past its caches. Rows are about 8 elements
/// long, with lines in pieces between them, and begin at aligned and unaligned addresses.
#[test]
fn large_results_pass_the_caches() -> Result<()> {
    let device = test_device();
    let [cpu, _] = numbers(&device);
    let scalars = scalars::<f64>(150, 1100, &[(20, 1090), (63, 1090), (64, 1090)])?;
    let blocks = matrix::<f32>(50, 40, BlockShape::new(3, 2)?, &[])?;
    for dense_past_bytes in [0, usize::MAX] {
        let numbers = DenseNumbers { dense_past_bytes, ..cpu };
        // Two passes, by 32 and by 8 columns. Columns are 152, 8 and 150 elements apart.
        for (n, gap) in [(40, 2), (8, 0)] {
            for layout in Layout::ALL {
                let case = Case { fresh: true, gap, layouts: [*layout; 2], ..plain(n, numbers) };
                check(&device, &scalars, case)?;
                check(&device, &blocks, case)?;
            }
        }
    }
    Ok(())
}

/// Tests rows and columns of A on either side, with A's arrays by columns and by rows. Long lines
/// have one piece, two, and three.
#[test]
fn both_sides_transposes_and_long_lines() -> Result<()> {
    let device = test_device();
    let a = scalars::<f32>(70, 2600, &[(3, 1024), (4, 1025), (40, 2049), (69, 2600)])?;
    let by_rows = Csr::from_transpose(a.clone());
    for numbers in numbers(&device) {
        for &method in DenseMethod::ALL {
            for (side, transposed) in
                [(Side::Left, false), (Side::Left, true), (Side::Right, false), (Side::Right, true)]
            {
                let case = Case { side, transposed, method, ..plain(5, numbers) };
                check(&device, &a, case)?;
                check(&device, &a, Case { packed: true, layouts: [Layout::ByRows, Layout::ByColumns], ..case })?;
                check(&device, &by_rows, Case { packed: transposed, layouts: [Layout::ByColumns; 2], ..case })?;
            }
        }
    }
    Ok(())
}

#[test]
fn blocks_of_all_shapes() -> Result<()> {
    let device = test_device();
    for (r, k, method) in [
        (2, 3, DenseMethod::Rows),
        (6, 6, DenseMethod::Rows),
        (9, 1, DenseMethod::Rows),
        (2, 3, DenseMethod::Gcoo),
        (3, 9, DenseMethod::Gcoo),
        (9, 1, DenseMethod::Gcoo),
    ] {
        let a = matrix::<f64>(30, 1100, BlockShape::new(r, k)?, &[(5, 1030)])?;
        let by_rows = Bsr::from_transpose(a.clone());
        for numbers in numbers(&device) {
            for (side, transposed) in [(Side::Left, false), (Side::Left, true), (Side::Right, false)] {
                let case = Case { side, transposed, method, ..plain(6, numbers) };
                let layouts = [Layout::ByRows, if transposed { Layout::ByColumns } else { Layout::ByRows }];
                check(&device, &a, Case { packed: transposed, layouts, ..case })?;
                check(&device, &by_rows, Case { packed: side == Side::Right, gap: 2, ..case })?;
            }
        }
    }
    Ok(())
}

/// Tests more columns than a slot takes, for pieces of long lines and for tiles. Tests blocks
/// deeper than the number of rows of D that are loaded at once, and caches that keep all of D or a
/// part of it.
#[test]
fn shares_of_columns_and_deep_blocks() -> Result<()> {
    let device = test_device();
    let [_, gpu] = numbers(&device);
    let (scalars, deep) =
        (scalars::<f64>(40, 1100, &[(7, 1090)])?, matrix::<f64>(20, 200, BlockShape::new(3, 9)?, &[(4, 199)])?);
    for c_layout in [Layout::ByRows, Layout::ByColumns] {
        let case = |cache| Case {
            layouts: [Layout::ByRows, c_layout],
            ..plain(70, DenseNumbers { dense_cache_bytes: cache, ..gpu })
        };
        // 64 columns of doubles fit; 70 columns do not.
        for cache in [gpu.dense_cache_bytes, 1100 * 65 * 8] {
            for &method in DenseMethod::ALL {
                check(&device, &scalars, Case { method, ..case(cache) })?;
            }
        }
        for cache in [gpu.dense_cache_bytes, 1800 * 65 * 8] {
            for &method in DenseMethod::ALL {
                check(&device, &deep, Case { method, ..case(cache) })?;
            }
        }
        for cache in [gpu.dense_cache_bytes, 60 * 65 * 8] {
            check(&device, &deep, Case { transposed: true, ..case(cache) })?;
        }
    }
    Ok(())
}

/// Tests elements that are stored and computed in different types, integers, and algebras with
/// another start value, empty sum or order of factors.
#[test]
fn semirings_and_elements() -> Result<()> {
    let device = test_device();
    fn one<T: Element>(device: &Device, semiring: Semiring, numbers: DenseNumbers) -> Result<()> {
        let a = scalars::<T>(40, 1100, &[(2, 1090)])?;
        let case = Case { semiring, ..plain(18, numbers) };
        for &method in DenseMethod::ALL {
            check(device, &a, Case { method, ..case })?;
        }
        let layouts = [Layout::ByColumns, Layout::ByRows];
        check(device, &a, Case { side: Side::Right, transposed: true, layouts, ..case })
    }
    let [cpu, gpu] = numbers(&device);
    one::<f64>(&device, Semiring::MinPlus, cpu)?;
    one::<f32>(&device, Semiring::PlusFirst, gpu)?;
    one::<half::f16>(&device, Semiring::PlusTimes, cpu)?;
    one::<half::f16>(&device, Semiring::PlusTimes, gpu)?;
    one::<u32>(&device, Semiring::MaxMin, cpu)?;
    one::<i32>(&device, Semiring::PlusSecond, gpu)?;
    one::<u8>(&device, Semiring::OrAnd, cpu)?;
    one::<u8>(&device, Semiring::OrAnd, gpu)?;
    let blocks = matrix::<f32>(20, 30, BlockShape::new(2, 2)?, &[])?;
    let case = Case { semiring: Semiring::MinPlus, method: DenseMethod::Gcoo, ..plain(6, gpu) };
    check(&device, &blocks, case)
}

#[test]
fn matrices_without_elements() -> Result<()> {
    let device = test_device();
    for (rows, cols, n) in [(0, 5, 3), (5, 0, 3), (5, 7, 0), (0, 0, 0), (1, 1, 1)] {
        let a = Csc::<f64>::from_triplets(rows, cols, [])?;
        for numbers in numbers(&device) {
            for &method in DenseMethod::ALL {
                let case = Case { method, ..plain(n, numbers) };
                check(&device, &a, case)?;
                check(&device, &a, Case { side: Side::Right, layouts: [Layout::ByColumns; 2], ..case })?;
            }
        }
    }
    Ok(())
}
