//! Summaries of the regrets of a study.
use super::families;
use super::formats::{Choice, Contest as OfFormats, USES, Values};
use super::methods::Contest;
use blockmul::Method;
use blockmul_cli::bench::record::quantile;
use serde::Serialize;

/// Regrets of several choices.
#[derive(Serialize)]
pub struct Regrets {
    pub mean: f64,
    pub median: f64,
    /// The regret below which 95 of 100 products lie.
    pub percentile_95: f64,
    pub worst: f64,
    /// The name of the matrix with the worst regret.
    pub worst_of: String,
}

impl Regrets {
    /// Summarizes regrets, of which each has the name of its matrix. The function returns `None` if
    /// there are no regrets.
    fn of(each: impl Iterator<Item = (f64, String)>) -> Option<Self> {
        let (regrets, names): (Vec<f64>, Vec<String>) = each.unzip();
        let (worst, worst_of) = regrets.iter().zip(names).max_by(|one, other| one.0.total_cmp(other.0))?;
        Some(Self {
            mean: regrets.iter().sum::<f64>() / regrets.len() as f64,
            median: quantile(&regrets, 0.5)?,
            percentile_95: quantile(&regrets, 0.95)?,
            worst: *worst,
            worst_of,
        })
    }

    fn of_methods<'c>(
        contests: impl Iterator<Item = &'c Contest>,
        regret: impl Fn(&Contest) -> Option<f64>,
    ) -> Option<Self> {
        Self::of(contests.filter_map(|of| Some((regret(of)?, of.matrix.clone()))))
    }
}

/// Regrets of the products of families to which no costs of methods are fitted.
#[derive(Serialize)]
pub struct HeldOut {
    pub families: usize,
    pub products: usize,
    #[serde(flatten)]
    pub regrets: Regrets,
    /// The regrets without noise between equal programs, see [`Contest::regret_of_choice`].
    pub of_choice: Regrets,
}

impl HeldOut {
    /// The summary of the families that no costs were fitted to, or `None` if none of their
    /// products was timed.
    fn of(contests: &[Contest]) -> Option<Self> {
        let held_out = || contests.iter().filter(|of| families::is_held_out(&of.family) && of.regret().is_some());
        let mut families: Vec<&str> = held_out().map(|of| of.family.as_str()).collect();
        families.sort_unstable();
        families.dedup();
        Some(Self {
            families: families.len(),
            products: held_out().count(),
            regrets: Regrets::of_methods(held_out(), Contest::regret)?,
            of_choice: Regrets::of_methods(held_out(), Contest::regret_of_choice)?,
        })
    }
}

/// The regret of the choice of methods, over all products.
#[derive(Serialize)]
pub struct Summary {
    pub products: usize,
    #[serde(flatten)]
    pub regrets: Regrets,
    /// The regrets without noise between equal programs, see [`Contest::regret_of_choice`].
    pub of_choice: Regrets,
    /// The regrets of the families to which no costs of methods are fitted.
    pub held_out: Option<HeldOut>,
    /// Number of products for which only the fastest method was chosen. The regret of products for
    /// which only the fastest method was chosen is noise.
    pub right: usize,
    /// The mean and the worst regret of the other products, and the name of the product with the
    /// worst regret.
    pub wrong: Option<(f64, f64, String)>,
    /// The number of products on which each method was the fastest.
    pub best: Vec<(String, usize)>,
}

impl Summary {
    /// The function returns `None` if no product was timed. Matrices without entries to multiply do
    /// not count, because nothing is chosen for them.
    pub fn of(contests: &[Contest]) -> Option<Self> {
        let chosen = || contests.iter().filter(|of| of.products > 0);
        let mut best: Vec<(String, usize)> = Vec::new();
        for name in chosen().filter_map(Contest::best).map(|entrant| &entrant.name) {
            match best.iter_mut().find(|(known, _)| known == name) {
                Some((_, count)) => *count += 1,
                None => best.push((name.clone(), 1)),
            }
        }
        let is_right = |contest: &&Contest| {
            let best = contest.best().map(|best| best.method);
            let by_best = |bin: &blockmul::product::Bin| Some(bin.method) == best || bin.products == 0;
            contest.entrant(Method::Auto).is_some_and(|auto| auto.bins.iter().all(by_best))
        };
        let (right, wrong): (Vec<_>, Vec<_>) = chosen().partition(is_right);
        best.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        Some(Self {
            products: contests.iter().filter(|of| of.regret().is_some()).count(),
            regrets: Regrets::of_methods(contests.iter(), Contest::regret)?,
            of_choice: Regrets::of_methods(contests.iter(), Contest::regret_of_choice)?,
            held_out: HeldOut::of(contests),
            right: right.len(),
            wrong: Regrets::of_methods(wrong.into_iter(), Contest::regret).map(|of| (of.mean, of.worst, of.worst_of)),
            best,
        })
    }
}

/// The regret of the choice of formats for one number of uses, over all matrices.
#[derive(Serialize)]
pub struct ForUses {
    pub values: Values,
    pub any_order: bool,
    pub uses: u64,
    pub choices: usize,
    #[serde(flatten)]
    pub regrets: Regrets,
    /// The mean and the worst regret of the chosen formats if they are requested by name.
    pub of_formats: [f64; 2],
    /// The mean noise of the choices whose noise is known.
    pub noise: Option<f64>,
    /// Number of choices of the best format. The regret of a choice of the best format is noise,
    /// and the time to choose.
    pub right: usize,
    /// Number of choices of another format whose regret is within the noise.
    pub as_good: usize,
    /// The number of the remaining choices, which are wrong, with their mean and their worst
    /// regret.
    pub wrong: Option<(usize, f64, f64)>,
}

impl ForUses {
    /// The summaries for each number of uses, by the place of the values and by the order of sums.
    pub fn all(contests: &[OfFormats]) -> Vec<Self> {
        let ways = [(Values::InPlace, false), (Values::Packed, false), (Values::Packed, true)];
        let of_way = |&(values, any_order)| USES.map(|uses| Self::of(contests, values, any_order, uses));
        ways.iter().flat_map(of_way).flatten().collect()
    }

    fn of(contests: &[OfFormats], values: Values, any_order: bool, uses: u64) -> Option<Self> {
        let of = contests.iter().filter(|contest| contest.values == values);
        let all: Vec<(&OfFormats, &Choice)> = of
            .flat_map(|of| of.choices.iter().map(move |choice| (of, choice)))
            .filter(|(_, choice)| choice.uses == uses && choice.any_order == any_order)
            .collect();
        let name = |of: &OfFormats| format!("{} by {}", of.matrix, of.stored.name());
        let regrets = |some: &[(&OfFormats, &Choice)], regret: fn(&Choice) -> f64| {
            Regrets::of(some.iter().map(|(of, choice)| (regret(choice), name(of))))
        };
        let (right, others): (Vec<_>, Vec<_>) =
            all.iter().copied().partition(|(_, choice)| choice.chosen == choice.best);
        let wrong: Vec<_> = others.iter().copied().filter(|(_, choice)| choice.is_wrong()).collect();
        let of_formats = regrets(&all, |choice| choice.of_format)?;
        Some(Self {
            values,
            any_order,
            uses,
            choices: all.len(),
            regrets: regrets(&all, |choice| choice.regret)?,
            of_formats: [of_formats.mean, of_formats.worst.max(0.0)],
            noise: mean_noise(all.iter().map(|(_, choice)| *choice)),
            right: right.len(),
            as_good: others.len() - wrong.len(),
            wrong: regrets(&wrong, |choice| choice.regret).map(|of| (wrong.len(), of.mean, of.worst)),
        })
    }
}

/// The mean noise of the choices whose noise is known.
pub fn mean_noise<'c>(choices: impl Iterator<Item = &'c Choice>) -> Option<f64> {
    let known: Vec<f64> = choices.filter_map(|choice| choice.noise).collect();
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::regret::methods::contest;

    /// A product for which `auto` takes `times` times as long as the fastest method.
    fn contest_of(family: &str, times: f64) -> Contest {
        let of = contest::tests::contest(&[(Method::Auto, 1, &[times]), (Method::Esc, 2, &[1.0])]);
        Contest { matrix: format!("{family}:1e4"), family: family.into(), ..of }
    }

    #[test]
    fn families_of_the_fit_are_not_among_those_held_out() {
        let all = [
            contest_of("grid-5", 9.0),
            contest_of("arrow", 2.0),
            contest_of("arrow", 3.0),
            contest_of("geometric", 1.0),
        ];
        let summary = Summary::of(&all).unwrap();
        let held_out = summary.held_out.unwrap();
        assert_eq!((summary.products, summary.regrets.worst), (4, 8.0));
        assert_eq!((held_out.families, held_out.products), (2, 3));
        assert_eq!((held_out.regrets.mean, held_out.of_choice.worst), (1.0, 2.0));
        assert_eq!(held_out.regrets.worst_of, "arrow:1e4");
        assert!(Summary::of(&all[..1]).unwrap().held_out.is_none());
    }

    #[test]
    fn what_has_no_products_has_no_regret() {
        let empty = Contest { products: 0, ..contest_of("arrow", 4.0) };
        assert_eq!([empty.regret(), empty.regret_of_choice()], [None, None]);
        let all = [contest_of("arrow", 2.0), empty];
        let summary = Summary::of(&all).unwrap();
        assert_eq!((summary.products, summary.regrets.worst, summary.of_choice.worst), (1, 1.0, 1.0));
        assert_eq!((summary.right, summary.best), (1, vec![("esc".into(), 1)]));
        assert_eq!(summary.held_out.unwrap().products, 1);
        assert!(Summary::of(&all[1..]).is_none());
    }
}
