//! Chunks of long columns that ESC sorts in registers, if teams are warps.

/// Work-items of a work-group that sorts a chunk.
pub(in crate::product) const CHUNK_GROUP_SIZE: usize = 256;

/// Products of a work-item that sorts a chunk: an odd number up to 7 times a power of two. A
/// work-group that merges chunks takes as many products as one that sorts a chunk. The number of
/// products of a chunk is a multiple of the work-items that merge.
pub(in crate::product) const CHUNK_ITEMS: usize = 12;
