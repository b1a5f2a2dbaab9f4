// columns: which columns of B are hubs: an entry has less than so many hundredths of a product with
// a piece of the column's rows, on average. The pieces are at most as many as those of all rows.
// Host: src/product/adaptive/tuning.rs
#if !defined(HUB_PERCENT) || !defined(HUB_PIECE)
#error "see src/product/adaptive/tuning.rs"
#endif
bool is_hub(uint entries, uint products, uint most_rows)
{
    const uint pieces = (most_rows - 1) / HUB_PIECE + 1;
    return products > 0 && 100 * (ulong)products / entries < (ulong)HUB_PERCENT * pieces;
}
