// by_rows: copies a dense matrix that is stored by columns to one that is stored by rows, without
// gaps.
// Host: src/apply/spmm/by_rows.rs
//
//   One work-group copies a tile of TILE_ROWS x TILE_COLS elements. Neighbouring items read down a
//   column, then write along a row. Work-groups with consecutive numbers take tiles one below the
//   other, in the same columns. A work-group of one item needs no local memory, and copies a few
//   columns at a time.
//
//   in   columns[]        columns `leading` elements apart
//   out  by_rows[rows * cols]   past the caches if `past`
#if !defined(TILE_ROWS) || !defined(TILE_COLS)
#error "TILE_ROWS, TILE_COLS: see src/apply/spmm/by_rows.rs"
#endif

KERNEL copy_by_rows(global const ELEMENT* restrict columns, global ELEMENT* restrict by_rows, uint rows, uint cols, uint leading,
                    uint past)
{
    const uint down = (rows + TILE_ROWS - 1) / TILE_ROWS;
    const uint number = get_group_id(0), row = number % down * TILE_ROWS, col = number / down * TILE_COLS;
#if GROUP_SIZE == 1
    const uint row_end = min(row + TILE_ROWS, rows), col_end = min(col + TILE_COLS, cols);
    for (uint first = col; first < col_end; first += TURNED) {
        uint i = row;
#if !ELEMENT_IS_HALF
        const bool passes = past && cols % TURNED == 0 && MAY_PASS(by_rows);
        for (; first + TURNED <= col_end && i + 8 <= row_end; i += 8) {
            EIGHT from[TURNED];
            WRITTEN_OUT
            for (uint k = 0; k < TURNED; ++k)
                from[k] = vload8(0, columns + (ulong)(first + k) * leading + i);
            place_turned(from, by_rows + (ulong)i * cols + first, cols, passes);
        }
#endif
        for (; i < row_end; ++i)
            for (uint j = first; j < min(first + TURNED, col_end); ++j)
                STORE(LOAD(columns, (ulong)j * leading + i), by_rows, (ulong)i * cols + j);
    }
#else
    // Each column of the tile has one unused element at its end, so that the elements of a row are
    // in different banks.
    local ARITHMETIC tile[TILE_COLS * (TILE_ROWS + 1)];
    for (uint at = get_local_id(0); at < TILE_ROWS * TILE_COLS; at += GROUP_SIZE) {
        const uint i = at % TILE_ROWS, j = at / TILE_ROWS;
        if (row + i < rows && col + j < cols)
            tile[j * (TILE_ROWS + 1) + i] = LOAD(columns, (ulong)(col + j) * leading + row + i);
    }
    GROUP_BARRIER;
    for (uint at = get_local_id(0); at < TILE_ROWS * TILE_COLS; at += GROUP_SIZE) {
        const uint i = at / TILE_COLS, j = at % TILE_COLS;
        if (row + i < rows && col + j < cols)
            STORE(tile[j * (TILE_ROWS + 1) + i], by_rows, (ulong)(row + i) * cols + col + j);
    }
#endif
}
