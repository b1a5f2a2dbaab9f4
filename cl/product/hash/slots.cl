// slots: how many places a table has that is made for so many rows: it is two thirds full.
// Hosts: src/product/hash/mod.rs, src/product/tasks/cut.rs, src/product/tasks/sums.rs
#define HASH_SLOTS(count) ((count) + (count) / 2 + 1)
