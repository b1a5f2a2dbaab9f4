//! The regrets of all products in a few numbers.
use super::super::contest::Contest;
use super::super::record::quantile;
use super::families;
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
    fn of<'c>(contests: impl Iterator<Item = &'c Contest>, regret: impl Fn(&Contest) -> Option<f64>) -> Option<Self> {
        let of_each: Vec<_> = contests.filter_map(|of| Some((regret(of)?, &of.matrix))).collect();
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

/// Regrets of the products of families to which no costs are fitted.
#[derive(Serialize)]
pub struct HeldOut {
    pub families: usize,
    pub products: usize,
    #[serde(flatten)]
    pub regrets: Regrets,
    /// Those of the choice alone.
    pub of_choice: Regrets,
}

impl HeldOut {
    /// `None` if there is no such product with times.
    fn of(contests: &[Contest]) -> Option<Self> {
        let held_out = || contests.iter().filter(|of| families::is_held_out(&of.family) && of.regret().is_some());
        let mut families: Vec<&str> = held_out().map(|of| of.family.as_str()).collect();
        families.sort_unstable();
        families.dedup();
        Some(Self {
            families: families.len(),
            products: held_out().count(),
            regrets: Regrets::of(held_out(), Contest::regret)?,
            of_choice: Regrets::of(held_out(), Contest::regret_of_choice)?,
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
    /// Both of the families to which no costs are fitted.
    pub held_out: Option<HeldOut>,
    /// Products whose choice was the fastest method: their regret is the noise.
    pub right: usize,
    /// The mean and the worst regret of the other products, and which has that.
    pub wrong: Option<(f64, f64, String)>,
    /// How often each method was the fastest.
    pub best: Vec<(String, usize)>,
}

impl Summary {
    /// `None` if there is no product with times. Those without products have no choice, and do not
    /// count.
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
            let auto = contest.entrants.iter().find(|entrant| entrant.method == Method::Auto);
            let best = contest.best().map(|best| best.method);
            auto.is_some_and(|auto| auto.bins.iter().all(|bin| Some(bin.method) == best || bin.products == 0))
        };
        let (right, wrong): (Vec<_>, Vec<_>) = chosen().partition(is_right);
        let wrong: Vec<_> = wrong.iter().filter_map(|of| Some((of.regret()?, &of.matrix))).collect();
        let mean = wrong.iter().map(|(regret, _)| regret).sum::<f64>() / wrong.len() as f64;
        let worst_wrong = wrong.iter().max_by(|one, other| one.0.total_cmp(&other.0));
        best.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        Some(Self {
            products: contests.iter().filter(|of| of.regret().is_some()).count(),
            regrets: Regrets::of(contests.iter(), Contest::regret)?,
            of_choice: Regrets::of(contests.iter(), Contest::regret_of_choice)?,
            held_out: HeldOut::of(contests),
            right: right.len(),
            wrong: worst_wrong.map(|(worst, of)| (mean, *worst, (*of).clone())),
            best,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::contest::Entrant;
    use super::*;

    /// A product whose choice takes so many times as long as the fastest method.
    fn contest(family: &str, times: f64) -> Contest {
        let entrant = |method: Method, ms: f64| Entrant {
            name: method.to_string(),
            method,
            verified: true,
            runs_ms: vec![ms],
            ms: Some(ms),
            spread: None,
            peak_device_bytes: 0,
            launches: if method == Method::Auto { 1 } else { 2 },
            bins: Vec::new(),
            stages: Vec::new(),
        };
        let entrants = vec![entrant(Method::Auto, times), entrant(Method::Esc, 1.0)];
        let matrix = format!("{family}:1e4");
        Contest { matrix, family: family.into(), products: 1, entrants, ..Contest::default() }
    }

    #[test]
    fn families_of_the_fit_are_not_among_those_held_out() {
        let all = [contest("grid-5", 9.0), contest("arrow", 2.0), contest("arrow", 3.0), contest("geometric", 1.0)];
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
        let empty = Contest { products: 0, ..contest("arrow", 4.0) };
        assert_eq!([empty.regret(), empty.regret_of_choice()], [None, None]);
        let all = [contest("arrow", 2.0), empty];
        let summary = Summary::of(&all).unwrap();
        assert_eq!((summary.products, summary.regrets.worst, summary.of_choice.worst), (1, 1.0, 1.0));
        assert_eq!((summary.right, summary.best), (1, vec![("esc".into(), 1)]));
        assert_eq!(summary.held_out.unwrap().products, 1);
        assert!(Summary::of(&all[1..]).is_none());
    }
}
