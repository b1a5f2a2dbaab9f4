// frontier: distances from the sources, by all work-items, the vertices near the sources first.
// Host: src/graph/frontier.rs
//
//   begin_frontier  one work-item per source, after distances were begun (start.cl)
//   frontier_round  work-groups that share the entries of a list: a round, slot `number`
//
//   in      vertex[sources]                  different vertices
//   in      out_ptr[vertices + 1]  to[edges]  the edges that leave each vertex
//   in      source[edges]  values[]          see edges.cl
//   in out  path_length[vertices]
//   in out  queued[vertices]                 the last round that put a vertex into a near list
//   in out  waits[vertices]                  1 if a vertex is in a far list
//   in out  near[2 * room]                   two lists of parts of vertices' edges: one is visited
//                                            while the other is filled
//   in out  far[2 * vertices]                two lists of vertices beyond the limit
//   in out  record[slots * RECORD]           see the words below; a round reads its slot and fills
//                                            the next, which holds zeros
//   in out  bounds[slots * BOUNDS]           the same; EMPTY before
//
// A vertex whose distance falls comes into the near list of the next round if the distance is up to
// the limit, else into the far list. When a near list is empty the limit moves, and the next round
// divides the far list. A distance falls by an atomic minimum of its bits, which are in the order
// of numbers because none is negative. An item may read a distance that has fallen meanwhile: who
// lowered it has put its vertex into the next list, so it will be visited again. A vertex that was
// near once is never far again; one that has become near by a shorter path stays in the far list
// until that is divided. No order of visits changes a distance.
//
// What the rounds before have left is computed by every item alike, from the slot of the round
// before: a launch is a round, and none waits for the host.
#if !defined(CHUNK) || !defined(TILE) || !defined(WIDE) || !defined(RECORD) || !defined(BOUNDS)
#error "CHUNK, TILE, WIDE, RECORD, BOUNDS: see src/graph/frontier.rs"
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

// Lowers a distance that is not negative. Returns what it was.
ELEMENT lowered(volatile global ELEMENT* distance, ELEMENT to)
{
    return AS(ELEMENT)(LOWER_BITS((volatile global BITS*)distance, AS_BITS(to)));
}

// The words of a slot. A slot begins as zeros: all is done.
#define MODE 0       // what the round did
#define NEAR_LIST 1  // the near list that it filled
#define FAR_LIST 2   // the far list that it read or extended
#define NEAR_COUNT 3 // entries that it put into the near list
#define FAR_BEFORE 4 // entries of the far list that were there before
#define FAR_COUNT 5  // entries that it put into a far list
#define EDGES 6      // edges and vertices that it looked at
#define FILL_EDGES 7 // those of the rounds since the limit moved
#define FILL_ROUNDS 8

// What a round does.
#define DONE 0
#define VISIT 1  // visits the near list
#define DIVIDE 2 // divides the far list

// The bounds of a slot.
#define LIMIT 0
#define PASSED 1 // the limit before
#define STEP 2
#define LEAST 3  // the least distance that a division left far

// Puts the parts of a vertex's edges into a near list, unless this round has.
void come_near(uint vertex, uint round, global const uint* out_ptr, volatile global uint* queued, global uint2* near,
               volatile global uint* record)
{
    const uint parts = (out_ptr[vertex + 1] - out_ptr[vertex] + CHUNK - 1) / CHUNK;
    if (parts == 0 || atomic_xchg(queued + vertex, round) == round)
        return;
    const uint place = atomic_add(record + NEAR_COUNT, parts);
    for (uint part = 0; part < parts; ++part)
        near[place + part] = (uint2)(vertex, part);
}

KERNEL begin_frontier(global const uint* vertex, global const uint* out_ptr, global uint* queued, global uint2* near,
                      global uint* record, uint sources)
{
    const uint i = get_global_id(0);
    if (i < sources)
        come_near(vertex[i], 1, out_ptr, queued, near, record);
}

KERNEL frontier_round(global const uint* restrict out_ptr, global const uint* restrict to, global const uint* restrict source,
                      global const ELEMENT* restrict values, global ELEMENT* path_length, global uint* queued, global uint* waits,
                      global uint2* near, global uint* far, global uint* record, global ELEMENT* bounds, ulong room,
                      ulong vertices, uint stride, uint number, uint this_round, uint full)
{
    // What the round before has left, and what this one does.
    global const uint* before = record + number * RECORD;
    volatile global uint* words = record + (number + 1) * RECORD;
    global const ELEMENT* left = bounds + number * BOUNDS;
    const uint divided = before[MODE] == DIVIDE, count = before[NEAR_COUNT];
    const uint from_near = before[NEAR_LIST], from_far = before[FAR_LIST] ^ divided;
    const uint far_count = before[FAR_COUNT] + (divided ? 0 : before[FAR_BEFORE]);
    const uint mode = count > 0 ? VISIT : far_count > 0 ? DIVIDE : DONE;
    uint fill_edges = before[FILL_EDGES] + min(before[EDGES], 0xffffffffu - before[FILL_EDGES]), fill_rounds = before[FILL_ROUNDS] + 1;
    ELEMENT limit = left[LIMIT], passed = left[PASSED], step = left[STEP];
    if (mode == DIVIDE) {
        if (fill_edges / fill_rounds < full)
            step = MULTIPLY(step, step); // rounds do not fill the device
        passed = limit;
        const ELEMENT begin = divided ? left[LEAST] : limit;
        limit = MULTIPLY(step, begin);
        fill_edges = fill_rounds = 0;
    }
    if (get_global_id(0) == 0) {
        words[MODE] = mode;
        words[NEAR_LIST] = from_near ^ 1;
        words[FAR_LIST] = from_far;
        words[FAR_BEFORE] = far_count;
        words[FILL_EDGES] = fill_edges;
        words[FILL_ROUNDS] = fill_rounds;
        global ELEMENT* now = bounds + (number + 1) * BOUNDS;
        now[LIMIT] = limit;
        now[PASSED] = passed;
        now[STEP] = step;
    }
    global const uint2* visited = near + from_near * room;
    global uint2* next_near = near + (from_near ^ 1) * room;
    global uint* this_far = far + from_far * vertices;
    local uint first_edge[TILE], edges_before[TILE + 1];
    local ELEMENT reached_at[TILE];
    const uint item = get_local_id(0), tiles = mode == VISIT ? count / TILE + (count % TILE > 0) : 0;
    for (uint tile = get_group_id(0); tile < tiles; tile += get_num_groups(0)) {
        for (uint i = item; i < TILE; i += GROUP_SIZE) {
            const uint entry = tile * TILE + i;
            uint edges = 0;
            if (entry < count) {
                const uint2 part = visited[entry];
                const uint begin = out_ptr[part.x] + part.y * CHUNK;
                first_edge[i] = begin;
                reached_at[i] = path_length[part.x];
                edges = min(out_ptr[part.x + 1] - begin, (uint)CHUNK);
            }
            edges_before[i + 1] = edges;
        }
        GROUP_BARRIER;
        if (item == 0) {
            edges_before[0] = 0;
            for (uint i = 0; i < TILE; ++i)
                edges_before[i + 1] += edges_before[i];
            atomic_add(words + EDGES, edges_before[TILE] + min(count - tile * TILE, (uint)TILE));
        }
        GROUP_BARRIER; // the sums, before they are searched
        const uint edges = edges_before[TILE];
        for (uint i = item; i < edges; i += GROUP_SIZE) {
            uint at = 0;
            for (uint last = TILE - 1; at < last;) {
                const uint middle = last - (last - at) / 2;
                if (edges_before[middle] <= i)
                    at = middle;
                else
                    last = middle - 1;
            }
            const uint edge = first_edge[at] + i - edges_before[at], next = to[edge];
            const ELEMENT length = LENGTH(edge), so_far = reached_at[at], reached = MULTIPLY(length, so_far);
            if (!(reached < path_length[next]) || !(reached < lowered(path_length + next, reached)))
                continue;
            if (reached <= limit)
                come_near(next, this_round, out_ptr, queued, next_near, words);
            else if (atomic_xchg((volatile global uint*)waits + next, 1) == 0)
                this_far[far_count + atomic_inc(words + FAR_COUNT)] = next;
        }
        GROUP_BARRIER; // the reads of this tile, before the next is written
    }
    global uint* next_far = far + (from_far ^ 1) * vertices;
    const uint divides = mode == DIVIDE ? far_count : 0;
    for (ulong i = get_global_id(0); i < divides; i += get_global_size(0)) {
        const uint vertex = this_far[i];
        const ELEMENT reached = path_length[vertex];
        if (reached > limit) {
            next_far[atomic_inc(words + FAR_COUNT)] = vertex;
            volatile global ELEMENT* least = bounds + (number + 1) * BOUNDS + LEAST;
            if (reached < *least)
                lowered(least, reached);
            continue;
        }
        waits[vertex] = 0;
        if (reached > passed)
            come_near(vertex, this_round, out_ptr, queued, next_near, words);
    }
}
