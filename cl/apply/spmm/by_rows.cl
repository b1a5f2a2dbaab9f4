// by_rows: copies a dense matrix that is stored by columns to one that is stored by rows, without
// gaps.
// Host: src/apply/spmm/by_rows.rs
//
//   One work-group per tile of TILE x TILE elements: neighbours read down a column, then write
//   along a row. A group of one item needs no local memory.
//
//   in   columns[]        `leading` apart
//   out  by_rows[rows * cols]
#ifndef TILE
#error "TILE: see src/apply/spmm/by_rows.rs"
#endif

KERNEL copy_by_rows(global const ELEMENT* restrict columns, global ELEMENT* restrict by_rows, uint rows, uint cols, uint leading)
{
    const uint across = (cols + TILE - 1) / TILE;
    const uint number = get_group_id(0), row = number / across * TILE, col = number % across * TILE;
#if GROUP_SIZE == 1
    const uint row_end = min(row + TILE, rows), col_end = min(col + TILE, cols);
    for (uint i = row; i < row_end; ++i)
        for (uint j = col; j < col_end; ++j)
            STORE(LOAD(columns, (ulong)j * leading + i), by_rows, (ulong)i * cols + j);
#else
    // One more, so that items of a column use different banks.
    local ARITHMETIC tile[TILE * (TILE + 1)];
    for (uint at = get_local_id(0); at < TILE * TILE; at += GROUP_SIZE) {
        const uint i = at % TILE, j = at / TILE;
        if (row + i < rows && col + j < cols)
            tile[j * (TILE + 1) + i] = LOAD(columns, (ulong)(col + j) * leading + row + i);
    }
    GROUP_BARRIER;
    for (uint at = get_local_id(0); at < TILE * TILE; at += GROUP_SIZE) {
        const uint i = at / TILE, j = at % TILE;
        if (row + i < rows && col + j < cols)
            STORE(tile[j * (TILE + 1) + i], by_rows, (ulong)(row + i) * cols + col + j);
    }
#endif
}
