//! Products on a CPU. [`ranges`] is the engine of a CPU device: each compute unit computes a range
//! of columns. [`on_host`] computes small products by the host's processor, for devices of every
//! kind.
pub(super) mod on_host;
pub(super) mod ranges;

pub(crate) use on_host::HostNumbers;
pub(crate) use ranges::RangeNumbers;
