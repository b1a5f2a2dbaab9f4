//! `blockmul spy`: a picture of a matrix's entries, as a PNG file or in the terminal.
mod term;

use crate::choice::one_of;
use crate::failure::Failure;
use crate::input;
use crate::matrix_size::Size;
use crate::messages::Messages;
use crate::output;
use crate::places::FileArgs;
use crate::target::Target;
use anstream::{AutoStream, ColorChoice};
use blockmul::extra::spy::{Overlap, Picture, Raster, Scale, Shade, Shaded};
use blockmul::{
    BlockShape, Cbc, Device, DeviceMatrix, Method,
    element::ElementType,
    matrix::{AnyMatrix, Pattern},
};
use clap::builder::PossibleValue;
use half::f16;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// Draw the places and magnitudes of a matrix's entries.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  blockmul spy A.mtx                                   in the terminal
  blockmul spy A.mtx --block 3 -o A.png                blocks of 3x3, coloured by their largest magnitude
  blockmul spy C.mtx --diff A.mtx -o fill.png          entries of C that A does not have: the fill of a product
  blockmul spy A.mtx.gz --shade density --size 512 -o - > A.png

Row 0 is on top. A small matrix is enlarged until each element is visible; of a large one, each pixel shows
as many rows and columns as every other. White: nothing stored. Grey: stored zeros. Vermilion: NaN or
infinity.
magnitude: the largest |x| of a pixel on a logarithmic scale, yellow for small, violet for large; density:
entries of a pixel, darker for more; pattern: black if there is an entry. With --diff: blue for both, orange
for the fill, purple for the other file only, mixed if a pixel shows several; in the terminal o, + and -, and
* if o and + come together.")]
pub struct Args {
    /// The matrix; - for Matrix Market on stdin.
    file: PathBuf,
    /// Write a PNG picture here; - for stdout.
    #[arg(short, long, value_name = "PICTURE.png")]
    output: Option<PathBuf>,
    /// Show the picture in the terminal; the default without --output.
    #[arg(long)]
    term: bool,
    /// Compare with OTHER: show the entries that only FILE has (the fill, if FILE is a product of
    /// OTHER), and those that only OTHER has.
    #[arg(long, value_name = "OTHER", conflicts_with = "shade")]
    diff: Option<PathBuf>,
    /// Meaning of the colours.
    #[arg(long, value_parser = one_of(shades()), default_value = "magnitude")]
    shade: Shade,
    /// Cut into blocks of R rows and K columns, one number for square blocks [default: the file's
    /// own blocks, else 1x1].
    #[arg(long, value_name = "RxK")]
    block: Option<BlockShape>,
    /// Maximum number of pixels of the longer side of the PNG picture, without frame and legend.
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(16..=Scale::MAX_SIZE as i64))]
    size: u32,
    /// Maximum width of the picture in the terminal, in columns [default: that of the terminal, 80
    /// elsewhere].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(8..=2048))]
    width: Option<u32>,
    /// auto (a GPU, else a CPU, else the host), reference (the host), gpu, cpu, an index or part of
    /// a name from `blockmul devices` [env: BLOCKMUL_DEVICE] [default: auto].
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
    #[command(flatten)]
    files: FileArgs,
}

fn shades() -> [(PossibleValue, Shade); 3] {
    let shade = |name, shade, help: &'static str| (PossibleValue::new(name).help(help), shade);
    [
        shade("magnitude", Shade::Magnitude, "The largest magnitude, on a logarithmic scale"),
        shade("density", Shade::Density, "The number of entries, on a logarithmic scale"),
        shade("pattern", Shade::Pattern, "Whether there are entries"),
    ]
}

/// A PNG picture of the places of a matrix's entries, with at most `size` pixels a side.
pub fn picture<M: blockmul::Matrix>(matrix: &M, size: usize) -> blockmul::Result<Vec<u8>> {
    let shaded = Shaded::new(&Raster::on_host(matrix, size)?, Shade::Pattern);
    Picture::draw(&shaded, size)
        .encode()
        .map_err(|source| blockmul::Error::Io { path: PathBuf::from("a picture"), source })
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let in_terminal = args.term || args.output.is_none();
    if let Some(path) = &args.output {
        check_output(path, in_terminal)?;
        args.files.writing.places().reads([&args.file]).reads(&args.diff).others([path]).check()?;
    }
    let messages = Messages::new(args.files.writing.quiet);
    let target = Target::choose(args.device.as_deref(), ElementType::F64, Method::Auto, &messages)?;
    let subject = Subject::read(args, &target, &messages)?;
    messages.step("drawing");
    if let Some(path) = &args.output {
        write(path, &subject.shaded(args.size as usize)?, args.size as usize, &messages)?;
    }
    if in_terminal {
        let width = args.width.map_or_else(term::width, |width| width as usize);
        let dots = if args.diff.is_some() { term::LETTERS } else { term::BRAILLE };
        let shaded = subject.shaded(dots.size(width))?;
        let coloured = AutoStream::choice(&std::io::stdout()) != ColorChoice::Never;
        messages.pause(|| output::print(&term::draw(&shaded, dots, width, coloured)))?;
        if args.output.is_none() {
            messages.say(&shaded.description);
        }
    }
    Ok(())
}

fn write(path: &Path, shaded: &Shaded, size: usize, messages: &Messages) -> Result<(), Failure> {
    let picture = Picture::draw(shaded, size);
    let png = picture.encode().map_err(|error| Failure::Output(path.display().to_string(), error))?;
    output::write_bytes(path, &png)?;
    let (width, height) = (picture.width(), picture.height());
    messages.say(&format!("{}: {width} x {height} pixels; {}", path.display(), shaded.description));
    Ok(())
}

/// Refuses a path at which a picture cannot be written.
pub fn check_output(path: &Path, in_terminal: bool) -> Result<(), Failure> {
    match output::is_standard(path) {
        true if in_terminal => Err(Failure::Usage("-o - and --term cannot both have stdout".into())),
        true if std::io::stdout().is_terminal() => {
            Err(Failure::Usage("stdout is a terminal, which is no place for a PNG file; --term draws there".into()))
        }
        false if !path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png")) => {
            Err(Failure::Usage(format!("{}: pictures are PNG files; the name must end in .png", path.display())))
        }
        _ => Ok(()),
    }
}

/// Draws a picture of a matrix by magnitude, with the default options.
pub fn draw(path: &Path, matrix: &AnyMatrix, device: &Device, messages: &Messages) -> Result<(), Failure> {
    const SIZE: usize = 1024;
    let raster = Raster::of(&device.upload(matrix)?, SIZE)?;
    write(path, &Shaded::new(&raster, Shade::Magnitude), SIZE, messages)
}

/// The contents of a picture. A picture can be drawn at any size.
struct Subject {
    /// The contents are one matrix, or for a comparison three matrices of ones: the entries of both
    /// files, of only the first, and of only the second.
    parts: Vec<Place>,
    shade: Shade,
}

/// A matrix on the device or on the host, which counts the entries of each cell.
enum Place {
    Device(DeviceMatrix<AnyMatrix>),
    Host(AnyMatrix),
}

impl Place {
    fn new(matrix: AnyMatrix, target: &Target) -> Result<Self, Failure> {
        Ok(match target {
            Target::Device(device) => Self::Device(device.upload(&matrix)?),
            Target::Reference => Self::Host(matrix),
        })
    }

    fn raster(&self, size: usize) -> blockmul::Result<Raster> {
        match self {
            Self::Device(matrix) => Raster::of(matrix, size),
            Self::Host(matrix) => Raster::on_host(matrix, size),
        }
    }
}

impl Subject {
    fn read(args: &Args, target: &Target, messages: &Messages) -> Result<Self, Failure> {
        let shade = args.shade;
        let (matrix, shape) = read(args, &args.file, args.block, messages)?;
        let Some(other) = &args.diff else {
            messages.step("binning");
            return Ok(Self { parts: vec![Place::new(matrix.into(), target)?], shade });
        };
        let (other, _) = read(args, other, Some(shape), messages)?;
        messages.step("comparing");
        let Overlap { both, first_only, second_only } = Overlap::of(matrix.pattern(), other.pattern())?;
        messages.say(&format!(
            "fill: {} {}; in both: {}; only in the other: {}",
            first_only.nnz(),
            Size::in_blocks(&first_only, shape).entries(),
            both.nnz(),
            second_only.nnz()
        ));
        let place = |part: Pattern| {
            let ones = vec![f16::ONE; part.nnz() * shape.area()];
            Place::new(Cbc::new(part, shape, ones)?.into(), target)
        };
        let parts = [both, first_only, second_only].into_iter().map(place).collect::<Result<_, _>>()?;
        Ok(Self { parts, shade })
    }

    fn shaded(&self, size: usize) -> Result<Shaded, Failure> {
        let rasters = self.parts.iter().map(|part| part.raster(size)).collect::<blockmul::Result<Vec<_>>>()?;
        Ok(match &rasters[..] {
            [both, first, second] => Shaded::overlap([both, first, second])?,
            rasters => Shaded::new(&rasters[0], self.shade),
        })
    }
}

/// The matrix of a file, cut into blocks of `shape`, or into the file's own blocks.
fn read(
    args: &Args,
    path: &Path,
    shape: Option<BlockShape>,
    messages: &Messages,
) -> Result<(Cbc<f64>, BlockShape), Failure> {
    let file = input::read(path, &args.files.reading, messages)?;
    let shape = shape.or(input::layout(&file)).unwrap_or(BlockShape::SCALAR);
    Ok((file.matrix.to_blocks(shape)?, shape))
}
