//! Classes of columns of C. A method is chosen for each class.

/// The class of a column of C, which decides how it is computed. `class_of` in
/// `cl/product/columns/adaptive/profile.cl` uses the same numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(usize)]
pub(crate) enum Class {
    /// Columns without products.
    Empty,
    /// Columns whose column of B has one entry.
    Direct,
    /// Columns of at most 32 products. All classes up to [`Class::Sorted3584`] are sorted in
    /// registers.
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
    /// Columns with rows in a small range. All classes up to [`Class::Big`] are counted by a
    /// bitmap.
    Narrow,
    /// Columns with rows in a range of some ten thousand rows.
    Medium,
    /// Columns whose rows may lie in any range.
    Wide,
    /// Columns with many products, whose rows may lie in any range.
    Big,
    /// Columns with rows in any range, but few enough rows for a table of 4 KiB. The rows of all
    /// classes up to [`Class::HashedGlobal`] are found by hashes.
    HashedSmall,
    HashedMedium,
    /// Columns with more rows than the smaller hashed classes, whose table still fits local memory.
    HashedLarge,
    /// Columns with more rows than a table of local memory holds.
    HashedGlobal,
    /// Columns with more entries of B than can be visited one after another in a short time. Long
    /// columns are counted as [`Class::Big`], or computed by ESC together with [`Class::Rest`].
    Long,
    /// Columns that no other class takes.
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
    /// The classes of columns that are sorted in registers. Columns of sorted classes have up to
    /// [`SORTED_PRODUCTS`] products.
    pub const SORTED: [Self; SORTED_PRODUCTS.len()] = Self::between(Self::Sorted32, Self::Sorted3584);
    /// Most entries of a column of B that is not long. An H100 takes 0.3 to 0.5 ms to visit 1024
    /// entries one after another. ESC is predicted to take 0.19 ms for a few columns, in addition
    /// to the time of their products.
    pub const MOST_ENTRIES: u32 = 1024;

    /// The number of a sorted class among [`Class::SORTED`].
    pub fn sorted(self) -> usize {
        self as usize - Self::Sorted32 as usize
    }

    pub const HASHED: [Self; 4] = [Self::HashedSmall, Self::HashedMedium, Self::HashedLarge, Self::HashedGlobal];
    /// The classes whose rows are found by bitmaps of windows.
    pub const IN_WINDOWS: [Self; 3] = [Self::Wide, Self::Big, Self::Long];
    /// The classes of columns whose rows of C are found before the products are summed.
    pub const FOUND: [Self; 9] = Self::between(Self::Narrow, Self::Long);

    /// The `N` classes from `first` to `last`.
    const fn between<const N: usize>(first: Self, last: Self) -> [Self; N] {
        assert!(last as usize + 1 - first as usize == N);
        let mut classes = [first; N];
        let mut at = 0;
        while at < N {
            classes[at] = Self::ALL[first as usize + at];
            at += 1;
        }
        classes
    }

    /// Whether the rows of the class are found by bitmaps.
    pub fn is_dense(self) -> bool {
        matches!(self, Self::Narrow | Self::Medium | Self::Wide | Self::Big | Self::Long)
    }
}

/// Most products of a column, for each of the classes [`Class::SORTED`].
pub(crate) const SORTED_PRODUCTS: [u32; 21] =
    [32, 48, 64, 96, 128, 192, 256, 320, 384, 512, 640, 768, 896, 1024, 1280, 1536, 1792, 2048, 2560, 3072, 3584];

/// Most products of a column that is sorted in registers.
#[cfg(test)]
pub(crate) const MOST_SORTED_PRODUCTS: u32 = SORTED_PRODUCTS[SORTED_PRODUCTS.len() - 1];

/// The number of the smallest sorted class for columns of `products` products, or `None` if the
/// columns of that class may have more than `most` products.
pub(crate) fn sorted_class(products: u64, most: u32) -> Option<usize> {
    SORTED_PRODUCTS.iter().position(|&class| products <= class.into() && class <= most)
}

/// The largest of [`SORTED_PRODUCTS`] that is at most `wanted`; 0 if there is none.
pub(crate) fn most_sorted_products(wanted: u32) -> u32 {
    SORTED_PRODUCTS.iter().rev().find(|&&most| most <= wanted).copied().unwrap_or(0)
}
