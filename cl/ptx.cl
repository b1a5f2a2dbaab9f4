// ptx: contains all inline PTX of the kernels, for devices that support it (WARPS).
// Host: src/device/team.rs
//
//   DEVICE_FENCE           makes earlier writes to memory visible to the device before later
//                          accesses: the item's own writes, and those of its work-group before the
//                          last barrier. The portable twin is mem_fence, which orders memory only
//                          for the work-group
//   CARRY_OUT(atomic)      calls an atomic function on global memory. The twin waits for its
//                           result, so that the device has carried it out before the item's next
//                           barrier. No fence of OpenCL 1.2 guarantees this for other work-groups
//   LEAVE_IF(condition)    ends all items of a work-group if the condition is true. It must be
//                          equal for all items. The twin does nothing, because PoCL 3.1 compiles
//                          barriers after such a branch incorrectly
//   UNROLLED               marks a loop with constant bounds
//   WARP_BARRIER           makes writes of the warp's items to memory visible to the warp
//   warp_from(v, i)        v of item i of the warp. These four have twins in team.cl
//   warp_across(v, m)      v of the item whose number differs by the bits m
//   warp_before(v, d)      v of the item d places before; the first d items get their own
//   warp_votes(b)          the items whose b is not 0, as bits
//   load_once_2(from)      loads 2 bytes that no item writes and that are not read again. With
//   load_once_4(from)      CACHE_HINTS they are evicted first from the first-level cache. The
//   load_once_8(from)      twins, in once.cl, are plain loads
//   load_once_16(from)
//   load_again_4(from)     loads 4 bytes that no item writes and that are read again soon. With
//   load_again_8(from)     CACHE_HINTS they are evicted last from that cache
//   put_aside_8(v, to)     writes 8 bytes that are not read soon. They are evicted first. The
//   put_aside_16(v, to)    twins, in words.cl, are plain assignments
//   ADD_FLOAT(v, to)       adds v to a sum in global memory to which other items add, too, in the
//   ADD_DOUBLE(v, to)      order in which they arrive. They exist with CACHE_HINTS. The twin, in
//                          arrival.cl, exchanges the sum. A subnormal float counts as 0
#if !defined(WARPS) || !defined(UNROLLS) || !defined(CACHE_HINTS)
#error "WARPS, UNROLLS, CACHE_HINTS: see src/device/team.rs"
#endif

// With UNROLLS, the arrays of an UNROLLED loop stay in registers. Without UNROLLS the loop is not
// unrolled, because a compiler that splits kernels at barriers takes minutes for hundreds of
// barriers.
#if UNROLLS
#define UNROLLED _Pragma("unroll")
#else
#define UNROLLED _Pragma("nounroll")
#endif

#if WARPS
#define DEVICE_FENCE asm volatile("membar.gl;" ::: "memory")
#define CARRY_OUT(atomic) ((void)(atomic))
#define LEAVE_IF(condition)                                                                                           \
    do {                                                                                                              \
        if (condition)                                                                                                \
            return;                                                                                                   \
    } while (0)
#define WARP_BARRIER asm volatile("bar.warp.sync 0xffffffff;" ::: "memory")

#define WARP_SHUFFLE(name, mode, last)                                                                                \
    uint name(uint value, uint item)                                                                                  \
    {                                                                                                                 \
        uint other;                                                                                                   \
        asm volatile("shfl.sync." mode ".b32 %0, %1, %2, " last ", 0xffffffff;" : "=r"(other) : "r"(value), "r"(item)); \
        return other;                                                                                                 \
    }
WARP_SHUFFLE(warp_from, "idx", "0x1f")
WARP_SHUFFLE(warp_across, "bfly", "0x1f")
WARP_SHUFFLE(warp_before, "up", "0x0")

uint warp_votes(uint vote)
{
    uint votes;
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }" : "=r"(votes) : "r"(vote));
    return votes;
}

// Loads with cache hints need compute capability 7.0.
#if CACHE_HINTS
#define CACHED_LOAD(name, type, hint, bits, constraint)                          \
    type name(global const void* from)                                           \
    {                                                                            \
        type value;                                                              \
        asm("ld.global.nc.L1::" hint "." bits " %0, [%1];" : constraint(value) : "l"(from)); \
        return value;                                                            \
    }
CACHED_LOAD(load_once_2, ushort, "evict_first", "b16", "=h")
CACHED_LOAD(load_once_4, uint, "evict_first", "b32", "=r")
CACHED_LOAD(load_once_8, ulong, "evict_first", "b64", "=l")
CACHED_LOAD(load_again_4, uint, "evict_last", "b32", "=r")
CACHED_LOAD(load_again_8, ulong, "evict_last", "b64", "=l")

uint4 load_once_16(global const void* from)
{
    uint4 value;
    asm("ld.global.nc.L1::evict_first.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w) : "l"(from));
    return value;
}

#define ADD_ATOMICALLY(type, constraint, value, to) \
    asm volatile("red.global.add." type " [%0], %1;" ::"l"(to), constraint(value) : "memory")
#define ADD_FLOAT(value, to) ADD_ATOMICALLY("f32", "f", value, to)
#define ADD_DOUBLE(value, to) ADD_ATOMICALLY("f64", "d", value, to)
#endif

void put_aside_8(uint2 value, global void* to)
{
    asm volatile("st.global.cs.v2.b32 [%0], {%1, %2};" ::"l"(to), "r"(value.x), "r"(value.y) : "memory");
}

void put_aside_16(uint4 value, global void* to)
{
    asm volatile("st.global.cs.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(value.x), "r"(value.y), "r"(value.z),
                 "r"(value.w)
                 : "memory");
}
#else
#define DEVICE_FENCE mem_fence(CLK_GLOBAL_MEM_FENCE)
#define LEAVE_IF(condition)
#define CARRY_OUT(atomic)                       \
    do {                                        \
        volatile uint carried_out = (atomic);   \
        (void)carried_out;                      \
    } while (0)
#endif
