//! Products of all element types in turn on one device, which keeps the kernels of one product for
//! the next.
use super::{Numbers, bits, numbers};
use crate::common::{Family, blocks, device};
use blockmul::{BlockShape, Cbc, Device, Method, Product, Result, Semiring, reference};
use half::f16;

/// The case that a turn computes in one element type.
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

/// A product finds kept kernels by a key, and the products of a case differ in nothing but their
/// elements. All else in the key is equal for them: shapes, strides, semiring, method, costs.
/// If the key left the element out, the second type would be lent the kernels of the first. Today
/// the host keeps them in another type, so that is an error (`src/device/loans.rs`). Without types
/// they would read elements of another size, or a float as an integer. The second round is computed
/// by kernels that the first one kept: the device keeps more than the six of a case.
#[test]
fn every_element_in_turn_has_kernels_of_its_own() -> Result<()> {
    // A device that no other test shares, so that nothing else puts kept kernels out.
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
