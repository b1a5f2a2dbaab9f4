//! Tuning numbers for the tiles of an expansion.
use crate::tuning::{most_of, numbers};

/// Most products of a tile of the expansion. `cl/product/esc/gather.cl` needs two words of local
/// memory for each 32 products, which is 16 KiB in all.
const TILED: usize = 1 << 16;

numbers! {
    /// Tuning numbers for the tiles of an expansion.
    pub(crate) struct TileNumbers |n| {
        /// Work-items of a work-group that processes a tile of the expansion.
        tile_group_size: Groups(1, most_of(TILED, n.tile_items, 1024); tile_items),
        /// Number of products of each work-item in a work-group of `tile_group_size` items.
        tile_items: All(1, most_of(TILED, n.tile_group_size, 1 << 16); tile_group_size),
    }
}

const GPU: TileNumbers = TileNumbers { tile_group_size: 256, tile_items: 8 };

// The only item of a work-group moves a cursor forward through the tile. A tile is long enough to
// make the time to start a work-group negligible.
const CPU: TileNumbers = TileNumbers { tile_group_size: 1, tile_items: 4096 };
