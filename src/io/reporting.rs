//! Files that report the progress of reading.
use crate::{Error, Progress, Result};
use std::{
    fs::File,
    io::{Read, Seek, SeekFrom},
    path::Path,
};

/// A file that reports the number of bytes read, after every MiB and at its end.
pub(super) struct ReportingFile {
    reader: File,
    progress: Option<Progress>,
    total: u64,
    done: u64,
    reported: u64,
}

impl ReportingFile {
    pub fn open(path: &Path, progress: Option<Progress>) -> Result<Self> {
        let io = |source| Error::Io { path: path.to_owned(), source };
        let reader = File::open(path).map_err(io)?;
        let total = reader.metadata().map_err(io)?.len();
        Ok(Self { reader, progress, total, done: 0, reported: 0 })
    }
}

impl Seek for ReportingFile {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.reader.seek(to)
    }
}

impl Read for ReportingFile {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let bytes = self.reader.read(to)?;
        self.done += bytes as u64;
        if let Some(progress) = &self.progress
            && (self.done - self.reported >= 1 << 20 || (bytes == 0 && self.done != self.reported))
        {
            self.reported = self.done;
            progress.tell(self.done, self.total.max(self.done));
        }
        Ok(bytes)
    }
}
