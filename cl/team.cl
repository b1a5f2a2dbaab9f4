// team: lets neighbouring work-items exchange words. A team has TEAM_SIZE items, a power of two of
// at least 32. The default is 32.
// Host: src/device/team.rs. It comes after ptx.cl.
//
// On devices that run 32 work-items in step (WARPS), a team of 32 is a warp, and a work-group may
// have any number of such teams. Every other team is a whole work-group.
//
// All items of a team must call each of these functions together. A kernel declares TEAM_MEMORY
// first. The kernel passes this memory to functions by TEAM, and functions declare the parameter by
// TEAM_OF.
//
//   TEAM_BARRIER            makes writes of the team's items to memory visible to the team
//   team_from(v, i, TEAM)   v of item i; each item may name another i below TEAM_SIZE
//   team_across(v, m, TEAM) v of the item whose number differs by the bits m
//   team_across_all(other, v, n, m, TEAM)    team_across for n words, in a kernel with
//                           TEAM_MEMORY_OF(n); m is equal for all items
//   team_before(v, d, TEAM) v of the item d places before; the first d items get their own
//   team_votes(b, TEAM)     the items whose b is not 0, as bits; in teams of 32
//   team_sum, team_max, team_min(v, TEAM)    sum, maximum and minimum over the team
//   team_sum_before(v, &all, TEAM)           the sum over the items before, and the sum of all
//   team_part_sum_before(v, n, TEAM)         the sum over the items before, among n neighbours; n
//                           is a power of two up to TEAM_SIZE, and equal for all items
#define WARP_SIZE 32
#ifndef TEAM_SIZE
#define TEAM_SIZE WARP_SIZE
#endif
#define LANE (get_local_id(0) % TEAM_SIZE)

#if WARPS && TEAM_SIZE == WARP_SIZE
#define TEAM_MEMORY_OF(words)
#define TEAM 0
#define TEAM_OF int team
#define TEAM_BARRIER WARP_BARRIER

uint team_from(uint value, uint item, TEAM_OF)
{
    return warp_from(value, item);
}

uint team_across(uint value, uint bits, TEAM_OF)
{
    return warp_across(value, bits);
}

void team_across_all(uint* other, const uint* value, uint words, uint bits, TEAM_OF)
{
    UNROLLED
    for (uint i = 0; i < words; ++i)
        other[i] = warp_across(value[i], bits);
}

uint team_before(uint value, uint distance, TEAM_OF)
{
    return warp_before(value, distance);
}

uint team_votes(uint vote, TEAM_OF)
{
    return warp_votes(vote);
}

uint team_sum(uint value, TEAM_OF)
{
    UNROLLED
    for (uint bit = TEAM_SIZE / 2; bit > 0; bit /= 2)
        value += team_across(value, bit, team);
    return value;
}

uint team_max(uint value, TEAM_OF)
{
    UNROLLED
    for (uint bit = TEAM_SIZE / 2; bit > 0; bit /= 2)
        value = max(value, team_across(value, bit, team));
    return value;
}

uint team_min(uint value, TEAM_OF)
{
    UNROLLED
    for (uint bit = TEAM_SIZE / 2; bit > 0; bit /= 2)
        value = min(value, team_across(value, bit, team));
    return value;
}

uint team_part_sum_before(uint value, uint items, TEAM_OF)
{
    uint sum = value;
    UNROLLED
    for (uint distance = 1; distance < items; distance *= 2) {
        const uint before = team_before(sum, distance, team);
        sum += LANE % items >= distance ? before : 0;
    }
    return sum - value;
}

uint team_sum_before(uint value, uint* all, TEAM_OF)
{
    const uint before = team_part_sum_before(value, TEAM_SIZE, team);
    *all = team_from(before + value, TEAM_SIZE - 1, team);
    return before;
}
#else
#if GROUP_SIZE != TEAM_SIZE
#error "a team is a group"
#endif
#define TEAM_MEMORY_OF(words) local uint team_words[TEAM_SIZE * (words)]
#define TEAM team_words
#define TEAM_OF local uint* team
#define TEAM_BARRIER barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
// A warp combines the values of its items without memory, and then writes one word for all of them.
#if WARPS
#define TEAM_PART WARP_SIZE
#else
#define TEAM_PART 1
#endif
#define TEAM_PARTS (TEAM_SIZE / TEAM_PART)

uint team_from(uint value, uint item, TEAM_OF)
{
    team[LANE] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint other = team[item];
    barrier(CLK_LOCAL_MEM_FENCE); // team[] is read before it is overwritten
    return other;
}

uint team_across(uint value, uint bits, TEAM_OF)
{
    return team_from(value, LANE ^ bits, team);
}

void team_across_all(uint* other, const uint* value, uint words, uint bits, TEAM_OF)
{
#if WARPS
    if (bits < WARP_SIZE) {
        UNROLLED
        for (uint i = 0; i < words; ++i)
            other[i] = warp_across(value[i], bits);
        return;
    }
#endif
    UNROLLED
    for (uint i = 0; i < words; ++i)
        team[i * TEAM_SIZE + LANE] = value[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLLED
    for (uint i = 0; i < words; ++i)
        other[i] = team[i * TEAM_SIZE + (LANE ^ bits)];
    barrier(CLK_LOCAL_MEM_FENCE);
}

uint team_before(uint value, uint distance, TEAM_OF)
{
    return team_from(value, LANE >= distance ? LANE - distance : LANE, team);
}

#if TEAM_SIZE == WARP_SIZE
uint team_votes(uint vote, TEAM_OF)
{
    uint votes = 0;
    team[LANE] = vote != 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLLED
    for (uint item = 0; item < TEAM_SIZE; ++item)
        votes |= team[item] << item;
    barrier(CLK_LOCAL_MEM_FENCE); // team[] is read before it is overwritten
    return votes;
}
#endif

// Each item reads the values of all items, so that two barriers are enough. Rounds of exchanges
// would need two barriers for each round, and a compiler that splits kernels at barriers would have
// more parts to optimise, each of them a loop over the items. PoCL takes 8.6 s to compile
// count_local of the method hash, and 11.6 s with rounds of exchanges.
#if WARPS
#define FOLD_WARP(value, COMBINE)                                                                                     \
    UNROLLED                                                                                                          \
    for (uint bit = WARP_SIZE / 2; bit > 0; bit /= 2)                                                                 \
        value = COMBINE(value, warp_across(value, bit));
#else
#define FOLD_WARP(value, COMBINE)
#endif
#define DEFINE_TEAM_FOLD(name, COMBINE)                                                                               \
    uint name(uint value, TEAM_OF)                                                                                    \
    {                                                                                                                 \
        FOLD_WARP(value, COMBINE)                                                                                     \
        team[LANE / TEAM_PART] = value;                                                                               \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                 \
        uint all = team[0];                                                                                           \
        UNROLLED                                                                                                      \
        for (uint part = 1; part < TEAM_PARTS; ++part)                                                                \
            all = COMBINE(all, team[part]);                                                                           \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                 \
        return all;                                                                                                   \
    }
#define TEAM_PLUS(x, y) ((x) + (y))
DEFINE_TEAM_FOLD(team_sum, TEAM_PLUS)
DEFINE_TEAM_FOLD(team_max, max)
DEFINE_TEAM_FOLD(team_min, min)

// Returns the sum of the values of the parts before the item's own part, among `items` neighbours.
// `all` gets the sum of the whole team. `value` is the value of the item's part.
uint sum_of_parts_before(uint value, uint items, uint* all, TEAM_OF)
{
    uint before = 0, sum = 0;
    if (LANE % TEAM_PART == TEAM_PART - 1)
        team[LANE / TEAM_PART] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLLED
    for (uint part = 0; part < TEAM_PARTS; ++part) {
        before += part < LANE / TEAM_PART && part >= LANE / items * items / TEAM_PART ? team[part] : 0;
        sum += team[part];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    *all = sum;
    return before;
}

// Returns the sum of the values of the items of a part up to and including the calling item, among
// `items` neighbours.
uint sum_in_part(uint value, uint items)
{
#if WARPS
    const uint neighbours = min(items, (uint)WARP_SIZE);
    UNROLLED
    for (uint distance = 1; distance < neighbours; distance *= 2) {
        const uint before = warp_before(value, distance);
        value += LANE % neighbours >= distance ? before : 0;
    }
#endif
    return value;
}

uint team_part_sum_before(uint value, uint items, TEAM_OF)
{
    uint all;
    const uint in_part = sum_in_part(value, items);
#if WARPS
    if (items <= TEAM_PART)
        return in_part - value;
#endif
    return sum_of_parts_before(in_part, items, &all, team) + in_part - value;
}

uint team_sum_before(uint value, uint* all, TEAM_OF)
{
    const uint in_part = sum_in_part(value, TEAM_SIZE);
    return sum_of_parts_before(in_part, TEAM_SIZE, all, team) + in_part - value;
}
#endif
#define TEAM_MEMORY TEAM_MEMORY_OF(1)
