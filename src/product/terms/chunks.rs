//! Chunks of long columns that ESC sorts in registers, if teams are warps.

/// Work-items of a work-group that sorts a chunk.
pub(in crate::product) const CHUNK_GROUP_SIZE: usize = 256;

/// Products of each of these work-items: an odd number up to 7 times a power of two. A work-group
/// that merges chunks takes the same number of products, which is a multiple of its items.
pub(in crate::product) const CHUNK_ITEMS: usize = 12;
