// columns: which columns of B are hubs: many entries that meet short columns of A, whose rows are
// spread over a range so many times as long.
// Host: src/product/adaptive/tuning.rs
#if !defined(HUB_ENTRIES) || !defined(HUB_AVERAGE) || !defined(HUB_RANGE)
#error "see src/product/adaptive/tuning.rs"
#endif
bool is_hub(uint entries, uint products, uint first_row, uint last_row)
{
    return products > 0 && entries >= HUB_ENTRIES && products / entries < HUB_AVERAGE && (ulong)HUB_RANGE * (products / entries) <= last_row - first_row;
}
