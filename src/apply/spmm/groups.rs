//! Groups of lines of A times D, each by one slot of work-items, which stage its entries in local
//! memory and load each row of D once for all lines of the group (Shi, Wang, Chu 2020, Algorithm
//! 2). Kernel: `cl/apply/spmm/groups.cl`.
use super::{
    ByRows, Dense, Operands, Request,
    gcoo::Gcoo,
    lines::{Entries, LineSums, Variants},
    tuning::{self, Pass},
};
use crate::{
    Device, Element, Result,
    device::{Buffer, Grid, In, InOut, Scalar, Work, kernel},
    element::Scaling,
    tuning::Numbers,
    vector::{line_sums::Stored, lines::Index},
};

kernel! {
    struct SumGroups<T: Element> = "sum_groups"
        in "apply/spmm/vectors.cl", "apply/spmm/groups.cl"
    {
        line_ptr: In<u32>,
        group_len: In<u32>,
        g_other: In<u32>,
        g_line: In<u8>,
        g_source: In<u32>,
        values: In<T>,
        d: In<T>,
        c: InOut<T>,
        lines: u32,
        groups: u32,
        column: u32,
        columns: u32,
        share: u32,
        shares_last: u32,
        d_leading: u32,
        c_leading: u32,
        stride: u32,
        alpha: Scalar<T::Arithmetic>,
        beta: Scalar<T::Arithmetic>,
    }
}

pub(super) struct GroupSums<T: Element> {
    groups: Gcoo,
    /// The lines that are too long for a group.
    long: LineSums<T>,
    kernels: [Variants<SumGroups<'static, T>>; 2],
    cache_bytes: usize,
    lines: usize,
}

impl<T: Element> GroupSums<T> {
    /// Sums of `groups`, made of the lines of `index`.
    pub fn new(work: &Work, index: &Index, mut groups: Gcoo, request: &Request) -> Result<Self> {
        let numbers = Numbers { dense_ahead: request.numbers.dense_group_ahead, ..request.numbers };
        let long = tuning::longest(&numbers, index.pattern());
        let local_bytes = work.device().info().local_bytes;
        let kernels = |by_columns| {
            let options = |pass: &Pass| {
                pass.slot
                    .options::<T>(request.semiring, by_columns)
                    .define("LINES", numbers.dense_group_lines)
                    .define("STAGED", pass.slot.staged::<T>(&numbers, local_bytes))
                    .define("LONG", long)
                    .define("THROUGH", u8::from(!request.packed))
            };
            Variants::new::<T>(work.device(), (numbers, request.n), numbers.dense_group_lines, options)
        };
        let none = || work.buffer(0);
        let pieces = std::mem::replace(&mut groups.pieces, none()?);
        let cuts = std::mem::replace(&mut groups.cuts, none()?);
        let of_long = Request { through: !request.packed, ..*request };
        let long = LineSums::of_pieces(work, (pieces, cuts, groups.parts), &of_long)?;
        Ok(Self {
            groups,
            long,
            kernels: [kernels(false)?, kernels(true)?],
            cache_bytes: numbers.dense_cache_bytes,
            lines: index.pattern().ncols,
        })
    }

    /// Requests the kernels that write C by columns, or by rows.
    pub fn ask(&self, device: &Device, c_by_columns: bool) {
        self.kernels[usize::from(c_by_columns)].ask(device);
        self.long.ask(device, c_by_columns);
    }

    /// The number of each entry in A's values, in the order of groups.
    pub fn source(&self) -> &Buffer<u32> {
        &self.groups.source
    }

    /// C = alpha·A·D + beta·C for D by rows.
    pub fn run(
        &self,
        work: &Work,
        line_ptr: &Buffer<u32>,
        a: Stored<'_, T>,
        d: ByRows<'_, T>,
        scaling: Scaling<T::Arithmetic>,
        c: Dense<&mut Buffer<T>>,
    ) -> Result<()> {
        let Gcoo { group_len, other, line, source, .. } = &self.groups;
        let by_columns = c.by_columns;
        let leading: &[usize] = if by_columns { &[d.leading] } else { &[d.leading, c.leading] };
        for (pass, kernel) in self.kernels[usize::from(by_columns)].for_leading(leading) {
            let Pass { column, columns, share, slot } = *pass;
            let args = SumGroups {
                line_ptr,
                group_len,
                g_other: other,
                g_line: line,
                g_source: source,
                values: a.values,
                d: d.values,
                c: &mut *c.values,
                lines: self.lines as u32,
                groups: group_len.len() as u32,
                column: column as u32,
                columns: columns as u32,
                share: share as u32,
                shares_last: slot.shares_last(self.cache_bytes, &d),
                d_leading: d.leading as u32,
                c_leading: c.leading as u32,
                stride: a.stride,
                alpha: scaling.alpha,
                beta: scaling.beta,
            };
            kernel.launch(work, Grid::items(pass.items(group_len.len())?, slot.group_size), args)?;
        }
        self.long.run(work, &Entries { line_ptr, other, source }, &Operands { a, d, scaling }, c)
    }

    /// Bytes of device memory held beside the index.
    pub fn bytes(&self) -> u64 {
        let Gcoo { group_len, other, line, source, .. } = &self.groups;
        group_len.bytes() + other.bytes() + line.bytes() + source.bytes() + self.long.bytes()
    }
}
