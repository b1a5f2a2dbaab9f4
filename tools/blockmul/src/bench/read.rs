//! Reading a matrix from a file, from the page cache to finished compressed columns.
use super::matrices::Source;
use super::measure::{Bench, same_bits};
use super::record::{Execution, Record, Sizes};
use crate::messages::Unit;
use crate::report::Size;
use blockmul::{
    BlockShape, Csc, Error, Matrix, Result,
    io::{self, WriteOptions},
};
use std::path::Path;
use std::time::Instant;

impl Bench<'_> {
    /// Times reading the file in `path` by one thread, two, and all.
    pub fn read(&self, path: &Path) -> Result<Vec<Record>> {
        let options = self.reading.options();
        let matrix = with_threads(1, || io::read(path, &options))?.matrix;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.reads(name, path, &matrix)
    }

    /// Times reading a generated matrix, which is written in Matrix Market form first.
    pub fn read_made(&self, source: &Source) -> Result<Vec<Record>> {
        let name = source.name(BlockShape::SCALAR);
        self.messages.step(format!("{name}: writing"));
        let folder = tempfile::tempdir().map_err(|source| Error::Io { path: std::env::temp_dir(), source })?;
        let (path, matrix) = (folder.path().join("made.mtx"), source.matrix(BlockShape::SCALAR)?.to_scalars());
        io::write(&path, &matrix, &WriteOptions::default())?;
        self.reads(name, &path, &matrix)
    }

    fn reads(&self, name: String, path: &Path, want: &Csc<f64>) -> Result<Vec<Record>> {
        let bytes = std::fs::metadata(path).map_err(|source| Error::Io { path: path.into(), source })?.len();
        let all = std::thread::available_parallelism().map_or(1, usize::from);
        let mut counts = vec![1, 2, all];
        counts.retain(|&threads| threads <= all);
        counts.sort_unstable();
        counts.dedup();
        let options = self.reading.options();
        let of = |threads: usize| {
            let progress = self.messages.measured(format!("{name} by {threads} threads"), Unit::Runs);
            let read = || with_threads(threads, || io::read(path, &options)).map(|file| file.matrix);
            let mut timed = || {
                let clock = Instant::now();
                read().map(|_| clock.elapsed().as_secs_f64() * 1e3)
            };
            let runs = if same(&read()?, want) { self.patience.rounds(&progress, &mut timed)? } else { Vec::new() };
            let sizes = Sizes::host(name.clone(), "read", threads, Size::of(want));
            Ok(Record::planned(sizes, &Execution::default(), runs).moving(Some(bytes)))
        };
        counts.into_iter().map(of).collect()
    }
}

/// Runs `work` on so many threads.
fn with_threads<R: Send>(threads: usize, work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| Error::Argument(format!("{threads} threads: {error}")))?.install(work)
}

/// The same pattern, the same bits.
fn same(have: &Csc<f64>, want: &Csc<f64>) -> bool {
    have.pattern() == want.pattern() && same_bits(have.as_cbc().values, want.as_cbc().values)
}
