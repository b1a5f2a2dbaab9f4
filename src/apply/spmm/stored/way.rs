//! The choice of how a product reads the entries of groups.
use super::{compressed::CountedGroups, groups::Groups};
use crate::{
    Result,
    apply::spmm::{
        Dense, DenseMethod, Operands, Request, Spmm,
        by_rows::RowsOfD,
        groups::{GroupArrays, GroupSums, GroupsOf},
        method::{self, MethodChoice},
    },
    device::{Buffer, Work},
    element::Scaling,
    primitives::segmented_reduce::RUN_PIECE,
    resident::{DenseBuffer, DenseBufferMut},
    vector::{
        line_sums::Stored,
        lines::{Index, LongLines},
    },
};

/// The way in which a product reads the entries of groups.
pub(super) enum Way {
    /// The groups are read as they are stored.
    Groups(Box<AsGroups>),
    /// The groups are converted to compressed lines.
    Lines(Box<Spmm>),
}

pub(super) struct AsGroups {
    counted: CountedGroups,
    sums: GroupSums,
    d: RowsOfD,
    why: String,
}

impl Way {
    pub fn new(work: &Work, groups: &Groups, of_rows: bool, request: Request) -> Result<Self> {
        let along = of_rows != groups.grouping.of_columns();
        let counted = along.then(|| groups.counted(work)).transpose()?;
        let mut found = None;
        // Longer lines are cut in pieces, which is not possible inside groups.
        if let Some(counted) = counted.filter(|counted| counted.longest as usize <= RUN_PIECE) {
            found = groups.choice(&counted, &request);
            if let Some(MethodChoice { method: DenseMethod::Gcoo, why }) = found {
                return Self::of_groups(work, groups, counted, &request, why);
            }
        }
        let index = Index::Rows(groups.compressed(work, of_rows)?);
        let method = found.as_ref().map_or(request.method, |choice| choice.method);
        let mut spmm = Spmm::of_index(work, index, groups.shape, Request { method, through: true, ..request })?;
        spmm.choice = found.unwrap_or(spmm.choice);
        Ok(Self::Lines(Box::new(spmm)))
    }

    fn of_groups(work: &Work, groups: &Groups, counted: CountedGroups, request: &Request, why: String) -> Result<Self> {
        let (lines, longest, long) = (groups.lines(), RUN_PIECE, LongLines::none(work)?);
        let of = GroupsOf { lines, group_lines: groups.grouping.lines(), longest, long };
        let sums = GroupSums::new(work, of, groups.shape, request)?;
        let [d, c] = request.by_columns();
        sums.ask(work.device(), c)?;
        let d = RowsOfD::new(work, groups.element, d, groups.across() * request.sides(groups.shape).1 * request.n)?;
        Ok(Self::Groups(Box::new(AsGroups { counted, sums, d, why })))
    }
}

impl Way {
    pub fn method(&self) -> DenseMethod {
        match self {
            Self::Groups(_) => DenseMethod::Gcoo,
            Self::Lines(spmm) => spmm.choice.method,
        }
    }

    pub fn why(&self) -> &str {
        match self {
            Self::Groups(groups) => &groups.why,
            Self::Lines(spmm) => &spmm.choice.why,
        }
    }

    /// C = alpha·op(A)·D + beta·C. The values of A are in the order of groups. The caller has
    /// checked the sides.
    pub fn run(
        &self,
        work: &Work,
        of: &Groups,
        values: &Buffer,
        d: DenseBuffer<'_>,
        scaling: Scaling,
        c: DenseBufferMut<'_>,
    ) -> Result<()> {
        let a = Stored { values, stride: of.shape.area() as u32 };
        match self {
            Self::Lines(spmm) => spmm.run(work, a, d, scaling, c),
            Self::Groups(groups) => groups.d.with(work, d, |d| {
                let arrays = of.arrays(&groups.counted);
                groups.sums.run(work, arrays, Operands { a, d, scaling }, Dense::new(c.shape, c.values))
            }),
        }
    }

    /// Bytes of device memory held in addition to the groups.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Lines(spmm) => spmm.bytes(),
            Self::Groups(groups) => {
                let AsGroups { counted, sums, d, .. } = &**groups;
                counted.line_ptr.bytes() + counted.group_len.bytes() + sums.bytes() + d.bytes()
            }
        }
    }
}

impl Groups {
    /// Chooses by how often the entries of a group share a row of D. Returns `None` if sharing does
    /// not matter, because single lines are requested or are faster than groups.
    fn choice(&self, counted: &CountedGroups, request: &Request) -> Option<MethodChoice> {
        let (least, lines) = (request.numbers.dense_reuse_percent, self.grouping.lines());
        let percent = 100 * self.nnz() as u64 / u64::from(counted.loads.max(1));
        let rows = self.grouping.name(self.shape);
        match request.method {
            DenseMethod::Gcoo => {
                let why = format!("gcoo, as asked for: {}", method::reuse(percent, lines, rows));
                Some(MethodChoice { method: DenseMethod::Gcoo, why })
            }
            DenseMethod::Auto if least <= 100 * lines => Some(method::by_reuse(percent, least, lines, rows)),
            DenseMethod::Rows | DenseMethod::Auto => None,
        }
    }

    /// The arrays that kernels read.
    fn arrays<'a>(&'a self, counted: &'a CountedGroups) -> GroupArrays<'a> {
        let (line_ptr, group_len, other) = (&counted.line_ptr, &counted.group_len, &self.other);
        GroupArrays { line_ptr, group_len, other, line: &self.line, source: other }
    }
}
