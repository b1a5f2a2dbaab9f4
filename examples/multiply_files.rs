//! Multiplies two files, whose element types and formats are known only at run time, and writes the
//! product.
//!
//! `cargo run --release --example multiply_files -- A.npz B.npz C.npz`
use blockmul::{
    Device, Product,
    io::{self, ReadOptions, WriteOptions},
};

fn main() -> blockmul::Result<()> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let [a, b, c] = &paths[..] else {
        eprintln!("usage: multiply_files A B C");
        std::process::exit(2);
    };
    let a = io::read_any(a, &ReadOptions::default())?;
    // B is converted to A's element type, because both factors must have the same type.
    let b = io::read_any(b, &ReadOptions::default())?.cast(a.element());
    let device = Device::auto()?;
    let (a, b) = (device.upload(&a)?, device.upload(&b)?);
    let (product, report) = Product::of(&a, &b).run_to_host()?;
    println!("{} x {} with {} entries of {}", product.nrows(), product.ncols(), product.nnz(), product.element());
    println!("{} products in {:.3} ms on {}", report.products, report.total_ms, device.info().name);
    io::write(c, &product, &WriteOptions::default())
}
