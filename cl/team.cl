// team: 32 neighbouring work-items that exchange words.
// Host: src/device/team.rs. It comes after ptx.cl.
//
// A team is a warp on devices that run 32 work-items in step (WARPS), and a whole work-group on all
// others. A kernel for teams has as many teams in a group as it likes if WARPS, otherwise one.
//
// All 32 items of a team call each of these together. A kernel declares TEAM_MEMORY first. It
// passes it on to functions by TEAM, which declare it by TEAM_OF.
//
//   TEAM_BARRIER            what the team's items wrote to memory is visible to the team
//   team_from(v, i, TEAM)   v of item i, a number from 0 to 31 for each item
//   team_across(v, m, TEAM) v of the item whose number differs by the bits m
//   team_across_all(other, v, n, m, TEAM)    that of n words, in a kernel with TEAM_MEMORY_OF(n)
//   team_before(v, d, TEAM) v of the item d places before; of the first d items their own
//   team_votes(b, TEAM)     the items whose b is not 0, as bits
//   team_sum, team_max, team_min(v, TEAM)    over the team
//   team_sum_before(v, &all, TEAM)           the sum of the items before, and of all
//   team_part_sum_before(v, n, TEAM)         that among n neighbours, a power of two up to 32
#define TEAM_SIZE 32
#define LANE (get_local_id(0) % TEAM_SIZE)

#if WARPS
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

uint team_from(uint value, uint item, TEAM_OF)
{
    team[LANE] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint other = team[item];
    barrier(CLK_LOCAL_MEM_FENCE); // the read, before the next write
    return other;
}

uint team_across(uint value, uint bits, TEAM_OF)
{
    return team_from(value, LANE ^ bits, team);
}

void team_across_all(uint* other, const uint* value, uint words, uint bits, TEAM_OF)
{
    for (uint i = 0; i < words; ++i)
        team[i * TEAM_SIZE + LANE] = value[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < words; ++i)
        other[i] = team[i * TEAM_SIZE + (LANE ^ bits)];
    barrier(CLK_LOCAL_MEM_FENCE);
}

uint team_before(uint value, uint distance, TEAM_OF)
{
    return team_from(value, LANE >= distance ? LANE - distance : LANE, team);
}

uint team_votes(uint vote, TEAM_OF)
{
    uint votes = 0;
    team[LANE] = vote != 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLLED
    for (uint item = 0; item < TEAM_SIZE; ++item)
        votes |= team[item] << item;
    barrier(CLK_LOCAL_MEM_FENCE); // the reads, before the next writes
    return votes;
}

// Each item reads the values of all: two barriers, in place of two for each round of exchanges. A
// compiler that splits kernels at barriers has fewer parts to optimise, each of them a loop over
// the items: PoCL takes 8.6 s for count_local of method hash, and took 11.6.
#define DEFINE_TEAM_FOLD(name, COMBINE)                                                                               \
    uint name(uint value, TEAM_OF)                                                                                    \
    {                                                                                                                 \
        team[LANE] = value;                                                                                           \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                 \
        uint all = team[0];                                                                                           \
        UNROLLED                                                                                                      \
        for (uint item = 1; item < TEAM_SIZE; ++item)                                                                 \
            all = COMBINE(all, team[item]);                                                                           \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                 \
        return all;                                                                                                   \
    }
#define TEAM_PLUS(x, y) ((x) + (y))
DEFINE_TEAM_FOLD(team_sum, TEAM_PLUS)
DEFINE_TEAM_FOLD(team_max, max)
DEFINE_TEAM_FOLD(team_min, min)

uint team_part_sum_before(uint value, uint items, TEAM_OF)
{
    uint before = 0;
    team[LANE] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLLED
    for (uint item = 0; item < TEAM_SIZE; ++item)
        before += item < LANE && item >= LANE / items * items ? team[item] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    return before;
}

uint team_sum_before(uint value, uint* all, TEAM_OF)
{
    uint before = 0, sum = 0;
    team[LANE] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLLED
    for (uint item = 0; item < TEAM_SIZE; ++item) {
        before += item < LANE ? team[item] : 0;
        sum += team[item];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    *all = sum;
    return before;
}
#endif
#define TEAM_MEMORY TEAM_MEMORY_OF(1)
