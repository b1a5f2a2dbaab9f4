// columns: which columns of B are hubs: an entry has less than so many hundredths of a product with
// a piece of the column's rows, on average. The pieces are at most as many as those of all rows.
// Host: src/product/columns/adaptive/tuning.rs
#if !defined(HUB_PERCENT) || !defined(HUB_PIECE)
#error "see src/product/columns/adaptive/tuning.rs"
#endif
uint pieces_of(uint most_rows)
{
    return (most_rows - 1) / HUB_PIECE + 1;
}

bool is_hub(uint entries, uint products, uint most_rows)
{
    return products > 0 && 100 * (ulong)products / entries < (ulong)HUB_PERCENT * pieces_of(most_rows);
}
