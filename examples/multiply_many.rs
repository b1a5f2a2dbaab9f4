//! Uploads A once, multiplies it by three matrices on the device, and downloads one of the results.
use blockmul::{Cbc, Device, generate, multiply};

fn main() -> blockmul::Result<()> {
    let device = Device::auto()?;
    println!("on {}", device.info().name);

    // The matrix W: 50 cameras see 4000 points. Each point has 4 views, and each view is a 6x3
    // block.
    let seen = generate::Visibility { cameras: 50, points: 4000, views: 4, ..Default::default() };
    let seed = |seed| generate::Visibility { seed, ..seen }.matrix();
    let a = device.upload(&seed(1)?)?;

    let mut products = Vec::new();
    for b in [seed(1)?, seed(2)?, seed(3)?] {
        let b: Cbc<f64> = b.transpose();
        products.push(multiply(&a, &device.upload(&b)?)?); // stays on the device
    }
    for c in &products {
        println!("{} x {} blocks of {}, {} of them stored", c.nrows(), c.ncols(), c.shape(), c.nnz());
    }

    let c: Cbc<f64> = products.swap_remove(0).download()?;
    let (row, col, block) = c.blocks().next().expect("a camera sees a point");
    println!("the first block, at ({row}, {col}):{block:.3}");
    Ok(())
}
