//! The regrets of all products in a few numbers.
use super::super::contest::Contest;
use super::super::record::quantile;
use blockmul::Method;
use serde::Serialize;

/// Regrets of several products.
#[derive(Serialize)]
pub struct Regrets {
    pub mean: f64,
    pub median: f64,
    /// 95 of 100 regret less.
    pub percentile_95: f64,
    pub worst: f64,
    /// The product with the worst regret.
    pub worst_of: String,
}

impl Regrets {
    /// `None` if no product has a regret.
    fn of(contests: &[Contest], regret: impl Fn(&Contest) -> Option<f64>) -> Option<Self> {
        let of_each: Vec<_> = contests.iter().filter_map(|of| Some((regret(of)?, &of.matrix))).collect();
        let regrets: Vec<f64> = of_each.iter().map(|(regret, _)| *regret).collect();
        let &(worst, of) = of_each.iter().max_by(|one, other| one.0.total_cmp(&other.0))?;
        Some(Self {
            mean: regrets.iter().sum::<f64>() / regrets.len() as f64,
            median: quantile(&regrets, 0.5)?,
            percentile_95: quantile(&regrets, 0.95)?,
            worst,
            worst_of: of.clone(),
        })
    }
}

/// What the choice takes more than the fastest method, over all products.
#[derive(Serialize)]
pub struct Summary {
    pub products: usize,
    #[serde(flatten)]
    pub regrets: Regrets,
    /// Those of the choice alone: a method that launched what the choice did is taken for the same
    /// program.
    pub of_choice: Regrets,
    /// Products whose choice was the fastest method: their regret is the noise.
    pub right: usize,
    /// The mean and the worst regret of the other products, and which has that.
    pub wrong: Option<(f64, f64, String)>,
    /// How often each method was the fastest.
    pub best: Vec<(String, usize)>,
}

impl Summary {
    /// `None` if there is no product with times.
    pub fn of(contests: &[Contest]) -> Option<Self> {
        let mut best: Vec<(String, usize)> = Vec::new();
        for name in contests.iter().filter_map(Contest::best).map(|entrant| &entrant.name) {
            match best.iter_mut().find(|(known, _)| known == name) {
                Some((_, count)) => *count += 1,
                None => best.push((name.clone(), 1)),
            }
        }
        let is_right = |contest: &&Contest| {
            let auto = contest.entrants.iter().find(|entrant| entrant.method == Method::Auto);
            let best = contest.best().map(|best| best.method);
            auto.is_some_and(|auto| auto.bins.iter().all(|bin| Some(bin.method) == best || bin.products == 0))
        };
        let (right, wrong): (Vec<_>, Vec<_>) = contests.iter().partition(is_right);
        let wrong: Vec<_> = wrong.iter().filter_map(|of| Some((of.regret()?, &of.matrix))).collect();
        let mean = wrong.iter().map(|(regret, _)| regret).sum::<f64>() / wrong.len() as f64;
        let worst_wrong = wrong.iter().max_by(|one, other| one.0.total_cmp(&other.0));
        best.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        Some(Self {
            products: contests.iter().filter(|of| of.regret().is_some()).count(),
            regrets: Regrets::of(contests, Contest::regret)?,
            of_choice: Regrets::of(contests, Contest::regret_of_choice)?,
            right: right.len(),
            wrong: worst_wrong.map(|(worst, of)| (mean, *worst, (*of).clone())),
            best,
        })
    }
}
