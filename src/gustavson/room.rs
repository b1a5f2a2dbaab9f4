//! The memory into which C is written.
use crate::{
    Arithmetic,
    element::{AnyValues, Element},
};
use half::f16;

/// Memory for a row and `stride` elements of each entry.
pub(super) struct Room<'a, N> {
    pub rows: &'a mut [u32],
    pub stride: usize,
    values: Values<'a, N>,
}

/// The elements of C, made from sums of type `N`.
pub(super) enum Values<'a, N> {
    Sums(&'a mut [N]),
    /// Elements that have fewer bytes than sums, and the function that writes them.
    Narrow {
        bytes: &'a mut [u8],
        of_element: usize,
        write: fn(&[N], &mut [u8]),
    },
}

/// A type in which sums are computed.
pub(super) trait Summed: Arithmetic {
    /// The elements that can be made from sums of this type.
    fn of_elements(values: &mut AnyValues) -> Option<Values<'_, Self>>;
}

impl Summed for f64 {
    fn of_elements(values: &mut AnyValues) -> Option<Values<'_, Self>> {
        match values {
            AnyValues::F64(values) => Some(Values::Sums(values)),
            _ => None,
        }
    }
}

impl Summed for f32 {
    fn of_elements(values: &mut AnyValues) -> Option<Values<'_, Self>> {
        match values {
            AnyValues::F32(values) => Some(Values::Sums(values)),
            AnyValues::F16(values) => Some(narrow(values, |sums, bytes| write(sums, bytes, f16::from_f32))),
            _ => None,
        }
    }
}

impl Summed for u32 {
    fn of_elements(values: &mut AnyValues) -> Option<Values<'_, Self>> {
        match values {
            AnyValues::U32(values) => Some(Values::Sums(values)),
            // The bits of the sums are the bits of the elements.
            AnyValues::I32(values) => Some(Values::Sums(bytemuck::cast_slice_mut(values))),
            AnyValues::F32(values) => Some(Values::Sums(bytemuck::cast_slice_mut(values))),
            AnyValues::F16(values) => {
                Some(narrow(values, |sums, bytes| write(sums, bytes, |sum| f16::from_f32(f32::from_bits(sum)))))
            }
            AnyValues::U8(values) => Some(narrow(values, |sums, bytes| write(sums, bytes, |sum| sum as u8))),
            _ => None,
        }
    }
}

fn narrow<N, T: Element>(values: &mut [T], write: fn(&[N], &mut [u8])) -> Values<'_, N> {
    Values::Narrow { bytes: bytemuck::cast_slice_mut(values), of_element: size_of::<T>(), write }
}

/// Writes sums as elements of type `T`.
fn write<N: Copy, T: Element>(sums: &[N], bytes: &mut [u8], of_sum: impl Fn(N) -> T) {
    let elements: &mut [T] = bytemuck::cast_slice_mut(bytes);
    elements.iter_mut().zip(sums).for_each(|(element, &sum)| *element = of_sum(sum));
}

impl<'a, N: Summed> Room<'a, N> {
    /// # Panics
    /// If the elements of `values` are not made from sums of type `N`.
    pub fn new(rows: &'a mut [u32], values: &'a mut AnyValues, stride: usize) -> Self {
        let values = N::of_elements(values).unwrap_or_else(|| unreachable!("the sums of another element"));
        Self { rows, stride, values }
    }

    /// Splits off the memory of the first `entries` entries.
    pub fn take(&mut self, entries: usize) -> Self {
        let (rows, len) = (self.rows.split_off_mut(..entries).unwrap_or_default(), entries * self.stride);
        let values = match &mut self.values {
            Values::Sums(values) => Values::Sums(values.split_off_mut(..len).unwrap_or_default()),
            Values::Narrow { bytes, of_element, write } => {
                let bytes = bytes.split_off_mut(..len * *of_element).unwrap_or_default();
                Values::Narrow { bytes, of_element: *of_element, write: *write }
            }
        };
        Self { rows, stride: self.stride, values }
    }

    /// Lets `put` write sums into an array. The array is `scratch` if elements have fewer bytes
    /// than sums.
    pub fn write(&mut self, scratch: &mut Vec<N>, put: impl FnOnce(&mut [N])) {
        match &mut self.values {
            Values::Sums(sums) => put(sums),
            Values::Narrow { bytes, of_element, write } => {
                scratch.resize(bytes.len() / *of_element, N::ZERO);
                put(scratch);
                write(scratch, bytes);
            }
        }
    }

    /// Writes the sums of scalars.
    pub fn fill(&mut self, scratch: &mut Vec<N>, sums: &[N]) {
        let stride = self.stride;
        match &mut self.values {
            Values::Narrow { bytes, write, .. } if stride == 1 => write(sums, bytes),
            Values::Sums(to) if stride == 1 => to.copy_from_slice(sums),
            _ => self.write(scratch, |to| {
                for (block, &sum) in to.chunks_exact_mut(stride).zip(sums) {
                    block.fill(N::ZERO);
                    block[0] = sum;
                }
            }),
        }
    }
}
