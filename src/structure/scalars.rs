//! [`Scalars`]: a [`ScalarMap`] on the device. Kernel: `cl/structure/scalars.cl`.
use super::{Elementwise, ScalarMap, scalar_map::Place};
use crate::{
    BlockShape, Device, DeviceMatrix, DevicePattern, DeviceVector, Matrix, Part, Result,
    device::{Buffer, Elem, Grid, In, Kernel, Out, Work, kernel},
    element::ElementType,
    matrix::{HostMatrix, MatrixType},
    planned::{
        Accum, Cost, On, Planned,
        prepared::{check_patterns, check_unscaled},
    },
    resident::DeviceCbc,
    vector::check_vector,
};

kernel! {
    struct CopyScalars = "scalars" in "structure/scalars.cl" {
        source: In<u32>,
        first: In<u64>,
        height: In<u32>,
        from: In<Elem>,
        to: Out<Elem>,
        nnz: u32,
        stride: u32,
    }
}

/// Flags of a block in the upper bits of the word that contains its place. Places stay below 2^61,
/// since no memory holds more elements.
const TURNED: u32 = 63;
const FALLING: u32 = 62;
const DIAGONAL: u32 = 61;

/// A planned [`ScalarMap`] that copies values on the device. After the copy, one download of
/// exactly the scalars brings a matrix to a sparse factorization on the host.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::plan::{ScalarMap, Scalars};
/// use blockmul::{Cbc, Device, Planned, generate};
/// let device = Device::auto()?;
/// let h = generate::PoseChain { poses: 50, closures: 20, ..Default::default() }.matrix()?;
/// let h_on_device = device.upload(&h)?;
/// let plan = Scalars::<Cbc<f64>>::lower(&h_on_device.pattern())?; // structure, once
/// let mut on_device = plan.output()?;
/// let mut values = vec![0.0; plan.map().nnz()];
///
/// plan.execute(&h_on_device, &mut on_device)?; // values, many times
/// on_device.download_into(&mut values)?;
///
/// let mut same = values.clone();
/// ScalarMap::lower(&h)?.copy_values(&h, &mut same)?;
/// assert_eq!(values, same);
/// # Ok(())
/// # }
/// ```
pub struct Scalars<M: HostMatrix> {
    core: Core,
    of: MatrixType<M>,
}

/// The map for matrices whose element type is known at run time only.
struct Core {
    h: DevicePattern,
    map: ScalarMap,
    source: Buffer<u32>,
    first: Buffer<u64>,
    height: Buffer<u32>,
    kernel: Kernel<CopyScalars<'static>>,
    grid: Grid,
}

impl<M: Matrix> Scalars<M> {
    /// Maps to the lower triangle, see [`ScalarMap::lower`]. Reads the pattern of the blocks back
    /// once.
    ///
    /// # Errors
    /// See [`ScalarMap::lower`]; [`Error::Argument`](crate::Error::Argument) if the pattern belongs
    /// to another kind of matrix; [`Error::Memory`](crate::Error::Memory).
    pub fn lower(h: &DevicePattern) -> Result<Self> {
        Self::tuned(h, MatrixType::OF, Part::Lower, Elementwise::new(h.device().info(), h.array_shape))
    }

    /// Maps to both triangles, see [`ScalarMap::full`]. Reads the pattern of the blocks back once.
    ///
    /// # Errors
    /// See [`Scalars::lower`].
    pub fn full(h: &DevicePattern) -> Result<Self> {
        Self::tuned(h, MatrixType::OF, Part::Full, Elementwise::new(h.device().info(), h.array_shape))
    }
}

impl<M: HostMatrix> Scalars<M> {
    /// Like [`Scalars::lower`], for the type and pattern of `h`, whose type may be known at run
    /// time only.
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// use blockmul::{Csc, Device, Planned, element::AnyValues, matrix::AnyMatrix, plan::Scalars};
    /// let a = AnyMatrix::from(Csc::from_triplets(2, 2, [(0, 0, 2.0f32), (1, 0, 3.0)])?);
    /// let a = Device::auto()?.upload(&a)?;
    /// let plan = Scalars::lower_of(&a)?;
    /// let mut values = plan.output()?;
    /// plan.execute(&a, &mut values)?;
    /// assert_eq!(values.download()?, AnyValues::F32(vec![2.0, 3.0]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// See [`Scalars::lower`].
    pub fn lower_of(h: &DeviceMatrix<M>) -> Result<Self> {
        let grid = Elementwise::new(h.device().info(), h.cbc.shape);
        Self::tuned(&h.pattern(), h.type_of(), Part::Lower, grid)
    }

    /// Like [`Scalars::full`], for the type and pattern of `h`, whose type may be known at run time
    /// only.
    ///
    /// # Errors
    /// See [`Scalars::lower`].
    pub fn full_of(h: &DeviceMatrix<M>) -> Result<Self> {
        let grid = Elementwise::new(h.device().info(), h.cbc.shape);
        Self::tuned(&h.pattern(), h.type_of(), Part::Full, grid)
    }

    pub(super) fn tuned(h: &DevicePattern, of: MatrixType<M>, part: Part, grid: Elementwise) -> Result<Self> {
        check_patterns(h.device(), of, [h])?;
        Ok(Self { core: Core::new(h, of.element, part, grid)?, of })
    }

    /// The map on the host, with the pattern of the scalars.
    pub fn map(&self) -> &ScalarMap {
        &self.core.map
    }
}

/// Starts to compile the kernel for blocks of `shape`, without waiting for it.
pub(crate) fn ask_scalars(device: &Device, element: ElementType, shape: BlockShape) -> Result<()> {
    Core::kernel(device, element, &Elementwise::new(device.info(), shape)).map(drop)
}

impl Core {
    fn new(h: &DevicePattern, element: ElementType, part: Part, grid: Elementwise) -> Result<Self> {
        let (device, work) = (h.device(), Work::new(h.device(), None));
        let map = ScalarMap::new(&h.arrays.download(&work)?, h.array_shape, h.row_major, part)?;
        let bits = |p: &Place| {
            let flags = [(p.turned, TURNED), (p.falling, FALLING), (p.diagonal, DIAGONAL)];
            flags.iter().fold(p.first, |bits, &(is, bit)| bits | u64::from(is) << bit)
        };
        let places = map.places();
        let source = work.upload(&places.iter().map(|p| p.source).collect::<Vec<_>>())?;
        let first = work.upload(&places.iter().map(bits).collect::<Vec<_>>())?;
        let height = work.upload(&places.iter().map(|p| p.height).collect::<Vec<_>>())?;
        let kernel = Self::kernel(device, element, &grid)?;
        let grid = grid.over(places.len());
        Ok(Self { h: h.clone(), map, source, first, height, kernel, grid })
    }

    fn kernel(device: &Device, element: ElementType, grid: &Elementwise) -> Result<Kernel<CopyScalars<'static>>> {
        let names = [("TURNED", TURNED), ("FALLING", FALLING), ("DIAGONAL", DIAGONAL)];
        let options = names.iter().fold(grid.options(element), |options, (name, bit)| options.define(name, bit));
        Kernel::new(device, &options)
    }

    fn cost(&self) -> Cost {
        let device_bytes = self.source.bytes() + self.first.bytes() + self.height.bytes();
        Cost { device_bytes, ..Cost::default() }
    }

    /// Copies the scalars of a matrix on the pattern to a vector of that length.
    fn copy(&self, work: &Work, h: &DeviceCbc, to: &mut Buffer) -> Result<()> {
        work.stage("scalars");
        let args = CopyScalars {
            source: &self.source,
            first: &self.first,
            height: &self.height,
            from: &h.values,
            nnz: self.source.len() as u32,
            stride: h.stride as u32,
            to,
        };
        self.kernel.launch(work, self.grid, args)
    }
}

impl<M: HostMatrix> Planned for Scalars<M> {
    type Inputs<'a> = &'a DeviceMatrix<M>;
    /// The values in the order of the map's pattern.
    type Output = DeviceVector<M::Word>;

    fn device(&self) -> &Device {
        self.core.h.device()
    }

    fn output(&self) -> Result<Self::Output> {
        DeviceVector::zeros_of(self.device(), self.of.element, self.core.map.nnz())
    }

    fn cost(&self) -> Cost {
        self.core.cost()
    }

    fn enqueue(&self, On(work): On<'_>, h: &DeviceMatrix<M>, into: Accum<'_, Self::Output>) -> Result<()> {
        let Core { h: pattern, map, .. } = &self.core;
        check_unscaled("scalars", &into)?;
        h.check("H", pattern, self.of)?;
        into.c.check_element("values", self.of.element)?;
        check_vector("values", into.c, self.device(), map.nnz(), || "the scalars of the map".into())?;
        self.core.copy(work, &h.cbc, into.c.values.any_mut())
    }
}

impl<M: HostMatrix> std::fmt::Debug for Scalars<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Scalars({:?} to {} scalars)", self.core.h, self.core.map.nnz())
    }
}
