// slots: defines how many places a table for `count` rows has, so that it is two thirds full.
// Hosts: src/product/columns/hash/mod.rs, src/product/columns/tasks/cut.rs,
// src/product/columns/tasks/sums.rs
#define HASH_SLOTS(count) ((count) + (count) / 2 + 1)
