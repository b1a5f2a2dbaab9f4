//! The bins of a product: columns that one method computes together.
use super::{Bin, Class, Method};
use crate::tuning::BinSize;

/// Columns of neighbouring classes that one method computes together: a bin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Share {
    pub method: Method,
    pub first: Class,
    /// The largest class that has columns. The kernels of class `last` compute the whole bin.
    pub last: Class,
    pub columns: u64,
    pub size: BinSize,
    /// Predicted milliseconds, or `None` if the method has no costs.
    pub predicted_ms: Option<f64>,
}

impl Share {
    /// Returns the share as a bin of the report.
    pub fn bin(&self) -> Bin {
        let &Self { method, columns, size, predicted_ms, .. } = self;
        Bin { size: Some(size), predicted_ms, ..Bin::of(self.which(), method, columns, size.products) }
    }

    /// Describes the columns in words, for the report.
    pub fn which(&self) -> &'static str {
        match (self.last, self.method == Method::Hub) {
            (Class::Direct, _) => "one entry of B",
            (Class::Sorted32, _) => "at most 32 products",
            (Class::Sorted48, _) => "at most 48 products",
            (Class::Sorted64, _) => "at most 64 products",
            (Class::Sorted96, _) => "at most 96 products",
            (Class::Sorted128, _) => "at most 128 products",
            (Class::Sorted192, _) => "at most 192 products",
            (Class::Sorted256, _) => "at most 256 products",
            (Class::Sorted320, _) => "at most 320 products",
            (Class::Sorted384, _) => "at most 384 products",
            (Class::Sorted512, _) => "at most 512 products",
            (Class::Sorted640, _) => "at most 640 products",
            (Class::Sorted768, _) => "at most 768 products",
            (Class::Sorted896, _) => "at most 896 products",
            (Class::Sorted1024, _) => "at most 1024 products",
            (Class::Sorted1280, _) => "at most 1280 products",
            (Class::Sorted1536, _) => "at most 1536 products",
            (Class::Sorted1792, _) => "at most 1792 products",
            (Class::Sorted2048, _) => "at most 2048 products",
            (Class::Sorted2560, _) => "at most 2560 products",
            (Class::Sorted3072, _) => "at most 3072 products",
            (Class::Sorted3584, _) => "at most 3584 products",
            (Class::Narrow, false) => "rows in a narrow range",
            (Class::Medium, false) => "rows in a medium range",
            (Class::Wide, false) => "rows in a wide range",
            (Class::Big, false) => "rows in a wide range, many products",
            (Class::Narrow, true) => "rows in a narrow range, hubs",
            (Class::Medium, true) => "rows in a medium range, hubs",
            (Class::Wide, true) => "rows in a wide range, hubs",
            (Class::Big, true) => "rows in a wide range, many products, hubs",
            (Class::Long, false) => "many entries of B",
            (Class::Long, true) => "many entries of B, hubs",
            (Class::HashedSmall, _) => "few rows in any range",
            (Class::HashedMedium, _) => "some thousand rows in any range",
            (Class::HashedLarge, _) => "rows in any range, within local memory",
            (Class::HashedGlobal, _) => "rows in any range, beyond local memory",
            (Class::Empty | Class::Rest, _) => "the others",
        }
    }
}
