//! Archives that are written as text, so that the fuzzer changes arrays and does not break
//! checksums.
//!
//! ```text
//! @format
//! {'descr': '|S3', 'fortran_order': False, 'shape': (), }
//! csr
//! @shape packed
//! {'descr': '<i8', …
//! ```
//!
//! A member of the archive begins with `@`, its name and its flags. The second line of a member is
//! the header of an array. The data of the array are the text up to the next `@` at the start of a
//! line. `packed` members of the archive are deflated. `v2` members have a header of NumPy's
//! version 2. The text of a `raw` member is the whole file, without a header of its own.
use std::io::{Cursor, Read, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// Returns the archive that `text` describes. If `text` does not begin with `@`, it is the archive
/// itself.
pub fn pack(text: &[u8]) -> Vec<u8> {
    let Some(mut rest) = text.strip_prefix(b"@") else { return text.to_vec() };
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    loop {
        let end = rest.windows(2).position(|pair| pair == b"\n@");
        let (first, body) = cut_line(&rest[..end.unwrap_or(rest.len())]);
        let first = String::from_utf8_lossy(first);
        let mut words = first.split(' ');
        let name = words.next().unwrap_or_default();
        let flags: Vec<_> = words.collect();
        let method = match flags.contains(&"packed") {
            true => CompressionMethod::Deflated,
            false => CompressionMethod::Stored,
        };
        let options = SimpleFileOptions::default().compression_method(method).compression_level(None);
        // If an earlier member has the name of a member, the later one is left out.
        if archive.start_file(format!("{name}.npy"), options).is_ok() {
            let bytes = if flags.contains(&"raw") { body.to_vec() } else { array(body, flags.contains(&"v2")) };
            archive.write_all(&bytes).expect("memory takes all");
        }
        match end {
            Some(end) => rest = &rest[end + 2..],
            None => return archive.finish().expect("memory takes all").into_inner(),
        }
    }
}

/// Returns the header and the data in the form of a NumPy file.
fn array(body: &[u8], version_2: bool) -> Vec<u8> {
    let (header, data) = cut_line(body);
    let length = header.len() as u32 + 1;
    let mut bytes = b"\x93NUMPY".to_vec();
    match version_2 {
        false => bytes.extend([&[1, 0][..], &(length as u16).to_le_bytes()].concat()),
        true => bytes.extend([&[2, 0][..], &length.to_le_bytes()].concat()),
    }
    [&bytes, header, b"\n", data].concat()
}

fn cut_line(text: &[u8]) -> (&[u8], &[u8]) {
    match text.iter().position(|&byte| byte == b'\n') {
        Some(end) => (&text[..end], &text[end + 1..]),
        None => (text, &[]),
    }
}

/// Returns the number of bytes of all unpacked members. If a member has an error, its bytes up to
/// the error are counted.
pub fn unpacked_bytes(archive: &[u8]) -> u64 {
    let Ok(mut archive) = ZipArchive::new(Cursor::new(archive)) else { return 0 };
    let mut bytes = 0;
    for member in 0..archive.len() {
        let Ok(mut member) = archive.by_index(member) else { continue };
        let mut piece = [0; 1 << 12];
        while let Ok(more @ 1..) = member.read(&mut piece) {
            bytes += more as u64;
        }
    }
    bytes
}
