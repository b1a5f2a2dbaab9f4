//! Chooses what computes A·B in one shot: the host, or one of the engines. This file names all
//! engines, and no engine names this file. An engine chooses among its own methods.
use super::{
    columns::adaptive::Adaptive,
    cpu::{
        on_host::{HostProduct, on_host},
        ranges::{BlockKernels, RangeTuning, Ranged, ScalarKernels},
    },
    esc::Engine,
    terms::{Counts, How, Method, Operands, PayloadKind, Place, Spec},
    tuning::{AdaptiveTuning, Tuning, teams_for},
};
use crate::{
    Result,
    device::{Clock, Device, Loan, Work},
    tuning::MethodCosts,
};

/// The key of compiled kernels: the spec, the strides of A, B and C, the requested method, and the
/// costs. Products with equal keys have the same kernels.
type Key = (Spec, [usize; 3], Method, MethodCosts);

/// A one-shot product that is ready to run: on the host, or by kernels. The device keeps the
/// kernels for the next product.
pub(super) enum Compiled<'o> {
    Host(Box<dyn HostProduct + 'o>),
    Kernels(Box<Loan<Key, OneShot>>),
}

impl Compiled<'_> {
    /// Computes C = A·B, band after band. `place` takes the columns of C of each band, in order.
    pub fn multiply(self, work: &Work, operands: &Operands<'_>, place: Place<'_>) -> Result<Counts> {
        let counts = match self {
            Self::Host(product) => product.multiply(work, operands, place)?,
            Self::Kernels(kernels) => {
                let counts = kernels.value.multiply(work, operands, place)?;
                work.device().keep(*kernels);
                counts
            }
        };
        let Counts { products, bands, longest_run, .. } = counts;
        let peak_bytes = work.peak_bytes();
        tracing::debug!(target: "blockmul::product", products, bands, longest_run, peak_bytes, "product");
        Ok(counts)
    }
}

/// Prepares the host's product or the kernels of A·B, and starts a clock when they are loaded.
/// Methods are chosen by `costs`, or by the device's costs if there are none.
pub(super) fn one_shot<'o, 'w: 'o>(
    work: &'w Work,
    operands: &Operands<'o>,
    how: How,
    costs: Option<MethodCosts>,
) -> Result<(Compiled<'o>, Clock<'w>)> {
    let clock = work.clock();
    let (device, costs) = (work.device(), costs.unwrap_or_else(|| work.device().info().costs()));
    if let Some(host) = on_host(work, operands, how, costs)? {
        return Ok((Compiled::Host(host), clock));
    }
    let spec = Spec::new(operands.element(), operands.a.shape, operands.b.shape, operands.a.nrows).over(how.semiring);
    let make = || OneShot::new(device, &spec, operands.strides(), (how.method, costs));
    let kernels = device.lend((spec, operands.strides(), how.method, costs), make)?;
    Ok((Compiled::Kernels(Box::new(kernels)), work.clock()))
}

/// An engine with the kernels of A·B in one shot.
pub(super) enum OneShot {
    Adaptive(Box<Adaptive>),
    Ranged(Box<Ranged<ScalarKernels>>),
    RangedBlocks(Box<Ranged<BlockKernels>>),
    Esc(Box<Engine>),
}

impl OneShot {
    /// Compiles kernels for blocks of A, B and C that are `strides` elements apart.
    pub fn new(
        device: &Device,
        spec: &Spec,
        strides: [usize; 3],
        (method, costs): (Method, MethodCosts),
    ) -> Result<Self> {
        let tuning = Tuning::new(device.info(), spec.a, spec.b).with_strides(strides);
        Self::tuned(device, spec, tuning.with_method(device.info(), method), (method, costs))
    }

    pub fn tuned(device: &Device, spec: &Spec, tuning: Tuning, (method, costs): (Method, MethodCosts)) -> Result<Self> {
        let (info, teams) = (device.info(), teams_for(device.info(), method));
        if let Some(ranges) = RangeTuning::new(info, (method, costs), tuning.payload, (spec.a, spec.b)) {
            return Ok(match tuning.payload {
                PayloadKind::Values => Self::Ranged(Box::new(Ranged::new(device, spec, tuning, &ranges)?)),
                PayloadKind::Pairs => Self::RangedBlocks(Box::new(Ranged::new(device, spec, tuning, &ranges)?)),
            });
        }
        if let Some(teams) = teams.filter(|_| tuning.payload == PayloadKind::Values) {
            let adaptive = AdaptiveTuning::new(info, (method, costs), spec.row_bits);
            return Ok(Self::Adaptive(Box::new(Adaptive::new(device, teams, spec, tuning, &adaptive)?)));
        }
        Ok(Self::Esc(Box::new(Engine::new(device, spec, tuning, (method, costs))?)))
    }

    /// Computes C = A·B, band after band. `place` takes the columns of C of each band, in order.
    pub fn multiply(&self, work: &Work, operands: &Operands<'_>, place: Place<'_>) -> Result<Counts> {
        match self {
            Self::Adaptive(engine) => engine.multiply(work, operands, place),
            Self::Ranged(engine) => engine.multiply(work, operands, place),
            Self::RangedBlocks(engine) => engine.multiply(work, operands, place),
            Self::Esc(engine) => engine.multiply(work, operands, place),
        }
    }
}
