//! Groups made from arrays of the host, which are checked, and the reverse.
use super::{
    DeviceGcoo,
    groups::{Grouped, Groups},
};
use crate::{
    BlockShape, Device, Element, Result,
    device::Work,
    element::{Any, AnySlice, ElementType, with_values},
    matrix::{AnyGcoo, GcooArrays, GcooPlaces, Grouping},
    resident::PatternArrays,
};
use std::sync::{Arc, OnceLock};

#[cfg(doc)]
use crate::Error;

/// The bit that marks an entry with the same place as the entry before it in its group.
const SAME: u8 = 0x80;

impl<T: Element> DeviceGcoo<T> {
    /// Makes a matrix of `nrows` x `ncols` entries from its arrays, which are checked. In a group
    /// of rows, entries are sorted by column, and in each column by row. In a group of columns,
    /// they are sorted by row, and in each row by column.
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// use blockmul::{BlockShape, Device, dense::{DeviceGcoo, GcooArrays, Grouping}};
    /// use nalgebra::dmatrix;
    /// let device = Device::auto()?;
    /// // The matrix of the paper's Figure 2, in groups of two columns.
    /// let arrays = GcooArrays {
    ///     group_ptr: vec![0, 3, 6],
    ///     rows: vec![0, 1, 2, 0, 3, 3],
    ///     cols: vec![0, 1, 0, 3, 2, 3],
    ///     values: vec![7.0, 10.0, 9.0, 8.0, 6.0, 3.0],
    /// };
    /// let (sides, by) = ((4, 4), Grouping::Columns(2));
    /// let a = DeviceGcoo::from_arrays(&device, sides, BlockShape::SCALAR, by, &arrays)?;
    /// let d = device.upload_dense(&dmatrix![1.0, 0.0, 1.0, 0.0])?;
    /// assert_eq!(blockmul::multiply(&d, &a)?.download()?, dmatrix![16.0, 0.0, 0.0, 8.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Argument`] with the first entry that is wrong, [`Error::Length`],
    /// [`Error::TooLarge`] for too many rows or columns, counted in scalars, [`Error::Memory`],
    /// [`Error::Unsupported`].
    pub fn from_arrays(
        device: &Device,
        (nrows, ncols): (usize, usize),
        shape: BlockShape,
        grouping: Grouping,
        arrays: &GcooArrays<T>,
    ) -> Result<Self> {
        let places = GcooPlaces::of((nrows, ncols), shape, grouping, arrays);
        places.check(arrays.values.len())?;
        Self::of_places(device, places, T::any_slice(&arrays.values))
    }

    /// Copies the arrays to the host: the groups, and the coordinates and the value of each entry.
    ///
    /// # Errors
    /// [`Error::OpenCl`], [`Error::Memory`].
    pub fn download(&self) -> Result<GcooArrays<T>> {
        let Grouped { groups, values, .. } = &self.grouped;
        let work = Work::new(self.device(), None);
        let [rows, cols] = groups.coordinates(&work)?;
        let group_ptr = groups.group_ptr.download(&work)?;
        Ok(GcooArrays { group_ptr, rows, cols, values: values.typed().download(&work)? })
    }
}

impl DeviceGcoo<Any> {
    /// Copies a matrix of the host.
    ///
    /// # Errors
    /// [`Error::TooLarge`] above 2^32 - 2^16 entries,
    /// [`Error::Memory`], [`Error::Unsupported`].
    pub fn upload(device: &Device, a: &AnyGcoo) -> Result<Self> {
        Self::of_places(device, a.places(), a.values().borrow())
    }
}

impl<T: 'static> DeviceGcoo<T> {
    /// Copies checked arrays. `T` is the type of the values, or [`Any`].
    fn of_places(device: &Device, places: GcooPlaces<'_>, values: AnySlice<'_>) -> Result<Self> {
        let element = values.element();
        device.require(element)?;
        PatternArrays::check_nnz(places.rows.len() as u64)?;
        let work = Work::new(device, None);
        let groups = Groups::upload(&work, element, places)?;
        let values = with_values!(AnySlice, values, values => work.upload(values)?.into_any());
        Ok(Self::of(Grouped { groups: Arc::new(groups), values, origin: None }))
    }
}

impl Groups {
    /// Uploads the places of entries, which were checked.
    fn upload(work: &Work, element: ElementType, places: GcooPlaces<'_>) -> Result<Self> {
        let GcooPlaces { nrows, ncols, shape, grouping, group_ptr, .. } = places;
        let [_, other] = places.of_entries();
        Ok(Self {
            device: work.device().clone(),
            element,
            nrows,
            ncols,
            shape,
            grouping,
            group_ptr: work.upload(group_ptr)?,
            other: work.upload(other)?,
            line: work.upload(&lines(places))?,
            fingerprint: OnceLock::new(),
        })
    }

    /// The rows of all entries, and their columns.
    fn coordinates(&self, work: &Work) -> Result<[Vec<u32>; 2]> {
        let (lines, other) = (self.line_of(work)?.download(work)?, self.other.download(work)?);
        Ok(if self.grouping.of_columns() { [other, lines] } else { [lines, other] })
    }
}

/// The line of each entry in its group, with the bit [`SAME`].
fn lines(places: GcooPlaces<'_>) -> Vec<u8> {
    let [own, other] = places.of_entries();
    let of_groups = places.group_ptr.windows(2).map(|ends| ends[0] as usize..ends[1] as usize);
    let of_entry = |first: usize, entry: usize| {
        let same = entry > first && other[entry - 1] == other[entry];
        (own[entry] as usize % places.grouping.lines()) as u8 | if same { SAME } else { 0 }
    };
    of_groups.flat_map(|group| group.clone().map(move |entry| of_entry(group.start, entry))).collect()
}
