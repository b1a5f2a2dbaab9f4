//! The iteration, which decides which steps are taken, how damping changes, and when to end. This
//! code is compiled once for all problems.
use super::{
    Clock, Iteration, Normal, Options, Solution, Stop,
    capped::Rows,
    convergence::{self, ROUNDING, Trial},
    damping::DampingRule,
    linear::Solver,
};
use crate::{
    Device, Result,
    events::ms,
    solver::problem::{LeastSquares, Linearization},
};
use std::{ops::ControlFlow, time::Instant};

/// A problem at a state.
pub trait Walk {
    fn prepare(&self, device: &Device) -> Result<Linearization>;

    /// Tries the state after a step.
    fn step(&mut self, step: &[Vec<f64>]) -> Result<()>;

    /// Linearizes the state that is tried, or the current state if no state is tried.
    fn linearize(&self, to: &mut Linearization) -> Result<f64>;

    /// Makes the tried state the current state if `taken` is true, or discards it.
    fn settle(&mut self, taken: bool);
}

/// A problem of some type at a state.
pub struct At<'p, P: LeastSquares> {
    pub problem: &'p P,
    pub state: P::State,
    /// The state that is tried.
    pub next: Option<P::State>,
}

impl<P: LeastSquares> Walk for At<'_, P> {
    fn prepare(&self, device: &Device) -> Result<Linearization> {
        self.problem.prepare(device)
    }

    fn step(&mut self, step: &[Vec<f64>]) -> Result<()> {
        self.next = Some(self.problem.moved(&self.state, step)?);
        Ok(())
    }

    fn linearize(&self, to: &mut Linearization) -> Result<f64> {
        self.problem.linearize(self.next.as_ref().unwrap_or(&self.state), to)
    }

    fn settle(&mut self, taken: bool) {
        if let Some(next) = self.next.take().filter(|_| taken) {
            self.state = next;
        }
    }
}

/// Lowers the cost, starting from the current state.
pub fn iterate(
    walk: &mut dyn Walk,
    device: &Device,
    options: &Options,
    each: &mut dyn FnMut(&Iteration) -> ControlFlow<()>,
) -> Result<Solution<()>> {
    let began = Clock::start(device);
    let mut linearization = walk.prepare(device)?;
    Solver::ask(linearization.jacobian(), options.linear)?;
    let mut normal = Normal::new(&linearization)?;
    let mut solver = Solver::new(&normal, options.linear)?;
    let plan_ms = began.ms();

    let clock = Instant::now();
    let initial_cost = walk.linearize(&mut linearization)?;
    let mut residuals_ms = ms(clock);
    let mut rows = Rows::new(&linearization);
    let mut cost = rows.judge(initial_cost, &linearization);
    let mut damping = DampingRule::new(options);
    let (mut iterations, mut stop, mut fresh, mut singular) = (Vec::new(), Stop::Iterations, true, None);
    // `further` says whether conjugate gradients solve the next system beyond their limits, because
    // it may be the last system.
    let (mut not_finite, mut further) = (None, false);
    if !initial_cost.is_finite() {
        (stop, not_finite) = (Stop::Failed, linearization.least_finite_row()?);
    }
    rows.keep(&mut linearization);
    while stop == Stop::Iterations && (iterations.len() as u32) < options.iterations {
        let clock = Clock::start(device);
        if fresh {
            normal.form(&linearization)?;
            if !normal.is_finite() {
                (stop, not_finite) = (Stop::Failed, linearization.least_finite_row()?);
                break;
            }
        }
        let mut products_ms = clock.ms();
        if convergence::is_minimum(&cost, normal.relative_gradient(cost.capped)) {
            stop = Stop::Converged;
            break;
        }
        let clock = Clock::start(device);
        let step = solver.solve(&normal, damping.lambda, further)?;
        // In a step, products run first, so the wait for their kernels is part of their time.
        let in_products = clock.kernels_ms().min(step.products_ms);
        products_ms += step.products_ms - in_products;
        singular = step.singular;
        let linear_ms = (step.linear_ms - (clock.kernels_ms() - in_products)).max(0.0);
        let mut iteration = Iteration {
            iteration: iterations.len() as u32 + 1,
            cost: cost.all,
            gradient: normal.gradient(),
            lambda: damping.lambda,
            linear_ms,
            conjugate_steps: step.conjugate_steps,
            ..Iteration::default()
        };
        let (mut taken, mut converged, solved) = (false, false, step.x.is_some());
        let is_light = damping.is_light();
        if let Some(x) = step.x {
            iteration.step = length(&x);
            walk.step(&x)?;
            let clock = Instant::now();
            // The normal equations are already formed, so J may be overwritten whether or not this
            // step is taken.
            let next_cost = walk.linearize(&mut linearization)?;
            residuals_ms += ms(clock);
            let next_cost = rows.judge(next_cost, &linearization);
            let gain = cost.of_unknowns - next_cost.of_unknowns;
            let promised = normal.promised(&x, damping.lambda);
            let by_damping = normal.damping(&x, damping.lambda);
            taken = damping.take(gain, promised);
            let trial = Trial { gain, promised, damping: by_damping, taken };
            let is_last = is_light && trial.is_last(&cost, options.tolerance);
            // Even if λ is small, a floor may hold back an unknown.
            let is_free = || !normal.is_held_back(cost.capped, iteration.lambda, options.tolerance.max(ROUNDING));
            (converged, further) = (is_last && !step.is_rough && is_free(), is_last && step.is_rough);
            walk.settle(taken);
            if taken {
                cost = next_cost;
                rows.keep(&mut linearization);
            } else if !next_cost.all.is_finite() && damping.end().is_some() {
                not_finite = linearization.least_finite_row()?;
            }
        } else {
            damping.unsolved();
        }
        fresh = taken;
        iteration = Iteration { cost_after: cost.all, taken, residuals_ms, products_ms, ..iteration };
        residuals_ms = 0.0;
        let flow = each(&iteration);
        iterations.push(iteration);
        match damping.end() {
            _ if converged => stop = Stop::Converged,
            Some(end) if !taken => stop = if solved { end } else { Stop::Failed },
            _ if flow.is_break() => stop = Stop::Interrupted,
            _ => {}
        }
    }
    Ok(Solution {
        state: (),
        initial_cost,
        cost: cost.all,
        iterations,
        stop,
        singular: singular.filter(|_| stop == Stop::Failed),
        without_influence: normal.without_influence(),
        not_finite: not_finite.filter(|_| stop == Stop::Failed),
        dominant: rows.dominant(),
        system: solver.system(),
        plan_ms,
        total_ms: began.ms(),
        kernels_ms: began.kernels_ms(),
    })
}

fn length(step: &[Vec<f64>]) -> f64 {
    step.iter().flatten().fold(0.0, |sum, x| sum + x * x).sqrt()
}
