//! [`Random`], the only source of random numbers.
use std::collections::BTreeSet;

/// The generator SplitMix64 (Steele, Lea, Flood: *Fast Splittable Pseudorandom Number Generators*,
/// OOPSLA 2014, with the constants of Vigna's reference code). A counter steps by the golden ratio
/// and is mixed to 64 bits; its period is 2^64.
///
/// The generator is small and fast, and gives the same numbers on every platform. This generator is
/// not suitable for secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Starts the sequence for `seed`. Each seed has its own sequence.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number that is uniform in 0 to 1 (without 1): a multiple of 2^-53.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A normal deviate of mean 0 and variance 1. The method is Marsaglia's polar method
    /// (Marsaglia, Bray: *A Convenient Method for Generating Normal Variables*, 1964). Marsaglia's
    /// polar method makes two deviates at a time, and only one of the two is used.
    pub fn normal(&mut self) -> f64 {
        loop {
            let (x, y) = (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                return x * (-2.0 * libm::log(square) / square).sqrt();
            }
        }
    }

    /// A number that is uniform in `0..bound`, without bias (Lemire: *Fast Random Integer
    /// Generation in an Interval*, 2019); 0 if `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        let mut product = u128::from(self.bits()) * u128::from(bound);
        if (product as u64) < bound {
            let unfair = bound.wrapping_neg() % bound;
            while (product as u64) < unfair {
                product = u128::from(self.bits()) * u128::from(bound);
            }
        }
        (product >> 64) as u64
    }

    /// Draws `count` different numbers from `0..bound`, ascending, or all numbers if `bound` is
    /// smaller than `count`.
    ///
    /// The method is Floyd's (Bentley: *Programming Pearls*, CACM, September 1987). The method
    /// needs `count` draws, even if `count` is close to `bound`.
    pub fn distinct(&mut self, count: u64, bound: u64) -> Vec<u64> {
        let mut numbers = BTreeSet::new();
        for last in bound.saturating_sub(count)..bound {
            let draw = self.below(last + 1);
            if !numbers.insert(draw) {
                numbers.insert(last);
            }
        }
        numbers.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values that the reference code in C gives for seed 1234567.
    #[test]
    fn is_splitmix64() {
        let mut random = Random::new(1234567);
        let expected = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431];
        assert_eq!([(); 4].map(|()| random.bits()), expected);
    }

    #[test]
    fn below_stays_below_and_reaches_everything() {
        let mut random = Random::new(1);
        let mut seen = [0; 7];
        (0..7000).for_each(|_| seen[random.below(7) as usize] += 1);
        // Each number is drawn 1000 times on average, with a standard deviation of 29.
        assert!(seen.iter().all(|count| (850..1150).contains(count)), "{seen:?}");
        assert_eq!((random.below(0), random.below(1)), (0, 0));
        assert!((0..100).all(|_| random.below(u64::MAX) < u64::MAX));
    }

    #[test]
    fn normal_numbers_have_the_moments_of_the_distribution() {
        let mut random = Random::new(3);
        let numbers: Vec<_> = (0..100_000).map(|_| random.normal()).collect();
        let moment = |power| numbers.iter().map(|x: &f64| x.powi(power)).sum::<f64>() / 1e5;
        // Each tolerance is four standard deviations of the mean. For x⁴ one standard deviation is
        // 0.03.
        for (power, mean, near) in [(1, 0.0, 0.013), (2, 1.0, 0.018), (3, 0.0, 0.05), (4, 3.0, 0.125)] {
            assert!((moment(power) - mean).abs() < near, "{power}: {}", moment(power));
        }
        let beyond = numbers.iter().filter(|x| x.abs() > 2.0).count();
        assert!((4287..4813).contains(&beyond), "{beyond} of 4550");
    }

    #[test]
    fn distinct_numbers_are_distinct_and_evenly_drawn() {
        let mut random = Random::new(2);
        let mut seen = [0; 10];
        for _ in 0..1000 {
            let numbers = random.distinct(3, 10);
            assert!(numbers.len() == 3 && numbers.windows(2).all(|pair| pair[0] < pair[1]));
            numbers.iter().for_each(|&number| seen[number as usize] += 1);
        }
        // Each number is drawn 300 times on average, with a standard deviation of 14.
        assert!(seen.iter().all(|count| (230..370).contains(count)), "{seen:?}");
        assert_eq!(random.distinct(4, 4), [0, 1, 2, 3]);
        assert_eq!(random.distinct(9, 4), [0, 1, 2, 3]);
        assert!(random.distinct(0, 4).is_empty());
    }
}
