//! Sums to which work-items add in the order in which they arrive: `cl/apply/spmv/arrival.cl`.
use crate::{DeviceInfo, Error, Result, Semiring, device::Options, element::ElementType};

/// Adds the macros of `arrival.cl` for sums of vectors of `element`.
///
/// # Errors
/// [`Error::Unsupported`] if sums have 64 bits and the device does not exchange them atomically.
pub(super) fn options(
    info: &DeviceInfo,
    element: ElementType,
    semiring: Semiring,
    options: Options,
) -> Result<Options> {
    let arithmetic = element.arithmetic();
    let wide = arithmetic.bytes() == 8;
    if wide && !info.long_atomics {
        return Err(Error::Unsupported {
            device: info.name.clone(),
            feature: "atomic operations of 64 bits (cl_khr_int64_base_atomics)",
            hint: "formats that do not end in -atomic need none".into(),
        });
    }
    let floating = semiring.adds() && [ElementType::F32, ElementType::F64].contains(&arithmetic);
    let options = options.define("WIDE", u8::from(wide));
    Ok(options.define("FLOATING", u8::from(floating)))
}

#[cfg(test)]
mod tests {
    use crate::interleave::{Words, interleave};

    /// A model of `add_on_arrival`: `cl/apply/spmv/arrival.cl`. The sum may be read in halves.
    async fn add_on_arrival(sum: &Words, term: f64, halves: bool) {
        let plus = |bits: usize| (f64::from_bits(bits as u64) + term).to_bits() as usize;
        let mut expected = if halves { sum.load_halves(0).await } else { sum.load(0).await };
        let mut found = sum.cmpxchg(0, expected, plus(expected)).await;
        while found != expected {
            expected = found;
            found = sum.cmpxchg(0, expected, plus(expected)).await;
        }
    }

    /// Sums of whole numbers are exact, so they do not depend on the order.
    #[test]
    fn no_term_is_lost_in_any_order() {
        for (seed, halves) in (0..80).flat_map(|seed| [(seed, false), (seed, true)]) {
            let sum = Words::new([0.0f64.to_bits() as usize]);
            let terms = (0..12).map(|i| f64::from(1 << i) - 100.0);
            interleave(terms.clone().map(|term| add_on_arrival(&sum, term, halves)), seed);
            assert_eq!(f64::from_bits(sum.values()[0] as u64), terms.sum::<f64>(), "seed {seed}");
        }
    }
}
