// share_rows: gives columns of C that follow another column the rows of their leader, see
// cl/product/columns/adaptive/equal.cl.
// Host: src/product/columns/adaptive/equal.rs
//
//   one work-item per column and window
//
//   in   class[cols]
//   i/o  lengths[cols * windows]  entries of C in each window of a column. Lengths are written if
//                                 the purpose is ALL (see cl/product/columns/tasks/found.cl). If
//                                 the purpose is MISSING, lengths are scanned, with one word more
//   i/o  place[cols * windows]    the position of the rows of each window
KERNEL share_rows(global const uint* class, global uint* lengths, global uint* place, uint cols, uint windows, uint purpose)
{
    const uint chunk = get_global_id(0), col = chunk / windows;
    if (col < cols && (class[col] & FOLLOWS)) {
        const uint leader = chunk - columns_from_leader(class, col) * windows;
        const uint length = purpose == ALL ? lengths[leader] : lengths[leader + 1] - lengths[leader];
        if (purpose == ALL)
            lengths[chunk] = length;
        if (length > 0)
            place[chunk] = place[leader];
    }
}
