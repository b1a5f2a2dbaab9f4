//! Refused arguments: broken arrays, and handles that do not belong together.
use super::App;
use crate::common::{Family, blocks, scalars};
use blockmul::{BlockShape, Cbc, Csc, Device, DeviceMatrix, Error, Result, error::PatternError, foreign::RawMatrix};
use opencl3::{
    device::{CL_DEVICE_PARTITION_BY_COUNTS, CL_DEVICE_PARTITION_BY_COUNTS_LIST_END},
    memory::ClMem,
};
use std::ptr;

#[test]
fn broken_arrays_are_refused_by_the_device_with_column_and_entry() -> Result<()> {
    let app = App::new(0);
    let device = app.adopt()?;
    let refused = |nrows: usize, col_ptr: &[u32], row_idx: &[u32]| {
        let (p, i, x) = (app.buffer(col_ptr), app.buffer(row_idx), app.buffer(&vec![1.0f64; row_idx.len()]));
        let shape = BlockShape::SCALAR;
        let (ncols, nnz) = (col_ptr.len() - 1, row_idx.len());
        let raw =
            RawMatrix { nrows, ncols, nnz, shape, stride: 1, col_ptr: p.get(), row_idx: i.get(), values: x.get() };
        match unsafe { DeviceMatrix::<Csc<f64>>::adopt(&device, &raw) } {
            Err(Error::Pattern(error)) => error,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(refused(2, &[1, 1], &[0]), PatternError::ColPtrStart { found: 1 });
    assert_eq!(refused(2, &[0, 2, 1], &[0]), PatternError::ColPtrFalls { column: 1, start: 2, end: 1 });
    assert_eq!(
        refused(2, &[0, 4_000_000_000, 1], &[0]),
        PatternError::ColPtrFalls { column: 1, start: 4_000_000_000, end: 1 }
    );
    assert_eq!(refused(2, &[0, 3], &[0, 1]), PatternError::ColPtrEnd { found: 3, nnz: 2 });
    assert_eq!(
        refused(2, &[0, 1, 3], &[1, 0, 2]),
        PatternError::RowOutOfRange { column: 1, entry: 2, row: 2, nrows: 2 }
    );
    assert_eq!(
        refused(9, &[0, 1, 3, 5], &[1, 1, 1, 4, 4]),
        PatternError::RowOrder { column: 1, entry: 2, previous: 1, row: 1 }
    );
    assert_eq!(refused(9, &[5], &[]), PatternError::ColPtrStart { found: 5 });
    Ok(())
}

#[test]
fn what_does_not_belong_together_is_refused() -> Result<()> {
    let (app, stranger) = (App::new(0), App::new(0));
    let mixed = unsafe { Device::adopt(app.context.get(), app.context.default_device(), stranger.queue.get()) };
    assert!(mixed.unwrap_err().to_string().contains("another context"));
    // Handles of two kinds do not belong to the context of the application: a null handle and, if
    // the driver can divide devices, a part of the context's device.
    let adopt = |device| unsafe { Device::adopt(app.context.get(), device, app.queue.get()) };
    let whole = opencl3::device::Device::new(app.context.default_device());
    let by_counts = [CL_DEVICE_PARTITION_BY_COUNTS, 1, CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0];
    let parts = whole.create_sub_devices(&by_counts).unwrap_or_default();
    for outside in parts.iter().map(|part| part.id()).chain([ptr::null_mut()]) {
        let error = adopt(outside).unwrap_err();
        assert!(matches!(error, Error::Argument(_)) && error.to_string().contains("the context's"), "{error}");
    }
    // Null handles are refused.
    let (context, device) = (app.context.get(), app.context.default_device());
    assert!(matches!(unsafe { Device::adopt(ptr::null_mut(), device, app.queue.get()) }, Err(Error::OpenCl { .. })));
    assert!(matches!(unsafe { Device::adopt(context, device, ptr::null_mut()) }, Err(Error::OpenCl { .. })));

    let device = app.adopt()?;
    let a = scalars::<f64>(Family::Uniform, 10, 10, 2, 6);
    let foreign = stranger.buffers(&a);
    let error = unsafe { DeviceMatrix::<Csc<f64>>::adopt(&device, &foreign.3) }.unwrap_err().to_string();
    assert!(error.contains("another OpenCL context"), "{error}");
    let own = app.buffers(&a);
    let longer = RawMatrix { nnz: own.3.nnz * 5000, ..own.3 };
    assert!(matches!(
        unsafe { DeviceMatrix::<Csc<f64>>::adopt(&device, &longer) },
        Err(Error::Length { array: "row_idx", .. })
    ));
    // Kernels count entries in 32 bits, and may count one tile beyond the last entry.
    let most = (1 << 32) - (1 << 16);
    for (nnz, is_counted) in [(most, true), (most + 1, false), (u32::MAX as usize, false), (1 << 32, false)] {
        let refused = unsafe { DeviceMatrix::<Csc<f64>>::adopt(&device, &RawMatrix { nnz, ..own.3 }) };
        match refused {
            Err(Error::Length { expected, .. }) => assert!(is_counted && expected == nnz),
            Err(Error::TooLarge { value, limit, .. }) => {
                assert!(!is_counted && (value, limit) == (nnz as u64, most as u64));
            }
            other => panic!("{nnz} entries: {other:?}"),
        }
    }
    let blocky = RawMatrix { shape: BlockShape::new(2, 2)?, stride: 4, ..own.3 };
    assert!(matches!(unsafe { DeviceMatrix::<Csc<f64>>::adopt(&device, &blocky) }, Err(Error::Argument(_))));
    // With the first stride nnz * stride wraps to 0, which would fit any buffer. The second stride
    // of the test is the largest that kernels support.
    let square = blocks::<f64>(Family::Banded, 8, 8, 2, BlockShape::new(2, 2)?, 6);
    let own = app.buffers(&square);
    let apart = |stride| RawMatrix { stride, ..own.3 };
    assert_eq!(square.pattern().nnz(), 16);
    assert!(matches!(
        unsafe { DeviceMatrix::<Cbc<f64>>::adopt(&device, &apart(1 << 60)) },
        Err(Error::TooLarge { what: "stride of blocks", .. })
    ));
    assert!(matches!(
        unsafe { DeviceMatrix::<Cbc<f64>>::adopt(&device, &apart(u32::MAX as usize)) },
        Err(Error::Length { array: "values", .. })
    ));
    let other = stranger.adopt()?;
    let (x, y) = (device.upload(&a)?, other.upload(&a)?);
    assert!(matches!(blockmul::multiply(&x, &y), Err(Error::DeviceMismatch { .. })));
    Ok(())
}
