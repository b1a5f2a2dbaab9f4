// patches: finds centres of the patches of a graph's vertices, for Lloyd relaxation.
// Host: src/graph/patches.rs
//
//   count_members     one work-item per vertex: its number, 0 if the vertex has no patch
//   rename_labels     one work-item per vertex
//   gather_squares    one work-item per place: the square of a distance
//   gather_axis       one work-item per place: a coordinate
//   finish_centroid   one work-item per patch that is not empty
//   from_centroid     one work-item per vertex: the score of each vertex
//   mark_border       one work-item per vertex: 1 if an edge leads to or from another patch
//   list_border       one work-item per vertex
//   from_border       one work-item per vertex: the score of each vertex
//   least_in_piece    one work-item per piece of a patch
//   least_in_patch    one work-item per patch that is not empty: finds its new centre
//   farthest_in_part  one work-item per part of the vertices
//
//   in      label[vertices]                NONE for a vertex without a patch
//   in      order[vertices]                vertices by label, then by number
//   in      run_patch[runs]  run_end[runs]  patches that are not empty, and the last place of each
//   in      piece[pieces]                  the run, the begin and the end of each piece
//   in      piece_ptr[runs + 1]            the pieces of each run
//   in out  score[vertices]                the vertex with the least score is its patch's centre
//   in out  seed[patches]                  the centre so far, which is kept unless another vertex
//                                          has a lower score
//
// Minima are exact, and if several places have the least score, the first of them is taken. So the
// order of the work-items does not change the result.
#define NONE 0xffffffffu

KERNEL count_members(global const uint* restrict label, global const ELEMENT* restrict number, global ELEMENT* restrict counted,
                     uint vertices)
{
    const uint vertex = get_global_id(0);
    if (vertex < vertices)
        counted[vertex] = label[vertex] == NONE ? 0 : number[vertex];
}

KERNEL rename_labels(global const uint* restrict name, global uint* restrict label, uint vertices)
{
    const uint vertex = get_global_id(0);
    if (vertex < vertices && label[vertex] != NONE)
        label[vertex] = name[label[vertex]];
}

KERNEL gather_squares(global const uint* restrict order, global const ELEMENT* restrict path_length, global ELEMENT* restrict squares,
                      uint count)
{
    const uint place = get_global_id(0);
    if (place < count)
        squares[place] = path_length[order[place]] * path_length[order[place]];
}

KERNEL gather_axis(global const uint* restrict order, global const ELEMENT* restrict points, global ELEMENT* restrict axis_values,
                   uint count, uint axis)
{
    const uint place = get_global_id(0);
    if (place < count)
        axis_values[place] = points[3 * (ulong)order[place] + axis];
}

KERNEL finish_centroid(global const uint* restrict run_end, global const uint* restrict run_patch, global const ELEMENT* restrict sums,
                       global ELEMENT* restrict centroid, uint runs, uint axis)
{
    const uint run = get_global_id(0);
    if (run >= runs)
        return;
    const uint begin = run > 0 ? run_end[run - 1] + 1 : 0;
    centroid[3 * run_patch[run] + axis] = sums[run] / (ELEMENT)(run_end[run] + 1 - begin);
}

KERNEL from_centroid(global const uint* restrict label, global const ELEMENT* restrict points, global const ELEMENT* restrict centroid,
                     global ELEMENT* restrict score, uint vertices)
{
    const uint vertex = get_global_id(0);
    if (vertex >= vertices || label[vertex] == NONE)
        return;
    global const ELEMENT *point = points + 3 * (ulong)vertex, *centre = centroid + 3 * label[vertex];
    const ELEMENT x = point[0] - centre[0], y = point[1] - centre[1], z = point[2] - centre[2];
    score[vertex] = x * x + y * y + z * z;
}

KERNEL mark_border(global const uint* restrict in_ptr, global const uint* restrict from, global const uint* restrict out_ptr,
                   global const uint* restrict to, global const uint* restrict label, global uint* restrict border, uint vertices)
{
    const uint vertex = get_global_id(0);
    if (vertex >= vertices)
        return;
    const uint own = label[vertex];
    uint crosses = 0;
    for (uint edge = in_ptr[vertex]; edge < in_ptr[vertex + 1]; ++edge)
        crosses |= label[from[edge]] != own;
    for (uint edge = out_ptr[vertex]; edge < out_ptr[vertex + 1]; ++edge)
        crosses |= label[to[edge]] != own;
    border[vertex] = crosses;
}

KERNEL list_border(global const uint* restrict border, global uint* restrict listed, uint vertices, uint count)
{
    const uint vertex = get_global_id(0);
    if (vertex >= vertices)
        return;
    const uint place = border[vertex], next = vertex + 1 < vertices ? border[vertex + 1] : count;
    if (next > place)
        listed[place] = vertex;
}

KERNEL from_border(global const ELEMENT* restrict path_length, global ELEMENT* restrict score, uint vertices)
{
    const uint vertex = get_global_id(0);
    if (vertex < vertices)
        score[vertex] = -path_length[vertex];
}

KERNEL least_in_piece(global const uint4* restrict piece, global const uint* restrict order, global const ELEMENT* restrict score,
                      global uint* restrict found, uint pieces)
{
    const uint i = get_global_id(0);
    if (i >= pieces)
        return;
    uint best = order[piece[i].y];
    ELEMENT least = score[best];
    for (uint place = piece[i].y + 1; place < piece[i].z; ++place) {
        const uint vertex = order[place];
        const ELEMENT its = score[vertex];
        if (its < least) {
            least = its;
            best = vertex;
        }
    }
    found[i] = best;
}

KERNEL least_in_patch(global const uint* restrict piece_ptr, global const uint* restrict run_patch, global const uint* restrict found,
                      global const uint* restrict label, global const ELEMENT* restrict score, global uint* restrict seed, uint runs)
{
    const uint run = get_global_id(0);
    if (run >= runs)
        return;
    uint best = found[piece_ptr[run]];
    for (uint i = piece_ptr[run] + 1; i < piece_ptr[run + 1]; ++i)
        if (score[found[i]] < score[best])
            best = found[i];
    const uint patch = run_patch[run], so_far = seed[patch];
    seed[patch] = label[so_far] == patch && score[so_far] == score[best] ? so_far : best;
}

KERNEL farthest_in_part(global const ELEMENT* restrict path_length, global uint* restrict found, global ELEMENT* restrict most,
                        uint vertices, uint parts)
{
    const uint part = get_global_id(0);
    if (part >= parts)
        return;
    uint best = part;
    for (ulong vertex = part; vertex < vertices; vertex += parts)
        if (path_length[vertex] > path_length[best])
            best = (uint)vertex;
    found[part] = best;
    most[part] = path_length[best];
}
