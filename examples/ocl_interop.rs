//! An application with an `ocl` context of its own multiplies its own buffers. Nothing is copied to
//! the host.
//!
//! cargo run --features ocl --example ocl_interop
use blockmul::{BlockShape, Csc, Device, DeviceMatrix, foreign::OclMatrix};
use ocl::{Buffer, ProQue};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The application: a kernel fills the values of a tridiagonal matrix of order n.
    let n = 1000;
    let app = ProQue::builder()
        .src("kernel void fill(global double* values) { values[get_global_id(0)] = get_global_id(0) % 3 == 1 ? 2.0 : -1.0; }")
        .dims(3 * n - 2)
        .build()?;
    let rows = |col: usize| (col.saturating_sub(1)..(col + 2).min(n)).map(|row| row as u32);
    let row_idx: Vec<u32> = (0..n).flat_map(rows).collect();
    let ends = (0..n).scan(0, |end, col| {
        *end += rows(col).len() as u32;
        Some(*end)
    });
    let col_ptr: Vec<u32> = std::iter::once(0).chain(ends).collect();
    let upload = |data: &[u32]| {
        Buffer::<u32>::builder().queue(app.queue().clone()).len(data.len()).copy_host_slice(data).build()
    };
    let (col_ptr, row_idx, values) = (upload(&col_ptr)?, upload(&row_idx)?, app.create_buffer::<f64>()?);
    // SAFETY: the kernel writes as many values as it has work-items, which is the buffer's length.
    unsafe { app.kernel_builder("fill").arg(&values).build()?.enq()? };

    // blockmul uses the application's context, queue and buffers.
    let device = Device::from_ocl(app.queue())?;
    let parts = OclMatrix {
        nrows: n,
        ncols: n,
        nnz: row_idx.len(),
        shape: BlockShape::SCALAR,
        stride: 1,
        col_ptr: &col_ptr,
        row_idx: &row_idx,
        values: &values,
    };
    // SAFETY: the pattern is not written while `a` lives.
    let a: DeviceMatrix<Csc<f64>> = unsafe { DeviceMatrix::from_ocl(&device, &parts)? };
    let c = blockmul::multiply(&a, &a)?;

    // The application receives the product in buffers of its own.
    let (_, _, c_values) = c.copy_to_ocl(app.queue())?;
    let mut first = vec![0.0; 3];
    c_values.read(&mut first).enq()?;
    println!("{} entries; the first column is {first:?}", c.nnz());
    Ok(())
}
