//! `blockmul multiply`: files in, product out, verified and measured on request.
use crate::{
    Failure,
    report::{self, DeviceName, Report, Size},
    values::{ElementType, block_shape, bytes, human},
};
use blockmul::{
    BlockShape, Cbc, Csc, Device, Element, Error, Matrix, Method, Spgemm,
    io::matrix_market::{self, ReadOptions},
    reference,
    verify::verify,
};
use half::f16;
use indicatif::{ProgressBar, ProgressStyle};
use std::{
    io::{IsTerminal, Write},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// C = A·B. Without B: A·A where A is square, else A·Aᵀ.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  blockmul multiply A.mtx -o C.mtx                     A squared
  blockmul multiply A.mtx B.mtx --verify               compare with the reference
  blockmul multiply W.mtx --block 6x3 --verify         W times its transpose, blockwise
  blockmul multiply A.mtx --device gpu --repeat 10 --report -")]
pub struct Multiply {
    /// Matrix Market file, plain or gzip.
    a: PathBuf,
    b: Option<PathBuf>,
    /// File for C, compressed where the name ends in .gz; - for stdout.
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Use A's transpose.
    #[arg(long)]
    transpose_a: bool,
    /// Use B's transpose.
    #[arg(long)]
    transpose_b: bool,
    /// Blocks of A: RxK, or 3 for 3x3.
    #[arg(long, default_value = "1", value_parser = block_shape)]
    block: BlockShape,
    /// Blocks of B [default: KxR where that divides B, else KxK].
    #[arg(long, value_parser = block_shape)]
    block_b: Option<BlockShape>,
    /// Type of the elements.
    #[arg(long, value_enum, default_value = "f64")]
    element: ElementType,
    /// auto, reference, gpu, cpu, an index of `blockmul devices`, or a part of a name.
    #[arg(long, default_value = "auto")]
    device: String,
    /// auto or esc.
    #[arg(long, default_value = "auto")]
    method: Method,
    /// Compare with the reference; exit with 1 if it differs.
    #[arg(long)]
    verify: bool,
    /// Write one JSON object on what the product took; - for stdout.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Most device memory to use, such as 2GiB: the product is cut into bands to keep it.
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    memory_limit: Option<u64>,
    /// Multiply N times after a warm-up and report the median run.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repeat: Option<u32>,
    /// Add entries of a file that are there twice, instead of refusing them.
    #[arg(long)]
    sum_duplicates: bool,
    /// Say nothing but errors.
    #[arg(long, short)]
    quiet: bool,
    /// Say what was chosen and why.
    #[arg(long)]
    explain: bool,
}

/// Where a product is computed.
enum Place {
    Device(Device),
    Reference,
}

impl Multiply {
    pub fn run(self) -> Result<(), Failure> {
        let options = {
            let mut options = ReadOptions::default();
            options.sum_duplicates = self.sum_duplicates;
            options
        };
        let read = |path: &Path| -> Result<Csc<f64>, Error> {
            self.during(&format!("reading {}", path.display()), || Ok(matrix_market::read(path, options)?.matrix))
        };
        let transposed = |matrix: Csc<f64>, transpose: bool| if transpose { matrix.transpose() } else { matrix };
        let a = transposed(read(&self.a)?, self.transpose_a);
        let b = match &self.b {
            Some(b) => Some(transposed(read(b)?, self.transpose_b)),
            None if self.transpose_b => Some(a.transpose()),
            None if a.nrows() == a.ncols() => None,
            None => {
                self.say(format_args!("A is {}x{}: multiplying by its transpose", a.nrows(), a.ncols()));
                Some(a.transpose())
            }
        };
        match self.element {
            ElementType::F64 => self.in_blocks(a, b),
            ElementType::F32 => self.in_blocks::<f32>(a.cast(), b.map(|b| b.cast())),
            ElementType::F16 => self.in_blocks::<f16>(a.cast(), b.map(|b| b.cast())),
        }
    }

    fn in_blocks<T: Element>(&self, a: Csc<T>, b: Option<Csc<T>>) -> Result<(), Failure> {
        let of_b = self.block_of_b(b.as_ref().unwrap_or(&a));
        if self.block == BlockShape::SCALAR && of_b == BlockShape::SCALAR {
            return self.multiply(a, b, |c| c);
        }
        self.say(format_args!("blocks of A {}, of B {of_b}", self.block));
        let b = if b.is_some() || of_b != self.block { Some(b.as_ref().unwrap_or(&a).to_blocks(of_b)?) } else { None };
        self.multiply(a.to_blocks(self.block)?, b, |c: Cbc<T>| c.to_scalars())
    }

    /// The blocks of B: those given, else K x R where that divides B, else K x K.
    fn block_of_b<T: Element>(&self, b: &Csc<T>) -> BlockShape {
        let natural = self.block.transpose();
        let divides = b.nrows() % natural.rows() == 0 && b.ncols() % natural.cols() == 0;
        let square = BlockShape::new(self.block.cols(), self.block.cols()).unwrap_or(natural);
        self.block_b.unwrap_or(if divides { natural } else { square })
    }

    fn multiply<M: Matrix>(&self, a: M, b: Option<M>, scalars: impl Fn(M) -> Csc<M::Element>) -> Result<(), Failure> {
        let place = self.place()?;
        let b = b.as_ref().unwrap_or(&a);
        let (c, measured) = self.during("multiplying", || self.compute(&place, &a, b))?;
        let verified = match self.verify {
            true => Some(self.during("verifying", || verify(&a, b, &c))?),
            false => None,
        };
        let report = self.report_of(&place, &a, b, &c, measured, verified);
        let to_stdout = |path: &Option<PathBuf>| path.as_deref() == Some(Path::new("-"));
        if !self.quiet && !to_stdout(&self.report) && !to_stdout(&self.output) {
            write!(std::io::stdout().lock(), "{}", report.table())?;
        }
        if let Some(path) = &self.report {
            let json = serde_json::to_string_pretty(&report).map_err(std::io::Error::from)? + "\n";
            match to_stdout(&self.report) {
                true => std::io::stdout().lock().write_all(json.as_bytes())?,
                false => std::fs::write(path, json).map_err(|source| Error::Io { path: path.clone(), source })?,
            }
        }
        if verified.is_some_and(|verified| !verified.passed) {
            eprintln!("blockmul: the product is not the reference's; nothing is written");
            return Err(Failure::Verify);
        }
        match &self.output {
            None => Ok(()),
            Some(_) if to_stdout(&self.output) => Ok(matrix_market::write_to(std::io::stdout().lock(), &scalars(c))?),
            Some(path) => {
                Ok(self.during(&format!("writing {}", path.display()), || matrix_market::write(path, &scalars(c)))?)
            }
        }
    }

    fn place(&self) -> Result<Place, Error> {
        if self.device.eq_ignore_ascii_case("reference") {
            return Ok(Place::Reference);
        }
        let auto = self.device.eq_ignore_ascii_case("auto");
        match Device::select(&self.device) {
            Ok(device) => {
                if auto {
                    self.say(format_args!("device {}: {}", device.info().index, device.info().name));
                }
                Ok(Place::Device(device))
            }
            Err(error @ Error::NoOpenCl { .. }) if auto => {
                self.say(format_args!("{error}\nmultiplying by the built-in reference instead, on the CPU"));
                Ok(Place::Reference)
            }
            Err(error) => Err(error),
        }
    }

    /// The product and what it took; with `--repeat`, of the median run.
    fn compute<M: Matrix>(&self, place: &Place, a: &M, b: &M) -> Result<(M, Measured), Error> {
        let explain = |text: std::fmt::Arguments<'_>| {
            if self.explain {
                self.say(text)
            }
        };
        explain(format_args!(
            "{} products of {} by {} blocks",
            reference::products(a, b),
            a.as_cbc().shape,
            b.as_cbc().shape
        ));
        let device = match place {
            Place::Reference => return self.compute_by_reference(a, b),
            Place::Device(device) => device,
        };
        explain(format_args!(
            "method esc, the only one; {} of device memory, {} at most in a buffer",
            human(self.memory_limit.unwrap_or(device.info().global_bytes)),
            human(device.info().max_alloc_bytes)
        ));
        let mut spgemm = Spgemm::new().method(self.method);
        if let Some(limit) = self.memory_limit {
            spgemm = spgemm.memory_limit(limit);
        }
        let Some(repeat) = self.repeat else {
            let (c, report) = spgemm.multiply_host(device, a, b)?;
            return Ok((c, Measured { report: Some(report.clone()), total_ms: report.total_ms, runs_ms: None }));
        };
        let on_device = device.upload(a)?;
        let other = if std::ptr::eq(a, b) { None } else { Some(device.upload(b)?) };
        let multiply = || spgemm.multiply_with_report(&on_device, other.as_ref().unwrap_or(&on_device));
        drop(multiply()?); // the warm-up
        let (mut runs, mut c) = (Vec::new(), None);
        for _ in 0..repeat {
            drop(c.take()); // its memory is the next one's
            let (product, report) = multiply()?;
            runs.push(report);
            c = Some(product);
        }
        let c = c.map(|c| c.download()).transpose()?.ok_or_else(|| Error::Argument("--repeat 0".into()))?;
        let runs_ms = runs.iter().map(|run| run.total_ms).collect();
        runs.sort_by(|x, y| x.total_ms.total_cmp(&y.total_ms));
        let median = runs.swap_remove((runs.len() - 1) / 2);
        Ok((c, Measured { total_ms: median.total_ms, report: Some(median), runs_ms: Some(runs_ms) }))
    }

    fn compute_by_reference<M: Matrix>(&self, a: &M, b: &M) -> Result<(M, Measured), Error> {
        let timed = || {
            let start = Instant::now();
            reference::multiply(a, b).map(|c| (c, start.elapsed().as_secs_f64() * 1e3))
        };
        let (mut c, mut total_ms) = timed()?;
        let mut runs_ms = Vec::new();
        for _ in 0..self.repeat.unwrap_or(0) {
            (c, total_ms) = timed()?;
            runs_ms.push(total_ms);
        }
        let mut sorted = runs_ms.clone();
        sorted.sort_by(f64::total_cmp);
        let total_ms = sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or(total_ms);
        Ok((c, Measured { report: None, total_ms, runs_ms: self.repeat.map(|_| runs_ms) }))
    }

    fn report_of<M: Matrix>(
        &self,
        place: &Place,
        a: &M,
        b: &M,
        c: &M,
        measured: Measured,
        verified: Option<blockmul::verify::Verification>,
    ) -> Report {
        let device = match place {
            Place::Device(device) => {
                let info = device.info();
                DeviceName { name: info.name.clone(), platform: info.platform.clone(), driver: info.driver.clone() }
            }
            Place::Reference => DeviceName {
                name: "reference".into(),
                platform: "CPU".into(),
                driver: concat!("blockmul ", env!("CARGO_PKG_VERSION")).into(),
            },
        };
        let (shape_a, shape_b, nnz) = (a.as_cbc().shape, b.as_cbc().shape, c.as_cbc().pattern.nnz() as u64);
        let products = reference::products(a, b);
        let flops = report::flops(products, shape_a, shape_b);
        let ran = measured.report.as_ref();
        Report {
            schema: 1,
            command: std::env::args().collect::<Vec<_>>().join(" "),
            device,
            method: ran.map_or("reference", |report| report.method.name()),
            element: M::Element::NAME,
            a: Size::of(a),
            b: Size::of(b),
            c: Size::of(c),
            products,
            flops,
            flops_paper: flops - nnz * c.as_cbc().shape.area() as u64,
            expansion_factor: (nnz > 0).then(|| products as f64 / nnz as f64),
            bands: ran.map_or(1, |report| report.bands),
            peak_device_bytes: ran.map_or(0, |report| report.peak_device_bytes),
            stages: measured.report.map(|report| report.stages).unwrap_or_default(),
            total_ms: measured.total_ms,
            gflops: flops as f64 / measured.total_ms.max(f64::MIN_POSITIVE) / 1e6,
            runs_ms: measured.runs_ms,
            verified,
        }
    }

    /// A spinner on a terminal while something takes its time.
    fn during<R>(&self, what: &str, work: impl FnOnce() -> R) -> R {
        if self.quiet || !std::io::stderr().is_terminal() {
            return work();
        }
        let style =
            ProgressStyle::with_template("{spinner} {msg} {elapsed}").unwrap_or(ProgressStyle::default_spinner());
        let spinner = ProgressBar::new_spinner().with_style(style).with_message(what.to_owned());
        spinner.enable_steady_tick(Duration::from_millis(100));
        let result = work();
        spinner.finish_and_clear();
        result
    }

    fn say(&self, text: std::fmt::Arguments<'_>) {
        if !self.quiet {
            eprintln!("{text}");
        }
    }
}

struct Measured {
    report: Option<blockmul::Report>,
    total_ms: f64,
    runs_ms: Option<Vec<f64>>,
}
