// diagonals: slices of LANES rows whose entries lie on few diagonals. A slice on diagonals stores
// one step for each diagonal. On a diagonal, the entries of the slice's rows have consecutive
// columns.
// Host: src/apply/spmv/diagonals.rs
//
//   count_diagonals  one work-item per slice
//   place_diagonals  one work-item per slice
//
//   in      row_ptr[rows + 1]  col[nnz]
//   in      source[nnz]            index of each entry in A's values; read only if THROUGH,
//                                  otherwise entry i has value i
//   in out  places[slices + 1]     places of each slice, padded to its longest row; if a slice is
//                                  on diagonals, LANES for each diagonal
//   out     origin[slices]         column in which the first diagonal crosses the slice's first
//                                  row; PADDING for a slice that is not on diagonals
//   in      slice_ptr[slices + 1]  places before each slice
//   out     steps[places / LANES]  for each diagonal its distance from the first diagonal; the bits
//                                  above REACH mark the rows with an entry on it
//   in out  slice_source[places]   index in A's values of each place on a diagonal, or PADDING
//
// A slice is stored by diagonals if it has LANES rows, and at most 3/2 times as many diagonals as
// its longest row has entries. For each diagonal a vector of LANES elements of x is read, so all of
// them must be inside x.
#if !defined(LANES) || !defined(REACH) || !defined(THROUGH)
#error "LANES, REACH, THROUGH: see src/apply/spmv/diagonals.rs"
#endif
#define PADDING 0xffffffffu

// DIAGONAL is the number of an entry's diagonal: its column minus its row in the slice, plus LANES
// - 1, so that it is not negative.
#define DIAGONAL(col, lane) ((col) + (LANES - 1) - (lane))

#define PASTED(a, b) a##b
#define JOINED(a, b) PASTED(a, b)
#define ROWS JOINED(uint, LANES)
#define LOADED JOINED(vload, LANES)

// Returns the diagonals of the next entries of LANES rows, and PADDING for a row without further
// entries. A row without further entries reads entry 0, which exists.
ROWS diagonals_of(ROWS next, ROWS end, global const uint* restrict col)
{
    const ROWS at = next < end ? next : (ROWS)0;
    const ROWS column = (ROWS)(col[at.s0], col[at.s1], col[at.s2], col[at.s3], col[at.s4], col[at.s5], col[at.s6], col[at.s7]);
    return next < end ? DIAGONAL(column, (ROWS)(0, 1, 2, 3, 4, 5, 6, 7)) : (ROWS)PADDING;
}

uint least_of(ROWS numbers)
{
    const uint4 some = min(numbers.lo, numbers.hi);
    const uint2 few = min(some.lo, some.hi);
    return min(few.x, few.y);
}

KERNEL count_diagonals(global const uint* restrict row_ptr, global const uint* restrict col, global ulong* restrict places,
                       global uint* restrict origin, uint rows, uint columns, uint slices)
{
    const uint slice = get_global_id(0);
    if (slice >= slices)
        return;
    const uint longest = places[slice] / LANES, most = longest + longest / 2;
    bool fits = longest > 0 && rows - slice * LANES >= LANES;
    uint count = 0, first = 0;
    if (fits) {
        ROWS next = LOADED(slice, row_ptr), diagonal;
        const ROWS end = LOADED(slice, row_ptr + 1);
        diagonal = diagonals_of(next, end, col);
        first = least_of(diagonal);
        AS_WRITTEN
        for (uint least = first; fits && least != PADDING; least = least_of(diagonal)) {
            next += diagonal == least ? (ROWS)1 : (ROWS)0;
            diagonal = diagonals_of(next, end, col);
            const uint left = ~least_of(~(end - next));
            ++count;
            fits = least >= LANES - 1 && least < columns && least - first <= REACH && count + left <= most;
        }
    }
    origin[slice] = fits ? first - (LANES - 1) : PADDING;
    if (fits)
        places[slice] = (ulong)count * LANES;
}

KERNEL place_diagonals(global const uint* restrict row_ptr, global const uint* restrict col, global const uint* restrict source,
                       global const ulong* restrict slice_ptr, global const uint* restrict origin, global uint* restrict steps,
                       global uint* restrict slice_source, uint slices)
{
    const uint slice = get_global_id(0);
    if (slice >= slices || origin[slice] == PADDING)
        return;
    ROWS next = LOADED(slice, row_ptr);
    const ROWS end = LOADED(slice, row_ptr + 1);
    const uint first = least_of(diagonals_of(next, end, col));
    AS_WRITTEN
    for (ulong place = slice_ptr[slice]; place < slice_ptr[slice + 1]; place += LANES) {
        const ROWS diagonal = diagonals_of(next, end, col);
        const uint least = least_of(diagonal);
        uint entry[LANES], of_row[LANES], word = least - first;
        JOINED(vstore, LANES)(next, 0, entry);
        JOINED(vstore, LANES)(diagonal, 0, of_row);
        WRITTEN_OUT
        for (uint lane = 0; lane < LANES; ++lane) {
            const bool is_padding = of_row[lane] != least;
            word |= is_padding ? 0 : (REACH + 1) << lane;
#if THROUGH
            slice_source[place + lane] = is_padding ? PADDING : source[entry[lane]];
#else
            slice_source[place + lane] = is_padding ? PADDING : entry[lane];
#endif
        }
        steps[place / LANES] = word;
        next += diagonal == least ? (ROWS)1 : (ROWS)0;
    }
}
