// column_lists: divides the columns of a band among methods by the number of their products.
// Host: src/product/column_lists.rs
//
//   class_record    work-items in a stride over the columns of a band: totals of each class
//   class_flags     one work-item per column and class: whether the column is of the class
//   list_columns    one work-item per column and class, after the scan: the columns of each class,
//                   ascending, class after class
//   list_lengths    one work-item per listed column, and one more: its number of entries of B
//   list_entries    one work-item per listed entry of B: its row, its operand, its products
//
//   in   b_col_ptr[b_cols + 1]  b_row_idx[b_nnz]  b_operand[b_nnz]  b_prods[b_nnz + 1]
//   in   class_ends[classes]          number of products at which the next class begins, ascending;
//                                     the last is not read
//   out  record[classes * 7]          columns, entries of B, products, the longest column, chunks,
//                                     short columns, products in chunks; zeros before
//   out  flags[classes * cols + 1]    after an exclusive scan, the place of each column in
//                                     `columns`
//   out  columns[cols]                columns of each class, counted from the band's first
//   out  list_ptr[listed + 1]         after an exclusive scan, the column pointers of the listed B
//   out  list_row[entries]  list_operand[entries]  list_prods[entries + 1]
#if !defined(SHORT_MAX) || !defined(CHUNK)
#error "see src/product/column_lists.rs"
#endif

uint class_of(global const uint* class_ends, uint classes, uint products)
{
    uint class = 0;
    while (class + 1 < classes && products >= class_ends[class])
        ++class;
    return class;
}

// Number of products of a column. Those of a band fit 32 bits.
uint products_of_column(global const uint* b_col_ptr, global const ulong* b_prods, uint col)
{
    return (uint)(b_prods[b_col_ptr[col + 1]] - b_prods[b_col_ptr[col]]);
}

KERNEL class_record(global const uint* b_col_ptr, global const ulong* b_prods, global const uint* class_ends,
                    global uint* record, uint classes, uint first_col, uint cols)
{
    for (uint class = 0; class < classes; ++class) {
        uint columns = 0, entries = 0, products = 0, longest = 0, chunks = 0, shorts = 0, in_chunks = 0;
        for (ulong i = get_global_id(0); i < cols; i += get_global_size(0)) {
            const uint col = first_col + (uint)i;
            const uint length = products_of_column(b_col_ptr, b_prods, col);
            if (class_of(class_ends, classes, length) != class)
                continue;
            ++columns;
            entries += b_col_ptr[col + 1] - b_col_ptr[col];
            products += length;
            longest = max(longest, length);
            chunks += length > SHORT_MAX ? (length + CHUNK - 1) / CHUNK : 0;
            shorts += length > 0 && length <= SHORT_MAX;
            in_chunks += length > CHUNK ? length : 0;
        }
        // Sums of integers: they do not depend on the order.
        global uint* of_class = record + 7 * class;
        if (columns == 0)
            continue;
        atomic_add(&of_class[0], columns);
        atomic_add(&of_class[1], entries);
        atomic_add(&of_class[2], products);
        atomic_max(&of_class[3], longest);
        atomic_add(&of_class[4], chunks);
        atomic_add(&of_class[5], shorts);
        atomic_add(&of_class[6], in_chunks);
    }
}

KERNEL class_flags(global const uint* b_col_ptr, global const ulong* b_prods, global const uint* class_ends,
                   global uint* flags, uint classes, uint first_col, uint cols)
{
    const ulong i = get_global_id(0), all = (ulong)classes * cols;
    if (i < all) {
        const uint class = (uint)(i / cols);
        const uint length = products_of_column(b_col_ptr, b_prods, first_col + (uint)(i % cols));
        flags[i] = class_of(class_ends, classes, length) == class;
    } else if (i == all)
        flags[i] = 0;
}

KERNEL list_columns(global const uint* flags, global uint* columns, uint classes, uint cols)
{
    const ulong i = get_global_id(0);
    if (i < (ulong)classes * cols && flags[i] != flags[i + 1])
        columns[flags[i]] = (uint)(i % cols);
}

KERNEL list_lengths(global const uint* b_col_ptr, global const uint* columns, global uint* list_ptr, uint first_col,
                    uint listed)
{
    const uint i = get_global_id(0);
    if (i < listed) {
        const uint col = first_col + columns[i];
        list_ptr[i] = b_col_ptr[col + 1] - b_col_ptr[col];
    } else if (i == listed)
        list_ptr[i] = 0;
}

KERNEL list_entries(global const uint* b_col_ptr, global const uint* b_row_idx, global const OPERAND* b_operand,
                    global const ulong* b_prods, global const uint* columns, global const uint* list_ptr,
                    global uint* list_row, global OPERAND* list_operand, global ulong* list_prods, uint first_col,
                    uint listed, uint entries)
{
    const uint i = get_global_id(0);
    if (i < entries) {
        const uint place = column_of(list_ptr, listed, i);
        const uint entry = b_col_ptr[first_col + columns[place]] + i - list_ptr[place];
        list_row[i] = b_row_idx[entry];
#ifdef ELEMENT
        STORE(LOAD(b_operand, entry), list_operand, i);
#else
        list_operand[i] = B_SOURCE(entry);
#endif
        list_prods[i] = b_prods[entry + 1] - b_prods[entry];
    } else if (i == entries)
        list_prods[i] = 0;
}
