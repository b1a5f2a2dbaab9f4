// hits: the products of a column of C that fall on the places of a mask, column by column. It comes
// before the kernels of masked products on CPUs, whose work-groups are single items.
// Host: src/product/masked/columns.rs
//
// A column of C takes the columns of A that its column of B meets, one after another: so the
// products of a row come in ascending k. Of a column of A the entries whose rows are on the mask
// are listed, in one of two ways. Its rows are looked at one by one, each with its bit of a bitmap
// of the mask's column: every entry is written to the list, and its end moves on if the bit is set,
// since a branch would be guessed wrong. Or the mask's rows are looked up in the column of A, if
// they are so few that this takes fewer steps. A step is the time of one row that is looked at.
//
// Columns of A are asked for AHEAD entries of B before they are read; not at all if AHEAD is 0.
#if !defined(AHEAD) || !defined(LOOKUP) || !defined(ENTRY_STEPS) || !defined(PLACE_STEPS)
#error "AHEAD, LOOKUP, ENTRY_STEPS, PLACE_STEPS: see src/product/masked/columns.rs"
#endif
// Words of each part in the record of mask_steps.
#define RECORD 2

// The first column of a part: an equal share of the columns.
uint first_of(uint part, uint parts, uint cols)
{
    return (uint)((ulong)part * cols / parts);
}

// Steps that so many places of a mask take to be looked up, for each halving of a column of A:
// so many that 32 of them are no more than 32 bits hold.
uint lookup_steps(uint places)
{
    return (uint)min((ulong)places * LOOKUP, (ulong)1 << 26);
}

// Whether rows of the mask are looked up in a column of A, and not its rows in the mask.
bool looked_up(uint lookup, uint length)
{
    return lookup * (32 - clz(length)) < length;
}

// The first column of range `range` of `ranges`: the first with at least `range * share` steps
// before it. Columns without places are in any range or in none.
uint range_begin(global const ulong* steps, global const ulong* record, uint range, uint ranges, ulong share, uint parts,
                 uint cols)
{
    if (range == ranges)
        return cols;
    ulong before = range * share;
    uint part = 0;
    for (; part + 1 < parts && before >= record[part * RECORD]; ++part)
        before -= record[part * RECORD];
    uint first = first_of(part, parts, cols), last = first_of(part + 1, parts, cols);
    while (first < last) {
        const uint middle = first + (last - first) / 2;
        if (steps[middle] < before)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

// Lists the entries first..end of a column of A, not empty, whose rows are on the mask; `words` has
// the bits of its rows. Returns their number.
uint list_hits(global const uint* restrict a_row_idx, uint first, uint end, global const uint* restrict mask_row_idx,
               uint first_place, uint end_place, uint lookup, global const ulong* restrict words,
               global uint* restrict list)
{
    uint count = 0;
    if (looked_up(lookup, end - first)) {
        for (uint place = first_place; place < end_place; ++place) {
            const uint row = mask_row_idx[place];
            first = lower_bound(a_row_idx, first, end, row);
            if (first == end)
                break;
            list[count] = first;
            count += a_row_idx[first] == row;
        }
    } else {
        for (uint i = first; i < end; ++i) {
            const uint row = a_row_idx[i];
            list[count] = i;
            count += (uint)(words[row / 64] >> row % 64) & 1;
        }
    }
    return count;
}
