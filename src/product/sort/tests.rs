//! Compares sorted columns with a model that adds the products of each row in the order of the
//! entries of B, in parts of 1024 products. The lengths of columns are near the limits of classes,
//! lanes and rounds of entries.
use super::*;
use crate::{
    Csc, Element, Result, Semiring,
    device::{Buffer, Teams, Work, test_device},
    matrix::Matrix,
    primitives::segmented_reduce::RUN_PIECE,
    product::terms::{ColumnTask, Factors, Layout, MOST_SORTED_PRODUCTS, Target, TargetKind},
    resident::DeviceCbc,
};
use half::f16;
use std::collections::BTreeMap;

/// The factors of a product.
struct Case {
    a: Csc<f64>,
    b: Csc<f64>,
}

/// Number of words for each column. Only the first word is written.
const WINDOWS: usize = 2;

/// The lengths of `columns` columns before they are counted: the first word is set, the second is
/// 0.
fn uncounted(columns: usize) -> Vec<u32> {
    [u32::MAX, 0].repeat(columns)
}

/// For each word, the sum of the words before it.
fn scan(lengths: &[u32]) -> Vec<u32> {
    let mut before = vec![0];
    lengths.iter().for_each(|length| before.push(before[before.len() - 1] + length));
    before
}

/// The columns of a class, as a part of a list of columns.
struct Share {
    first: u32,
    columns: u32,
}

impl Share {
    fn of(self, list: &Buffer<u32>, listed: bool, first_col: usize) -> ColumnTask<'_> {
        let first_col = first_col as u32;
        let (first, windows) = (self.first, WINDOWS as u32);
        ColumnTask { first, listed, first_col, windows, ..ColumnTask::of_all(list, self.columns) }
    }
}

/// Column pointers, rows and values of C.
type Expected<T> = (Vec<u32>, Vec<u32>, Vec<T>);

impl Case {
    /// Makes a column of B for each list of columns of A. A column of A is a list of rows.
    fn new(rows: usize, columns: &[Vec<Vec<usize>>]) -> Result<Self> {
        let (mut a, mut b, mut k) = (Vec::new(), Vec::new(), 0);
        // Sums of these values depend on their order.
        let value = |i: usize| [0.3, -30000.1, 3.7, 30000.1, -0.1, 1e-3, -0.0, 1.0 / 3.0, 777.7][i % 9];
        for (j, entries) in columns.iter().enumerate() {
            for entry in entries {
                a.extend(entry.iter().enumerate().map(|(i, &row)| (row, k, value(row + 3 * i + k))));
                b.push((k, j, value(3 * k + j)));
                k += 1;
            }
        }
        Ok(Self { a: Csc::from_triplets(rows, k, a)?, b: Csc::from_triplets(k, columns.len(), b)? })
    }

    fn products(&self, column: usize) -> u32 {
        let (a, b) = (self.a.pattern(), self.b.pattern());
        b.entries(column).map(|entry| a.entries(b.row_idx()[entry] as usize).len() as u32).sum()
    }

    /// The columns of C from `first` on, computed by the model.
    fn model<T: Element>(&self, first: usize) -> Expected<T> {
        let (a, b) = (self.a.cast::<T>(), self.b.cast::<T>());
        let (mut col_ptr, mut row_idx, mut values) = (vec![0], Vec::new(), Vec::new());
        for column in first..b.ncols() {
            let mut terms: BTreeMap<u32, Vec<T::Arithmetic>> = BTreeMap::new();
            for b_entry in b.pattern().entries(column) {
                for a_entry in a.pattern().entries(b.pattern().row_idx()[b_entry] as usize) {
                    let product = a.values()[a_entry].widen() * b.values()[b_entry].widen();
                    terms.entry(a.pattern().row_idx()[a_entry]).or_default().push(product);
                }
            }
            let fold = |terms: Vec<T::Arithmetic>| terms.into_iter().reduce(|sum, term| sum + term).expect("a term");
            let sum =
                |terms: &Vec<T::Arithmetic>| fold(terms.chunks(RUN_PIECE).map(|piece| fold(piece.to_vec())).collect());
            row_idx.extend(terms.keys());
            values.extend(terms.values().map(|terms| T::narrow(sum(terms))));
            col_ptr.push(row_idx.len() as u32);
        }
        (col_ptr, row_idx, values)
    }

    /// The words of a list, and the tasks of each class. The list has the columns of each class in
    /// descending order, after one word that is not a column.
    fn tasks(&self, first_col: usize, listed: bool) -> (Vec<u32>, [Share; SORTED_PRODUCTS.len()]) {
        let columns = self.b.ncols() - first_col;
        let class = |column: usize| SORTED_PRODUCTS.partition_point(|&most| most < self.products(first_col + column));
        let mut lists = [const { Vec::new() }; SORTED_PRODUCTS.len()];
        match listed {
            true => (0..columns).rev().for_each(|column| lists[class(column)].push(column as u32)),
            false => lists[(0..columns).map(class).max().unwrap_or(0)].resize(columns, u32::MAX),
        }
        let mut words = vec![u32::MAX];
        let shares = lists.map(|list| {
            words.extend(&list);
            Share { first: (words.len() - list.len()) as u32, columns: list.len() as u32 }
        });
        (words, shares)
    }

    /// Computes C from column `first_col` on: by a task for each class if `listed`, else by a
    /// single task. A launch has at most 3 groups.
    fn sorted<T: Element>(&self, (first_col, listed): (usize, bool), keeps: bool) -> Result<Expected<T>> {
        let device = test_device();
        let work = Work::new(&device, None);
        let teams = Teams::of(device.info()).expect("groups of 32 items");
        let row_bits = usize::BITS - self.a.nrows().leading_zeros();
        let (counts, sums) = (
            SortCounts::new(&device, teams, row_bits, 3)?,
            SortSums::new(&device, teams, row_bits, 3, TargetKind::New.over(T::TYPE, Semiring::PlusTimes))?,
        );
        let (a, b) = (self.a.cast::<T>(), self.b.cast::<T>());
        let (a, b) = (DeviceCbc::upload(&work, a.as_cbc())?, DeviceCbc::upload(&work, b.as_cbc())?);
        let factors = Factors::of_values(&a, &b);
        let columns = self.b.ncols() - first_col;
        let (words, tasks) = self.tasks(first_col, listed);
        let list = work.upload(&words)?;
        let tasks = tasks.map(|task| task.of(&list, listed, first_col));
        let (mut lengths, mut keys) = (work.upload(&uncounted(columns))?, Vec::new());
        for (class, task) in tasks.into_iter().enumerate() {
            let mut of_class = keeps.then(|| SortCounts::keys(&work, class, task.columns)).transpose()?;
            let columns = SortedTask { task, class };
            counts.run(&work, (&a.pattern, &b.pattern), columns, &mut lengths, 0, of_class.as_mut())?;
            keys.push(of_class);
        }
        let col_ptr = scan(&lengths.download(&work)?);
        let nnz = col_ptr[WINDOWS * columns] as usize;
        let c_col_ptr = work.upload(&col_ptr)?;
        let (mut row_idx, mut values) = (work.buffer(nnz)?, work.buffer::<T>(nnz)?);
        for (class, task) in tasks.into_iter().enumerate() {
            let c = Target { row_idx: &mut row_idx, values: &mut values, layout: Layout::new(T::TYPE) };
            sums.run(&work, factors, SortedTask { task, class }, &c_col_ptr, keys[class].as_ref(), c)?;
        }
        let col_ptr = col_ptr.into_iter().step_by(WINDOWS).collect();
        Ok((col_ptr, row_idx.download(&work)?, values.download(&work)?))
    }

    fn check<T: Element>(&self, first: usize, listed: bool) -> Result<()> {
        let want = self.model::<T>(first);
        for keeps in [false, true] {
            let got = self.sorted::<T>((first, listed), keeps)?;
            assert_eq!((&got.0, &got.1), (&want.0, &want.1), "{keeps}");
            assert_eq!(bytemuck::cast_slice::<T, u8>(&got.2), bytemuck::cast_slice::<T, u8>(&want.2), "{keeps}");
        }
        Ok(())
    }
}

/// A column with `products` products in runs of `length`. Each entry of B selects a column of A
/// with `per_entry` rows, and every third entry selects an empty column of A.
fn column(products: usize, length: usize, per_entry: usize) -> Vec<Vec<usize>> {
    let runs = products.div_ceil(length);
    // The column of B is made entry by entry. The rows of an entry are distinct, so it has at most
    // one product of each run.
    let mut left: Vec<usize> = (0..runs).map(|run| length.min(products - run * length)).collect();
    let (mut entries, mut next) = (Vec::new(), 0);
    while left.iter().any(|&left| left > 0) {
        if entries.len() % 3 == 2 {
            entries.push(Vec::new());
        }
        let mut rows = Vec::new();
        for step in 0..runs {
            let run = (next + step) % runs;
            if rows.len() < per_entry && left[run] > 0 {
                left[run] -= 1;
                rows.push(run);
            }
        }
        next += per_entry;
        rows.sort_unstable();
        entries.push(rows);
    }
    entries
}

/// Columns whose products are all in one run, columns with distinct rows, and columns in between.
fn columns(products: &[usize]) -> Vec<Vec<Vec<usize>>> {
    products.iter().flat_map(|&products| shapes(products)).collect()
}

fn shapes(products: usize) -> [Vec<Vec<usize>>; 6] {
    [(products, 1), (1, products), (1, 5), (9, 3), (70, 4), (2, 40)]
        .map(|(length, per_entry)| column(products, length.max(1), per_entry.max(1)))
}

#[test]
fn small_columns_agree_with_the_model() -> Result<()> {
    let case = Case::new(300, &[columns(&[1, 0, 33]), columns(&[9])].concat())?;
    case.check::<f64>(0, true)
}

#[test]
fn columns_at_the_borders_of_classes_agree_with_the_model() -> Result<()> {
    for (number, products) in [
        &[0, 1, 7, 31, 32][..],
        &[0, 33, 47, 48],
        &[49, 63, 64],
        &[65, 95, 96, 0],
        &[97, 128],
        &[129, 192, 3],
        &[193, 256],
        &[257, 320],
        &[321, 384, 0],
        &[385, 512],
        &[513, 640, 2],
        &[641, 768],
        &[769, 896],
        &[897, 1024],
        &[1025, 1280],
        &[1281, 1536],
        &[1537, 1792, 0],
        &[1793, 2048],
        &[2049, 2560],
        &[2561, 3072],
        &[3073, 3584],
    ]
    .into_iter()
    .enumerate()
    {
        let case = Case::new(3600, &columns(products))?;
        case.check::<f64>(0, false)?;
        // A first column other than column 0 is tested for every seventh class only.
        if number % 7 == 0 {
            case.check::<f64>(1, false)?;
        }
    }
    let case = Case::new(2100, &columns(&[256, 0, 32, 129, 1, 1000, 64, 255, 1200, 33, 128, 31, 65, 2000, 40, 700]))?;
    case.check::<f64>(0, true)?;
    case.check::<f64>(5, true)?;
    // Columns that half a team, a whole team, or several registers of each item can hold.
    Case::new(2100, &columns(&[33, 0, 65, 129, 1, 1000]))?.check::<f32>(0, true)?;
    Case::new(300, &columns(&[255, 128, 65, 129]))?.check::<f16>(0, true)
}

#[test]
fn random_columns_agree_with_the_model() -> Result<()> {
    let mut state = 1u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    let columns: Vec<_> = (0..200)
        .map(|_| {
            let entries = random(30);
            (0..entries)
                .map(|_| {
                    let mut rows: Vec<usize> = (0..random(9)).map(|_| random(40)).collect();
                    rows.sort_unstable();
                    rows.dedup();
                    rows
                })
                .collect()
        })
        .collect();
    let case = Case::new(40, &columns)?;
    case.check::<f64>(0, true)?;
    case.check::<f64>(0, false)
}

#[test]
fn devices_sort_what_their_work_groups_have_room_for() {
    let within = |max_group_size, local_bytes, bytes| {
        let mut info = test_device().info().clone();
        (info.max_group_size, info.local_bytes) = (max_group_size, local_bytes);
        most_within(&info, bytes)
    };
    let most = |items| within(items, 48 << 10, 8);
    assert_eq!([16, 32, 63, 64, 127, 128, 1024].map(most), [0, 512, 512, 1024, 1024, 2048, 3584]);
    // In local memory a product takes 8 bytes to sum doubles, and 16 bytes to sort pairs.
    let of_local = |local_bytes| [8, 16].map(|bytes| within(1024, local_bytes, bytes));
    assert_eq!([48 << 10, 32 << 10, 16 << 10].map(of_local), [[3584, 2048], [2048, 1280], [1024, 640]]);
}

/// Tests columns whose last row is the highest row that a key can hold, the row after it, or the
/// highest row of all. Some columns have as many products as their class can sort. The classes are
/// the powers of two, whose places use all bits of a key, and three other classes.
#[test]
fn keys_have_room_for_the_last_row() -> Result<()> {
    for most in SORTED_PRODUCTS
        .into_iter()
        .filter(|most| most.is_power_of_two() || [48, 1280, MOST_SORTED_PRODUCTS].contains(most))
    {
        let narrow = (1 << (u32::BITS - most.next_power_of_two().ilog2())) - 1_usize;
        for rows in [narrow, narrow + 1, u32::MAX as usize - 1] {
            let last = vec![vec![0, rows - 2, rows - 1]; most as usize / 3];
            let full = vec![vec![0, rows - 1]; most as usize / 2];
            Case::new(rows, &[last, full])?.check::<f64>(0, false)?;
        }
    }
    Ok(())
}

/// Columns of every class whose rows have more bits than keys can hold. Rows are far apart, or near
/// each other after the first ones, or in groups that are far apart.
#[test]
fn far_rows_agree_with_the_model() -> Result<()> {
    let rows = u32::MAX as usize - 1;
    let spreads: [fn(usize) -> usize; 4] = [
        |row| 1_200_000 * (row + 1),
        |row| 4_000_000_000 + row,
        |row| row % 3 * 1_400_000_000 + row,
        |row| row % 700 * 6_000_000 + (row / 700) * 2047 + row % 3 * 1024,
    ];
    let lengths = [256, 0, 32, 129, 1, 1000, 64, 500, 48, 96, 300, 380, 600, 768, 890, 1100, 2048, 2500, 3000, 3400];
    let shapes = lengths.map(shapes);
    for (number, spread) in spreads.into_iter().enumerate() {
        // Half of the shapes of each length are tested with `spread`, and the other half with the
        // next spread.
        let mut columns =
            shapes.iter().flat_map(|shapes| shapes[number % 2..].iter().step_by(2).cloned()).collect::<Vec<_>>();
        columns.iter_mut().flatten().flatten().for_each(|row| *row = spread(*row));
        let case = Case::new(rows, &columns)?;
        case.check::<f64>(0, true)?;
    }
    // Sums of another type, in one class for each number of words that a place takes in a key.
    let mut columns = self::columns(&[256, 0, 32, 129, 1, 1000]);
    columns.iter_mut().flatten().flatten().for_each(|row| *row = spreads[3](*row));
    Case::new(rows, &columns)?.check::<f32>(3, true)
}
