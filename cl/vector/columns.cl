// columns: computes dot products and sums of the columns of dense matrices.
// Host: src/vector/columns.rs
//
//   column_dots    one work-group per piece of PIECE rows and chunk of WIDTH columns: computes for
//                  each column the sum of the products of the elements of x and y
//   column_sums    one work-group per piece and chunk: adds the sums of pieces. The kernel is
//                  repeated until one sum is left
//   copy_elements  one work-item per element: y = x
//   column_axpby   one work-item per element; on a CPU one per LINES rows or columns, in the order
//                  in which they are stored
//
// Element (i, j) of x is at i * x_row + j * x_col.
//
//   in      x[]  y[]
//   in      terms[rows * cols]    the sums of the round before, by rows
//   in      factor[2 * cols]      alpha and beta of each column. `plain` is 1 if the matrices are
//                                 by rows, no beta is 0, and no column stays unchanged
//   out     sums[pieces * cols]   by rows
//   in out  y[]                   alpha * x + beta * y, see axpby; a column with alpha 0 and beta 1
//                                 stays unchanged
//
// The terms of a piece are folded in halves, see dot.cl, so that the sum of a column has the same
// bits as the dot product of vectors.
#if !defined(PIECE) || !defined(WIDTH) || !defined(LINES) || !defined(BY_ROWS)
#error "PIECE, WIDTH, LINES, BY_ROWS: see src/vector/columns.rs"
#endif
#define HALF (PIECE / 2)

// Folds HALF rows of sums into the first row.
void fold(local ARITHMETIC* sum)
{
    for (uint height = HALF / 2; height > 0; height /= 2) {
        GROUP_BARRIER; // sum[] is written before other items read it
        for (uint i = get_local_id(0); i < height * WIDTH; i += GROUP_SIZE)
            sum[i] += sum[i + height * WIDTH];
    }
    GROUP_BARRIER;
}

// BY_ROWS is 1 if both matrices are stored by rows, so that neighbouring columns are neighbours in
// memory.
#if BY_ROWS
#define PRODUCT(row, col) (LOAD(x, (row)*x_row + (col)) * LOAD(y, (row)*y_row + (col)))
#else
#define PRODUCT(row, col) (LOAD(x, (row)*x_row + (col)*x_col) * LOAD(y, (row)*y_row + (col)*y_col))
#endif

KERNEL column_dots(global const ELEMENT* restrict x, global const ELEMENT* restrict y, global ARITHMETIC* restrict sums, ulong rows,
                   uint cols, ulong x_row, ulong x_col, ulong y_row, ulong y_col)
{
    local ARITHMETIC sum[HALF * WIDTH];
    const uint chunks = (cols + WIDTH - 1) / WIDTH, piece = (uint)get_group_id(0) / chunks;
    const uint col = (uint)get_group_id(0) % chunks * WIDTH;
    const ulong begin = (ulong)piece * PIECE;
#if GROUP_SIZE == 1
    // The loops over `i` run along a row, so that compilers turn them into vector instructions.
    const uint width = min((uint)WIDTH, cols - col);
    for (uint i = 0; i < HALF; ++i) {
        local ARITHMETIC* own = sum + i * WIDTH;
        const ulong first = begin + i, second = first + HALF;
        for (uint j = 0; j < WIDTH; ++j)
            own[j] = IDENTITY;
        if (first < rows)
            for (uint j = 0; j < width; ++j)
                own[j] = PRODUCT(first, col + j);
        if (second < rows)
            for (uint j = 0; j < width; ++j)
                own[j] += PRODUCT(second, col + j);
    }
#else
    for (uint i = get_local_id(0); i < HALF * WIDTH; i += GROUP_SIZE) {
        const ulong first = begin + i / WIDTH, second = first + HALF, at = col + i % WIDTH;
        const ARITHMETIC one = at < cols && first < rows ? PRODUCT(first, at) : IDENTITY;
        sum[i] = one + (at < cols && second < rows ? PRODUCT(second, at) : IDENTITY);
    }
#endif
    fold(sum);
    for (uint i = get_local_id(0); i < WIDTH; i += GROUP_SIZE)
        if (col + i < cols)
            sums[(ulong)piece * cols + col + i] = sum[i];
}

KERNEL column_sums(global const ARITHMETIC* restrict terms, global ARITHMETIC* restrict sums, ulong rows, uint cols)
{
    local ARITHMETIC sum[HALF * WIDTH];
    const uint chunks = (cols + WIDTH - 1) / WIDTH, piece = (uint)get_group_id(0) / chunks;
    const uint col = (uint)get_group_id(0) % chunks * WIDTH;
    const ulong begin = (ulong)piece * PIECE;
    for (uint i = get_local_id(0); i < HALF * WIDTH; i += GROUP_SIZE) {
        const ulong first = begin + i / WIDTH, second = first + HALF, at = col + i % WIDTH;
        const ARITHMETIC one = at < cols && first < rows ? terms[first * cols + at] : IDENTITY;
        sum[i] = one + (at < cols && second < rows ? terms[second * cols + at] : IDENTITY);
    }
    fold(sum);
    for (uint i = get_local_id(0); i < WIDTH; i += GROUP_SIZE)
        if (col + i < cols)
            sums[(ulong)piece * cols + col + i] = sum[i];
}

// Computes y = alpha * x + beta * y for one element. `col` is the index of its factors.
#define AXPBY(col, from, to)                                                                                          \
    do {                                                                                                              \
        const ARITHMETIC alpha = factor[col], beta = factor[cols + (col)];                                            \
        if (alpha != 0 || beta != 1) {                                                                                \
            ARITHMETIC value = alpha * LOAD(x, from);                                                                 \
            if (beta != 0)                                                                                            \
                value += beta * LOAD(y, to);                                                                          \
            STORE(value, y, to);                                                                                      \
        }                                                                                                             \
    } while (0)

KERNEL column_axpby(global const ARITHMETIC* restrict factor, global const ELEMENT* restrict x, global ELEMENT* restrict y,
                    uint lines, uint width, uint cols, uint by_columns, uint plain, uint x_leading, uint y_leading)
{
#if GROUP_SIZE == 1
    const uint begin = get_global_id(0) * LINES;
    if (plain) {
        for (uint line = begin; line < min(begin + LINES, lines); ++line) {
            global const ELEMENT* from = x + (ulong)line * x_leading;
            global ELEMENT* to = y + (ulong)line * y_leading;
            for (uint i = 0; i < width; ++i)
                STORE(factor[i] * LOAD(from, i) + factor[cols + i] * LOAD(to, i), to, i);
        }
        return;
    }
    for (uint line = begin; line < min(begin + LINES, lines); ++line)
        for (uint i = 0; i < width; ++i)
            AXPBY(by_columns ? line : i, (ulong)line * x_leading + i, (ulong)line * y_leading + i);
#else
    const ulong id = get_global_id(0), line = id / width, i = id % width;
    if (line < lines)
        AXPBY(by_columns ? line : i, line * x_leading + i, line * y_leading + i);
#endif
}

KERNEL copy_elements(global const ELEMENT* restrict x, global ELEMENT* restrict y, ulong elements, uint cols, ulong x_row,
                     ulong x_col, ulong y_row, ulong y_col)
{
    const ulong id = get_global_id(0), row = id / cols, col = id % cols;
    if (id < elements)
        STORE(LOAD(x, row * x_row + col * x_col), y, row * y_row + col * y_col);
}
