//! Values that become infinite because the element type is too small for them, and integers that
//! wrap around.
use crate::matrix_size::Size;
use crate::messages::Messages;
use blockmul::{
    element::{AnyValues, ElementType},
    matrix::AnyMatrix,
};

/// Values of a file that were converted to the element type.
#[derive(Clone, Copy)]
pub struct Converted {
    /// Number of finite values that became infinite.
    pub lost: u64,
    /// Whether all values were finite.
    pub finite: bool,
}

impl Converted {
    /// The result for values that the element type can represent exactly.
    pub const EXACT: Self = Self { lost: 0, finite: true };

    /// Combines the values of two files.
    pub fn and(self, other: Self) -> Self {
        Self { lost: self.lost + other.lost, finite: self.finite && other.finite }
    }

    /// Counts the finite numbers that become infinite as elements, and prints a warning.
    pub fn count(element: ElementType, numbers: &[f64], name: &str, messages: &Messages) -> Self {
        let (mut lost, mut finite) = (0, true);
        for number in numbers {
            finite &= number.is_finite();
            lost += u64::from(number.is_finite() && !element.nearest(*number).is_finite());
        }
        if lost > 0 {
            let all = numbers.len();
            messages.alert(&format!("{lost} of {all} values of {name} are too large for {element}: they are infinite"));
        }
        Self { lost, finite }
    }
}

/// The properties of C that a report contains. The whole of C need not be on the host at once.
#[derive(Clone, Copy)]
pub struct Extent {
    pub size: Size,
    /// Number of values that are infinite or NaN.
    pub not_finite: u64,
}

impl Extent {
    pub fn of(c: &AnyMatrix) -> Self {
        Self { size: Size::of(c), not_finite: not_finite(c.values()) }
    }

    /// Adds the counts of the next columns of C.
    pub fn and(self, columns: Self) -> Self {
        Self { size: self.size.and(columns.size), not_finite: self.not_finite + columns.not_finite }
    }

    /// Counts the values of C.
    pub fn named(&self, element: ElementType) -> Named {
        Named { name: "C", element, len: self.size.elements() }
    }
}

/// Describes values of a result in a message: their name, type and number.
#[derive(Clone, Copy)]
pub struct Named {
    name: &'static str,
    element: ElementType,
    len: usize,
}

impl Named {
    pub fn of(name: &'static str, values: &AnyValues) -> Self {
        Self { name, element: values.element(), len: values.len() }
    }
}

/// The number of values that are infinite or NaN.
fn not_finite(values: &AnyValues) -> u64 {
    (0..values.len()).filter(|&at| !values.number(at).is_finite()).count() as u64
}

/// The numbers of finite values that became infinite: in A and B because they are too large for the
/// element type, in C because sums are too large. For integers C counts the sums that wrapped
/// around. B and C are vectors if A is multiplied with vectors.
#[derive(Clone, Copy, serde::Serialize)]
pub struct Overflow {
    a: u64,
    b: u64,
    /// The count of C, or `None` if it is unknown: A or B has values that are not finite, which
    /// also make values of C infinite, or integers may have wrapped around and were not counted.
    c: Option<u64>,
}

impl Overflow {
    /// The counts of the operands, before the product is known.
    pub fn of_operands(a: Converted, b: Converted) -> Self {
        let Converted { lost, finite } = a.and(b);
        Self { a: a.lost, b: b.lost, c: (finite && lost == 0).then_some(0) }
    }

    /// Warns if C has infinite values.
    pub fn of_product(self, c: &Extent, element: ElementType, messages: &Messages) -> Self {
        self.of_lost(c.named(element), c.not_finite, messages)
    }

    /// Counts the infinite values of a result and warns of them.
    pub fn of_values(self, name: &'static str, values: &AnyValues, messages: &Messages) -> Self {
        self.of_lost(Named::of(name, values), not_finite(values), messages)
    }

    /// Warns of sums of integers that are outside the range of their type. If the sums are not
    /// counted, the command warns if their bound is outside the range.
    pub fn of_integers(
        self,
        Named { name, element, len }: Named,
        bound: f64,
        count: impl FnOnce() -> Option<u64>,
        messages: &Messages,
    ) -> Self {
        let highest = element.nearest(f64::INFINITY);
        if bound <= highest {
            return self;
        }
        let counted = count();
        match counted {
            Some(0) => {}
            Some(wrapped) => {
                let why = format!("their sums are too large for {element}");
                messages.alert(&format!("{wrapped} of {len} values of {name} have wrapped around: {why}"));
            }
            None => messages.alert(&format!(
                "values of {name} may have wrapped around: {element} ends at {highest}, and their sums may reach {bound:e}; \
                 --verify counts those that did"
            )),
        }
        Self { c: self.c.and(counted), ..self }
    }

    fn of_lost(self, Named { name, element, len }: Named, lost: u64, messages: &Messages) -> Self {
        if self.c.is_some() && lost > 0 {
            messages.alert(&format!(
                "{lost} of {len} values of {name} are not finite: their sums are too large for {element}"
            ));
        }
        Self { c: self.c.map(|_| lost), ..self }
    }
}
