//! [`HostMatrix`]: the host's type of a matrix on a device.
use super::{AnyMatrix, AnyView, Matrix, MatrixKind, sealed::Sealed};
use crate::{
    Error, Result,
    element::{Any, ElementType},
};
use std::marker::PhantomData;

/// The host type of a matrix on a device, the parameter of [`DeviceMatrix`](crate::DeviceMatrix).
/// The host type is a [`Matrix`], whose type defines the element type and the format, or
/// [`AnyMatrix`], whose element type and format are known at run time only. The trait is
/// implemented in this module only.
pub trait HostMatrix: Sealed + Clone + Send + Sync + Sized + 'static {
    /// The element type of vectors that are multiplied with the matrix: the matrix's element type,
    /// or [`Any`].
    type Word: std::fmt::Debug + 'static;
    /// The part of the format that the type does not define.
    #[doc(hidden)]
    type Kind: Kind;
    /// Element type and format, if the type defines them.
    #[doc(hidden)]
    const TYPE: Option<MatrixType<Self>>;

    /// Borrows the arrays.
    fn view(&self) -> AnyView<'_>;

    /// Converts an [`AnyMatrix`], without a copy.
    ///
    /// # Errors
    /// [`Error::Argument`] if the matrix has another element type or format.
    fn from_any(matrix: AnyMatrix) -> Result<Self>;
}

/// The format of a matrix on a device, defined by a type or known at run time.
#[doc(hidden)]
pub trait Kind: Copy + Send + Sync + 'static {
    fn get(self) -> MatrixKind;
    /// The format of a matrix of kind `kind`.
    fn of(kind: MatrixKind) -> Self;
    /// The format of the product of two matrices with the formats `self` and `b`, or `None` if one
    /// matrix is stored by rows and the other by columns.
    fn times(self, b: Self) -> Option<Self>;
}

/// The format that is defined by a matrix type.
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

/// Element type and format of matrices on a device.
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

/// Element type and format known at run time only.
pub(crate) type AnyType = MatrixType<AnyMatrix>;

impl<M: Matrix> MatrixType<M> {
    pub(crate) const OF: Self = Self { kind: InType(PhantomData), element: <M::Element as crate::Element>::TYPE };
}

impl<M: HostMatrix> MatrixType<M> {
    /// The same element type and format, known at run time only.
    pub(crate) fn any(self) -> AnyType {
        MatrixType { kind: self.kind.get(), element: self.element }
    }

    /// Converts from an element type and format known at run time, which must be those of `M`.
    pub(crate) fn of_any(of: AnyType) -> Self {
        Self { kind: M::Kind::of(of.kind), element: of.element }
    }

    pub(crate) fn of(matrix: AnyView<'_>) -> Self {
        Self { kind: M::Kind::of(matrix.kind()), element: matrix.element() }
    }

    /// The type of the product of matrices of these types.
    ///
    /// # Errors
    /// [`Error::Argument`] if the element types differ, or if one matrix is stored by rows and the
    /// other by columns.
    pub(crate) fn times(self, b: Self) -> Result<Self> {
        match self.kind.times(b.kind).filter(|_| self.element == b.element) {
            Some(kind) => Ok(Self { kind, ..self }),
            None => {
                let why = "elements must be the same, and both matrices stored by rows, or both by columns";
                Err(Error::Argument(format!("A is a {self:?}, B a {b:?}: {why}")))
            }
        }
    }

    /// Refuses the matrix `name` if it has another element type than `self` or is stored in another
    /// order (by rows or by columns). The shape of blocks is checked later, together with the
    /// pattern.
    pub(crate) fn check(self, name: &str, found: Self) -> Result<()> {
        let of = |of: Self| (of.element, of.kind.get().is_row_major());
        match of(found) == of(self) {
            true => Ok(()),
            false => Err(Error::Argument(format!("{name} is a {found:?}, the plan is of {self:?}"))),
        }
    }
}
