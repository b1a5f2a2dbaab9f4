// bits: writes the rows of a bitmap in ascending order. This file comes before the kernels that
// have a bitmap, and after cl/team.cl.
// Hosts: src/product/columns/dense/mod.rs, src/product/columns/hash/mod.rs

// Writes the rows of 32 neighbouring words. Each item of the team has one of the words. `before` is
// the number of rows in the words before an item's own, and `all` the number of rows in all 32
// words. A team that is not a warp would wait for each exchange, so the items of such a team write
// their rows one by one.
void write_rows(uint word, uint before, uint all, uint first, global uint* to, TEAM_OF)
{
#if WARPS
    if (all >= 64) {
        // The team writes word by word, so that neighbouring items write neighbouring rows.
        for (uint left = team_votes(word != 0, team); left != 0; left &= left - 1) {
            const uint from = 31 - clz(left & -left);
            const uint bits = team_from(word, from, team), at = team_from(before, from, team);
            if (bits >> LANE & 1)
                to[at + popcount(bits & ((1u << LANE) - 1))] = first + from * 32 + LANE;
        }
        return;
    }
#endif
    for (uint at = before; word != 0; word &= word - 1)
        to[at++] = first + LANE * 32 + (31 - clz(word & -word));
}
