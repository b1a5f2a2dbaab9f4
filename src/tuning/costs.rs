//! The costs of the methods for products of scalars that are not planned. `auto` chooses a method
//! by these costs.
//!
//! The predicted time of some columns is a sum of four terms, one for each coefficient of a method.
//! `blockmul tune` fits the coefficients to times measured on a device.
use super::DeviceKind;
use crate::{Error, Result};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

/// The size of a bin. A bin is a set of columns of C that one method computes together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct BinSize {
    /// About how many kernels are launched for the bin. For the method `host` the number counts how
    /// often the host waits for copies.
    pub launches: u32,
    /// Number of products of entries.
    pub products: u64,
    /// Number of entries of C. The number is estimated if there are samples; otherwise it is an
    /// upper bound. For the method `host` it is the number of entries and columns of B instead.
    pub entries: u64,
    /// Number of places, which are units of cost. A column of a kernel for short columns has one
    /// place, and a column of a kernel for long columns several. For the method `ranges`, the
    /// places of the sums of rows are added, because these sums are cleared.
    pub places: u64,
}

impl BinSize {
    /// Makes the size of a bin from its parts.
    pub fn new(launches: u32, products: u64, entries: u64, places: u64) -> Self {
        Self { launches, products, entries, places }
    }
}

/// The costs of a method.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MethodCost {
    /// Microseconds of each launch.
    pub launch_us: f64,
    /// Picoseconds of each product.
    pub product_ps: f64,
    /// Picoseconds of each entry of C; for the method `host`, of each entry and each column of B.
    pub entry_ps: f64,
    /// Picoseconds of each place of a column.
    pub column_ps: f64,
}

impl MethodCost {
    /// The names of the coefficients in a tuning file.
    pub const NAMES: [&str; 4] = ["launch_us", "product_ps", "entry_ps", "column_ps"];

    pub(super) const fn of([launch_us, product_ps, entry_ps, column_ps]: [f64; 4]) -> Self {
        Self { launch_us, product_ps, entry_ps, column_ps }
    }

    /// Makes costs from these coefficients, in the order of [`MethodCost::NAMES`].
    ///
    /// # Errors
    /// [`Error::Argument`] if a coefficient is negative, infinite or NaN.
    pub fn new(coefficients: [f64; 4]) -> Result<Self> {
        match coefficients.iter().zip(Self::NAMES).find(|(value, _)| !(0.0..f64::INFINITY).contains(*value)) {
            Some((value, name)) => Err(Error::Argument(format!("{name} is {value}, not from 0 on"))),
            None => Ok(Self::of(coefficients)),
        }
    }

    /// Returns the coefficients, in the order of [`MethodCost::NAMES`].
    pub fn coefficients(&self) -> [f64; 4] {
        [self.launch_us, self.product_ps, self.entry_ps, self.column_ps]
    }

    /// Predicts the time of a bin in milliseconds.
    pub fn predict_ms(&self, size: &BinSize) -> f64 {
        terms_ms(size).iter().zip(self.coefficients()).map(|(term, coefficient)| term * coefficient).sum()
    }
}

/// Returns the numbers by which a method's coefficients are multiplied. The sum of the products of
/// coefficients and numbers is the predicted time in milliseconds.
pub(super) fn terms_ms(size: &BinSize) -> [f64; 4] {
    let BinSize { launches, products, entries, places } = *size;
    [f64::from(launches) * 1e-3, products as f64 * 1e-9, entries as f64 * 1e-9, places as f64 * 1e-9]
}

/// Four coefficients in the order of [`MethodCost::NAMES`].
type Coefficients = [f64; 4];

/// The methods that have costs. Each method has its name, its coefficients on GPUs (`None` if the
/// method does not run on GPUs), and its coefficients on CPUs.
///
/// The coefficients of GPUs were fitted by `blockmul tune --seconds 60` on an NVIDIA H200, with 6
/// microseconds for a launch. Three costs are exceptions. A launch of `direct` counts 15
/// microseconds, because the squares of road networks with 8 million products took 85 microseconds
/// longer with a separate bin for `direct` than if the columns of that bin were sorted. `esc` was
/// fitted to whole products (`docs/decisions/0011-costs-of-methods.md`), with weights for how often
/// a product is merged. `hash` was fitted to 32 matrix products of 5 to 20 million products on an
/// H100.
///
/// On CPUs, `esc` was fitted to 92 whole products on two idle cores with PoCL, and `direct` to 89
/// whole products that were measured the day before. `dense` and `host` are between two fits to the
/// products of `blockmul tune` of up to 420,000
/// (`docs/decisions/0015-small-products-on-the-host.md`). The remaining methods were fitted by
/// `blockmul tune` on shared cores. On a CPU their costs do not decide which method is chosen.
const TABLE: &[(&str, Option<Coefficients>, Coefficients)] = &[
    ("esc", Some([12.0, 44.0, 5.0, 65.0]), [21.0, 3500.0, 3900.0, 20_000.0]),
    ("direct", Some([15.0, 10.5, 0.0, 67.0]), [43.0, 820.0, 0.0, 25_000.0]),
    ("sort", Some([6.0, 0.86, 4.1, 265.0]), [180.0, 18_000.0, 0.0, 2_900_000.0]),
    ("dense", Some([6.0, 2.5, 25.0, 1340.0]), [44.0, 770.0, 2070.0, 8500.0]),
    ("hub", Some([6.0, 11.0, 38.0, 2050.0]), [170.0, 78_000.0, 110_000.0, 12_000_000.0]),
    ("hash", Some([6.0, 10.0, 92.0, 1900.0]), [170.0, 40_000.0, 60_000.0, 8_000_000.0]),
    ("host", None, [15.5, 610.0, 5300.0, 34_000.0]),
];

/// The costs of each method for products of scalars on a device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MethodCosts([Option<MethodCost>; TABLE.len()]);

impl MethodCosts {
    /// Returns the table for a kind of device. All kinds except CPUs share the table of GPUs.
    pub fn of_kind(kind: DeviceKind) -> Self {
        let of = |&(_, gpu, cpu): &(_, _, _)| if kind == DeviceKind::Cpu { Some(cpu) } else { gpu };
        Self(std::array::from_fn(|method| of(&TABLE[method]).map(MethodCost::of)))
    }

    /// Returns the names of the methods that have costs on some kind of device. Both variants of
    /// ESC have the name `esc`.
    pub fn names() -> impl Iterator<Item = &'static str> {
        TABLE.iter().map(|(name, ..)| *name)
    }

    /// Returns the methods and their costs.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, MethodCost)> {
        Self::names().zip(self.0).filter_map(|(name, cost)| Some((name, cost?)))
    }

    /// Returns the costs of the method `method`, if it has any.
    pub fn of(&self, method: &str) -> Option<MethodCost> {
        self.iter().find(|(name, _)| *name == method).map(|(_, cost)| cost)
    }

    /// Replaces the costs of one method.
    ///
    /// # Errors
    /// [`Error::Argument`] if the method has no costs on any kind of device.
    pub fn with(self, method: &str, cost: MethodCost) -> Result<Self> {
        self.set(method, Some(cost))
    }

    /// Removes a method, so that [`Method::Auto`](crate::Method::Auto) leaves its columns to other
    /// methods. A method that is requested by name needs no costs. ESC takes the columns that no
    /// other method can compute.
    ///
    /// # Errors
    /// [`Error::Argument`] if the method has no costs on any kind of device.
    pub fn without(self, method: &str) -> Result<Self> {
        self.set(method, None)
    }

    fn set(mut self, method: &str, cost: Option<MethodCost>) -> Result<Self> {
        match Self::names().position(|name| name == method) {
            Some(at) => self.0[at] = cost,
            None => {
                let names: Vec<_> = Self::names().collect();
                return Err(Error::Argument(format!("no method `{method}` has costs; these do: {}", names.join(", "))));
            }
        }
        Ok(self)
    }
}

impl Serialize for MethodCosts {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.iter().count()))?;
        self.iter().try_for_each(|(name, cost)| map.serialize_entry(name, &cost))?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prediction_is_the_sum_of_its_terms() -> Result<()> {
        let cost = MethodCost::new([6.0, 5.0, 7.0, 400.0])?;
        let size = BinSize::new(2, 1_000_000, 500_000, 10_000);
        assert!((cost.predict_ms(&size) - (0.012 + 0.005 + 0.0035 + 0.004)).abs() < 1e-12);
        assert_eq!(cost.predict_ms(&BinSize::default()), 0.0);
        for wrong in [-1.0, f64::NAN, f64::INFINITY] {
            let refused = MethodCost::new([0.0, 0.0, wrong, 0.0]).unwrap_err().to_string();
            assert!(refused.contains("entry_ps is"), "{refused}");
        }
        Ok(())
    }

    #[test]
    fn methods_are_found_by_name() -> Result<()> {
        for kind in [DeviceKind::Gpu, DeviceKind::Cpu, DeviceKind::Other] {
            let table = MethodCosts::of_kind(kind);
            let cost = MethodCost::new([1.0, 2.0, 3.0, 4.0])?;
            let host = kind == DeviceKind::Cpu;
            assert_eq!(table.of("host").is_some(), host, "only a CPU shares its cores with the host");
            for name in MethodCosts::names() {
                let valid = table.of(name).map(|cost| MethodCost::new(cost.coefficients()).is_ok());
                assert_eq!(valid, (host || name != "host").then_some(true), "{name}");
                assert_eq!(table.with(name, cost)?.of(name), Some(cost));
                assert_eq!(table.without(name)?.of(name), None);
                assert_eq!(table.with(name, cost)?.without(name)?, table.without(name)?);
            }
            assert_eq!(table.of("masked"), None);
            assert!(table.with("masked", cost).unwrap_err().to_string().contains("no method `masked`"));
        }
        Ok(())
    }
}
