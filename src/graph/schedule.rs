//! The orders in which the edges of a graph are visited.
use crate::{Error, Result};

/// The order in which edges are visited. It changes the time, and no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Schedule {
    /// [`Schedule::NearFar`] on CPUs, [`Schedule::Frontier`] on other devices that have atomic
    /// minima of the distances' type; [`Schedule::BellmanFord`] on others, and if a length is
    /// negative.
    #[default]
    Auto,
    /// Vertices near the sources first, by one work-item. No length may be negative.
    NearFar,
    /// Vertices near the sources first, by all work-items. No length may be negative. Distances of
    /// 64 bits need a device with `cl_khr_int64_extended_atomics`.
    Frontier,
    /// All edges in every sweep, until no distance falls. Lengths may be negative.
    BellmanFord,
}

impl Schedule {
    /// Every schedule, without the choice among them.
    pub const ALL: &[Self] = &[Self::NearFar, Self::Frontier, Self::BellmanFord];

    /// The name that the command and the report use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::NearFar => "near-far",
            Self::Frontier => "frontier",
            Self::BellmanFord => "bellman-ford",
        }
    }
}

impl std::fmt::Display for Schedule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Schedule {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let known = [Self::Auto].iter().chain(Self::ALL).copied();
        known.clone().find(|schedule| schedule.name().eq_ignore_ascii_case(text)).ok_or_else(|| {
            let names: Vec<_> = known.map(Self::name).collect();
            Error::Argument(format!("no schedule \"{text}\"; there are: {}", names.join(", ")))
        })
    }
}
