//! [`Product::estimate`].
use super::{Conditions, Estimate, Stored, estimate};
use crate::{
    DeviceInfo, Error, Result,
    matrix::{HostMatrix, Kind, MatrixType, aligned_stride},
    product::{Factor, GramParts, Product},
};

impl<M: HostMatrix> Product<'_, M> {
    /// Bounds the memory that [`Product::run_to_host`] of A·B will need on a device, and the number
    /// of bands into which it will be cut. The estimate uses the host only, and chooses methods as
    /// the product of uploaded matrices does. If A and B are the same matrix, it is counted once.
    ///
    /// # Errors
    /// [`Error::Memory`] if a column of C or the operands surely do not fit;
    /// [`Error::Unsupported`] for `f64` on a device without it; [`Error::Argument`] for weights,
    /// parts, masks and chains, which cannot be estimated; and the errors of [`Product::run`].
    ///
    /// ```
    /// use blockmul::{Csc, Device, Product};
    /// let a = Csc::from_triplets(2, 2, [(0, 0, 2.0), (1, 0, 3.0), (1, 1, 5.0)])?;
    /// for device in Device::list()? {
    ///     let estimated = Product::of(&a, &a).estimate(&device)?;
    ///     let (bytes, bands) = (estimated.peak_device_bytes, estimated.bands);
    ///     println!("{}: at most {bytes} bytes in at most {bands} bands", device.name);
    /// }
    /// # Ok::<(), blockmul::Error>(())
    /// ```
    pub fn estimate(&self, device: &DeviceInfo) -> Result<Estimate> {
        let whole = self.parts.unwrap_or_default() == GramParts::default();
        let (a, b) = match self.factors[..] {
            [Factor { operand: a, transposed: false }, Factor { operand: b, transposed: false }]
                if whole && self.weights.is_none() && self.mask.is_none() =>
            {
                (a, b)
            }
            _ => {
                return Err(Error::Argument(
                    "an estimate is of A·B, without transposes, weights, part and mask".into(),
                ));
            }
        };
        let (x, y) = (a.view(), b.view());
        let of = MatrixType::<M>::of(x).times(MatrixType::of(y))?;
        device.require(of.element)?;
        let (x, y) = if of.kind.get().is_row_major() { (y, x) } else { (x, y) };
        if x.pattern.ncols() != y.pattern.nrows() || x.shape.cols() != y.shape.rows() {
            return Err(Error::Dimensions { a: x.of_arrays(), b: y.of_arrays() });
        }
        let shape = x.shape.product(y.shape);
        let options = &self.options;
        let c_stride = options.alignment.map_or(Ok(shape.area()), |bytes| aligned_stride(of.element, shape, bytes))?;
        let limit = options.memory_limit.unwrap_or(u64::MAX).min(device.free_bytes());
        let conditions = Conditions {
            info: device,
            limit,
            element: of.element,
            entry_bytes: c_stride * of.element.bytes(),
            consumer: options.band_consumer(device, of.element, c_stride)?,
            method: options.method,
            costs: options.costs.unwrap_or_else(|| device.costs()),
        };
        estimate(&conditions, Stored::of(x), (!std::ptr::eq(a, b)).then(|| Stored::of(y)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        BlockShape, Cbc, Csc, Device, DeviceInfo, DeviceKind, DeviceMatrix, Matrix, Method, device::test_device,
        generate, matrix::Threshold, product::Report,
    };
    use proptest::prelude::*;

    /// Multiplies from host to host. A matrix that is both factors is uploaded once.
    fn to_host<M: Matrix>(
        device: &Device,
        a: &M,
        b: &M,
        options: impl Fn(Product<'_, DeviceMatrix<M>>) -> Product<'_, DeviceMatrix<M>>,
    ) -> Result<(M, Report)> {
        let on_device = device.upload(a)?;
        let other = if std::ptr::eq(a, b) { None } else { Some(device.upload(b)?) };
        options(Product::of(&on_device, other.as_ref().unwrap_or(&on_device))).run_to_host()
    }

    /// Checks that a product is cut into no more bands than estimated, and stays within the
    /// estimated bytes.
    fn check<M: Matrix>(a: &M, b: &M) -> Result<()> {
        let device = test_device();
        let whole = Product::of(a, b).estimate(device.info())?;
        let room = whole.peak_device_bytes - whole.operand_bytes;
        for limit in [u64::MAX, whole.peak_device_bytes, whole.operand_bytes + room / 2, whole.operand_bytes + room / 3]
        {
            let estimated = Product::of(a, b).memory_limit(limit).estimate(device.info())?;
            let (_, report) = to_host(&device, a, b, |product| product.memory_limit(limit))?;
            assert_eq!(estimated.products, report.products, "within {limit}");
            assert!(report.bands <= estimated.bands, "{report:?} within {estimated:?}");
            let bound = estimated.peak_device_bytes;
            assert!(report.peak_device_bytes <= bound && bound <= limit, "{report:?} within {estimated:?}");
            assert!(report.held_device_bytes <= limit, "{report:?} within {limit}");
            assert!(estimated.bands == 1 || limit < whole.peak_device_bytes);
        }
        assert_eq!(whole.bands, 1);
        Ok(())
    }

    #[test]
    fn products_have_no_more_bands_than_estimated_and_keep_to_the_bound() -> Result<()> {
        let p: Cbc<f64> = generate::PowerLaw { nodes: 4096, edges: 60_000, ..Default::default() }.matrix()?;
        let p = p.to_scalars();
        check(&p, &p)?;
        check(&p.cast::<f32>(), &p.transpose().cast())?;
        let w =
            generate::Visibility { cameras: 100, points: 12_000, views: 5, seed: 2, ..Default::default() }.matrix()?;
        check(&w, &w.transpose())
    }

    fn nvidia() -> DeviceInfo {
        let mut nvidia = test_device().info().clone();
        (nvidia.platform, nvidia.kind, nvidia.compute_units) = ("NVIDIA CUDA".into(), DeviceKind::Gpu, 132);
        (nvidia.local_bytes, nvidia.max_group_size, nvidia.max_alloc_bytes) = (48 << 10, 1024, 35 << 30);
        nvidia
    }

    /// Bounds are computed by the host alone, so the bounds for a GPU can be checked without a GPU.
    #[test]
    fn the_estimated_peak_is_a_limit_that_keeps_one_band() -> Result<()> {
        fn check<M: Matrix>(info: &DeviceInfo, a: &M, b: &M) -> Result<()> {
            let whole = Product::of(a, b).estimate(info)?;
            let again = Product::of(a, b).memory_limit(whole.peak_device_bytes).estimate(info)?;
            assert_eq!((whole.bands, again.bands), (1, 1), "{whole:?}, {again:?}");
            assert!(again.peak_device_bytes <= whole.peak_device_bytes, "{whole:?}, {again:?}");
            Ok(())
        }
        for info in [&nvidia(), test_device().info()] {
            for nodes in [64, 256, 1024, 4096] {
                for seed in 0..20 {
                    let p: Cbc<f64> =
                        generate::PowerLaw { nodes, edges: nodes * (4 + seed as usize), seed, ..Default::default() }
                            .matrix()?;
                    let p = p.to_scalars();
                    check(info, &p, &p)?;
                    check(info, &p.cast::<f32>(), &p.transpose().cast())?;
                }
            }
            let w = generate::Visibility { cameras: 100, points: 12_000, views: 5, seed: 2, ..Default::default() }
                .matrix()?;
            check(info, &w, &w.transpose())?;
        }
        Ok(())
    }

    /// A GPU sorts columns of 49 products for 13 entries of C, where ESC would keep all products.
    #[test]
    fn the_bound_is_that_of_the_methods_that_auto_takes() -> Result<()> {
        let (n, info) = (20_000, nvidia());
        let near = |col: usize| (col..col + 7).map(move |row| (row % n, col, 1.0));
        let a = Csc::<f64>::from_triplets(n, n, (0..n).flat_map(near))?;
        let most = |method| -> Result<_> { Ok(Product::of(&a, &a).method(method).estimate(&info)?.peak_device_bytes) };
        let (auto, esc) = (most(Method::Auto)?, most(Method::Esc)?);
        assert_eq!(auto, most(Method::Sort)?);
        assert!(2 * auto < esc, "{auto} of {esc} bytes");
        Ok(())
    }

    #[test]
    fn what_will_not_fit_is_refused_with_its_numbers() -> Result<()> {
        let a = generate::Uniform { rows: 2000, cols: 2000, per_column: 8, ..Default::default() }.matrix()?;
        let within = |bytes| Product::of(&a, &a).memory_limit(bytes).estimate(test_device().info());
        assert!(matches!(within(1 << 10), Err(Error::Memory { available: 1024, .. })));
        // The offsets of C do not fit beside the operands, but the offsets of some columns would
        // fit.
        let device = test_device();
        let x = device.upload(&a)?;
        let limit = x.device_bytes() + 4000;
        for method in [Method::Auto, Method::Host, Method::Esc] {
            let refused = Product::of(&x, &x).method(method).memory_limit(limit).run_to_host();
            let Err(Error::Memory { needed, .. }) = refused else { panic!("{method} takes {limit} bytes") };
            let estimated = Product::of(&a, &a).method(method).memory_limit(limit).estimate(device.info());
            assert!(matches!(estimated, Err(Error::Memory { needed: most, .. }) if most == needed), "{estimated:?}");
        }
        let other = generate::Uniform { rows: 9, cols: 9, per_column: 1, ..Default::default() }.matrix()?;
        let odd = Product::of(&a, &other).estimate(test_device().info());
        assert!(matches!(odd, Err(Error::Dimensions { .. })));
        Ok(())
    }

    /// Every product is an entry of C, so the upper bound is the memory that is allocated.
    #[test]
    fn an_estimate_is_exact_if_no_products_meet() -> Result<()> {
        let device = test_device();
        let info = device.info();
        for (rows, cols, shape) in [(2000, 3000, (1, 1)), (3, 5, (1, 1)), (400, 200, (6, 3)), (70, 9000, (2, 2))] {
            let shape = BlockShape::new(shape.0, shape.1)?;
            let a: Cbc<f64> = generate::Uniform { rows, cols, per_column: 3, shape, ..Default::default() }.matrix()?;
            let b = generate::Uniform {
                rows: cols,
                cols: 1000,
                per_column: 1,
                shape: shape.transpose(),
                seed: 2,
                ..Default::default()
            }
            .matrix()?;
            for method in [Method::Auto, Method::Sort] {
                let estimated = Product::of(&a, &b).method(method).estimate(info)?;
                let (_, report) = to_host(&device, &a, &b, |product| product.method(method))?;
                assert_eq!((report.products, report.bands), (report.c_nnz, 1));
                let what = format!("{rows}x{cols} of {shape} by {method}");
                assert_eq!(report.peak_device_bytes, estimated.peak_device_bytes, "{what}");
            }
        }
        Ok(())
    }

    /// A limit of 1 MiB is enough for the test's product in at most 40 bands, and a limit of 2 MiB
    /// in at most 8.
    #[test]
    fn a_mebibyte_is_enough_for_22_070_entries() -> Result<()> {
        let a =
            generate::Uniform { rows: 2207, cols: 2207, per_column: 10, ..Default::default() }.matrix()?.to_scalars();
        let want = crate::reference::multiply(&a, &a)?;
        assert_eq!(a.nnz(), 22_070);
        for (limit, bands) in [(1 << 20, 40), (2 << 20, 8)] {
            let (c, report) = to_host(&test_device(), &a, &a, |product| product.memory_limit(limit))?;
            assert!(c == want && (2..=bands).contains(&report.bands), "{report:?}");
            assert!(report.held_device_bytes <= limit && report.peak_device_bytes > limit / 10 * 8, "{report:?}");
        }
        Ok(())
    }

    /// Checks that a limit that was enough once is enough again, for any number of bands. If
    /// entries are dropped, the limit is the estimate, because the number of entries that stay is
    /// not known before.
    fn check_limits<M: Matrix + PartialEq>(a: &M, b: &M, method: Method, threshold: Option<Threshold>) -> Result<()> {
        let device = test_device();
        let run = |limit: u64| {
            to_host(&device, a, b, |product| match threshold {
                Some(threshold) => product.method(method).memory_limit(limit).drop_below(threshold),
                None => product.method(method).memory_limit(limit),
            })
        };
        let (want, report) = run(u64::MAX)?;
        let within = |limit: u64| -> Result<u64> {
            let (c, report) = run(limit)?;
            let product = Product::of(a, b).method(method).memory_limit(limit);
            let product = if let Some(threshold) = threshold { product.drop_below(threshold) } else { product };
            let estimated = product.estimate(device.info()).expect("the product is not refused");
            assert!(c == want && report.bands <= estimated.bands, "{report:?}, {estimated:?}");
            assert!(
                report.peak_device_bytes <= estimated.peak_device_bytes && estimated.peak_device_bytes <= limit,
                "{report:?}"
            );
            assert!(report.held_device_bytes <= limit, "{report:?}");
            Ok(if threshold.is_some() { estimated.peak_device_bytes } else { report.peak_device_bytes })
        };
        let mut peak = if threshold.is_some() { within(u64::MAX)? } else { report.peak_device_bytes };
        for _ in 0..8 {
            let again = within(peak)?;
            assert!(again <= peak);
            match within(again - again / 6) {
                Ok(less) => peak = less,
                Err(Error::Memory { needed, available, .. }) => {
                    assert!(needed > available);
                    return Ok(());
                }
                Err(other) => return Err(other),
            }
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

        #[test]
        fn a_limit_that_was_enough_is_kept(
            (rows, inner, cols) in (1usize..600, 12usize..300, 1usize..250), per_column in 1usize..12, nodes in 3u32..9,
            shape in 0usize..3, drop: bool, relative: bool, seed: u64,
        ) {
            let (r, k, c) = [(1, 1, 1), (3, 2, 3), (6, 6, 6)][shape];
            let (left, right, real) = (BlockShape::new(r, k)?, BlockShape::new(k, c)?, Default::default());
            let threshold = if relative { Threshold::relative(0.5) } else { Threshold::absolute(0.5) };
            let threshold = drop.then_some(threshold);
            let a: Cbc<f64> = generate::Uniform { rows, cols: inner, per_column: per_column.min(rows), shape: left, values: real, seed }.matrix()?;
            let b = generate::Uniform { rows: inner, cols, per_column, shape: right, values: real, seed: !seed }.matrix()?;
            check_limits(&a, &b, Method::Auto, threshold)?;
            // A few long columns and many short ones.
            let nodes = 1 << nodes;
            let p = generate::PowerLaw { nodes, edges: 4 * nodes, values: real, seed, ..Default::default() }.matrix()?.to_scalars();
            check_limits(&p, &p, Method::Auto, threshold)?;
        }
    }
}
