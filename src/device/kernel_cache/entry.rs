//! Format of a cache file: `MAGIC`, a checksum of the rest, the length of the header, the header as
//! JSON, the payload.
use crate::device::arguments::KernelArguments;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};

const MAGIC: &[u8] = b"blockmul kernels 1\n";
const CHECKSUM: usize = 32;

/// The description of a kernel. A description is the header of a cache file without payload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::device) struct KnownKernel {
    /// The key from which the file's name is made.
    pub(super) key: String,
    /// The key of the binary that contains the kernel.
    pub(in crate::device) binary: String,
    /// The kernel's name in that binary, and its arguments.
    pub(in crate::device) arguments: KernelArguments,
}

/// The header of a file whose payload is a binary.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Binary {
    pub(super) key: String,
}

/// Encodes a file as bytes.
pub(super) fn seal<H: Serialize>(header: &H, payload: &[u8]) -> Vec<u8> {
    let header = serde_json::to_vec(header).expect("plain data");
    let mut rest = (header.len() as u32).to_le_bytes().to_vec();
    rest.extend(header);
    rest.extend(payload);
    [MAGIC, Sha256::digest(&rest).as_slice(), &rest].concat()
}

/// Decodes the header and the payload of a file, or returns `None` if the bytes are not valid.
pub(super) fn unseal<H: DeserializeOwned>(bytes: &[u8]) -> Option<(H, &[u8])> {
    let (checksum, rest) = bytes.strip_prefix(MAGIC)?.split_at_checked(CHECKSUM)?;
    if Sha256::digest(rest).as_slice() != checksum {
        return None;
    }
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let (header, payload) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    Some((serde_json::from_slice(header).ok()?, payload))
}
