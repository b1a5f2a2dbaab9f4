// vectors: divides the columns of D among work-items, and loads and stores VEC neighbouring
// elements, for products of sparse and dense matrices. The kernels of products of sparse and dense
// matrices come after this file and turn.cl.
// Host: src/apply/spmm/tuning.rs
//
// A slot is LANES neighbouring work-items. The items of a slot hold WIDTH columns of D at once:
// each item has VECTORS vectors of VEC columns. D is stored by rows. ALIGNED is 1 if rows of D and
// C begin at multiples of the vector length, so that a GPU loads a vector by one instruction.
#if !defined(LANES) || !defined(VEC) || !defined(VECTORS) || !defined(ALIGNED) || !defined(C_BY_COLUMNS) || !defined(AHEAD)
#error "LANES, VEC, VECTORS, ALIGNED, C_BY_COLUMNS, AHEAD: see src/apply/spmm/tuning.rs"
#endif

// ENTRIES_OF, OPERANDS_OF and C_OF are the parameters of kernels, in the order of
// src/apply/spmm/operands.rs: the places of A's entries; the values of A and D, with the factors;
// C. ENTRIES, OPERANDS and C pass them to a function.
#define ENTRIES_OF global const uint* restrict line_ptr, global const uint* restrict other, global const uint* restrict source
#define ENTRIES line_ptr, other, source
#define OPERANDS_OF                                                                                                   \
    global const ELEMENT* restrict values, uint stride, global const ELEMENT* restrict d, uint d_leading,             \
        ARITHMETIC alpha, ARITHMETIC beta
#define OPERANDS values, stride, d, d_leading, alpha, beta
#define C_OF global ELEMENT* restrict c, uint c_leading
#define C c, c_leading

#define SLOTS (GROUP_SIZE / LANES)
#define WIDTH (LANES * VEC * VECTORS)

#define JOIN_3_(one, two, three) one##two##three
#define JOIN_3(one, two, three) JOIN_3_(one, two, three)

#if VEC == 1
#define VECTOR ARITHMETIC
#define LOAD_VECTOR(values, i) ((ARITHMETIC)LOAD(values, i))
#define STORE_VECTOR(value, values, i) STORE(value, values, i)
#define SPREAD(value) (value)
#define PUT(value, sums, i) ((sums)[i] = (value))
#else
#define VECTOR JOIN(ARITHMETIC, VEC)
#define SPREAD(value) ((VECTOR)(value))
#define PUT(value, sums, i) JOIN(vstore, VEC)(value, 0, (sums) + (i))
#if ELEMENT_IS_HALF
#define LOAD_VECTOR(values, i) JOIN(vload_half, VEC)(0, (values) + (i))
#define STORE_VECTOR(value, values, i) JOIN_3(vstore_half, VEC, _rte)(value, 0, (values) + (i))
#elif ALIGNED
#define LOAD_VECTOR(values, i) JOIN_3(convert_, ARITHMETIC, VEC)(*(global const JOIN(ELEMENT, VEC)*)((values) + (i)))
#define STORE_VECTOR(value, values, i) (*(global JOIN(ELEMENT, VEC)*)((values) + (i)) = JOIN_3(convert_, ELEMENT, VEC)(value))
#else
#define LOAD_VECTOR(values, i) JOIN_3(convert_, ARITHMETIC, VEC)(JOIN(vload, VEC)(0, (values) + (i)))
#define STORE_VECTOR(value, values, i) JOIN(vstore, VEC)(JOIN_3(convert_, ELEMENT, VEC)(value), 0, (values) + (i))
#endif
#endif

// COLUMN is the first column of an item's vector `number`, counted from column `first`. If there
// are too few columns, it is an existing column, which is then computed twice.
#define COLUMN(number, first, end) min((first) + ((number)*LANES + LANE) * VEC, (end)-VEC)
#define LANE ((uint)get_local_id(0) % LANES)

// The DEPTH rows of D that a block multiplies are loaded in PANELS passes of up to PANEL rows, so
// that the passes are about equal. PANEL is at most AHEAD.
#define PANELS ((DEPTH + AHEAD - 1) / AHEAD)
#define PANEL ((DEPTH + PANELS - 1) / PANELS)

// Loads the item's vectors of a panel: of the rows of D from `row` + `from` on. After row DEPTH - 1
// it loads this row again.
#define LOAD_PANEL(x, row, from, first, to)                                                                           \
    WRITTEN_OUT                                                                                                       \
    for (uint i = 0; i < PANEL; ++i) {                                                                                \
        WRITTEN_OUT                                                                                                   \
        for (uint v = 0; v < VECTORS; ++v)                                                                            \
            x[i * VECTORS + v] =                                                                                      \
                LOAD_VECTOR(d, (row + min(from + i, (uint)DEPTH - 1)) * d_leading + COLUMN(v, first, to));            \
    }

// Returns the task and the share of columns with number `id`. Consecutive numbers are shares of one
// task, or if `shares_last` is 1, tasks of one share, so that a cache keeps the part of D that
// these tasks read. After the last number the task is out of range.
uint2 task_of(uint id, uint tasks, uint shares, uint shares_last)
{
    if (!shares_last)
        return (uint2)(id / shares, id % shares);
    return id < tasks * shares ? (uint2)(id % tasks, id / tasks) : (uint2)(tasks, 0);
}

// Writes VEC elements of a row of C, from column `col` on, each as place_sum does.
void place_vector(VECTOR sum, uint row, uint col, ARITHMETIC alpha, ARITHMETIC beta, C_OF)
{
#if VEC == 1
    place_sum(sum, c, C_BY_COLUMNS ? (ulong)col * c_leading + row : (ulong)row * c_leading + col, alpha, beta);
#elif C_BY_COLUMNS
    ARITHMETIC one[VEC];
    JOIN(vstore, VEC)(sum, 0, one);
    WRITTEN_OUT
    for (uint i = 0; i < VEC; ++i)
        place_sum(one[i], c, (ulong)(col + i) * c_leading + row, alpha, beta);
#else
    const ulong at = (ulong)row * c_leading + col;
    VECTOR value = SPREAD(alpha) * sum;
    if (beta != 0)
        value = ADD(value, SPREAD(beta) * LOAD_VECTOR(c, at));
    STORE_VECTOR(value, c, at);
#endif
}
