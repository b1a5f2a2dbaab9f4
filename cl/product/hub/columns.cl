// columns: which columns of B are hubs: their entries have few products with each piece of the
// column's rows. There are at most so many pieces.
// Host: src/product/adaptive/tuning.rs
#if !defined(HUB_PRODUCTS) || !defined(HUB_PIECE)
#error "see src/product/adaptive/tuning.rs"
#endif
bool is_hub(uint entries, uint products, uint most_rows)
{
    const uint pieces = (most_rows - 1) / HUB_PIECE + 1;
    return products > 0 && products / entries < (ulong)HUB_PRODUCTS * pieces;
}
