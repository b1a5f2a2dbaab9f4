//! [`HostMatrix`]: what the host knows of the type of a matrix on a device.
use super::{AnyMatrix, AnyView, Matrix, MatrixKind, sealed::Sealed};
use crate::{
    Error, Result,
    element::{Any, ElementType},
};
use std::marker::PhantomData;

/// The host type of a matrix on a device, [`DeviceMatrix`](crate::DeviceMatrix) of it: a
/// [`Matrix`], whose type says element and format, or [`AnyMatrix`], of which both are values.
/// Implemented in this module only.
pub trait HostMatrix: Sealed + Clone + Send + Sync + Sized + 'static {
    /// What vectors that belong to the matrix are of: its elements, or [`Any`].
    type Word: std::fmt::Debug + 'static;
    /// The format, if the type does not say it.
    #[doc(hidden)]
    type Kind: Kind;
    /// Element and format, if the type says them.
    #[doc(hidden)]
    const TYPE: Option<MatrixType<Self>>;

    /// The arrays, borrowed.
    fn view(&self) -> AnyView<'_>;

    /// Makes a matrix of one whose type is a value, without a copy.
    ///
    /// # Errors
    /// [`Error::Argument`] if its element or its format is another one.
    fn from_any(matrix: AnyMatrix) -> Result<Self>;
}

/// The format of a matrix on a device, in its type or as a value.
#[doc(hidden)]
pub trait Kind: Copy + Send + Sync + 'static {
    fn get(self) -> MatrixKind;
    /// Of a matrix of the type.
    fn of(kind: MatrixKind) -> Self;
    /// The format of the product of two such matrices. None if one is stored by rows, the other by
    /// columns.
    fn times(self, b: Self) -> Option<Self>;
}

/// The format of a matrix type.
#[doc(hidden)]
pub struct InType<M>(PhantomData<fn() -> M>);

impl<M> Clone for InType<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for InType<M> {}

impl<M: Matrix> Kind for InType<M> {
    fn get(self) -> MatrixKind {
        MatrixKind::of::<M>()
    }

    fn of(_: MatrixKind) -> Self {
        Self(PhantomData)
    }

    fn times(self, _: Self) -> Option<Self> {
        Some(self)
    }
}

impl Kind for MatrixKind {
    fn get(self) -> MatrixKind {
        self
    }

    fn of(kind: MatrixKind) -> Self {
        kind
    }

    fn times(self, b: Self) -> Option<Self> {
        (self.is_row_major() == b.is_row_major()).then_some(if self.has_blocks() { self } else { b })
    }
}

impl<M: Matrix> HostMatrix for M {
    type Word = M::Element;
    type Kind = InType<M>;
    const TYPE: Option<MatrixType<M>> = Some(MatrixType::OF);

    fn view(&self) -> AnyView<'_> {
        AnyView::from(self)
    }

    fn from_any(matrix: AnyMatrix) -> Result<Self> {
        matrix.typed()
    }
}

impl Sealed for AnyMatrix {}

impl HostMatrix for AnyMatrix {
    type Word = Any;
    type Kind = MatrixKind;
    const TYPE: Option<MatrixType<Self>> = None;

    fn view(&self) -> AnyView<'_> {
        self.view()
    }

    fn from_any(matrix: AnyMatrix) -> Result<Self> {
        Ok(matrix)
    }
}

/// Element and format of matrices on a device.
#[doc(hidden)]
pub struct MatrixType<M: HostMatrix> {
    pub(crate) kind: M::Kind,
    pub(crate) element: ElementType,
}

impl<M: HostMatrix> Clone for MatrixType<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: HostMatrix> Copy for MatrixType<M> {}

impl<M: HostMatrix> PartialEq for MatrixType<M> {
    fn eq(&self, other: &Self) -> bool {
        (self.kind.get(), self.element) == (other.kind.get(), other.element)
    }
}

impl<M: HostMatrix> std::fmt::Debug for MatrixType<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}<{}>", self.kind.get().name(), self.element)
    }
}

/// Element and format as values.
pub(crate) type AnyType = MatrixType<AnyMatrix>;

impl<M: Matrix> MatrixType<M> {
    pub(crate) const OF: Self = Self { kind: InType(PhantomData), element: <M::Element as crate::Element>::TYPE };
}

impl<M: HostMatrix> MatrixType<M> {
    /// The element and the format as values.
    pub(crate) fn any(self) -> AnyType {
        MatrixType { kind: self.kind.get(), element: self.element }
    }

    /// Of matrices of the type.
    pub(crate) fn of_any(of: AnyType) -> Self {
        Self { kind: M::Kind::of(of.kind), element: of.element }
    }

    pub(crate) fn of(matrix: AnyView<'_>) -> Self {
        Self { kind: M::Kind::of(matrix.kind()), element: matrix.element() }
    }

    /// The type of the product of matrices of these types.
    ///
    /// # Errors
    /// [`Error::Argument`] if they have two elements, or rows and columns.
    pub(crate) fn times(self, b: Self) -> Result<Self> {
        match self.kind.times(b.kind).filter(|_| self.element == b.element) {
            Some(kind) => Ok(Self { kind, ..self }),
            None => {
                let why = "elements must be the same, and both matrices stored by rows, or both by columns";
                Err(Error::Argument(format!("A is a {self:?}, B a {b:?}: {why}")))
            }
        }
    }

    /// Refuses a matrix, called `name`, with other elements than these, or by rows and not by
    /// columns. Blocks are compared with patterns.
    pub(crate) fn check(self, name: &str, found: Self) -> Result<()> {
        let of = |of: Self| (of.element, of.kind.get().is_row_major());
        match of(found) == of(self) {
            true => Ok(()),
            false => Err(Error::Argument(format!("{name} is a {found:?}, the plan is of {self:?}"))),
        }
    }
}
