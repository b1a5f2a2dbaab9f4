//! The pipeline that computed a product, and its stages in the report.

/// The pipeline that computed a product. Each pipeline has its own stages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Pipeline {
    /// ESC, by [`Engine`](crate::product::esc::Engine).
    #[default]
    Esc,
    /// Methods of scalars, by [`Adaptive`](crate::product::columns::adaptive::Adaptive).
    Adaptive,
    /// The host's cores, by [`OnHost`](crate::product::cpu::on_host::OnHost).
    Host,
    /// Ranges of columns on CPUs, by [`Ranged`](crate::product::cpu::ranges::Ranged).
    Ranges(Way),
    /// A masked product by columns.
    Masked,
    /// A plan that is made and executed once, by
    /// [`PlanCore`](crate::product::plan::PlanCore).
    Planned,
}

impl Pipeline {
    /// Names of the stages in the report.
    pub fn stages(self) -> &'static [&'static str] {
        match self {
            Pipeline::Esc => &STAGES,
            Pipeline::Adaptive => &ADAPTIVE_STAGES,
            Pipeline::Host => &HOST_STAGES,
            Pipeline::Ranges(way) => way.stages(),
            Pipeline::Masked => &MASKED_STAGES,
            // The stages depend on the factors.
            Pipeline::Planned => &[],
        }
    }
}

/// Stages of ESC.
const STAGES: [&str; 6] = ["setup", "expansion", "segmented_sort", "tail_counts", "compression", "gather"];

/// Stages of an adaptive product. If ESC computes some columns of the product, their time counts
/// towards no stage.
const ADAPTIVE_STAGES: [&str; 4] = ["setup", "count", "offsets", "sums"];

/// Stages of a product on the host.
const HOST_STAGES: [&str; 2] = ["read", "multiply"];

/// Stages of a product on a mask, by columns.
const MASKED_STAGES: [&str; 2] = ["setup", "sums"];

/// The way in which the entries of C are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// ESC finds the entries of C.
    Esc,
    /// Every product is an entry of C, because no column of B has two entries.
    Exact,
    /// Sums are written to memory for all products, and then moved to their places.
    OnePass,
    /// For blocks: the operands of all products are put in the order of their runs. Once the
    /// entries are counted, the runs are summed.
    Kept,
    /// A first pass counts the entries; a second pass computes the sums.
    TwoPasses,
}

impl Way {
    /// Names of the stages in the report.
    pub fn stages(self) -> &'static [&'static str] {
        match self {
            Self::Esc => &[],
            Self::Exact => &["setup", "sums"],
            Self::OnePass => &["setup", "sums", "move"],
            Self::Kept | Self::TwoPasses => &["setup", "count", "sums"],
        }
    }
}
