// columns: which columns of B are hubs: many entries that meet short columns of A.
// Host: src/product/adaptive/tuning.rs
#if !defined(HUB_ENTRIES) || !defined(HUB_AVERAGE)
#error "see src/product/adaptive/tuning.rs"
#endif
bool is_hub(uint entries, uint products)
{
    return products > 0 && entries >= HUB_ENTRIES && products / entries < HUB_AVERAGE;
}
