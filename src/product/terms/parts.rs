//! [`GramParts`]: the part of a product of groups that is computed.
use crate::Part;

/// The part of a square C with several groups, such as JᵀJ, that is computed.
///
/// With J = [J_camera | J_point]: U = JcᵀJc and V = JpᵀJp are the diagonal groups, W = JcᵀJp is
/// above the diagonal and Wᵀ below. A [`Part`] converts to `GramParts` with the same part in both
/// fields: `Part::Lower` computes exactly what C has on and below its diagonal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GramParts {
    /// The part of the groups on the diagonal.
    pub diagonal: Part,
    /// The groups above and below the diagonal that are computed. Each of these groups is computed
    /// whole.
    pub between: Part,
}

impl From<Part> for GramParts {
    fn from(part: Part) -> Self {
        Self { diagonal: part, between: part }
    }
}

impl GramParts {
    /// Returns which part of the group at (`row`, `col`) is computed, or `None` if the group is not
    /// computed.
    pub(crate) fn of(self, row: usize, col: usize) -> Option<Part> {
        let made = match self.between {
            Part::Full => true,
            Part::Lower => row > col,
            Part::Upper => row < col,
        };
        if row == col { Some(self.diagonal) } else { made.then_some(Part::Full) }
    }
}
