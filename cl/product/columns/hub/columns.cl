// columns: decides which columns of B are hubs. In a hub, an entry has on average less than
// HUB_PERCENT hundredths of a product for each piece of the column's rows. The number of pieces is
// an upper bound, computed for a column of C with most_rows rows.
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
