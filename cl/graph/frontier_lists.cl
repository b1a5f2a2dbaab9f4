// frontier_lists: defines the near and far lists of a round, and its slot of the record. This file
// comes before frontier.cl, which describes the arrays.
// Host: src/graph/frontier.rs
#if !defined(CHUNK) || !defined(WIDE) || !defined(RECORD) || !defined(BOUNDS)
#error "CHUNK, WIDE, RECORD, BOUNDS: see src/graph/frontier.rs"
#endif
#if WIDE
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#define BITS ulong
#define AS_BITS as_ulong
#define LOWER_BITS atom_min
#else
#define BITS uint
#define AS_BITS as_uint
#define LOWER_BITS atomic_min
#endif
#define AS_(word) as_##word
#define AS(word) AS_(word)

// The words of a slot. A slot first holds zeros, which mean that nothing is left to do (DONE).
#define MODE 0       // what the round did: DONE, VISIT or DIVIDE
#define NEAR_LIST 1  // the near list that the round filled
#define FAR_LIST 2   // the far list that the round read or extended
#define NEAR_COUNT 3 // entries that the round put into the near list
#define FAR_BEFORE 4 // number of entries of the far list before the round
#define FAR_COUNT 5  // entries that the round put into a far list
#define EDGES 6      // number of edges and vertices that the round visited
#define FILL_EDGES 7 // sum of EDGES over the rounds since the limit last rose
#define FILL_ROUNDS 8

// The kinds of rounds.
#define DONE 0
#define VISIT 1  // visits the near list
#define DIVIDE 2 // divides the far list and visits its near vertices

// The places of distances in a slot.
#define LIMIT 0
#define PASSED 1 // the limit before LIMIT
#define STEP 2
#define LEAST 3 // least distance of the vertices that were put into the far list or stayed in it

// The kind of a round, and the lists that the round before has left.
struct Round {
    uint mode, entries; // the kind of the round, and the number of entries in the list that it reads
    uint near_list, far_list, far_before, fill_edges, fill_rounds;
    ELEMENT limit, passed, step, least;
};

// The lists and the slot to which a round writes.
struct Places {
    uint round;
    global const uint* out_ptr;
    volatile global uint *queued, *waits;
    global uint2* near;
    global uint* far;
    volatile global uint* words;
    volatile global ELEMENT* bounds;
};

// Lowers a distance, which is not negative. Returns the old distance.
ELEMENT lowered(volatile global ELEMENT* distance, ELEMENT to)
{
    return AS(ELEMENT)(LOWER_BITS((volatile global BITS*)distance, AS_BITS(to))); // a race: other items read it by plain loads
}

// Puts the parts of a vertex's edges into the near list, unless this round has already done so.
void come_near(uint vertex, const struct Places* next)
{
    const uint parts = (next->out_ptr[vertex + 1] - next->out_ptr[vertex] + CHUNK - 1) / CHUNK;
    if (parts == 0 || atomic_xchg(next->queued + vertex, next->round) == next->round)
        return;
    const uint place = atomic_add(next->words + NEAR_COUNT, parts);
    for (uint part = 0; part < parts; ++part)
        next->near[place + part] = (uint2)(vertex, part);
}

// Lowers the least distance beyond the limit.
void be_far(ELEMENT reached, const struct Places* next)
{
    if (reached < next->bounds[LEAST]) // a race: an older value is longer, and the minimum decides
        lowered(next->bounds + LEAST, reached);
}

// Puts a vertex beyond the limit into the far list.
void add_far(uint vertex, ELEMENT reached, const struct Places* next)
{
    be_far(reached, next);
    next->far[atomic_inc(next->words + FAR_COUNT)] = vertex;
}

// Puts a vertex beyond the limit into the far list, unless it is in a far list already.
void come_far(uint vertex, ELEMENT reached, const struct Places* next)
{
    if (atomic_xchg(next->waits + vertex, 1) == 0)
        add_far(vertex, reached, next);
    else
        be_far(reached, next);
}

// Derives the kind of this round from the slot of the round before.
struct Round begun(global const uint* before, global const ELEMENT* left, uint full)
{
    struct Round round;
    const uint divided = before[MODE] == DIVIDE, near_count = before[NEAR_COUNT];
    round.near_list = before[NEAR_LIST];
    round.far_list = before[FAR_LIST] ^ divided;
    round.far_before = before[FAR_COUNT] + (divided ? 0 : before[FAR_BEFORE]);
    round.mode = near_count > 0 ? VISIT : round.far_before > 0 ? DIVIDE : DONE;
    round.entries = round.mode == VISIT ? near_count : round.far_before;
    round.fill_edges = before[FILL_EDGES] + min(before[EDGES], 0xffffffffu - before[FILL_EDGES]);
    round.fill_rounds = before[FILL_ROUNDS] + 1;
    round.limit = left[LIMIT];
    round.passed = left[PASSED];
    round.step = left[STEP];
    round.least = left[LEAST];
    if (round.mode == DIVIDE) {
        if (round.fill_edges / round.fill_rounds < full)
            round.step = MULTIPLY(round.step, round.step); // the rounds were too small to fill the device
        round.passed = round.limit;
        round.limit = MULTIPLY(round.step, round.least);
        round.fill_edges = round.fill_rounds = 0;
    }
    return round;
}

// Writes the words that one item knows into the slot of this round.
void note(const struct Round* round, const struct Places* next)
{
    next->words[MODE] = round->mode;
    next->words[NEAR_LIST] = round->near_list ^ 1;
    next->words[FAR_LIST] = round->far_list;
    next->words[FAR_BEFORE] = round->far_before;
    next->words[FILL_EDGES] = round->fill_edges;
    next->words[FILL_ROUNDS] = round->fill_rounds;
    next->bounds[LIMIT] = round->limit;
    next->bounds[PASSED] = round->passed;
    next->bounds[STEP] = round->step;
    if (round->mode == VISIT)
        lowered(next->bounds + LEAST, round->least);
}
