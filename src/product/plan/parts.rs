//! What is made of a product of groups: [`GramParts`].
use crate::Part;

/// What is made of a square C that has several groups, such as JᵀJ.
///
/// With J = [J_camera | J_point]: U = JcᵀJc and V = JpᵀJp are the diagonal groups, W = JcᵀJp stands
/// above and Wᵀ below. A [`Part`] stands for itself in both places: of `Part::Lower` is made
/// exactly what C has on and below its diagonal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GramParts {
    /// What of the diagonal groups.
    pub diagonal: Part,
    /// Which of the groups beside the diagonal, each of them whole.
    pub between: Part,
}

impl From<Part> for GramParts {
    fn from(part: Part) -> Self {
        Self { diagonal: part, between: part }
    }
}

impl GramParts {
    /// What is made of the group at (`row`, `col`).
    pub(crate) fn of(self, row: usize, col: usize) -> Option<Part> {
        let made = match self.between {
            Part::Full => true,
            Part::Lower => row > col,
            Part::Upper => row < col,
        };
        if row == col { Some(self.diagonal) } else { made.then_some(Part::Full) }
    }
}
