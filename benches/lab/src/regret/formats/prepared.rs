//! Plans of A·x, with A's values in place or packed in the order of the format.
use blockmul::{
    DeviceMatrix, DeviceVector, Matrix, Planned, Result,
    plan::{Apply, Format, Packed},
};

/// The options of a plan.
#[derive(Clone, Copy, PartialEq)]
pub struct Asked {
    pub format: Format,
    pub uses: u64,
    pub any_order: bool,
    pub packed: bool,
    pub symmetric: bool,
}

/// A plan that reads A's values in place, or one with packed values.
pub enum Prepared<M: Matrix> {
    InPlace(Apply<M>),
    Packed(Packed<M>),
}

impl<M: Matrix> Prepared<M> {
    pub fn new(a: &DeviceMatrix<M>, asked: Asked) -> Result<Self> {
        let pattern = a.pattern();
        let options = Apply::<M>::with(&pattern).format(asked.format).uses(asked.uses);
        let options = if asked.any_order { options.any_order() } else { options };
        let options = if asked.symmetric { options.symmetric() } else { options };
        if asked.packed { options.pack(a).map(Self::Packed) } else { options.plan().map(Self::InPlace) }
    }

    pub fn format(&self) -> Format {
        match self {
            Self::InPlace(plan) => plan.format(),
            Self::Packed(packed) => packed.format(),
        }
    }

    pub fn execute(
        &self,
        a: &DeviceMatrix<M>,
        x: &DeviceVector<M::Element>,
        y: &mut DeviceVector<M::Element>,
    ) -> Result<()> {
        match self {
            Self::InPlace(plan) => plan.execute((a, x), y).map(drop),
            Self::Packed(packed) => packed.execute(x, y).map(drop),
        }
    }
}
