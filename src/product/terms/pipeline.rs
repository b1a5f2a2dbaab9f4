//! What computed a product, and the stages of its report.

/// The stages of a product, by what computed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Pipeline {
    /// [`Engine`](crate::product::engine::Engine).
    #[default]
    Esc,
    /// [`Adaptive`](crate::product::adaptive::Adaptive).
    Adaptive,
    /// [`OnHost`](crate::product::on_host::OnHost).
    Host,
    /// [`Ranged`](crate::product::ranges::Ranged).
    Ranges(Way),
    /// A masked product by columns.
    Masked,
}

impl Pipeline {
    /// The stages, as the report names them.
    pub fn stages(self) -> &'static [&'static str] {
        match self {
            Pipeline::Esc => &STAGES,
            Pipeline::Adaptive => &ADAPTIVE_STAGES,
            Pipeline::Host => &HOST_STAGES,
            Pipeline::Ranges(way) => way.stages(),
            Pipeline::Masked => &MASKED_STAGES,
        }
    }
}

/// Those of ESC.
const STAGES: [&str; 6] = ["setup", "expansion", "segmented_sort", "tail_counts", "compression", "gather"];

/// The same of an adaptive product. ESC's, if it has some of the columns, count towards none.
const ADAPTIVE_STAGES: [&str; 4] = ["setup", "count", "offsets", "sums"];

/// The same of a product on the host.
const HOST_STAGES: [&str; 2] = ["read", "multiply"];

/// The same of a product on a mask, by columns.
const MASKED_STAGES: [&str; 2] = ["setup", "sums"];

/// How the entries of C are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// By ESC.
    Esc,
    /// Every product is an entry: no column of B has two.
    Exact,
    /// Sums go to places with room for all products, from where they are moved.
    OnePass,
    /// The operands of all products are put in the order of their runs, which are summed once the
    /// entries are counted: for blocks.
    Kept,
    /// Entries are counted first.
    TwoPasses,
}

impl Way {
    /// The stages, as the report names them.
    pub fn stages(self) -> &'static [&'static str] {
        match self {
            Self::Esc => &[],
            Self::Exact => &["setup", "sums"],
            Self::OnePass => &["setup", "sums", "move"],
            Self::Kept | Self::TwoPasses => &["setup", "count", "sums"],
        }
    }
}
