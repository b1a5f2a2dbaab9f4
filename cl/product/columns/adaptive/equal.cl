// equal: finds neighbouring columns of B with the same rows. This file comes before the kernels
// that look for columns with equal rows.
// Host: src/product/columns/adaptive/equal.rs
//
// A column follows the column before it if the two have the same rows. The first of several columns
// with the same rows is their leader. The columns of C of all these columns of B have the same
// rows. The word of a column contains its class, FOLLOWS if it follows, and HUB if it is a hub of a
// dense class.
#define FOLLOWS 0x100
#define HUB 0x200
#define CLASS_OF(word) ((word) & 0xff)

// Returns the distance from the leader of a column to the column, or 0 if the column follows none.
uint columns_from_leader(global const uint* class, uint col)
{
    uint columns = 0;
    while (class[col - columns] & FOLLOWS)
        ++columns;
    return columns;
}

// Returns how many columns from `col` on, at most `most`, have the same leader.
uint columns_together(global const uint* class, uint col, uint cols, uint most)
{
    uint columns = 1;
    while (columns < most && col + columns < cols && (class[col + columns] & FOLLOWS))
        ++columns;
    return columns;
}
