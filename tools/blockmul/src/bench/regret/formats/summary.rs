//! The regrets of choices in a few numbers.
use super::choice::Choice;
use super::contest::{Contest, USES, Values};
use serde::Serialize;

/// What choices for one number of uses take more than the best format, over all matrices.
#[derive(Serialize)]
pub struct Summary {
    pub values: Values,
    pub any_order: bool,
    pub uses: u64,
    pub choices: usize,
    pub mean: f64,
    pub worst: f64,
    pub worst_of: String,
    /// The mean and the worst regret of the chosen formats asked for by name.
    pub of_formats: [f64; 2],
    /// The mean noise of the choices of which it is known.
    pub noise: Option<f64>,
    /// Choices that were the best format: their regret is the noise, and what choosing takes.
    pub right: usize,
    /// Choices of another format whose regret is not beyond the noise.
    pub as_good: usize,
    /// The number of other choices, their mean and their worst regret.
    pub wrong: Option<(usize, f64, f64)>,
}

impl Summary {
    /// One for each number of uses, by where values are and by order.
    pub fn all(contests: &[Contest]) -> Vec<Self> {
        let ways = [(Values::InPlace, false), (Values::Packed, false), (Values::Packed, true)];
        ways.iter().flat_map(|&way| USES.map(|uses| Self::of(contests, way, uses))).flatten().collect()
    }

    fn of(contests: &[Contest], (values, any_order): (Values, bool), uses: u64) -> Option<Self> {
        let of = contests.iter().filter(|contest| contest.values == values);
        let all: Vec<(&Contest, &Choice)> = of
            .flat_map(|of| of.choices.iter().map(move |choice| (of, choice)))
            .filter(|(_, choice)| choice.uses == uses && choice.any_order == any_order)
            .collect();
        let (worst, choice) = all.iter().max_by(|one, other| one.1.regret.total_cmp(&other.1.regret))?;
        let mean = |choices: &[&Choice], of: fn(&Choice) -> f64| {
            choices.iter().map(|choice| of(choice)).sum::<f64>() / choices.len() as f64
        };
        let choices: Vec<&Choice> = all.iter().map(|(_, choice)| *choice).collect();
        let (best, others): (Vec<&Choice>, Vec<_>) = choices.iter().partition(|choice| choice.chosen == choice.best);
        let wrong: Vec<&Choice> = others.iter().copied().filter(|choice| choice.is_wrong()).collect();
        let worst_format = choices.iter().map(|choice| choice.of_format).fold(0.0, f64::max);
        let worst_wrong = wrong.iter().map(|choice| choice.regret).reduce(f64::max);
        Some(Self {
            values,
            any_order,
            uses,
            choices: choices.len(),
            mean: mean(&choices, |choice| choice.regret),
            worst: choice.regret,
            worst_of: format!("{} by {}", worst.matrix, worst.stored.name()),
            of_formats: [mean(&choices, |choice| choice.of_format), worst_format],
            noise: mean_noise(choices.iter().copied()),
            right: best.len(),
            as_good: others.len() - wrong.len(),
            wrong: worst_wrong.map(|worst| (wrong.len(), mean(&wrong, |choice| choice.regret), worst)),
        })
    }
}

/// The mean noise of the choices of which it is known.
pub fn mean_noise<'c>(choices: impl Iterator<Item = &'c Choice>) -> Option<f64> {
    let known: Vec<f64> = choices.filter_map(|choice| choice.noise).collect();
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
}
