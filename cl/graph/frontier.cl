// frontier: computes distances from the sources. All work-items visit vertices, and vertices near
// the sources come first.
// Host: src/graph/frontier.rs
//
//   begin_frontier  one work-item per source, after distances were begun (start.cl)
//   frontier_round  one round: work-groups share the entries of a list. The round has slot `number`
//                   of the record
//
//   in      vertex[sources]                  different vertices
//   in      out_ptr[vertices + 1]  to[edges]  the edges that leave each vertex
//   in      source[edges]  values[]          see edges.cl
//   in out  path_length[vertices]
//   in out  queued[vertices]                 the last round that put a vertex into a near list
//   in out  waits[vertices]                  1 if a vertex is in a far list
//   in out  near[2 * room]                   two lists of parts of vertices' edges: one is visited
//                                            while the other is filled
//   in out  far[2 * vertices]                two lists of vertices whose distance is beyond the
//                                            limit
//   in out  record[slots * RECORD]           see frontier_lists.cl; a round reads its slot and
//                                            fills the next, which holds zeros
//   in out  bounds[slots * BOUNDS]           one slot for each round, too; EMPTY before
//
// The near list of a round has the vertices to visit whose distance is at most the limit. The far
// list has the vertices whose distance is above the limit. When a near list is empty, the limit
// rises. The next round then divides the far list: it visits the vertices of the far list whose
// distance is at most the new limit.
//
// A work-group takes a share of the list. Vertices whose distance the work-group lowers go to its
// queue in local memory. The work-group then visits the vertices of its queue, which is a hop. A
// work-group makes up to `most_hops` hops, so that a short list advances by several edges in one
// launch. The vertices that are left in the queue at the end, and the vertices that do not fit the
// queue, go to the near list of the next round. A queue that overflows ends the work-group's hops.
// If the list has more than one share for each work-group, each work-group takes tiles of the list
// and makes no hops.
//
// A distance is lowered by an atomic minimum of its bits. The bits have the order of the numbers,
// because no distance is negative. An item that lowers the distance of a vertex puts the vertex
// into one of three places, unless the vertex is there already: the work-group's queue, the next
// near list, or a far list. Every interleaving of the work-items gives the same distances, because
// no vertex is lost:
//
//   a queue      stores a vertex with the distance that was reached. The work-group visits the
//                vertex with this distance, moves it to the next near list, or drops it if its
//                distance has fallen since. In that case the item that lowered the distance has put
//                the vertex into another place.
//   a near list  has a vertex only once, because of `queued`. The next launch reads its distance
//                then.
//   a far list   has a vertex only once, because of `waits`. If a shorter path makes the vertex
//                near, it is put into another place, too. It also stays in the far list until the
//                list is divided, which drops it or visits it again. If the distance read at that
//                time is beyond the limit, `waits` stays 1, and no other item puts the vertex into
//                the next far list. Otherwise `waits` becomes 0. Then an item that had lowered the
//                distance earlier, and not as far, may put the vertex into the far list once more.
//
// Distances are read by plain loads while other items lower them. A distance that is read may be
// old, and is then longer than the newest distance of the vertex. If an edge seems to lower a
// distance, the atomic minimum decides. But the vertex must have had the distance that is read at
// some time: an edge that is skipped because of a distance that the vertex never had could be part
// of a shortest path. So the device has to read a distance as a whole word. Every device reads
// words of 32 bits as a whole. The devices that `check` in the host file accepts also read words of
// 64 bits as a whole.
//
// At the start of a round every item computes the state that the earlier rounds have left, from the
// slot of the round before. So each launch is a round, and no launch waits for the host.
#if !defined(TILE) || TILE % 8
#error "TILE: a multiple of 8, see src/graph/frontier.rs"
#endif

// The vertices that a work-group visits next, each with the distance that was reached. If the
// queue's count is above TILE, the surplus vertices are in the near list.
struct Queue {
    uint count, vertex[TILE], part[TILE];
    ELEMENT reached[TILE];
};
#define WHOLE 0xffffffffu // the part that is all edges

// The edges of the queue's vertices, which the items of the work-group share. before[i] is the
// number of edges of the vertices before vertex i. The whole work-group computes these sums, first
// within pieces of 8 vertices.
#define PIECE 8
#define ADDED ((TILE + GROUP_SIZE - 1) / GROUP_SIZE * GROUP_SIZE)
struct Tile {
    uint in_piece[ADDED], before[ADDED + 1], first_edge[TILE];
    ELEMENT reached[TILE];
};

// Puts all edges of a vertex into the queue. Returns whether the queue had room.
bool come_next(uint vertex, ELEMENT reached, local struct Queue* queue)
{
    const uint place = atomic_inc(&queue->count);
    if (place >= TILE)
        return false;
    queue->vertex[place] = vertex;
    queue->part[place] = WHOLE;
    queue->reached[place] = reached;
    return true;
}

// Divides entries of the far list. An entry stays in the list, is put into the queue, or is dropped
// because its vertex was visited when it was near.
void divide(global const uint* entry, uint entries, const struct Round* round, volatile global const ELEMENT* path_length,
            const struct Places* next, local struct Queue* queue)
{
    for (uint i = get_local_id(0); i < entries; i += GROUP_SIZE) {
        const uint vertex = entry[i];
        const ELEMENT reached = path_length[vertex]; // a race: an item that lowers the distance puts the vertex into another list
        if (reached > round->limit) {
            add_far(vertex, reached, next);
            continue;
        }
        atomic_xchg(next->waits + vertex, 0);
        if (reached > round->passed)
            come_next(vertex, reached, queue); // the queue has room for a tile of the list
    }
}

// Copies entries of the near list to the queue.
void take(global const uint2* entry, uint entries, volatile global const ELEMENT* path_length, local struct Queue* queue)
{
    for (uint i = get_local_id(0); i < entries; i += GROUP_SIZE) {
        const uint2 part = entry[i];
        queue->vertex[i] = part.x;
        queue->part[i] = part.y;
        queue->reached[i] = path_length[part.x]; // a race: if the distance is older, the visit is useless
    }
}

// Writes the edges of the queue to a tile: before[i + 1] becomes the number of edges of vertex i. A
// vertex whose edges are divided into several parts goes to the near list instead.
void lay_out(local const struct Queue* queue, volatile global const ELEMENT* path_length, const struct Places* next,
             local struct Tile* tile)
{
    const uint count = queue->count;
    for (uint i = get_local_id(0); i < ADDED; i += GROUP_SIZE) {
        uint edges = 0;
        if (i < count) {
            const uint vertex = queue->vertex[i], part = queue->part[i];
            const uint begin = next->out_ptr[vertex], all = next->out_ptr[vertex + 1] - begin;
            const ELEMENT reached = queue->reached[i];
            if (part == WHOLE && all > CHUNK)
                come_near(vertex, next);
            else if (!(path_length[vertex] < reached)) { // a race: an older value only costs a visit
                const uint before_part = part == WHOLE ? 0 : part * CHUNK;
                tile->first_edge[i] = begin + before_part;
                tile->reached[i] = reached;
                edges = min(all - before_part, (uint)CHUNK);
            }
        }
        tile->before[i + 1] = edges;
    }
}

// Replaces before[1..] by its prefix sums. Returns the number of edges of the tile. All items take
// part, because PoCL 3.1 with optimisation drops a barrier between two branches whose conditions
// depend on the item's number.
uint added_up(local struct Tile* tile)
{
    for (uint i = get_local_id(0); i < ADDED; i += GROUP_SIZE) {
        uint sum = 0;
        WRITTEN_OUT
        for (uint k = 0; k < PIECE; ++k)
            sum += k <= i % PIECE ? tile->before[1 + i - i % PIECE + k] : 0;
        tile->in_piece[i] = sum;
    }
    GROUP_BARRIER; // before[] is read before sums replace its elements
    for (uint i = get_local_id(0); i < ADDED; i += GROUP_SIZE) {
        uint sum = tile->in_piece[i];
        for (uint k = 1; k < TILE / PIECE; ++k)
            sum += k * PIECE <= i ? tile->in_piece[k * PIECE - 1] : 0;
        tile->before[i + 1] = sum;
    }
    GROUP_BARRIER; // before[] is written before other items read it
    return tile->before[TILE];
}

// Returns the place of the vertex from which edge i of the tile leaves. The function first finds
// the piece that contains the vertex.
uint owner(local const struct Tile* tile, uint i)
{
    uint at = 0;
    for (uint k = 1; k < TILE / PIECE; ++k)
        at += tile->before[k * PIECE] <= i ? PIECE : 0;
    WRITTEN_OUT
    for (uint step = PIECE / 2; step > 0; step /= 2)
        at += tile->before[at + step] <= i ? step : 0;
    return at;
}

KERNEL begin_frontier(global const uint* vertex, global const uint* out_ptr, global uint* queued, global uint2* near,
                      global uint* record, uint sources)
{
    const uint i = get_global_id(0);
    const struct Places next = {.round = 1, .out_ptr = out_ptr, .queued = queued, .near = near, .words = record};
    if (i < sources)
        come_near(vertex[i], &next);
}

KERNEL frontier_round(LEAVING_OF, global ELEMENT* path_length, global uint* queued, global uint* waits, global uint2* near,
                      global uint* far, global uint* record, global ELEMENT* bounds, ulong room, ulong vertices, uint number,
                      uint this_round, uint full, uint least_share, uint most_hops)
{
    const struct Round round = begun(record + number * RECORD, bounds + number * BOUNDS, full);
    // Vertices that become far are appended to the far list. If the round divides the far list,
    // these vertices are appended to the entries that stay.
    const bool divides = round.mode == DIVIDE;
    global uint* next_far = far + (round.far_list ^ divides) * vertices + (divides ? 0 : round.far_before);
    const struct Places next = {.round = this_round, .out_ptr = out_ptr, .queued = queued, .waits = waits,
                                .near = near + (round.near_list ^ 1) * room, .far = next_far,
                                .words = record + (number + 1) * RECORD, .bounds = bounds + (number + 1) * BOUNDS};
    if (get_global_id(0) == 0)
        note(&round, &next);
    local struct Queue queue;
    local struct Tile tile;
    const uint item = get_local_id(0), entries = round.entries;
    const bool is_short = (entries - 1) / least_share < get_num_groups(0); // also if it is empty: no shares
    const uint share = is_short ? least_share : TILE, hops = is_short ? most_hops : 0;
    const uint shares = entries / share + (entries % share > 0);
    uint visits = 0;
    for (uint at_share = get_group_id(0); at_share < shares; at_share += get_num_groups(0)) {
        const uint first = at_share * share, taken = min(share, entries - first);
        if (item == 0) {
            queue.count = divides ? 0 : taken;
            tile.before[0] = 0;
        }
        GROUP_BARRIER;
        if (divides)
            divide(far + round.far_list * vertices + first, taken, &round, path_length, &next, &queue);
        else
            take(near + round.near_list * room + first, taken, path_length, &queue);
        GROUP_BARRIER;
        for (uint hop = 0; queue.count > 0 && queue.count <= TILE && hop <= hops; ++hop) {
            const uint visited = queue.count;
            lay_out(&queue, path_length, &next, &tile);
            GROUP_BARRIER; // the queue is read before it is filled again
            if (item == 0)
                queue.count = 0;
            const uint edges = added_up(&tile);
            visits += edges + visited;
            for (uint i = item; i < edges; i += GROUP_SIZE) {
                const uint at = owner(&tile, i), edge = tile.first_edge[at] + i - tile.before[at], vertex = to[edge];
                const ELEMENT length = LENGTH(edge), so_far = tile.reached[at], reached = MULTIPLY(length, so_far);
                const ELEMENT known = path_length[vertex]; // a race: if the distance is old, the minimum decides
                if (!(reached < known) || !(reached < lowered(path_length + vertex, reached)))
                    continue;
                if (reached > round.limit)
                    come_far(vertex, reached, &next);
                else if (hop == hops || !come_next(vertex, reached, &queue))
                    come_near(vertex, &next);
            }
            GROUP_BARRIER; // the tile is read before it is overwritten, and queue.count is complete
        }
        for (uint i = item; i < min(queue.count, (uint)TILE); i += GROUP_SIZE)
            come_near(queue.vertex[i], &next);
        GROUP_BARRIER; // the queue is read before it is filled again
    }
    if (item == 0 && visits > 0)
        atomic_add(next.words + EDGES, visits);
}
