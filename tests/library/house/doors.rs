//! Doors: the only files that may have items that are generic over elements and formats.
use super::source;
use std::{collections::BTreeSet, path::Path};

/// Rooms whose code is compiled once for all element types and formats of matrices.
const ERASED: [&str; 12] = [
    "apply",
    "device",
    "graph",
    "groups",
    "planned",
    "primitives",
    "product",
    "resident",
    "solver/schur",
    "spy",
    "structure",
    "vector",
];

/// Traits of element types and formats. Code that is generic over these traits is compiled for each
/// type.
const OF_TYPES: [&str; 12] = [
    "Arithmetic",
    "Element",
    "Field",
    "FieldOrAny",
    "HostMatrix",
    "Length",
    "Matrix",
    "OnDevice",
    "Plannable",
    "Real",
    "VectorElement",
    "Word",
];

/// The doors of the rooms that are compiled once: the files that have items that are generic over
/// such traits. The items of a door should check types and call code that is not generic. The test
/// only checks that no other file has items that are generic over these traits.
const DOORS: [&str; 64] = [
    "apply/gram.rs",
    "apply/gram/between.rs",
    "apply/gram/operands.rs",
    "apply/matvec.rs",
    "apply/options.rs",
    "apply/packed.rs",
    "apply/spmm/once.rs",
    "apply/spmm/options.rs",
    "apply/spmm/packed.rs",
    "apply/spmm/plan.rs",
    "apply/spmm/product.rs",
    "apply/spmm/stored.rs",
    "apply/spmm/stored/arrays.rs",
    "device/buffer.rs",
    "device/scratch.rs",
    "device/slot.rs",
    "device/source.rs",
    "device/work.rs",
    "device/work/copies.rs",
    "device/work/later.rs",
    "device/work/map.rs",
    "device/work/reads.rs",
    "device/work/seen.rs",
    "graph/functions.rs",
    "graph/lloyd.rs",
    "graph/paths.rs",
    "groups/device.rs",
    "groups/mod.rs",
    "planned/mod.rs",
    "planned/prepared.rs",
    "primitives/drop_entries.rs",
    "primitives/operator.rs",
    "primitives/scan.rs",
    "primitives/segmented_scan.rs",
    "product/estimate/product.rs",
    "product/plan/operand.rs",
    "product/plan/inputs.rs",
    "product/plan/kind.rs",
    "product/plan/mod.rs",
    "product/request.rs",
    "product/run.rs",
    "product/terms/weights.rs",
    "resident/cbc.rs",
    "resident/dense.rs",
    "resident/foreign.rs",
    "resident/matrix.rs",
    "resident/ocl.rs",
    "resident/vector.rs",
    "solver/schur/equations.rs",
    "solver/schur/form.rs",
    "solver/schur/formed.rs",
    "solver/schur/implicit.rs",
    "solver/schur/several.rs",
    "spy/mod.rs",
    "structure/add.rs",
    "structure/permute.rs",
    "structure/scalar_map.rs",
    "structure/scalars.rs",
    "structure/transpose.rs",
    "vector/arithmetic.rs",
    "vector/columns.rs",
    "vector/diagonal.rs",
    "vector/norms.rs",
    "vector/scaling.rs",
];

/// Whether some code has a bound with a trait of element types or formats.
fn has_bound(code: &str) -> bool {
    let of_name = |c: char| c.is_alphanumeric() || c == '_';
    let is_bound = |(at, name): (usize, &str)| {
        let (before, after) = (&code[..at], &code[at + name.len()..]);
        let is_word = !before.ends_with(of_name) && !after.starts_with(of_name);
        let before = before.trim_end_matches(|c| of_name(c) || c == ':');
        is_word && [": ", "+ ", "impl "].iter().any(|sign| before.ends_with(sign))
    };
    OF_TYPES.iter().any(|name| code.match_indices(name).any(is_bound))
}

#[test]
fn items_over_types_are_in_doors() {
    let of_room =
        |path: &Path| ERASED.iter().any(|room| path.starts_with(room) || path == Path::new(&format!("{room}.rs")));
    let files = source();
    let found: BTreeSet<_> = files
        .iter()
        .filter(|file| of_room(&file.path) && has_bound(&file.code))
        .map(|file| file.path.to_str().unwrap())
        .collect();
    assert_eq!(found, BTreeSet::from(DOORS));
    for (code, has) in [
        ("fn f<T: Element>(x: T) {}", true),
        ("impl<M: crate::Matrix<Element: Field>> S<M> {}", true),
        ("fn f(x: impl Matrix) {}", true),
        ("fn f<T>() where T: Word + Copy {}", true),
        ("struct S { element: ElementType, matrix: DeviceMatrix<Csc<f64>> }", false),
        ("use crate::{Element, Matrix};", false),
        ("struct S { matrix: ScratchMatrix }", false),
    ] {
        assert_eq!(has_bound(code), has, "{code}");
    }
}
