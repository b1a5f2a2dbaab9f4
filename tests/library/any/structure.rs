//! Changes of structure and values, for matrices whose element type and format are known only at
//! run time.
use super::{formats, refused};
use crate::common::device;
use blockmul::{
    BlockShape, Csc, Csr, Part, Planned, Result,
    element::{AnyValues, ElementType},
    extra::spy::Raster,
    graph::{self, ShortestPaths},
    matrix::{AnyMatrix, Threshold, add_any},
    plan::{Accum, Add, Diagonal, Norms, Permute, ScalarMap, Scalars, Transpose},
    reference,
};

/// Returns the numbers 0, 1 and 2 in turn.
fn numbers(element: ElementType, len: usize) -> Result<AnyValues> {
    let column = Csc::from_triplets(len, 1, (0..len).map(|i| (i, 0, (i % 3) as f64)))?;
    Ok(AnyMatrix::from(column).cast(element).into_parts().1)
}

/// The product AᵀA, which is symmetric.
fn symmetric(a: &AnyMatrix) -> Result<AnyMatrix> {
    let wide = a.cast(ElementType::F64);
    Ok(reference::gram(&wide, Part::Full)?.cast(a.element()))
}

#[test]
fn structure_changes_as_on_the_host() -> Result<()> {
    let device = device();
    for &element in ElementType::ALL {
        for a in formats(element)? {
            let what = format!("{:?} of {element}", a.kind());
            let on_device = device.upload(&a)?;
            let transposed = on_device.transposed()?;
            assert_eq!((transposed.kind(), transposed.element()), (a.kind(), element));
            let plan = Transpose::of(&transposed)?;
            let mut again = plan.output()?;
            plan.execute(&transposed, &mut again)?;
            assert_eq!(again.download()?, a, "{what}, transposed twice");

            let plan = Add::of(&on_device, &transposed)?;
            let mut c = plan.output()?;
            plan.execute([(2.0, &on_device), (1.0, &transposed)], &mut c)?;
            assert_eq!(c.download()?, add_any(2.0, &a, 1.0, &transposed.download()?)?, "{what}, added");

            let [rows, cols] = [a.nrows(), a.ncols()].map(|n| (0..n).rev().collect::<Vec<_>>());
            let plan = Permute::of(&on_device, &rows, &cols)?;
            let mut turned = plan.output()?;
            plan.execute(&on_device, &mut turned)?;
            let plan = Permute::of(&turned, &rows, &cols)?;
            let mut c = plan.output()?;
            plan.execute(&turned, &mut c)?;
            assert_eq!(c.download()?, a, "{what}, permuted twice");

            let diagonal = Diagonal::of(&on_device)?;
            let (mut d, mut scalars) = (diagonal.output()?, diagonal.scalars().output()?);
            diagonal.execute(&on_device, &mut d)?;
            assert_eq!(d.download()?, reference::diagonal(&a)?, "{what}, diagonal");
            diagonal.scalars().execute(&on_device, &mut scalars)?;
            assert_eq!((scalars.element(), scalars.len()), (element, 60));
            assert_eq!(Raster::of(&on_device, 16)?, Raster::on_host(&a, 16)?, "{what}, spy");

            let h = symmetric(&a)?;
            let h_on_device = device.upload(&h)?;
            for (plan, map) in [
                (Scalars::lower_of(&h_on_device)?, ScalarMap::lower(&h)?),
                (Scalars::full_of(&h_on_device)?, ScalarMap::full(&h)?),
            ] {
                let mut values = plan.output()?;
                plan.execute(&h_on_device, &mut values)?;
                assert_eq!(values.download()?, map.any_values(&h)?, "{what}, scalars");
            }
            let order: Vec<usize> = (0..h.ncols()).rev().collect();
            let plan = Permute::symmetric_of(&h_on_device, &order, Part::Full)?;
            let mut c = plan.output()?;
            plan.execute(&h_on_device, &mut c)?;
            assert_eq!(c.download()?.nnz(), h.nnz(), "{what}, permuted as a symmetric matrix");
        }
    }
    Ok(())
}

#[test]
fn norms_and_scalings_are_the_references() -> Result<()> {
    let device = device();
    for element in [ElementType::F64, ElementType::F32, ElementType::F16] {
        for a in formats(element)? {
            let what = format!("{:?} of {element}", a.kind());
            let mut on_device = device.upload(&a)?;
            for (plan, want) in [
                (Norms::columns_of(&on_device)?, reference::any_column_norms(&a)?),
                (Norms::rows_of(&on_device)?, reference::any_row_norms(&a)?),
                (Norms::block_columns_of(&on_device)?, reference::any_block_column_norms(&a)?),
                (Norms::block_rows_of(&on_device)?, reference::any_block_row_norms(&a)?),
            ] {
                let mut norms = plan.output()?;
                plan.execute(&on_device, &mut norms)?;
                assert_eq!(norms.download()?, want, "{what}");
            }
            let d = numbers(element, 60)?;
            let on_d = device.upload_any_vector(&d)?;
            on_device.scale_columns(&on_d)?;
            let scaled = reference::scale_any_columns(&a, &d)?;
            assert_eq!(on_device.download()?, scaled, "{what}, columns scaled");
            on_device.scale_rows(&on_d)?;
            assert_eq!(on_device.download()?, reference::scale_any_rows(&scaled, &d)?, "{what}, rows scaled");
            let threshold = Threshold::relative(0.5);
            let kept = on_device.drop_below(threshold)?.download()?;
            assert_eq!(kept, on_device.download()?.drop_below(threshold)?, "{what}, dropped");
        }
    }
    Ok(())
}

/// A graph of 60 vertices with lengths of 1 to 5, by columns and by rows.
fn graphs(element: ElementType) -> Result<[AnyMatrix; 2]> {
    let edges = (0..180).map(|i| ((i * 7 + i / 60) % 60, i % 60, (i % 5 + 1) as f64));
    let columns = Csc::from_triplets(60, 60, edges)?;
    let rows = Csr::from_transpose(columns.transpose());
    Ok([AnyMatrix::from(columns), rows.into()].map(|g| g.cast(element)))
}

#[test]
fn graphs_of_every_element_are_the_references() -> Result<()> {
    let device = device();
    for &element in ElementType::ALL {
        for lengths in graphs(element)? {
            let what = format!("{:?} of {element}", lengths.kind());
            let on_device = device.upload(&lengths)?;
            assert_eq!(graph::components(&on_device)?.download()?, reference::components(&lengths)?, "{what}");
            let triangles = graph::triangles_of_vertices(&on_device)?.download()?;
            assert_eq!(triangles, reference::triangles_of_vertices(&lengths)?, "{what}");
            assert_eq!(graph::levels(&on_device, &[0])?.len(), 60);
            if matches!(element, ElementType::F16 | ElementType::U8) {
                let message = format!("lengths of edges are f64, f32, u32 or i32, the elements are {element}");
                refused(graph::any_shortest_paths(&on_device, &[0]).map(drop), &message);
                refused(reference::any_shortest_paths(&lengths, &[0]).map(drop), &message);
                continue;
            }
            let paths = ShortestPaths::from(&[0]).predecessors().run_any(&on_device)?;
            let (distances, before) = (paths.distances.download()?, paths.predecessors.unwrap().download()?);
            assert_eq!(distances, reference::any_shortest_paths(&lengths, &[0])?, "{what}");
            assert_eq!(before, reference::any_predecessors(&lengths, &[0], &distances)?, "{what}");
        }
    }
    Ok(())
}

#[test]
fn what_does_not_belong_is_refused() -> Result<()> {
    let device = device();
    let ([a, rows, blocks, _], [narrow, ..]) = (formats(ElementType::F64)?, formats(ElementType::F32)?);
    refused(add_any(1.0, &a, 1.0, &narrow).map(drop), "A is a Csc<f64>, B a Csc<f32>");
    refused(add_any(1.0, &a, 1.0, &rows).map(drop), "A is a Csc<f64>, B a Csr<f64>");
    let of_one = blocks.to_blocks(BlockShape::SCALAR)?;
    assert_eq!(add_any(1.0, &a, 1.0, &of_one)?.kind(), of_one.kind());
    let d = numbers(ElementType::F32, 60)?;
    refused(reference::scale_any_rows(&a, &d).map(drop), "d has elements of f32, A has elements of f64");
    let integers = a.cast(ElementType::I32);
    refused(reference::any_row_norms(&integers).map(drop), "norms are of real numbers, the elements are i32");
    refused(reference::scale_any_columns(&integers, &d).map(drop), "scalings are of real numbers");

    let [mut a, rows, narrow, mut integers] =
        [device.upload(&a)?, device.upload(&rows)?, device.upload(&narrow)?, device.upload(&integers)?];
    refused(Add::of(&a, &narrow).map(drop), "A is a Csc<f64>, B a Csc<f32>");
    let plan = Add::of(&a, &a)?;
    let (mut c, mut other) = (plan.output()?, Add::of(&narrow, &narrow)?.output()?);
    refused(plan.execute([(1.0, &a), (1.0, &rows)], &mut c).map(drop), "B is a Csr<f64>, the plan is of Csc<f64>");
    refused(plan.execute([(1.0, &a), (1.0, &a)], &mut other).map(drop), "C is a Csc<f32>, the plan is of Csc<f64>");
    let scaled = Transpose::of(&a)?.execute(&a, Accum::into(&mut Transpose::of(&a)?.output()?).alpha(2.0)).map(drop);
    refused(scaled, "cannot be scaled");
    refused(Norms::rows_of(&integers).map(drop), "norms are of real numbers, the elements are i32");
    let (on_d, mut norms) = (device.upload_any_vector(&d)?, Norms::rows_of(&narrow)?.output()?);
    refused(Norms::rows_of(&a)?.execute(&a, &mut norms).map(drop), "norms: elements of f32, those of the plan are f64");
    refused(Norms::rows_of(&a)?.execute(&rows, &mut norms).map(drop), "A is a Csr<f64>, the plan is of Csc<f64>");
    refused(a.scale_rows(&on_d), "d has elements of f32, A has elements of f64");
    refused(integers.scale_columns(&on_d), "scalings are of real numbers, the elements are i32");
    refused(integers.drop_below(1.0).map(drop), "of floats, not of i32");
    let diagonal = Diagonal::of(&a)?;
    refused(diagonal.scalars().execute(&a, &mut norms).map(drop), "diagonal: elements of f32");
    refused(diagonal.execute(&a, &mut Diagonal::of(&narrow)?.output()?).map(drop), "the diagonal is a Csc<f32>");
    Ok(())
}
