//! Dense matrices whose element type is known at run time only.
use super::{DenseShape, DenseView, DenseViewMut, Layout, try_dense_zeros};
use crate::{
    Element, Error, Result,
    element::{AnySlice, AnySliceMut, AnyValues, ElementType, Listed, with_type, with_values},
};
use nalgebra::DMatrix;

/// A dense matrix on the host, in any layout, whose element type is known at run time only.
///
/// ```
/// use blockmul::{dense::AnyDense, element::ElementType};
/// use nalgebra::dmatrix;
/// let d = AnyDense::from(dmatrix![1.0f32, 2.0; 3.0, 4.0]);
/// assert_eq!((d.element(), d.shape().rows), (ElementType::F32, 2));
/// assert_eq!(d.typed::<f32>()?.to_matrix(), dmatrix![1.0, 2.0; 3.0, 4.0]);
/// let error = d.typed::<f64>().unwrap_err();
/// assert_eq!(error.to_string(), "the dense matrix has elements of f32, not of f64");
/// # Ok::<(), blockmul::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct AnyDense {
    shape: DenseShape,
    values: AnyValues,
}

/// A dense matrix over a slice, whose element type is known at run time only. A [`DenseView`]
/// converts to an `AnyDenseView`, and so do references to [`AnyValues`], to a [`DMatrix`] and to an
/// [`AnyDense`].
#[derive(Debug, Clone, Copy)]
pub struct AnyDenseView<'a> {
    pub(crate) shape: DenseShape,
    pub(crate) values: AnySlice<'a>,
}

/// A mutable dense matrix over a slice, whose element type is known at run time only.
pub(crate) struct AnyDenseViewMut<'a> {
    pub shape: DenseShape,
    pub values: AnySliceMut<'a>,
}

impl AnyDense {
    /// Makes a matrix of these elements. Surplus elements at the end are dropped.
    ///
    /// # Errors
    /// [`Error::Length`] if there are too few elements; [`Error::Argument`] if the leading
    /// dimension is so small that lines overlap; [`Error::TooLarge`].
    pub fn new(shape: DenseShape, mut values: AnyValues) -> Result<Self> {
        shape.check_array(values.len())?;
        with_values!(AnyValues, &mut values, values => values.truncate(shape.len()));
        Ok(Self { shape, values })
    }

    /// Makes a matrix of zeros without gaps. Fails if the host lacks the memory.
    pub(crate) fn zeros(element: ElementType, (rows, cols): (usize, usize), layout: Layout) -> Result<Self> {
        let Self { values, .. } = with_type!(element, T => Self::from(try_dense_zeros::<T>(rows, cols)?));
        Ok(Self { shape: DenseShape::new(rows, cols, layout), values })
    }

    /// Sides and layout.
    pub fn shape(&self) -> DenseShape {
        self.shape
    }

    /// The type of the elements.
    pub fn element(&self) -> ElementType {
        self.values.element()
    }

    /// The elements, including the gaps between lines.
    pub fn values(&self) -> &AnyValues {
        &self.values
    }

    /// Returns the elements.
    pub fn into_values(self) -> AnyValues {
        self.values
    }

    /// The transpose over the same elements.
    pub fn into_transpose(self) -> Self {
        Self { shape: self.shape.transposed(), ..self }
    }

    /// Converts the elements to another type. Each element is rounded to nearest, see
    /// [`Element::from_f64`].
    pub fn cast(&self, element: ElementType) -> Self {
        Self { shape: self.shape, values: self.values.borrow().cast(element) }
    }

    /// A copy in another layout, without gaps.
    ///
    /// # Errors
    /// [`Error::Memory`] if the copy does not fit the host.
    pub fn to_layout(&self, layout: Layout) -> Result<Self> {
        let mut copy = Self::zeros(self.element(), (self.shape.rows, self.shape.cols), layout)?;
        copy.view_mut().copy_from(self.view())?;
        Ok(copy)
    }

    /// Borrows the matrix with its element type `T` known at compile time.
    ///
    /// # Errors
    /// [`Error::Argument`] if the elements have another type.
    pub fn typed<T: Element>(&self) -> Result<DenseView<'_, T>> {
        self.view().typed()
    }

    /// Borrows the matrix.
    pub fn view(&self) -> AnyDenseView<'_> {
        AnyDenseView { shape: self.shape, values: self.values.borrow() }
    }

    pub(crate) fn view_mut(&mut self) -> AnyDenseViewMut<'_> {
        AnyDenseViewMut { shape: self.shape, values: self.values.borrow_mut() }
    }
}

/// Compares sides and elements. The layouts may differ. As in [`AnyMatrix`](super::AnyMatrix),
/// elements are compared as numbers.
impl PartialEq for AnyDense {
    fn eq(&self, other: &Self) -> bool {
        let ([a, b], DenseShape { rows, cols, .. }) = ([self.view(), other.view()], self.shape);
        let equal = |(row, col)| a.values.number(a.shape.at(row, col)) == b.values.number(b.shape.at(row, col));
        (self.element(), rows, cols) == (other.element(), b.shape.rows, b.shape.cols)
            && (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))).all(equal)
    }
}

/// The matrix is stored by columns, and nothing is copied.
impl<T: Element> From<DMatrix<T>> for AnyDense {
    fn from(matrix: DMatrix<T>) -> Self {
        let shape = DenseShape::new(matrix.nrows(), matrix.ncols(), Layout::ByColumns);
        Self { shape, values: T::any(matrix.data.into()) }
    }
}

impl<'a> AnyDenseView<'a> {
    /// A matrix of the first of these elements. There may be more elements than the matrix needs.
    ///
    /// # Errors
    /// See [`AnyDense::new`].
    pub fn new(shape: DenseShape, values: &'a AnyValues) -> Result<Self> {
        with_values!(AnyValues, values, values => Ok(DenseView::new(shape, values)?.into()))
    }

    /// Sides and layout.
    pub fn shape(&self) -> DenseShape {
        self.shape
    }

    /// The type of the elements.
    pub fn element(&self) -> ElementType {
        self.values.element()
    }

    /// The matrix with its element type `T` known at compile time.
    ///
    /// # Errors
    /// [`Error::Argument`] if the elements have another type.
    pub fn typed<T: Element>(self) -> Result<DenseView<'a, T>> {
        let found = self.element();
        let other = || Error::Argument(format!("the dense matrix has elements of {found}, not of {}", T::TYPE));
        DenseView::new(self.shape, T::of_any_slice(self.values).ok_or_else(other)?)
    }

    /// The transpose over the same elements.
    pub fn transposed(self) -> Self {
        Self { shape: self.shape.transposed(), ..self }
    }
}

impl<'a, T: Element> From<DenseView<'a, T>> for AnyDenseView<'a> {
    fn from(view: DenseView<'a, T>) -> Self {
        Self { shape: view.shape(), values: T::any_slice(view.values()) }
    }
}

impl<'a, T: Element> From<&'a DMatrix<T>> for AnyDenseView<'a> {
    fn from(matrix: &'a DMatrix<T>) -> Self {
        DenseView::from(matrix).into()
    }
}

impl<'a> From<&'a AnyDense> for AnyDenseView<'a> {
    fn from(matrix: &'a AnyDense) -> Self {
        matrix.view()
    }
}

impl<'a, T: Element> From<DenseViewMut<'a, T>> for AnyDenseViewMut<'a> {
    fn from(view: DenseViewMut<'a, T>) -> Self {
        let DenseViewMut { shape, values } = view;
        Self { shape, values: T::any_slice_mut(&mut values[..shape.len()]) }
    }
}

impl AnyDenseViewMut<'_> {
    pub fn element(&self) -> ElementType {
        self.values.element()
    }

    pub fn transposed(self) -> Self {
        Self { shape: self.shape.transposed(), ..self }
    }

    /// Replaces the elements by the elements of `from`, a matrix with the same element type and
    /// sides.
    pub fn copy_from(self, from: AnyDenseView<'_>) -> Result<()> {
        with_type!(from.element(), T => {
            let to = T::of_any_slice_mut(self.values).unwrap_or_else(|| unreachable!("elements of one type"));
            DenseViewMut::<T>::new(self.shape, to)?.copy_from(from.typed()?);
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::dmatrix;

    #[test]
    fn matrices_are_equal_in_any_layout() -> Result<()> {
        let columns = AnyDense::from(dmatrix![1.0, 2.0; 3.0, 4.0; 5.0, 6.0]);
        let shape = DenseShape::new(3, 2, Layout::ByRows).with_leading(3);
        let rows = AnyDense::new(shape, vec![1.0, 2.0, 0.0, 3.0, 4.0, 9.0, 5.0, 6.0, 7.0].into())?;
        assert_eq!((rows.values().len(), &rows), (8, &columns));
        assert_ne!(rows.clone().into_transpose(), columns);
        assert_ne!(rows.cast(ElementType::F32), columns);
        assert_eq!(rows.cast(ElementType::F32).cast(ElementType::F64), columns);
        let mut copy = AnyDense::zeros(ElementType::F64, (2, 3), Layout::ByColumns)?;
        copy.view_mut().transposed().copy_from(rows.view())?;
        assert_eq!(copy.into_transpose(), columns);
        let by_rows = columns.to_layout(Layout::ByRows)?;
        assert_eq!(by_rows.values(), &AnyValues::from(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
        assert_eq!(AnyDenseView::new(by_rows.shape(), by_rows.values())?.typed::<f64>()?.get(2, 1), 6.0);
        let too_few = AnyDense::new(shape, vec![0u8; 7].into());
        assert!(matches!(too_few, Err(Error::Length { found: 7, expected: 8, .. })));
        Ok(())
    }
}
