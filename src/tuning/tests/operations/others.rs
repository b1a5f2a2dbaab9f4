//! Operations on dense matrices and graphs, operations of solvers, and others.
use super::*;

fn with_dense<M: Matrix<Element = f64>>(all: &mut Vec<Operation>, a: M, what: &str) {
    let (_, cols) = sides(&a);
    for (n, layout) in [(1, Layout::ByRows), (9, Layout::ByColumns), (40, Layout::ByRows)] {
        for method in [DenseMethod::Rows, DenseMethod::Gcoo] {
            let a = a.clone();
            add(all, format!("{what} times {n} columns by {method}, {layout}"), move |device| {
                let (a, d) = (device.upload(&a)?, DMatrix::from_fn(cols, n, |i, j| (i * 3 + j * 7) as f64 * 0.3 - 4.0));
                let d = device.upload_dense(&d)?;
                let pattern = a.pattern();
                let plan = ApplyDense::<M>::with(&pattern, n).method(method).layouts(Layout::ByColumns, layout);
                let plan = plan.plan()?;
                let mut c = plan.output()?;
                plan.execute((&a, &d), &mut c)?;
                Ok(bits(c.download()?.as_slice()))
            });
        }
    }
}

pub(super) fn dense(all: &mut Vec<Operation>) -> Result<()> {
    let scalars = generate::PowerLaw { nodes: 150, edges: 1100, seed: 9, ..Default::default() }.matrix()?.to_scalars();
    with_dense(all, Csr::from_transpose(scalars.clone()), "scalars");
    with_dense(all, long_rows()?, "long rows");
    with_dense(all, Bsr::from_transpose(blocks((30, 40), (2, 3), 5)?), "blocks");
    add(all, "groups".into(), move |device| {
        let a = DeviceGcoo::from_matrix(&device.upload(&scalars)?, Grouping::Rows(4))?;
        let d = a.to_dense(Layout::ByRows)?;
        let again = DeviceGcoo::from_dense(&d, Grouping::Columns(8))?;
        let back: DeviceMatrix<Csc<f64>> = again.to_matrix()?;
        let plan = ApplyGcoo::with(&a, 150).plan()?;
        let mut c = plan.output()?;
        plan.execute((&a, &d), &mut c)?;
        let mut found = of_matrix(&back.download()?);
        found.extend(bits(c.download()?.as_slice()));
        Ok(found)
    });
    Ok(())
}

pub(super) fn graphs(all: &mut Vec<Operation>) -> Result<()> {
    let lengths = generate::planar(16, 16, 3)?.to_scalars();
    let wide = generate::PowerLaw { nodes: 300, edges: 2500, values: Values::Integer, seed: 5, ..Default::default() }
        .matrix()?
        .to_scalars();
    let positive: Vec<f64> = wide.values().iter().map(|x| x.abs() + 1.0).collect();
    let wide = Csc::new(wide.pattern().clone(), positive)?;
    for (g, what) in [(lengths.clone(), "planar"), (wide.clone(), "power law")] {
        for schedule in [Schedule::NearFar, Schedule::Frontier, Schedule::Sweeps] {
            let g = g.clone();
            add(all, format!("paths in {what} by {schedule}"), move |device| {
                let g = device.upload(&g)?;
                let paths = ShortestPaths::from(&[3]).schedule(schedule).run(&g)?;
                let levels = ShortestPaths::from(&[3]).schedule(schedule).run_by_edges(&g)?;
                Ok([bits(&paths.distances.download()?), bits(&levels.distances.download()?)].concat())
            });
        }
        add(all, format!("components and triangles of {what}"), move |device| {
            let g = device.upload(&g)?;
            Ok([graph::components(&g)?.download()?, graph::triangles_of_vertices(&g)?.download()?]
                .map(|v| bits(&v))
                .concat())
        });
    }
    add(all, "patches".into(), move |device| {
        let patches = Lloyd::from(&[0, 99, 200]).steps(3).run(&device.upload(&lengths)?)?;
        Ok([bits(&patches.labels), bits(&patches.seeds), bits(&patches.energies)].concat())
    });
    Ok(())
}

pub(super) fn solver(all: &mut Vec<Operation>) -> Result<()> {
    for (c, p) in [(6, 3), (9, 3), (3, 2)] {
        let w = blocks((5, 60), (c, p), 1)?;
        let diagonal = |n: usize, side: usize| {
            let entry = |i| (i, i, DMatrix::identity(side, side) * 500.0);
            Cbc::from_triplets(n, n, BlockShape::new(side, side)?, (0..n).map(entry))
        };
        let (u, v) = (diagonal(5, c)?, diagonal(60, p)?);
        add(all, format!("Schur complement of {c} and {p}"), move |device| {
            let (u, w, v) = (device.upload(&u)?, device.upload(&w)?, device.upload(&v)?);
            let (b_c, b_p) = (vec![0.3; 5 * c], vec![-0.7; 60 * p]);
            let (b_c, b_p) = (device.upload_vector(&b_c)?, device.upload_vector(&b_p)?);
            let damping = Damping::Marquardt(0.5);
            let equations = NormalEquations { u: &u, w: &w, v: &v, b_c: &b_c, b_p: &b_p, damping, floors: None };
            let formed = Elimination::formed(&u.pattern(), &w.pattern(), &v.pattern())?;
            let mut reduced = formed.output()?;
            formed.execute(equations, &mut reduced)?;
            let mut found = of_matrix(&reduced.s()?.download()?);
            found.extend(bits(&reduced.rhs()?.download()?));
            let implicit = Elimination::implicit(&u.pattern(), &w.pattern(), &v.pattern())?;
            let mut reduced = implicit.output()?;
            implicit.execute(equations, &mut reduced)?;
            found.extend(of_matrix(&reduced.diagonal()?.download()?));
            Ok(found)
        });
    }
    Ok(())
}

pub(super) fn others(all: &mut Vec<Operation>) -> Result<()> {
    let a = generate::PowerLaw { nodes: 400, edges: 3000, seed: 3, ..Default::default() }.matrix()?.to_scalars();
    let b = blocks((30, 30), (3, 3), 6)?;
    let (of_drop, of_spy) = (a.clone(), a.clone());
    add(all, "entries that are dropped".into(), move |device| {
        let a = device.upload(&of_drop)?;
        let mut found = of_matrix(&a.drop_below(Threshold::absolute(0.3))?.download()?);
        let c = Product::of(&a, &a).semiring(Semiring::PlusTimes).drop_below(Threshold::relative(0.2)).run()?;
        found.extend(of_matrix(&c.download()?));
        Ok(found)
    });
    add(all, "a picture".into(), move |device| {
        let raster = Raster::of(&device.upload(&of_spy)?, 40)?;
        Ok(raster.cells().iter().flat_map(|cell| [cell.entries as u64, cell.largest.to_bits()]).collect())
    });
    add(all, "a sum and a transpose".into(), move |device| {
        let b = device.upload(&b)?;
        let turn = Transpose::<Cbc<f64>>::new(&b.pattern())?;
        let mut turned = turn.output()?;
        turn.execute(&b, &mut turned)?;
        let plan = Add::<Cbc<f64>>::new(&b.pattern(), &turned.pattern())?;
        let mut c = plan.output()?;
        plan.execute([(2.0, &b), (-1.0, &turned)], &mut c)?;
        Ok(of_matrix(&c.download()?))
    });
    add(all, "scans, sorts, sums".into(), move |device| {
        let count = 9000u32;
        let values: Vec<f64> = (0..count).map(|i| f64::from(i % 89) * 0.3 - 7.0).collect();
        let ptr = [0, 5, 5, 900, 3000, count];
        let rows: Vec<u32> = (0..count).map(|i| i.wrapping_mul(2_654_435_761) >> 12).collect();
        let payload: Vec<u32> = (0..count).collect();
        let mut found = bench::scan(device, &rows.iter().map(|&row| row.into()).collect::<Vec<_>>(), 0)?.0;
        found.extend(bits(&bench::segmented_scan(device, &ptr, &values, 0)?.0));
        let (sorted, order) = bench::sort(device, &ptr, &rows, &payload, 0)?.0;
        found.extend(bits(&sorted).into_iter().chain(bits(&order)));
        found.extend(bits(&bench::reduce(device, &[4, 899, 2999, count - 1], &values, 0)?.0));
        let (pattern, source) = bench::transpose(device, a.pattern(), 0)?.0;
        found.extend(pattern.col_ptr().iter().copied().chain(bits(pattern.row_idx())).chain(bits(&source)));
        Ok(found)
    });
    Ok(())
}
