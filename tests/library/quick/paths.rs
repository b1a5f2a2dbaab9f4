//! One product for each way to use a device. The context of a product is the library's own or an
//! application's. The product is computed in bands from the host, from matrices on the device, or
//! by a plan.
use super::*;
use crate::{
    common::{Family, scalars},
    foreign::App,
};
use blockmul::{Device, DeviceMatrix};

fn graph() -> Cbc<f64> {
    generate::PoseChain { poses: 300, closures: 500, freedom: 3, ..Default::default() }.matrix().unwrap()
}

#[test]
fn from_the_host_in_one_band_and_in_several() -> Result<()> {
    let a = scalars::<f64>(Family::Uniform, 3000, 3000, 12, 3);
    let want = reference::multiply(&a, &a)?;
    let (c, whole) = to_host(&device(), &a, &a, |product| product)?;
    equal(&c, &want, "one band");
    let half = Product::of(&a, &a).estimate(device().info())?.peak_device_bytes / 2;
    let (c, cut) = to_host(&device(), &a, &a, |product| product.memory_limit(half))?;
    equal(&c, &want, "bands");
    assert!(whole.bands == 1 && cut.bands > 1, "{} and {} bands", whole.bands, cut.bands);
    Ok(())
}

#[test]
fn on_the_device_and_multiplied_again_there() -> Result<()> {
    let a = graph();
    let da = device().upload(&a)?;
    let cube = blockmul::multiply(&blockmul::multiply(&da, &da)?, &da)?;
    equal(&cube.download()?, &reference::multiply(&reference::multiply(&a, &a)?, &a)?, "A·A·A");
    Ok(())
}

#[test]
fn on_a_device_opened_by_itself() -> Result<()> {
    let (device, a) = (Device::open(device().info())?, graph());
    let da = device.upload(&a)?;
    equal(&blockmul::multiply(&da, &da)?.download()?, &reference::multiply(&a, &a)?, "another context");
    Ok(())
}

#[test]
fn by_a_plan_with_new_values() -> Result<()> {
    let a = graph();
    let mut da = device().upload(&a)?;
    let plan = Product::of(&da, &da).plan()?;
    let mut c = plan.output()?;
    for factor in [1.0, -0.3] {
        let now = Cbc::new(a.pattern().clone(), a.shape(), a.values().iter().map(|x| factor * x).collect())?;
        da.write_values(now.values())?;
        plan.execute((&da, &da), &mut c)?;
        equal(&c.download()?, &reference::multiply(&now, &now)?, &format!("times {factor}"));
    }
    Ok(())
}

#[test]
fn in_an_application_s_context_on_its_buffers() -> Result<()> {
    let (app, a) = (App::new(0), graph());
    let device = app.adopt()?;
    let (_col_ptr, _row_idx, _values, raw) = app.buffers(&a);
    let da: DeviceMatrix<Cbc<f64>> = unsafe { DeviceMatrix::adopt(&device, &raw)? };
    equal(&blockmul::multiply(&da, &da)?.download()?, &reference::multiply(&a, &a)?, "adopted");
    Ok(())
}

/// Computes the quick product in a context of the `ocl` crate, which loads OpenCL with a loader of
/// its own.
#[cfg(feature = "ocl")]
#[test]
fn in_a_context_of_the_ocl_crate() -> Result<()> {
    let (queue, a) = (crate::ocl::queue(None), graph());
    let device = Device::from_ocl(&queue)?;
    let da = device.upload(&a)?;
    equal(&blockmul::multiply(&da, &da)?.download()?, &reference::multiply(&a, &a)?, "ocl's context");
    Ok(())
}
