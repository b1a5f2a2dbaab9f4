//! Verifies, warms up and times one product.
use super::record::{Record, Sizes};
use crate::messages::{Messages, Unit};
use blockmul::{Device, Matrix, Method, Product, Result, host::Progress, reference};
use std::{cell::OnceCell, time::Instant};

/// Least number of rounds: with fewer, a single round could determine the median.
const LEAST_ROUNDS: u32 = 3;

pub struct Patience {
    pub rounds: u32,
    pub seconds: f64,
}

/// A device and its copy bandwidth in GB/s, measured on first use.
pub struct Place {
    pub device: Device,
    copy_gb_s: OnceCell<f64>,
}

impl Place {
    pub fn new(device: Device) -> Self {
        Self { device, copy_gb_s: OnceCell::new() }
    }

    /// The copy bandwidth, measured once in a run, before the first product.
    pub fn copy_gb_s(&self, messages: &Messages) -> Result<f64> {
        if let Some(&known) = self.copy_gb_s.get() {
            return Ok(known);
        }
        let info = self.device.info();
        messages.step(format!("measuring how fast {} copies", info.name));
        let copy_gb_s = self.device.copy_bandwidth()? / 1e9;
        messages.say(&format!("device: {} ({}), copies {copy_gb_s:.0} GB/s", info.name, info.platform));
        Ok(*self.copy_gb_s.get_or_init(|| copy_gb_s))
    }
}

pub struct Bench<'a> {
    pub devices: Vec<Place>,
    pub methods: Vec<Method>,
    pub patience: Patience,
    pub messages: &'a Messages,
}

impl Bench<'_> {
    /// Measures A·B (A·A without B) on every device by every method.
    pub fn measure<M: Matrix>(&self, name: String, a: &M, b: Option<&M>) -> Result<Vec<Result<Record>>> {
        self.messages.step(format!("{name}: the reference"));
        let want = reference::multiply(a, b.unwrap_or(a))?;
        let mut all = Vec::new();
        for place in &self.devices {
            let copy_gb_s = place.copy_gb_s(self.messages)?;
            for &method in &self.methods {
                let sizes = Sizes::new(&name, &place.device, copy_gb_s, method, (a, b.unwrap_or(a), &want));
                all.push(self.time(&place.device, sizes, method, (a, b, &want)));
            }
        }
        Ok(all)
    }

    fn time<M: Matrix>(
        &self,
        device: &Device,
        sizes: Sizes,
        method: Method,
        (a, b, want): (&M, Option<&M>, &M),
    ) -> Result<Record> {
        let progress = self.messages.measured(format!("{} on {}", sizes.what(), device.info().name), Unit::Runs);
        let a = device.upload(a)?;
        let b = b.map(|b| device.upload(b)).transpose()?;
        let b = b.as_ref().unwrap_or(&a);
        let product = Product::of(&a, b).method(method);
        let (c, first) = product.run_with_report()?;
        if !equal(&c.download()?, want) {
            return Ok(Record::wrong(sizes, &first));
        }
        drop(c);
        product.run()?;
        device.finish()?;

        // C returns to the pool before the next run.
        let runs = self.patience.rounds(&progress, || Ok(product.run_with_report()?.1))?;
        Ok(Record::right(sizes, &runs))
    }
}

impl Patience {
    /// The results of `run` in each round.
    pub fn rounds<R>(&self, progress: &Progress, mut run: impl FnMut() -> Result<R>) -> Result<Vec<R>> {
        let (start, mut runs) = (Instant::now(), Vec::new());
        for round in 0..self.rounds {
            if round >= LEAST_ROUNDS && start.elapsed().as_secs_f64() > self.seconds {
                break;
            }
            progress.tell(round.into(), self.rounds.into());
            runs.push(run()?);
        }
        Ok(runs)
    }
}

/// Compares bit for bit: a zero of the other sign is another result.
fn equal<M: Matrix>(c: &M, want: &M) -> bool {
    let (c, want) = (c.as_cbc(), want.as_cbc());
    let bits = |values: &[M::Element]| bytemuck::cast_slice::<M::Element, u8>(values).to_vec();
    c.pattern == want.pattern && (c.shape, c.stride) == (want.shape, want.stride) && bits(c.values) == bits(want.values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::table;
    use blockmul::Csc;

    #[test]
    fn a_result_that_is_not_the_reference_s_is_not_timed_and_said_to_be_wrong() {
        let wanted = std::env::var("BLOCKMUL_TEST_DEVICE").unwrap_or("auto".into());
        let device = Device::select(&wanted).unwrap();
        let messages = Messages::new(true);
        let patience = Patience { rounds: 2, seconds: 1.0 };
        let bench = Bench { devices: Vec::new(), methods: Vec::new(), patience, messages: &messages };
        let a = Csc::from_triplets(2, 2, [(0, 0, 2.0), (1, 1, 0.0)]).unwrap();
        let with = |values: [f64; 2]| Csc::new(a.pattern().clone(), values.to_vec()).unwrap();
        // The product; one bit different; a zero of the other sign; another pattern.
        let more = Csc::from_triplets(2, 2, [(0, 0, 4.0), (1, 0, 0.0), (1, 1, 0.0)]).unwrap();
        for (want, right) in [
            (with([4.0, 0.0]), true),
            (with([4.0f64.next_up(), 0.0]), false),
            (with([4.0, -0.0]), false),
            (more, false),
        ] {
            let sizes = Sizes::new("a", &device, 1.0, Method::Esc, (&a, &a, &want));
            let record = bench.time(&device, sizes, Method::Auto, (&a, None, &want)).unwrap();
            assert_eq!(
                (record.verified, record.runs_ms.len(), record.ms.is_some()),
                (right, 2 * usize::from(right), right)
            );
            let text = table::text(&[record], true);
            assert_eq!((text.contains("NO"), text.contains("compression")), (!right, right), "{text}");
        }
    }
}
