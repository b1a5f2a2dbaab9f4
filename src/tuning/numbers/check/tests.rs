//! What is refused, and that every number has bounds.
use super::*;
use crate::tuning::tables::{CPU, GPU};

#[test]
fn numbers_that_cannot_be_are_refused_by_name() {
    let refused = |numbers: Numbers| numbers.check().unwrap_err().to_string();
    assert!(refused(Numbers { elementwise_group: 96, ..GPU }).contains("elementwise_group is 96, not a power of two"));
    assert!(refused(Numbers { tile_items: 0, ..GPU }).contains("tile_items is 0"));
    assert!(refused(Numbers { schur_group: 16, ..GPU }).contains("schur_group is 16, not a power of two from 32"));
    assert!(refused(Numbers { line_elements: 1025, ..CPU }).contains("line_elements is 1025, not from 1 to 1024"));
    assert!(refused(Numbers { expansion_short_max: 577, ..GPU }).contains("expansion_short_max is 577"));
    assert!(refused(Numbers { dense_copied_rows: 128, ..GPU }).contains("dense_copied_rows is 128, not from 1 to"));
    assert!(refused(Numbers { frontier_tile: 20, ..CPU }).contains("frontier_tile is 20, not a multiple of 8"));
    assert!(refused(Numbers { warp_instructions: 2, ..GPU }).contains("warp_instructions is 2, not from 0 to 1"));
    assert!(refused(Numbers { chunk_items: 9, ..GPU }).contains("chunk_items is 9, not an odd number up to 7"));
    assert!(
        refused(Numbers { adaptive_piece: 32, ..GPU }).contains("adaptive_piece is 32, not a power of two from 128")
    );
    let equal = Numbers { adaptive_equal_columns: 6, ..GPU };
    let why = "adaptive_equal_piece is 512, not from 64 to 365 if adaptive_equal_columns is 6";
    assert!(refused(equal).contains(why), "{}", refused(equal));
    assert!(refused(Numbers { adaptive_narrow_words: 1537, ..GPU }).contains("adaptive_narrow_words is 1537"));
}

/// Numbers whose product is a size: each alone is in its bounds.
#[test]
fn products_of_numbers_are_bounded() {
    let refused = |numbers: Numbers| numbers.check().unwrap_err().to_string();
    let why = refused(Numbers { scan_group_size: 512, ..CPU });
    assert!(why.contains("scan_group_size is 512, not a power of two from 1 to 64 if scan_items is 4096"), "{why}");
    for numbers in [
        Numbers { scan_items: 1 << 16, scan_group_size: 16, ..CPU },
        Numbers { scan_items: 1, ..CPU },
        Numbers { drop_scan_items: 1 << 16, ..CPU },
        Numbers { group_size: 1, drop_scan_items: 1, ..CPU },
    ] {
        assert!(refused(numbers).contains("_scan_items is") || refused(numbers).contains("scan_"));
    }
}

#[test]
fn every_number_has_bounds_and_none_overflows() {
    for table in [CPU, GPU] {
        let serde_json::Value::Object(all) = serde_json::to_value(table).unwrap() else { panic!("no object") };
        let bounds = table.bounds();
        let names = |names: Vec<&str>| names.into_iter().map(String::from).collect::<std::collections::BTreeSet<_>>();
        assert_eq!(names(bounds.iter().map(|bound| bound.name).collect()), all.keys().cloned().collect());
        for bound in &bounds {
            assert_eq!(all[bound.name], bound.value, "{}", bound.name);
            for value in [0, bound.least.wrapping_sub(1), bound.most + 1, usize::MAX] {
                let mut given = all.clone();
                given.insert(bound.name.into(), value.into());
                let refused = serde_json::from_value::<Numbers>(given.into()).unwrap().check().is_err();
                assert!(refused || bound.allows(value), "{} = {value}", bound.name);
            }
        }
        for value in [0, usize::MAX] {
            let given = all.keys().map(|name| (name.clone(), value.into())).collect();
            assert!(serde_json::from_value::<Numbers>(serde_json::Value::Object(given)).unwrap().check().is_err());
        }
    }
}
