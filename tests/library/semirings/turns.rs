//! Products of all element types in turn on one device, which keeps the kernels of a product for
//! the next product.
use super::{Numbers, bits, numbers};
use crate::common::{Family, blocks, device};
use blockmul::{BlockShape, Cbc, Device, Method, Product, Result, Semiring, reference};
use half::f16;

/// The case that is computed in each element type.
#[derive(Clone, Copy)]
struct Case {
    method: Method,
    semiring: Semiring,
    shape: BlockShape,
}

impl Case {
    fn check<T: Numbers>(self, device: &Device) -> Result<()> {
        let Self { method, semiring, shape } = self;
        let pattern = blocks::<f64>(Family::Uniform, 60, 60, 4, shape, 1).pattern().clone();
        let values = numbers::<T>(pattern.nnz() * shape.area(), 2);
        let a = Cbc::new(pattern, shape, values)?;
        let da = device.upload(&a)?;
        let c = Product::of(&da, &da).semiring(semiring).method(method).run()?.download()?;
        let (want, what) =
            (reference::multiply_over(semiring, &a, &a)?, format!("{semiring} by {method} in {}", T::NAME));
        assert_eq!(c.pattern(), want.pattern(), "{what}");
        assert_eq!(bits(c.values()), bits(want.values()), "{what}");
        Ok(())
    }
}

/// A product finds kept kernels by a key. The products of a case differ only in their element
/// types; all else in the key is equal: shapes, strides, semiring, method, costs. If the key did
/// not include the element type, the second type would get the kernels of the first. Today this
/// would be an error, because the host keeps kernels by type (`src/device/loans.rs`). If kernels
/// were not kept by type, the kernels of one element type would read elements of another: of
/// another size, or floats as integers. The second round is computed by kernels that the first one
/// kept, because the device keeps more than the six products (one for each element type) of a case.
#[test]
fn every_element_in_turn_has_kernels_of_its_own() -> Result<()> {
    // No other test uses this device, so that no other product replaces the kept kernels.
    let device = Device::open(device().info())?;
    let (scalar, square) = (BlockShape::SCALAR, BlockShape::new(2, 2)?);
    for (method, semiring, shape) in [
        (Method::Auto, Semiring::OrAnd, scalar),
        (Method::Esc, Semiring::OrAnd, scalar),
        (Method::Auto, Semiring::PlusTimes, scalar),
        (Method::Auto, Semiring::OrAnd, square),
    ] {
        let case = Case { method, semiring, shape };
        for _ in 0..2 {
            case.check::<f64>(&device)?;
            case.check::<f32>(&device)?;
            case.check::<f16>(&device)?;
            case.check::<u32>(&device)?;
            case.check::<i32>(&device)?;
            if semiring.check::<u8>().is_ok() {
                case.check::<u8>(&device)?;
            }
        }
    }
    Ok(())
}
