//! A masked product of scalars by columns. A product that falls on the mask is added to the sum of
//! its row at once. No product is stored. Kernel: `cl/product/masked/sums.cl`.
use super::columns::{ColumnAnalyser, ColumnTuning, InShares, Steps, places_of_rows};
use crate::{
    Result, Semiring,
    device::{Buffer, Device, Elem, Grid, In, InOut, Kernel, Out, Sum, Work, at_most, kernel},
    element::ElementType,
    primitives::segmented_reduce::RUN_PIECE,
    product::terms::{Counts, Factors, InFactors, Method, Pipeline},
    resident::{DeviceCbc, InPattern, PatternArrays},
};

kernel! {
    struct MaskSums = "mask_sums" in "product/masked/hits.cl", "product/masked/sums.cl" {
        factors: InFactors<'static>,
        mask: InPattern,
        steps: In<u64>,
        record: In<u64>,
        taken: InOut<u32>,
        words: InOut<u64>,
        sum: InOut<Sum>,
        done: InOut<Sum>,
        terms: InOut<u32>,
        list: InOut<u32>,
        c_values: Out<Elem>,
        counted: Out<u64>,
        shares: InShares<'static>,
    }
}

/// The kernels of A·B on a mask, for scalars by columns.
pub(super) struct ColumnSums {
    analyser: ColumnAnalyser,
    sums: Kernel<MaskSums<'static>>,
    tuning: ColumnTuning,
}

impl ColumnSums {
    pub fn new(device: &Device, tuning: ColumnTuning, element: ElementType, semiring: Semiring) -> Result<Self> {
        let options = tuning.options().define("RUN_PIECE", RUN_PIECE).define("HIT_PRODUCTS", tuning.hit_products);
        let sums = Kernel::new(device, &options.element_in(element, semiring))?;
        Ok(Self { analyser: ColumnAnalyser::new(device, &tuning)?, sums, tuning })
    }

    /// Computes the values of C and its counts. Returns `None` if computing by columns is expected
    /// to take longer than a product from the places of the mask, or if there is no memory for the
    /// sums of all rows. The host reads twice from the device.
    pub fn multiply(
        &self,
        work: &Work,
        (a, b): (&DeviceCbc, &DeviceCbc),
        mask: &PatternArrays,
    ) -> Result<Option<(Buffer, Counts)>> {
        let tuning = &self.tuning;
        let steps = self.analyser.run(work, &a.pattern, &b.pattern, mask)?;
        let (places, cut) = (places_of_rows(a.nrows), steps.longest_b > RUN_PIECE as u64);
        let groups = tuning.groups(Room::bytes(places, cut, a.element()), work.free_bytes());
        let room = Room { groups, places, cut };
        if groups == 0 || tuning.steps_from_places(&a.pattern, &b.pattern, mask.nnz()) < steps.all {
            return Ok(None);
        }
        let mut values = work.buffer_of(a.values.word(), mask.nnz())?;
        let [products, longest] = self.sums(work, (a, b), mask, &steps, room, &mut values)?;
        let mut counts = Counts { products, bands: 1, pipeline: Pipeline::Masked, ..Counts::default() };
        counts.longest_run = Some(longest as u32);
        counts.add(Method::Masked, mask.ncols as u64, products);
        Ok(Some((values, counts)))
    }

    /// Writes the values of C. Returns the number of all products, and the number of products of
    /// the longest run.
    fn sums(
        &self,
        work: &Work,
        (a, b): (&DeviceCbc, &DeviceCbc),
        mask: &PatternArrays,
        steps: &Steps,
        Room { groups, places, cut }: Room,
        values: &mut Buffer,
    ) -> Result<[u64; 2]> {
        work.stage("sums");
        let sum = a.element().arithmetic().word();
        let (all, if_cut) = (groups * places, if cut { groups * places } else { 0 });
        let mut counted = work.buffer(2 * groups)?;
        let args = MaskSums {
            factors: Factors::of_values(a, b).into(),
            mask,
            steps: &steps.of_columns,
            record: &steps.record,
            taken: &mut work.upload(&[0])?,
            words: &mut work.buffer(all / 64)?,
            sum: &mut work.buffer_of(sum, all)?,
            done: &mut work.buffer_of(sum, if_cut)?,
            terms: &mut work.buffer(all)?,
            list: &mut work.buffer(all)?,
            c_values: values,
            counted: &mut counted,
            shares: self.tuning.shares(steps, places, mask),
        };
        self.sums.launch(work, Grid::groups(groups, 1), args)?;
        let (mut products, mut longest) = (0u64, 0);
        for of_group in counted.download(work)?.chunks_exact(2) {
            (products, longest) = (products.saturating_add(of_group[0]), of_group[1].max(longest));
        }
        let most = (mask.nnz() as u64).saturating_mul(b.nrows as u64);
        at_most("products on a mask", products, most)?;
        Ok([products, at_most("products of a run", longest, steps.longest_b)?])
    }
}

/// The arrays of all work-groups.
struct Room {
    groups: usize,
    /// Number of elements of an array with an element for each row of C.
    places: usize,
    /// Whether runs may have more than [`RUN_PIECE`] products.
    cut: bool,
}

impl Room {
    /// Bytes of one group: the bitmap, the sums of rows and of their pieces, their numbers of
    /// terms, and the list of hits.
    fn bytes(places: usize, cut: bool, element: ElementType) -> u64 {
        let sums = element.arithmetic().bytes() * if cut { 2 } else { 1 };
        (places / 8 + places * (sums + 2 * size_of::<u32>())) as u64
    }
}
