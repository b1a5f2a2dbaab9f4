// vectors: how kernels of sparse times dense matrices share out the columns of D, and how they load
// and store VEC neighbouring elements. It comes before each of them, and after turn.cl.
// Host: src/apply/spmm/tuning.rs
//
// A slot is LANES neighbouring work-items. They hold WIDTH columns of D at once: each item VECTORS
// vectors of VEC. D is stored by rows. ALIGNED is 1 if its rows and C's begin at multiples of the
// vectors. Then a GPU loads a vector by one instruction.
#if !defined(LANES) || !defined(VEC) || !defined(VECTORS) || !defined(ALIGNED) || !defined(C_BY_COLUMNS) || !defined(AHEAD)
#error "LANES, VEC, VECTORS, ALIGNED, C_BY_COLUMNS, AHEAD: see src/apply/spmm/tuning.rs"
#endif
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

// The first of an item's columns in vector `number` of those from `first`; one that exists if there
// are fewer, which is then computed twice.
#define COLUMN(number, first, end) min((first) + ((number)*LANES + LANE) * VEC, (end)-VEC)
#define LANE ((uint)get_local_id(0) % LANES)

// The task and the share of the columns of number `id`. The shares of a task follow one another;
// with `shares_last` the tasks of a share do, so that a cache keeps what they have in common of D.
// Behind the last number the task is none of them.
uint2 task_of(uint id, uint tasks, uint shares, uint shares_last)
{
    if (!shares_last)
        return (uint2)(id / shares, id % shares);
    return id < tasks * shares ? (uint2)(id % tasks, id / tasks) : (uint2)(tasks, 0);
}

// As place_sum, for the columns from `col` of a row of C.
void place_vector(VECTOR sum, global ELEMENT* c, uint row, uint col, uint leading, ARITHMETIC alpha, ARITHMETIC beta)
{
#if VEC == 1
    place_sum(sum, c, C_BY_COLUMNS ? (ulong)col * leading + row : (ulong)row * leading + col, alpha, beta);
#elif C_BY_COLUMNS
    ARITHMETIC one[VEC];
    JOIN(vstore, VEC)(sum, 0, one);
    WRITTEN_OUT
    for (uint i = 0; i < VEC; ++i)
        place_sum(one[i], c, (ulong)(col + i) * leading + row, alpha, beta);
#else
    const ulong at = (ulong)row * leading + col;
    VECTOR value = SPREAD(alpha) * sum;
    if (beta != 0)
        value = ADD(value, SPREAD(beta) * LOAD_VECTOR(c, at));
    STORE_VECTOR(value, c, at);
#endif
}
