//! Integers as elements for semirings: `u32`, `i32`, and `u8` for truth values.
use super::{Arithmetic, Element, ElementType};

/// Sums and products that wrap around, in an implementation of [`Arithmetic`].
macro_rules! wrapping {
    () => {
        #[inline]
        fn nearest(number: f64) -> Self {
            number.round_ties_even() as Self
        }
        #[inline]
        fn plus(self, other: Self) -> Self {
            self.wrapping_add(other)
        }
        #[inline]
        fn times(self, other: Self) -> Self {
            self.wrapping_mul(other)
        }
    };
}

impl Arithmetic for u32 {
    const ZERO: Self = 0;
    const NEUTRAL: Self = 0;
    const LOWEST: Self = 0;
    const HIGHEST: Self = u32::MAX;
    const CL_LOWEST: &'static str = "0u";
    const CL_HIGHEST: &'static str = "UINT_MAX";
    wrapping!();
    #[inline]
    fn length(self, other: Self, _: Self) -> Self {
        self.saturating_add(other)
    }
    fn cl_length(_: &str) -> String {
        "add_sat(x, y)".into()
    }
}

impl Arithmetic for i32 {
    const ZERO: Self = 0;
    const NEUTRAL: Self = 0;
    const LOWEST: Self = i32::MIN;
    const HIGHEST: Self = i32::MAX;
    const CL_LOWEST: &'static str = "INT_MIN";
    const CL_HIGHEST: &'static str = "INT_MAX";
    wrapping!();
    #[inline]
    fn length(self, other: Self, none: Self) -> Self {
        let far = if none == Self::LOWEST { Self::HIGHEST } else { Self::LOWEST };
        match [self, other] {
            either if either.contains(&none) => none,
            either if either.contains(&far) => far,
            _ => self.saturating_add(other),
        }
    }
    fn cl_length(none: &str) -> String {
        let far = if none == Self::CL_LOWEST { Self::CL_HIGHEST } else { Self::CL_LOWEST };
        format!("((x)=={none}||(y)=={none} ? {none} : (x)=={far}||(y)=={far} ? {far} : add_sat(x, y))")
    }
}

macro_rules! element {
    ($integer:ident as $name:ident in $arithmetic:ident, $truth:literal) => {
        impl Element for $integer {
            type Arithmetic = $arithmetic;
            const TYPE: ElementType = ElementType::$name;
            const ARITHMETIC_ROUNDOFF: f64 = 0.0;
            const STORAGE_ROUNDOFF: f64 = 0.0;
            const TRUTH: bool = $truth;
            #[inline]
            fn widen(self) -> $arithmetic {
                self.into()
            }
            #[inline]
            fn narrow(value: $arithmetic) -> Self {
                value as Self // OpenCL's conversion too keeps the lower bits
            }
            #[inline]
            fn to_f64(self) -> f64 {
                self.into()
            }
            #[inline]
            fn from_f64(value: f64) -> Self {
                value.round_ties_even() as Self
            }
        }
    };
}

element!(u32 as U32 in u32, false);
element!(i32 as I32 in i32, false);
element!(u8 as U8 in u32, true);
