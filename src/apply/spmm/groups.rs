//! Groups of lines of A times D. A slot of work-items takes a group, stages its entries in local
//! memory, and loads each row of D once for all lines of the group (Shi, Wang, Chu 2020, Algorithm
//! 2). Kernel: `cl/apply/spmm/groups.cl`.
//!
//! In a matrix of blocks a line is a row of blocks. A group of rows of blocks has fewer lines than
//! a group of rows of scalars, so that a work-item keeps about the same number of sums for both.
use super::{
    Dense, DenseNumbers, Entries, Execution, Operands, Request,
    lines::{LineSums, Variants},
    operands::{InOperands, InOutC},
    tuning::{self, Pass},
};
use crate::{
    BlockShape, Device, Result,
    device::{Buffer, Grid, In, Work, kernel},
    vector::lines::LongLines,
};

kernel! {
    struct SumGroups = "sum_groups"
        in "apply/spmm/turn.cl", "apply/spmm/vectors.cl", "apply/spmm/groups.cl"
    {
        line_ptr: In<u32>,
        group_len: In<u32>,
        g_other: In<u32>,
        g_line: In<u8>,
        g_source: In<u32>,
        operands: InOperands,
        c: InOutC,
        lines: u32,
        groups: u32,
        column: u32,
        columns: u32,
        share: u32,
        shares_last: u32,
    }
}

/// Groups of lines for which sums can be prepared.
pub(super) struct GroupsOf {
    pub lines: usize,
    pub group_lines: usize,
    /// A line with more entries than `longest` is not in a group.
    pub longest: usize,
    /// The lines that are too long for a group.
    pub long: LongLines,
}

/// The arrays of groups, laid out as `cl/apply/spmm/gcoo.cl` describes.
#[derive(Clone, Copy)]
pub(super) struct GroupArrays<'a> {
    pub line_ptr: &'a Buffer<u32>,
    pub group_len: &'a Buffer<u32>,
    pub other: &'a Buffer<u32>,
    pub line: &'a Buffer<u8>,
    /// The index of each entry in A's values. The array is not read if the values are in the order
    /// of groups.
    pub source: &'a Buffer<u32>,
}

pub(super) struct GroupSums {
    /// The sums of lines that are too long for a group.
    long: LineSums,
    kernels: [Variants<SumGroups<'static>>; 2],
    cache_bytes: usize,
    lines: usize,
}

impl GroupSums {
    /// Prepares the sums of groups. `shape` is the shape of the column-major blocks.
    pub fn new(work: &Work, of: GroupsOf, shape: BlockShape, request: &Request) -> Result<Self> {
        let (side, depth) = request.sides(shape);
        let numbers = match shape {
            BlockShape::SCALAR => DenseNumbers { dense_ahead: request.numbers.dense_group_ahead, ..request.numbers },
            _ => request.numbers,
        };
        let held = tuning::held_lines(side);
        let local_bytes = work.device().info().local_bytes;
        let &Request { element, semiring, through, across, .. } = request;
        let (group_lines, longest) = (of.group_lines, of.longest);
        let kernels = |by_columns| {
            let options = move |pass: &Pass| {
                let staged = pass.slot.staged(element, &numbers, local_bytes, shape.area());
                pass.slot
                    .options(element, semiring, by_columns)
                    .define("LINES", group_lines)
                    .define("STAGED", staged.entries)
                    .define("VALUES_STAGED", u8::from(staged.values))
                    .define("LONG", longest)
                    .define("THROUGH", u8::from(through))
                    .define("SIDE", side)
                    .define("DEPTH", depth)
                    .define("ACROSS", u8::from(across))
                    .define("HELD", held)
            };
            Variants::new(work.device(), element, numbers, request.n, group_lines * held, options)
        };
        Ok(Self {
            kernels: [kernels(false), kernels(true)],
            long: LineSums::of_pieces(work, of.long, shape, request)?,
            cache_bytes: numbers.dense_cache_bytes,
            lines: of.lines,
        })
    }

    /// Starts to compile the kernels that write C by columns, or by rows.
    pub fn ask(&self, device: &Device, c_by_columns: bool) -> Result<()> {
        self.kernels[usize::from(c_by_columns)].ask()?;
        self.long.ask(device, c_by_columns)
    }

    /// C = alpha·A·D + beta·C, for D stored by rows.
    pub fn run(
        &self,
        work: &Work,
        GroupArrays { line_ptr, group_len, other, line, source }: GroupArrays<'_>,
        operands: Operands<'_>,
        mut c: Dense<&mut Buffer>,
    ) -> Result<()> {
        for variant in self.kernels[usize::from(c.by_columns)].for_operands(&operands, &c) {
            let (pass, kernel) = variant?;
            let Pass { column, columns, share, slot } = *pass;
            let args = SumGroups {
                line_ptr,
                group_len,
                g_other: other,
                g_line: line,
                g_source: source,
                operands,
                c: c.again(),
                lines: self.lines as u32,
                groups: group_len.len() as u32,
                column: column as u32,
                columns: columns as u32,
                share: share as u32,
                shares_last: slot.shares_last(self.cache_bytes, &operands.d),
            };
            kernel.launch(work, Grid::items(pass.items(group_len.len())?, slot.group_size), args)?;
        }
        self.long.run(work, Execution { entries: Entries { line_ptr, other, source: Some(source) }, operands, c })
    }

    /// Bytes of device memory held in addition to the groups.
    pub fn bytes(&self) -> u64 {
        self.long.bytes()
    }
}
