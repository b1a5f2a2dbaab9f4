//! The cache of kernels: binaries of compiled programs in a folder of the user. Loading a kernel
//! from the cache takes a millisecond, while compiling it takes tens of milliseconds.
//!
//! The name of a file is a hash of everything its contents depend on: source, options, device,
//! driver, platform, the variables that control PoCL's compiler, and the version of this crate.
//! There are two kinds of cache files. A file of the first kind holds a binary, as the driver
//! provided it. A file of the second kind describes one kernel: it names the binary that contains
//! the kernel, and the names and types of the kernel's arguments. OpenCL guarantees to report these
//! names and types only for programs built from source.
//!
//! If a cache file or the folder has any fault, programs are compiled from source, without an
//! error. Files are written under a temporary name and renamed. Only their owner can write to the
//! folder and the files, because drivers execute their contents. [`obstacle`] says why a folder is
//! not used.
//!
//! The environment variable `BLOCKMUL_CACHE` names another folder, or turns the cache off if it is
//! `off`.
mod entry;
mod folder;

use super::{
    DeviceInfo,
    arguments::KernelArguments,
    batch::{Batch, Unit},
    source::COMMON,
};
use crate::Result;
pub(super) use entry::KnownKernel;
use entry::{Binary, seal, unseal};
use folder::{BINARY, Folder, KNOWN, Unusable};
use sha2::{Digest, Sha256};
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

/// The environment variable that names the folder, or turns the cache off.
const VARIABLE: &str = "BLOCKMUL_CACHE";

/// Environment variables that change the code which PoCL generates.
const COMPILER_VARIABLES: [&str; 6] = [
    "POCL_BINARY_SPECIALIZE_WG",
    "POCL_EXTRA_BUILD_FLAGS",
    "POCL_LLVM_CPU_NAME",
    "POCL_WILOOPS_MAX_UNROLL_COUNT",
    "POCL_WORK_GROUP_METHOD",
    "POCL_WORK_GROUP_SPECIALIZATION",
];

/// The numbers of kernels and of bytes that [`clear`] removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[non_exhaustive]
pub struct Cleared {
    /// Number of kernels.
    pub kernels: u64,
    /// Number of bytes of the removed files.
    pub bytes: u64,
}

/// The value of the variable, if it is set and not empty.
fn named() -> Option<OsString> {
    std::env::var_os(VARIABLE).filter(|value| !value.is_empty())
}

/// The folder of compiled kernels, named by the environment variable `BLOCKMUL_CACHE`, or `None` if
/// the variable is `off`. If the variable is unset, the folder is `blockmul/kernels` in the user's
/// cache folder, or `None` if the user has no cache folder.
pub fn folder() -> Option<PathBuf> {
    match named() {
        Some(value) if value.eq_ignore_ascii_case("off") => None,
        Some(value) => Some(value.into()),
        None => Some(dirs::cache_dir()?.join("blockmul").join("kernels")),
    }
}

/// Opens the folder, or creates it if this is allowed.
fn usable(path: &Path) -> std::result::Result<Folder, Unusable> {
    let home = if named().is_none() { dirs::home_dir() } else { None };
    Folder::usable(path.to_owned(), home.as_deref())
}

/// The reason why the folder of compiled kernels is not used, and what the user can do about it.
/// Returns `None` if the folder is used, if the cache is off, or if the system does not support the
/// folder. Without the folder every process compiles its kernels.
pub fn obstacle() -> Option<String> {
    let path = folder()?;
    let elsewhere = || format!("set {VARIABLE} to another folder");
    let (why, remedy) = match usable(&path).err()? {
        Unusable::Refused(_) => return None,
        Unusable::WritableByOthers => ("others may write to it", format!("use `chmod go-w {}`", path.display())),
        Unusable::OfAnother => ("it belongs to another user", elsewhere()),
        Unusable::HomeOfAnother => ("it would be in the home of another user", elsewhere()),
    };
    let path = path.display();
    Some(format!("every run compiles its kernels, since the folder {path} is not used: {why}; {remedy}"))
}

/// Removes every compiled kernel from [`folder`]. Files that are no compiled kernels remain.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) if a file cannot be removed.
pub fn clear() -> Result<Cleared> {
    folder().map_or(Ok(Cleared::default()), |folder| Folder::new(folder).clear())
}

/// The cache of one device.
pub(super) struct Cache {
    folder: Folder,
    /// The hash of the properties on which all programs of the device depend.
    of_device: Sha256,
}

impl Cache {
    /// The cache of a device, or `None` if the cache is off or its folder cannot be used.
    pub(super) fn for_device(info: &DeviceInfo) -> Option<Self> {
        let path = folder()?;
        match usable(&path) {
            Ok(folder) => Some(Self { folder, of_device: hash_of(info, |name| std::env::var_os(name)) }),
            Err(Unusable::Refused(error)) => {
                tracing::debug!(target: "blockmul::device", folder = %path.display(), %error, "kernels are not cached");
                None
            }
            Err(why) => {
                tracing::warn!(target: "blockmul::device", folder = %path.display(), ?why, "kernels are not cached");
                None
            }
        }
    }

    fn key(&self, texts: &[&str]) -> String {
        let mut hash = self.of_device.clone();
        texts.iter().for_each(|text| add(&mut hash, text));
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn key_of(&self, Unit { source, options, kernel }: &Unit) -> String {
        self.key(&[&COMMON.text(), &source.text(), &options.to_string(), kernel])
    }

    /// The description of a kernel, if the cache has one.
    pub(super) fn find(&self, unit: &Unit) -> Option<KnownKernel> {
        let key = self.key_of(unit);
        let bytes = self.folder.read(&key, KNOWN)?;
        let (known, _) = unseal::<KnownKernel>(&bytes)?;
        (known.key == key).then_some(known)
    }

    /// The binary that [`KnownKernel::binary`] names.
    pub(super) fn binary(&self, key: &str) -> Option<Vec<u8>> {
        let bytes = self.folder.read(key, BINARY)?;
        let (header, binary) = unseal::<Binary>(&bytes)?;
        (header.key == key && !binary.is_empty()).then(|| binary.to_vec())
    }

    /// Stores the binary of a batch and the arguments of its kernels, if the folder is writable.
    pub(super) fn store<'u>(
        &self,
        batch: &Batch,
        kernels: impl IntoIterator<Item = (&'u Unit, &'u KernelArguments)>,
        binary: &[u8],
    ) {
        let key = self.key(&[&batch.text, &batch.options]);
        let header = Binary { key: key.clone() };
        let mut kept = self.folder.write(&key, BINARY, &seal(&header, binary));
        for (unit, arguments) in kernels {
            kept = kept.and_then(|()| {
                let own = self.key_of(unit);
                let known = KnownKernel { key: own.clone(), binary: key.clone(), arguments: arguments.clone() };
                self.folder.write(&own, KNOWN, &seal(&known, &[]))
            });
        }
        if let Err(error) = kept {
            tracing::debug!(target: "blockmul::device", %error, "kernels are not kept");
        }
    }
}

/// The hash of the properties on which all programs of a device depend. `variable` returns the
/// value of an environment variable.
fn hash_of(info: &DeviceInfo, variable: impl Fn(&str) -> Option<OsString>) -> Sha256 {
    let mut hash = Sha256::new();
    for part in [
        env!("CARGO_PKG_VERSION"),
        // The hash includes the code that joins sources into a program.
        include_str!("../batch.rs"),
        &info.platform,
        &info.platform_version,
        &info.vendor,
        &info.name,
        &info.version,
        &info.driver,
    ] {
        add(&mut hash, part);
    }
    for name in COMPILER_VARIABLES {
        add(&mut hash, &variable(name).unwrap_or_default().to_string_lossy());
    }
    hash
}

/// Adds a text and, before it, its length, so that different lists of texts have different hashes.
fn add(hash: &mut Sha256, text: &str) {
    hash.update((text.len() as u64).to_le_bytes());
    hash.update(text);
}

#[cfg(test)]
mod tests;
