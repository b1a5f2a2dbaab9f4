//! Reading a matrix from a file in the page cache, until compressed columns are complete.
use super::matrices::{Input, Source};
use super::measure::{Bench, same};
use super::record::Record;
use super::results::cpu_name;
use crate::matrix_size::Size;
use crate::messages::Unit;
use blockmul::{
    BlockShape, Csc, Error, Result,
    io::{self, WriteOptions},
};
use std::path::Path;
use std::time::Instant;

/// Times reading a file. A generated matrix is first written in Matrix Market form.
pub fn read(bench: &Bench<'_>, input: &Input, elements: Option<usize>) -> Result<Vec<Record>> {
    let named = match input {
        Input::File(path) => {
            let options = bench.args.files.reading.options();
            let matrix = with_threads(1, || io::read(path, &options))?.matrix;
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            return by_threads(bench, name, path, &matrix);
        }
        Input::Family(named) => named.clone(),
    };
    let source = Source::Family(named, elements);
    let name = source.name(BlockShape::SCALAR);
    bench.messages.step(format!("{name}: writing"));
    let folder = tempfile::tempdir().map_err(|source| Error::Io { path: std::env::temp_dir(), source })?;
    let (path, matrix) = (folder.path().join("made.mtx"), source.matrix(BlockShape::SCALAR)?.to_scalars());
    io::write(&path, &matrix, &WriteOptions::default())?;
    by_threads(bench, name, &path, &matrix)
}

/// Times reading the file in `path` by one thread, by two, and by all threads.
fn by_threads(bench: &Bench<'_>, name: String, path: &Path, want: &Csc<f64>) -> Result<Vec<Record>> {
    let bytes = std::fs::metadata(path).map_err(|source| Error::Io { path: path.into(), source })?.len();
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    let mut counts = vec![1, 2, all];
    counts.retain(|&threads| threads <= all);
    counts.sort_unstable();
    counts.dedup();
    let options = bench.args.files.reading.options();
    let of = |threads: usize| {
        let progress = bench.messages.measured(format!("{name} by {threads} threads"), Unit::Runs);
        let read = || with_threads(threads, || io::read(path, &options)).map(|file| file.matrix);
        let record = Record {
            device: cpu_name().unwrap_or_else(|| "host".into()),
            threads: Some(threads as u32),
            a: Size::of(want),
            bytes: Some(bytes),
            verified: same(&read()?, want),
            ..Record::new(name.clone(), "read".into())
        };
        if !record.verified {
            return Ok(record);
        }
        let runs = bench.args.patience.rounds(&progress, &mut || {
            let clock = Instant::now();
            read().map(|_| clock.elapsed().as_secs_f64() * 1e3)
        })?;
        Ok(record.timed(runs, &[]))
    };
    counts.into_iter().map(of).collect()
}

/// Runs `work` on `threads` threads.
fn with_threads<R: Send>(threads: usize, work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| Error::Argument(format!("{threads} threads: {error}")))?.install(work)
}
