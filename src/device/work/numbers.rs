//! Uploads and downloads numbers of any element type as `f64`, which can represent the numbers of
//! every element type.
use super::Work;
use crate::{
    Element, Result,
    device::Buffer,
    element::{ElementType, with_type},
};

impl Work {
    /// Like [`Work::upload`]. The numbers are rounded to the element type.
    pub fn upload_numbers(&self, element: ElementType, numbers: &[f64]) -> Result<Buffer> {
        let mut buffer = self.buffer_of(element.word(), numbers.len())?;
        self.write_numbers(numbers, &mut buffer)?;
        Ok(buffer)
    }

    /// Like [`Work::write`]. The numbers are rounded to the buffer's type.
    pub fn write_numbers(&self, numbers: &[f64], buffer: &mut Buffer) -> Result<()> {
        with_type!(ElementType::of(buffer.word()), T => {
            let numbers: Vec<T> = numbers.iter().map(|&number| T::from_f64(number)).collect();
            self.write(&numbers, buffer.typed_mut())
        })
    }

    /// Like [`Work::read`]. The values are converted to `f64`.
    pub fn read_numbers(&self, buffer: &Buffer, start: usize, len: usize) -> Result<Vec<f64>> {
        with_type!(ElementType::of(buffer.word()), T => {
            let numbers: Vec<T> = self.read(buffer.typed(), start, len)?;
            Ok(numbers.into_iter().map(Element::to_f64).collect())
        })
    }

    /// Reads all values of a buffer and converts them to `f64`.
    pub fn download_numbers(&self, buffer: &Buffer) -> Result<Vec<f64>> {
        self.read_numbers(buffer, 0, buffer.len())
    }
}

/// Waits for a read that was enqueued, and returns its numbers.
pub(crate) type NumbersLater<'w> = Box<dyn FnOnce() -> Result<Vec<f64>> + 'w>;

impl Work {
    /// Enqueues a read of all values of a buffer, converted to `f64`.
    pub fn read_numbers_later(&self, buffer: &Buffer) -> Result<NumbersLater<'_>> {
        Ok(with_type!(ElementType::of(buffer.word()), T => {
            let later = self.read_later::<T>(buffer.typed())?;
            Box::new(move || Ok(later.get()?.into_iter().map(Element::to_f64).collect()))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::test_device;
    use half::f16;

    #[test]
    fn numbers_are_rounded_to_the_type_and_come_back() -> Result<()> {
        let work = Work::new(&test_device(), None);
        let numbers = [0.0, 1.5, -2.5, 1.0 / 3.0, f64::INFINITY, f64::NEG_INFINITY];
        for (element, third, extremes) in [
            (ElementType::F64, 1.0 / 3.0, [f64::INFINITY, f64::NEG_INFINITY]),
            (ElementType::F32, (1.0f32 / 3.0).into(), [f64::INFINITY, f64::NEG_INFINITY]),
            (ElementType::F16, f16::from_f64(1.0 / 3.0).into(), [f64::INFINITY, f64::NEG_INFINITY]),
        ] {
            let buffer = work.upload_numbers(element, &numbers)?;
            for found in [work.download_numbers(&buffer)?, work.read_numbers_later(&buffer)?()?] {
                assert_eq!(found, [0.0, 1.5, -2.5, third, extremes[0], extremes[1]], "{element}");
            }
        }
        for (element, least, most) in [
            (ElementType::I32, i32::MIN.into(), i32::MAX.into()),
            (ElementType::U32, 0.0, u32::MAX.into()),
            (ElementType::U8, 0.0, 255.0),
        ] {
            let mut buffer = work.upload_numbers(element, &[9.0; 6])?;
            work.write_numbers(&numbers, &mut buffer)?;
            let below = if least == 0.0 { 0.0 } else { -2.0 };
            assert_eq!(work.download_numbers(&buffer)?, [0.0, 2.0, below, 0.0, most, least], "{element}");
            assert_eq!(work.read_numbers(&buffer, 4, 1)?, [most], "{element}");
        }
        Ok(())
    }
}
