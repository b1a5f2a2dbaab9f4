// once: loads data that are read once, such as the elements of a matrix, and data that are read
// again, such as the elements of a vector. With CACHE_HINTS, data that are read once are evicted
// from the first-level cache before other data.
// Host: src/device/team.rs. It comes after ptx.cl.
//
//   COLUMN_ONCE(columns, i)   a column index
//   NEAR_ONCE(columns, i)     a column index of 16 bits
//   VALUE_ONCE(values, i)     an element of a matrix; see LOAD_VALUE
//   PAIR_ONCE(values, i)      elements i and i + 1, where i is even, if the type VALUE_PAIR exists
//   LOAD_AGAIN(x, i)          an element of a vector; see LOAD
#if CACHE_HINTS
#define COLUMN_ONCE(columns, i) load_once_4(&(columns)[i])
#define NEAR_ONCE(columns, i) load_once_2(&(columns)[i])

// Defines name(from), which loads by load_8 or load_4, depending on the size of the type.
#define LOADS(name, TYPE, load_8, load_4)                                                                             \
    TYPE name(global const TYPE* from)                                                                                \
    {                                                                                                                 \
        union {                                                                                                       \
            ulong eight;                                                                                              \
            uint four;                                                                                                \
            TYPE value;                                                                                               \
        } loaded;                                                                                                     \
        if (sizeof(TYPE) == 8)                                                                                        \
            loaded.eight = load_8(from);                                                                              \
        else if (sizeof(TYPE) == 4)                                                                                   \
            loaded.four = load_4(from);                                                                               \
        else                                                                                                          \
            loaded.value = *from;                                                                                     \
        return loaded.value;                                                                                          \
    }
#else
#define COLUMN_ONCE(columns, i) (columns)[i]
#define NEAR_ONCE(columns, i) (columns)[i]
#endif

// Halves are loaded by core functions.
#if !CACHE_HINTS || VALUE_IS_HALF
#define VALUE_ONCE(values, i) LOAD_VALUE(values, i)
#else
LOADS(value_once, VALUE, load_once_8, load_once_4)
#define VALUE_ONCE(values, i) value_once(&(values)[i])
#endif
#if !CACHE_HINTS || ELEMENT_IS_HALF
#define LOAD_AGAIN(x, i) LOAD(x, i)
#else
LOADS(load_again, ELEMENT, load_again_8, load_again_4)
#define LOAD_AGAIN(x, i) load_again(&(x)[i])
#endif

#ifdef VALUE_PAIR
#if CACHE_HINTS && !VALUE_IS_HALF
VALUE_PAIR pair_once(global const VALUE* from)
{
    union {
        uint4 sixteen;
        ulong eight;
        VALUE_PAIR pair;
    } loaded;
    if (sizeof(VALUE_PAIR) == 16)
        loaded.sixteen = load_once_16(from);
    else if (sizeof(VALUE_PAIR) == 8)
        loaded.eight = load_once_8(from);
    else
        loaded.pair = *(global const VALUE_PAIR*)from;
    return loaded.pair;
}
#define PAIR_ONCE(values, i) pair_once(&(values)[i])
#else
#define PAIR_ONCE(values, i) *(global const VALUE_PAIR*)&(values)[i]
#endif
#endif
