//! Chooses what computes A·B in one shot: the host, or one of the engines. This file names all
//! engines, and no engine names this file. An engine chooses among its own methods. There are two
//! dispatches: [`prepare`] chooses once, [`Prepared::multiply`] runs what was chosen.
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
    DeviceInfo, Result,
    device::{Clock, Device, Loan, Teams, Work},
    tuning::MethodCosts,
};

/// The key of compiled kernels. Products with equal keys have the same kernels.
#[derive(Clone, PartialEq)]
pub(super) struct KernelKey {
    spec: Spec,
    /// Elements from one value to the next of A, B and C.
    strides: [usize; 3],
    method: Method,
    costs: MethodCosts,
}

/// A product that is ready to run: on the host, or by kernels. The device keeps the kernels for the
/// next product.
pub(super) enum Prepared<'o> {
    Host(Box<dyn HostProduct + 'o>),
    Kernels(Box<Loan<KernelKey, ChosenEngine>>),
}

/// Prepares A·B: chooses the host or an engine, and loads the engine's kernels. The returned clock
/// starts when the kernels are loaded, or at the beginning if the host computes A·B. Methods are
/// chosen by `costs`, or by the device's costs if `costs` is `None`.
pub(super) fn prepare<'o, 'w: 'o>(
    work: &'w Work,
    operands: &Operands<'o>,
    how: How,
    costs: Option<MethodCosts>,
) -> Result<(Prepared<'o>, Clock<'w>)> {
    let clock = work.clock();
    let (device, costs) = (work.device(), costs.unwrap_or_else(|| work.device().info().costs()));
    if let Some(host) = on_host(work, operands, how, costs)? {
        return Ok((Prepared::Host(host), clock));
    }
    let spec = Spec::new(operands.element(), operands.a.shape, operands.b.shape, operands.a.nrows).over(how.semiring);
    let key = KernelKey { spec, strides: operands.strides(), method: how.method, costs };
    let kernels = device.lend(key.clone(), || ChosenEngine::new(device, &key))?;
    Ok((Prepared::Kernels(Box::new(kernels)), work.clock()))
}

impl Prepared<'_> {
    /// Computes C = A·B, band after band. `place` takes the columns of C of each band, in order.
    pub fn multiply(self, work: &Work, operands: &Operands<'_>, place: Place<'_>) -> Result<Counts> {
        let counts = match self {
            Self::Host(product) => product.multiply(work, operands, place)?,
            Self::Kernels(kernels) => {
                let counts = match &kernels.value {
                    ChosenEngine::Adaptive(engine) => engine.multiply(work, operands, place)?,
                    ChosenEngine::Ranged(engine) => engine.multiply(work, operands, place)?,
                    ChosenEngine::RangedBlocks(engine) => engine.multiply(work, operands, place)?,
                    ChosenEngine::Esc(engine) => engine.multiply(work, operands, place)?,
                };
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

/// The engine that computes a product by kernels, with its numbers.
pub(super) enum EngineChoice {
    Ranges(Box<RangeTuning>),
    Adaptive(Teams, Box<AdaptiveTuning>),
    Esc,
}

impl EngineChoice {
    /// Chooses the engine by the device, the method and its costs. `tuning` has the numbers of ESC.
    pub fn new(info: &DeviceInfo, spec: &Spec, tuning: &Tuning, method: Method, costs: MethodCosts) -> Self {
        if let Some(ranges) = RangeTuning::new(info, method, costs, tuning.payload, (spec.a, spec.b)) {
            return Self::Ranges(Box::new(ranges));
        }
        match teams_for(info, method).filter(|_| tuning.payload == PayloadKind::Values) {
            Some(teams) => Self::Adaptive(teams, Box::new(AdaptiveTuning::new(info, method, costs, spec.row_bits))),
            None => Self::Esc,
        }
    }
}

/// The engine that was chosen, with its kernels.
pub(super) enum ChosenEngine {
    Adaptive(Box<Adaptive>),
    Ranged(Box<Ranged<ScalarKernels>>),
    RangedBlocks(Box<Ranged<BlockKernels>>),
    Esc(Box<Engine>),
}

impl ChosenEngine {
    /// Chooses an engine, and compiles its kernels.
    fn new(device: &Device, &KernelKey { ref spec, strides, method, costs }: &KernelKey) -> Result<Self> {
        let tuning =
            Tuning::new(device.info(), spec.a, spec.b).with_strides(strides).with_method(device.info(), method);
        Ok(match (EngineChoice::new(device.info(), spec, &tuning, method, costs), tuning.payload) {
            (EngineChoice::Ranges(ranges), PayloadKind::Values) => {
                Self::Ranged(Box::new(Ranged::new(device, spec, tuning, &ranges)?))
            }
            (EngineChoice::Ranges(ranges), PayloadKind::Pairs) => {
                Self::RangedBlocks(Box::new(Ranged::new(device, spec, tuning, &ranges)?))
            }
            (EngineChoice::Adaptive(teams, adaptive), _) => {
                Self::Adaptive(Box::new(Adaptive::new(device, teams, spec, tuning, &adaptive)?))
            }
            (EngineChoice::Esc, _) => Self::Esc(Box::new(Engine::new(device, spec, tuning, method, costs)?)),
        })
    }
}
