//! Products in one shot, without element types.
use super::{
    DenseMethod, DenseReport, Request,
    prepared::{Prepared, Wanted},
    sides::Sides,
};
use crate::{
    DevicePattern, Result, Semiring,
    device::{Buffer, Work},
    element::{ElementType, Scaling},
    matrix::{DenseShape, Layout, Side},
    resident::{DenseBuffer, DenseBufferMut, DeviceCbc},
};

/// The requested product.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub element: ElementType,
    pub side: Side,
    pub transposed: bool,
    pub semiring: Semiring,
    pub method: DenseMethod,
    pub explained: bool,
    pub memory_limit: Option<u64>,
}

/// A requested product with its matrix A.
pub(super) struct Run<'a> {
    pub asked: &'a Asked,
    pub a: &'a DeviceCbc,
    pub pattern: DevicePattern,
}

impl Run<'_> {
    /// Describes a plan for `n` columns, with D and C in these layouts.
    pub fn wanted(&self, n: usize, layouts: [Layout; 2]) -> Wanted {
        let &Asked { element, side, transposed, semiring, method, explained, .. } = self.asked;
        let request = Request::new(self.pattern.device(), element, n);
        let request = Request { semiring, method, explained, layouts, ..request };
        Wanted { a: self.pattern.clone(), side, transposed, request }
    }

    /// The number of columns of D, or of its rows if A is on the right.
    pub fn n(&self, d: DenseShape) -> usize {
        if self.asked.side == Side::Left { d.cols } else { d.rows }
    }

    pub fn sides(&self, d: DenseShape) -> Result<Sides> {
        let Wanted { a, side, transposed, request } = self.wanted(self.n(d), [d.layout; 2]);
        Ok(Sides::new(side, transposed, a.scalar_sides(), request)?.0)
    }

    /// A `Work` that allocates within the limit. A's bytes count towards it.
    pub fn work(&self) -> Work {
        self.work_within(self.asked.memory_limit)
    }

    pub fn work_within(&self, limit: Option<u64>) -> Work {
        let work = Work::new(self.pattern.device(), limit);
        work.count_operand(self.a.bytes());
        work
    }

    /// Starts to compute C in the layout of D. Does not wait for it.
    pub fn on_device(&self, work: &Work, d: DenseBuffer<'_>) -> Result<(DenseShape, Buffer, DenseReport)> {
        let columns = self.n(d.shape);
        let clock = work.clock();
        let prepared = Prepared::new(work, &self.wanted(columns, [d.shape.layout; 2]))?;
        let plan_ms = clock.elapsed().as_secs_f64() * 1e3;
        let c_shape = prepared.sides.c_shape();
        let mut c = work.buffer_of(d.values.word(), c_shape.len())?;
        let clock = work.clock();
        prepared.sides.check_sides("D", d.shape, prepared.sides.d())?;
        let scaling = Scaling::of(self.asked.element, 1.0, 0.0);
        prepared.run(work, self.a.into(), d, scaling, DenseBufferMut { shape: c_shape, values: &mut c })?;
        let total_ms = clock.elapsed().as_secs_f64() * 1e3;
        Ok((c_shape, c, DenseReport::new(work, &prepared, (1, columns), plan_ms, total_ms)))
    }
}
