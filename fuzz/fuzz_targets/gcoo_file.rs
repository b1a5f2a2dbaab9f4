//! See `readers::gcoo_file`.
#![no_main]
#[path = "../readers.rs"]
#[allow(dead_code, reason = "the other targets use the rest")]
mod readers;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| readers::gcoo_file(bytes));
