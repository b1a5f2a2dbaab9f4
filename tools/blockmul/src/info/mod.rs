//! `blockmul info`: properties of a matrix, and the costs of its product with itself.
mod dense;
mod needs;
mod text;

use crate::choice::{methods, one_of};
use crate::failure::Failure;
use crate::input::{self, Reading};
use crate::messages::Messages;
use crate::mixed::{Layouts, OfFile};
use crate::operands::default_b_shape;
use crate::output;
use crate::report::SCHEMA;
use blockmul::{
    BlockShape, Csc, Device, Error, Method, Result,
    extra::analysis::{self, BlockFit, ColumnLengths, FoundSymmetry, ProductSize},
    io::{self, BlockLayout, MatrixFile},
    matrix::{AnyMatrix, Pattern},
};
use needs::{DeviceNeeds, Devices, Wanted};
use serde::Serialize;
use std::num::NonZero;
use std::path::{Path, PathBuf};

/// The most products that are visited one by one to count the entries of the product. Visiting this
/// many products takes about half a second on two cores.
const BUDGET: u64 = 1 << 28;

/// Show properties of matrices: size, symmetry, blocks that fit, and the costs of their products.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  blockmul info A.mtx
  blockmul info *.mtx.gz | less
  blockmul info W.mtx --block 6x3                       the product in blocks of 6x3
  blockmul info A.mtx --memory-limit 2GiB               into how many bands multiply cuts the product at most
  blockmul info A.mtx --dense 32                        also what a dense matrix of 32 columns would take
  blockmul info *.mtx --json | jq .product.products     one JSON object a line for each file

The product is A·A, or A·Aᵀ if A is not square. Its expansion size is always exact. If counting its entries
would take long, bounds are shown instead (\"at least\", \"at most\"). For each device it is shown how much
memory multiply uses at most, and into how many bands it cuts the product at most. The best block is the one whose
row indices and f64 elements take the fewest bytes.")]
pub struct Args {
    /// Matrices; - for Matrix Market on stdin.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Show the product in dense blocks of R rows and K columns [default: the file's own blocks if
    /// they have one shape, else scalars].
    #[arg(long, value_name = "RxK")]
    block: Option<BlockShape>,
    /// Method by which the devices would multiply.
    #[arg(long, default_value = "auto", value_parser = one_of(methods()))]
    method: Method,
    /// Also show how A·D, with a dense D of N columns, would be multiplied on each device, in the
    /// same blocks. The product is planned there.
    #[arg(long, value_name = "N", value_parser = crate::numbers::some)]
    dense: Option<NonZero<u32>>,
    /// Limit of the device memory used at once, such as 2GiB.
    #[arg(long, value_name = "SIZE", value_parser = crate::sizes::bytes)]
    memory_limit: Option<u64>,
    /// Multiply by at most N columns of B at a time (of blocks, if there are any).
    #[arg(long, value_name = "N", value_parser = crate::numbers::some)]
    band_columns: Option<NonZero<u32>>,
    #[command(flatten)]
    reading: Reading,
    /// Print one line for each file, a JSON object.
    #[arg(long)]
    json: bool,
    /// Show no progress.
    #[arg(short, long)]
    quiet: bool,
}

/// The output of `info` for a file. `rows` and `cols` count scalars, `nnz` counts entries. The
/// sizes of the product count blocks.
#[derive(Serialize)]
struct Info {
    schema: u32,
    file: String,
    format: &'static str,
    field: &'static str,
    declared_symmetry: &'static str,
    /// Entries written in the file.
    stored: u64,
    /// The blocks that the file declares: `[rows, cols]`, or `mixed`.
    layout: Option<Blocks>,
    /// The lines that the file groups, such as `4 rows`.
    #[serde(skip_serializing_if = "Option::is_none")]
    grouping: Option<String>,
    rows: usize,
    cols: usize,
    nnz: usize,
    explicit_zeros: usize,
    not_finite: usize,
    symmetry: FoundSymmetry,
    columns: ColumnLengths,
    blocks: Fits,
    product: Product,
    devices: Vec<DeviceNeeds>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Blocks {
    Uniform([usize; 2]),
    Mixed(&'static str),
}

#[derive(Serialize)]
struct Fits {
    best: [usize; 2],
    /// The shapes of blocks, by area.
    fits: Vec<BlockFit>,
}

#[derive(Serialize)]
struct Product {
    of: &'static str,
    a_block: [usize; 2],
    b_block: [usize; 2],
    /// The blocks of several shapes that `multiply` takes in groups, while the sizes and needs here
    /// are those of scalars.
    #[serde(skip_serializing_if = "Option::is_none")]
    in_groups: Option<String>,
    #[serde(flatten)]
    size: ProductSize,
    /// Number of products for each entry of C.
    compression: Option<Compression>,
}

#[derive(Serialize)]
struct Compression {
    least: f64,
    most: f64,
}

pub fn run(args: &Args) -> std::result::Result<(), Failure> {
    let messages = Messages::new(args.quiet);
    let devices = Devices::new(Device::list);
    let mut status = None;
    for (number, path) in args.files.iter().enumerate() {
        let info = match tell(path, args, &devices, &messages) {
            Ok(info) => info,
            // After a failure the other files are still processed.
            Err(error) => {
                let failure = Failure::from(error);
                messages.pause(|| failure.report());
                status.get_or_insert(failure.status());
                continue;
            }
        };
        let text = match (args.json, number) {
            (true, _) => serde_json::to_string(&info).expect("plain data"),
            (false, 0) => text::text(&info, &devices),
            (false, _) => format!("\n{}", text::text(&info, &devices)),
        };
        messages.pause(|| output::print(&text))?;
    }
    status.map_or(Ok(()), |status| Err(Failure::Reported(status)))
}

fn tell(path: &Path, args: &Args, devices: &Devices, messages: &Messages) -> Result<Info> {
    if io::dense::is_npy(path) {
        let path = path.display();
        return Err(Error::Argument(format!("{path}: a dense matrix; `blockmul convert` makes a sparse one, as .npz")));
    }
    let file = input::read(path, &args.reading, messages)?;
    messages.step(format!("looking at {}", path.display()));
    let shape = args.block.or_else(|| input::layout(&file)).unwrap_or(BlockShape::SCALAR);
    let dense = args.dense.map(|columns| columns.get() as usize);
    let wanted = Wanted {
        devices: devices.as_deref().unwrap_or_default(),
        method: args.method,
        memory_limit: args.memory_limit,
        band_columns: args.band_columns.map(|columns| columns.get() as usize),
        dense,
    };
    let (product, needs) = product(&file.matrix, shape, &wanted)?;
    let product = Product { in_groups: args.in_groups(&file), ..product };
    let matrix = &file.matrix;
    let count = |is: fn(f64) -> bool| matrix.values().iter().filter(|&&value| is(value)).count();
    Ok(Info {
        schema: SCHEMA,
        file: path.display().to_string(),
        format: file.format.name(),
        field: file.field.name(),
        declared_symmetry: file.symmetry.name(),
        stored: file.stored,
        layout: layout(&file),
        grouping: file.groups.as_ref().map(|groups| groups.grouping().to_string()),
        rows: matrix.nrows(),
        cols: matrix.ncols(),
        nnz: matrix.nnz(),
        explicit_zeros: count(|value| value == 0.0),
        not_finite: count(|value| !value.is_finite()),
        symmetry: analysis::symmetry(matrix),
        columns: analysis::column_lengths(matrix.pattern()),
        blocks: fits(matrix.pattern(), shape),
        product,
        devices: needs,
    })
}

impl Args {
    /// The shapes of the blocks that `multiply` with the same options takes in groups, or `None` if
    /// it takes blocks of one shape, or scalars.
    fn in_groups(&self, file: &MatrixFile) -> Option<String> {
        let in_bands = self.memory_limit.is_some() || self.band_columns.is_some();
        let a = OfFile { name: "A", file, transposed: false };
        if self.block.is_some() || in_bands || !a.is_mixed() {
            return None;
        }
        let b = OfFile { name: "B", transposed: file.matrix.nrows() != file.matrix.ncols(), ..a };
        Layouts::of(&a, &b).ok().map(|layouts| layouts.describe())
    }
}

fn layout(file: &MatrixFile) -> Option<Blocks> {
    Some(match file.layout.as_ref()? {
        BlockLayout::Uniform(shape) => Blocks::Uniform(sides(*shape)),
        _ => Blocks::Mixed("mixed"),
    })
}

fn sides(shape: BlockShape) -> [usize; 2] {
    [shape.rows(), shape.cols()]
}

/// The shapes that are shown: those of [`analysis::block_fits`] and the requested one.
fn fits(pattern: &Pattern, asked: BlockShape) -> Fits {
    let mut fits = analysis::block_fits(pattern);
    let best = analysis::tightest(&fits).map_or([1, 1], |fit| [fit.rows, fit.cols]);
    if !fits.iter().any(|fit| fit.shape() == asked) {
        fits.extend(analysis::block_fit(pattern, asked));
        fits.sort_by_key(|fit| (fit.area(), fit.rows));
    }
    Fits { best, fits }
}

/// The size of the product of the matrix with itself (with its transpose if it is not square) in
/// blocks, and the memory that it needs on each device.
fn product(a: &Csc<f64>, shape: BlockShape, wanted: &Wanted<'_>) -> Result<(Product, Vec<DeviceNeeds>)> {
    let (square, a) = (a.nrows() == a.ncols(), AnyMatrix::from(a.clone()));
    let b_shape = default_b_shape(shape, a.ncols(), a.nrows());
    let b = if square { (shape != b_shape).then(|| a.clone()) } else { Some(a.transpose()?) };
    let a = input::cut(a, Some(shape))?;
    let other = b.map(|b| input::cut(b, Some(b_shape))).transpose()?;
    let b = other.as_ref().unwrap_or(&a);
    let (size, needs) = (analysis::product_size(a.pattern(), b.pattern(), BUDGET)?, wanted.of_each(&a, b));
    let each = |nnz: u64| size.products as f64 / nnz as f64;
    let compression =
        (size.nnz.least > 0).then(|| Compression { least: each(size.nnz.most), most: each(size.nnz.least) });
    let of = if square { "A·A" } else { "A·Aᵀ" };
    let (a_block, b_block) = (sides(shape), sides(b_shape));
    Ok((Product { of, a_block, b_block, in_groups: None, size, compression }, needs))
}
