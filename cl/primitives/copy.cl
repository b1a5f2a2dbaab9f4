// copy: to[i] = from[i] for i in 0..n. This is the simplest kernel that streams memory.
// Host: src/primitives/copy.rs
//
//   One work-item copies each of n words of 16 bytes. Work-groups are whole.
//
//   in   from[n]
//   out  to[n]

KERNEL copy(global const ulong* from, global ulong* to, uint n)
{
    const uint i = get_global_id(0);
    if (i < n)
        vstore2(vload2(i, from), i, to);
}
