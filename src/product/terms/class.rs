//! Classes of columns of C, by which methods are chosen.

/// How a column of C is computed. The numbers are those of `class_of` in the kernel file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(usize)]
pub(crate) enum Class {
    /// Without products.
    Empty,
    /// Products of one entry of B.
    Direct,
    /// At most 32 products; sorted in registers, as all up to [`Class::Sorted3584`].
    Sorted32,
    Sorted48,
    Sorted64,
    Sorted96,
    Sorted128,
    Sorted192,
    Sorted256,
    Sorted320,
    Sorted384,
    Sorted512,
    Sorted640,
    Sorted768,
    Sorted896,
    Sorted1024,
    Sorted1280,
    Sorted1536,
    Sorted1792,
    Sorted2048,
    Sorted2560,
    Sorted3072,
    Sorted3584,
    /// Rows in a small range; counted by a bitmap, as all up to [`Class::Big`].
    Narrow,
    /// Rows in a range of some ten thousand.
    Medium,
    /// Rows in any range.
    Wide,
    /// Rows in any range, and many products.
    Big,
    /// Rows in any range, few enough for a table of 4 KiB; found by hashes, as all up to
    /// [`Class::HashedGlobal`].
    HashedSmall,
    HashedMedium,
    /// As many rows as fit local memory.
    HashedLarge,
    /// More.
    HashedGlobal,
    /// More entries of B than are taken one after another in a short time; counted as
    /// [`Class::Big`], or left to ESC with the next class.
    Long,
    /// What no other class takes.
    Rest,
}

impl Class {
    pub const ALL: [Self; 33] = [
        Self::Empty,
        Self::Direct,
        Self::Sorted32,
        Self::Sorted48,
        Self::Sorted64,
        Self::Sorted96,
        Self::Sorted128,
        Self::Sorted192,
        Self::Sorted256,
        Self::Sorted320,
        Self::Sorted384,
        Self::Sorted512,
        Self::Sorted640,
        Self::Sorted768,
        Self::Sorted896,
        Self::Sorted1024,
        Self::Sorted1280,
        Self::Sorted1536,
        Self::Sorted1792,
        Self::Sorted2048,
        Self::Sorted2560,
        Self::Sorted3072,
        Self::Sorted3584,
        Self::Narrow,
        Self::Medium,
        Self::Wide,
        Self::Big,
        Self::HashedSmall,
        Self::HashedMedium,
        Self::HashedLarge,
        Self::HashedGlobal,
        Self::Long,
        Self::Rest,
    ];
    /// Those of columns that are sorted in registers, of up to [`SORTED_PRODUCTS`] products.
    pub const SORTED: [Self; SORTED_PRODUCTS.len()] = {
        let mut sorted = [Self::Sorted32; SORTED_PRODUCTS.len()];
        let mut at = 0;
        while at < sorted.len() {
            sorted[at] = Self::ALL[Self::Sorted32 as usize + at];
            at += 1;
        }
        assert!(matches!(sorted[sorted.len() - 1], Self::Sorted3584));
        sorted
    };
    /// Most entries of a column of B that is not long: as many as take an H100 0.3 to 0.5 ms one
    /// after another. ESC is priced 0.19 ms for a few columns, besides their products.
    pub const MOST_ENTRIES: u32 = 1024;

    /// The number of a sorted class among these.
    pub fn sorted(self) -> usize {
        self as usize - Self::Sorted32 as usize
    }

    pub const HASHED: [Self; 4] = [Self::HashedSmall, Self::HashedMedium, Self::HashedLarge, Self::HashedGlobal];
    /// Those whose rows are found by bitmaps of windows.
    pub const IN_WINDOWS: [Self; 3] = [Self::Wide, Self::Big, Self::Long];
    /// Those whose rows are found before they are summed.
    pub const FOUND: [Self; 9] = [
        Self::Narrow,
        Self::Medium,
        Self::Wide,
        Self::Big,
        Self::HashedSmall,
        Self::HashedMedium,
        Self::HashedLarge,
        Self::HashedGlobal,
        Self::Long,
    ];

    /// Whether rows are found by bitmaps.
    pub fn is_dense(self) -> bool {
        matches!(self, Self::Narrow | Self::Medium | Self::Wide | Self::Big | Self::Long)
    }
}

/// Most products of a column of each class of columns that are sorted in registers.
pub(crate) const SORTED_PRODUCTS: [u32; 21] =
    [32, 48, 64, 96, 128, 192, 256, 320, 384, 512, 640, 768, 896, 1024, 1280, 1536, 1792, 2048, 2560, 3072, 3584];

/// The last of them.
#[cfg(test)]
pub(crate) const MOST_SORTED_PRODUCTS: u32 = SORTED_PRODUCTS[SORTED_PRODUCTS.len() - 1];

/// The class of columns of at most `products` products, among the first that sort at most `most`.
pub(crate) fn sorted_class(products: u64, most: u32) -> Option<usize> {
    SORTED_PRODUCTS.iter().position(|&class| products <= class.into() && class <= most)
}

/// Most products of a column that is sorted, at most `wanted`: 0, or one of [`SORTED_PRODUCTS`].
pub(crate) fn most_sorted_products(wanted: u32) -> u32 {
    SORTED_PRODUCTS.iter().rev().find(|&&most| most <= wanted).copied().unwrap_or(0)
}
