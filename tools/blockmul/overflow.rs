//! Values that become infinite because the element type is too small for them.
use crate::messages::Messages;
use blockmul::{Element, Matrix};

/// Values of a file that were converted to the element type.
#[derive(Clone, Copy)]
pub struct Converted {
    /// Finite ones that became infinite.
    pub lost: u64,
    /// Whether all were finite.
    pub finite: bool,
}

impl Converted {
    /// Values that are the same in the element type.
    pub const EXACT: Self = Self { lost: 0, finite: true };

    /// Counts the finite ones of `before` that are infinite in `after`, and warns of them.
    pub fn count<'v, T: Element>(
        before: impl Iterator<Item = &'v f64>,
        after: &[T],
        name: &str,
        messages: &Messages,
    ) -> Self {
        let (mut lost, mut finite) = (0, true);
        for (before, after) in before.zip(after) {
            finite &= before.is_finite();
            lost += u64::from(before.is_finite() && !after.to_f64().is_finite());
        }
        if lost > 0 {
            let (all, element) = (after.len(), T::NAME);
            messages.alert(&format!("{lost} of {all} values of {name} are too large for {element}: they are infinite"));
        }
        Self { lost, finite }
    }
}

/// Numbers of finite values that became infinite: in A and B because they are too large for the
/// element type, in C because sums are. B and C are the vectors if A is multiplied with vectors.
#[derive(Clone, Copy, serde::Serialize)]
pub struct Overflow {
    a: u64,
    b: u64,
    /// `None` if a file has values that are not finite, because theirs cannot be distinguished.
    c: Option<u64>,
}

impl Overflow {
    /// Of operands whose product is not known yet.
    pub fn of_operands(a: Converted, b: Converted) -> Self {
        Self { a: a.lost, b: b.lost, c: (a.finite && b.finite).then_some(0) }
    }

    /// Counts the infinite values of C and warns of them.
    pub fn of_product<M: Matrix>(self, c: &M, messages: &Messages) -> Self {
        self.of_values("C", c.as_cbc().values, messages)
    }

    /// Counts the infinite values of a result and warns of them.
    pub fn of_values<T: Element>(self, name: &str, values: &[T], messages: &Messages) -> Self {
        let lost = values.iter().filter(|value| !value.to_f64().is_finite()).count() as u64;
        if self.c.is_some() && lost > 0 {
            let (all, element) = (values.len(), T::NAME);
            messages.alert(&format!(
                "{lost} of {all} values of {name} are not finite: their sums are too large for {element}"
            ));
        }
        Self { c: self.c.map(|_| lost), ..self }
    }
}
