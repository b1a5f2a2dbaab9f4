// ranges move: moves the entries of each range to their place in C, for scalars.
// Host: src/product/cpu/ranges/scalars.rs
//
//   range_move   work-groups of one work-item, which take one range after another
//
//   in   begin[ranges + 1]          see cl/product/cpu/ranges/setup.cl
//   in   from[ranges + 1]           the position of the entries of each range
//   in   to[ranges + 1]             their position in C, and their end
//   i/o  taken[phase]               number of ranges that were taken
//   in   from_row[]  from_value[]   rows and values of scalars
//   i/o  c_col_ptr[cols + 1]        in: the position in from_row at which each column begins
//   out  c_row_idx[]  c_values[]
KERNEL range_move(global const uint* restrict begin, global const uint* restrict from, global const uint* restrict to,
                  global uint* taken, global const uint* restrict from_row, global const ELEMENT* restrict from_value,
                  global uint* restrict c_col_ptr, global uint* restrict c_row_idx, global ELEMENT* restrict c_values,
                  uint ranges, uint phase)
{
    for (uint range = atomic_inc(taken + phase); range < ranges; range = atomic_inc(taken + phase)) {
        const uint first = from[range], place = to[range], count = to[range + 1] - place;
        for (uint i = 0; i < count; ++i)
            c_row_idx[place + i] = from_row[first + i];
        for (uint i = 0; i < count; ++i)
            STORE(LOAD(from_value, first + i), c_values, place + i);
        const uint end = begin[range + 1] + (range == ranges - 1);
        for (uint col = begin[range]; col < end; ++col)
            c_col_ptr[col] -= first - place;
    }
}
