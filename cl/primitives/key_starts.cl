// key_starts: the start of each key among sorted keys.
// Host: src/primitives/key_starts.rs
//
// keys + 1 work-items.
//
//   in   key[n]               ascending
//   out  key_ptr[keys + 1]    number of the elements with smaller keys
KERNEL key_starts(global const uint* key, global uint* key_ptr, uint keys, uint n)
{
    const uint wanted = get_global_id(0);
    if (wanted <= keys)
        key_ptr[wanted] = lower_bound(key, 0, n, wanted);
}
