//! Products of scalars by columns: each column of C is computed by the method that suits it, as in
//! spECK (Parger 2020). This text says what the methods of scalars are, what memory they take, and
//! when each is chosen. The engine that runs them is [`adaptive`].
//!
//! *Two passes.* The symbolic pass analyses the columns of B and counts the entries of each column
//! of C. A scan of the numbers of entries gives the places of the columns in C. The numeric pass
//! then writes rows and values straight into C: there is no expansion, and no copy. The host reads
//! twice: the sums of the classes, and the number of entries of C.
//!
//! *Analysis* (section 4.1 of the paper, by rows). One pass over B counts the products of each
//! column of C and finds the range of its rows: the first and the last row of the columns of A that
//! are multiplied. The class of a column follows from its products, its range of rows and the
//! entries of the column of B. The classes are the variants of [`Class`](super::terms::Class), the
//! rules are in `adaptive/rules.rs`.
//!
//! * One entry of B: [`direct`] copies and scales a column of A. Method `direct` needs no memory.
//!   An entry of C has one product.
//! * At most 3584 products: [`sort`](super::sort) sorts them by row in the registers of up to 256
//!   work-items. The sort is stable, and one item then adds each run.
//! * More products, in a narrow range of rows: [`dense`] takes a bit of local memory for each row
//!   of the range, and a slot for each row of C. A team adds products to the slots in the order of
//!   the entries of B.
//! * More products, in a narrow range of rows, if the column of B has many entries with few
//!   products each: [`hub`] sorts 256 products at a time by slot and entry of B, and adds their
//!   runs to the slots. Method `hub` also needs local memory for the keys of the 256 products.
//! * More products, in a wide range of rows: [`hash`] finds rows and slots by tables in local
//!   memory, or in global memory if C's column is too long. A team adds products to the slots in
//!   the order of the entries of B.
//! * Too many entries of B, or too many products for any method: [`esc`](super::esc).
//!
//! *When each is chosen.* The device puts columns into classes by their sizes. Predicted times
//! decide which method computes a class, and which classes are computed by one launch: see
//! [`choose`](super::choose). The paper decides by sizes and by thresholds that were tuned once
//! (sections 4.3 and 5). A launch takes longer than a few columns, so small classes join larger
//! ones of their family.
//!
//! *Sorted and direct columns* need nothing from the other classes. The length of a direct column
//! is known. The length of a sorted column is counted by the sort itself, and the sorted keys are
//! kept if there is memory for them.
//!
//! *Columns whose rows are found.* `dense` and `hash` find the rows of a column first: by a bitmap
//! whose bits are read in order, or by a hash table whose keys are sorted. The rows are kept
//! ([`tasks`]). Columns with wide ranges are found by bitmaps of several *windows*. If neighbouring
//! columns of B are equal, such as those of the unknowns of one node of a finite element, their
//! columns of C share the rows that were found for the first.
//!
//! *Tasks.* The found rows of a column are cut into pieces whose slots fit a slice of local memory.
//! A piece is a *task*. The kind of a task ([`TaskKind`](tasks::TaskKind)) says how a row finds its
//! slot: by the bits of a bitmap in one or two levels, or by a hash table. The kind also says
//! whether the column of B is so long that its sums are cut into parts of 1024 products, whether
//! several equal columns are summed at once, and whether the column is a hub. Each kind has a
//! kernel of its own. A *team* of work-items takes tasks from a list until there are none left,
//! which balances the load. The paper assigns rows to kernels by bins and merges neighbouring
//! blocks (section 4.2).
//!
//! *One order of sums.* The paper adds products to hash tables by atomics on values, in any order.
//! In blockmul only rows are put into tables by atomics, on integers. A team adds the products of
//! one entry of B after another, so the terms of every sum are added in the order of the entries of
//! B.
//!
//! *Memory.* Pure functions in `adaptive/memory.rs` compute the size of every allocation. A product
//! that does not fit is cut into bands of columns by these bounds (`adaptive/bands.rs`).
pub(super) mod adaptive;
mod dense;
mod direct;
mod hash;
mod hub;
mod tasks;
