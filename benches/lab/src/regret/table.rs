//! The output of a study of regrets as text.
use super::families::stands_for;
use super::formats::{Choice, Contest as OfFormats, USES};
use super::left_out;
use super::methods::{Classes, Cliff, Contest, Entrant, Point, Predicted, Validation};
use super::summary::{ForUses, Regrets, Summary, mean_noise};
use blockmul::Method;
use blockmul_cli::bench::table::{NOTHING, count, number, table};
use blockmul_cli::sizes;

fn percent(part: Option<f64>) -> String {
    part.map_or(NOTHING.into(), |part| format!("{:+.1}", 100.0 * part))
}

/// The same without a sign, of what is not compared.
fn share(part: Option<f64>) -> String {
    number(part.map(|part| 100.0 * part), 1)
}

fn verified(wrong: usize) -> String {
    if wrong == 0 { "yes" } else { "NO" }.into()
}

/// Products of scalars by the choice and the fastest method.
pub fn products(contests: &[Contest]) -> String {
    let header = [
        "matrix",
        "stands for",
        "auto's choice",
        "best",
        "products",
        "auto ms",
        "spread %",
        "best ms",
        "regret %",
        "verified",
    ];
    let rows = contests.iter().map(|contest| {
        let (auto, best) = (contest.entrant(Method::Auto), contest.best());
        [
            format!("{}{}", contest.matrix, if contest.noisy { " *" } else { "" }),
            stands_for(&contest.family).into(),
            auto.map(Entrant::shares).filter(|shares| !shares.is_empty()).unwrap_or(NOTHING.into()),
            best.map_or(NOTHING.into(), |best| best.name.clone()),
            count(contest.products),
            number(contest.auto_ms(), 3),
            share(auto.and_then(|auto| auto.spread)),
            number(best.and_then(|best| best.ms), 3),
            percent(contest.regret()),
            verified(contest.wrong()),
        ]
    });
    table(header, 4, rows)
}

/// The products whose times say little.
pub fn noisy(contests: &[Contest]) -> Option<String> {
    let count = contests.iter().filter(|of| of.noisy).count();
    let repeated = contests.iter().filter(|of| of.noisy && of.repeated).count();
    (count > 0).then(|| {
        format!(
            "* {count} products, {repeated} of them measured again: auto or the fastest method has one time, or a spread \
             above 100 %"
        )
    })
}

pub fn methods_left_out(contests: &[Contest]) -> Option<String> {
    left_out::text(contests.iter().map(|contest| &contest.left_out), " products")
}

pub fn formats_left_out(contests: &[OfFormats]) -> Option<String> {
    left_out::text(contests.iter().map(|contest| &contest.left_out), "")
}

/// The regrets of methods.
pub fn summary(of: &Summary) -> String {
    let best: Vec<_> = of.best.iter().map(|(name, count)| format!("{name} {count}")).collect();
    let wrong = of.wrong.as_ref().map_or(String::new(), |(mean, worst, of)| {
        let [mean, worst] = [mean, worst].map(|part| percent(Some(*part)));
        format!("; the others regret {mean} % in the mean, {worst} % at worst ({of})")
    });
    let regrets = |of: &Regrets| {
        let [mean, median, percentile_95, worst] =
            [of.mean, of.median, of.percentile_95, of.worst].map(|part| percent(Some(part)));
        let of = &of.worst_of;
        format!(
            "{mean} % in the mean, {median} % in the median, {percentile_95} % at the 95th percentile, {worst} % at worst ({of})"
        )
    };
    let held_out = of.held_out.as_ref().map_or(String::new(), |of| {
        format!(
            "of the {} products of {} families to which no costs are fitted: {}\nof the choice on these: {}\n",
            of.products,
            of.families,
            regrets(&of.regrets),
            regrets(&of.of_choice)
        )
    });
    format!(
        "regret of auto on {} products: {}\nof the choice, if a method that launched the same is taken for the same: {}\n\
         {held_out}auto's choice was the fastest method in {} of {}: what regret these have is noise{wrong}\nfastest method: {}",
        of.products,
        regrets(&of.regrets),
        regrets(&of.of_choice),
        of.right,
        of.products,
        best.join(", ")
    )
}

pub fn classes(all: &[Classes]) -> String {
    let header = ["by class", "classes and their fastest", "auto ms", "auto, apart ms", "oracle ms", "regret %"];
    let rows = all.iter().map(|of| {
        let best = of.classes.iter().map(|class| {
            let best = class.contest.best().map_or(NOTHING, |best| best.name.as_str());
            format!("{} {}: {best}", class.columns, class.class)
        });
        [
            of.matrix.clone(),
            best.collect::<Vec<_>>().join("; "),
            number(Some(of.auto_ms), 3),
            number(Some(of.apart_ms), 3),
            number(Some(of.oracle_ms), 3),
            percent(Some(of.apart_ms / of.oracle_ms - 1.0)),
        ]
    });
    let note =
        "each class is a product of its own, with its own analysis: \"apart\" is the sum of auto's times of them";
    format!("{}\n({note})", table(header, 2, rows))
}

pub fn cliffs(all: &[Cliff]) -> String {
    let header =
        ["parameter and threshold", "methods", "from", "to", "largest jump %", "behind", "fastest before, behind, ms"];
    let fastest = |of: &Contest| of.best().map(|best| format!("{} {}", best.name, number(best.ms, 3)));
    let rows = all.iter().map(|cliff| {
        let value = |point: Option<&Point>| point.map_or(NOTHING.into(), |point| point.value.to_string());
        let mut methods: Vec<&str> = cliff.points.iter().map(|point| point.methods.as_str()).collect();
        methods.dedup();
        [
            cliff.what.into(),
            methods.join(" | "),
            value(cliff.points.first()),
            value(cliff.points.last()),
            percent(cliff.jump),
            cliff.at.map_or(NOTHING.into(), |at| at.to_string()),
            cliff.sides.iter().filter_map(fastest).collect::<Vec<_>>().join(", "),
        ]
    });
    table(header, 2, rows)
}

pub fn validation(of: &Validation) -> String {
    let header = ["costs fitted to", "judged by", "regret %", "worst %", "best chosen %"];
    let row = |name: String, predicted: &Predicted| {
        let best = format!("{:.0}", 100.0 * predicted.best);
        [name, predicted.products.to_string(), percent(Some(predicted.regret)), percent(Some(predicted.worst)), best]
    };
    let folds = of.folds.iter().map(|fold| row(fold.families.join(", "), &fold.predicted));
    let present = row("the device's costs".into(), &of.present);
    format!(
        "{}\nchoices by costs that are fitted to a third of the families regret {} % on the others, and are the fastest \
         in {:.0} %",
        table(header, 1, folds.chain([present])),
        percent(Some(of.regret)),
        100.0 * of.best
    )
}

/// The regrets of formats of each family at each number of uses: mean, worst, mean noise.
pub fn families(contests: &[OfFormats]) -> String {
    let header = [
        "matrices",
        "stands for",
        "choices",
        "1 use: regret %",
        "worst",
        "noise",
        "10 uses: regret %",
        "worst",
        "noise",
        "1000 uses: regret %",
        "worst",
        "noise",
        "verified",
    ];
    let mut names: Vec<&str> = Vec::new();
    for contest in contests {
        if !names.contains(&contest.family.as_str()) {
            names.push(&contest.family);
        }
    }
    let rows = names.iter().map(|name| {
        let of: Vec<_> = contests.iter().filter(|contest| contest.family == *name).collect();
        let choices = |uses: u64| of.iter().flat_map(|of| &of.choices).filter(move |choice| choice.uses == uses);
        let [[a, b, c], [d, e, f], [g, h, i]] = USES.map(|uses| {
            let regrets = || choices(uses).map(|choice| choice.regret);
            let worst = regrets().reduce(f64::max);
            let mean = worst.map(|_| regrets().sum::<f64>() / regrets().count() as f64);
            [percent(mean), percent(worst), share(mean_noise(choices(uses)))]
        });
        let count = of.iter().map(|of| of.choices.len()).sum::<usize>().to_string();
        let verified = verified(of.iter().map(|of| of.wrong()).sum());
        [(*name).to_owned(), stands_for(name).to_owned(), count, a, b, c, d, e, f, g, h, i, verified]
    });
    table(header, 2, rows)
}

/// The choices of formats that regret more than the noise, the worst first.
pub fn wrong(contests: &[OfFormats]) -> Option<String> {
    let mut wrong: Vec<(&OfFormats, &Choice)> = contests
        .iter()
        .flat_map(|of| of.choices.iter().map(move |choice| (of, choice)))
        .filter(|(_, choice)| choice.is_wrong())
        .collect();
    wrong.sort_by(|one, other| other.1.regret.total_cmp(&one.1.regret));
    let header = [
        "wrong choices",
        "stored by",
        "values",
        "order",
        "auto's choice",
        "best",
        "rows",
        "entries",
        "longest",
        "uses",
        "auto ms",
        "best ms",
        "regret %",
        "noise %",
    ];
    let rows = wrong.iter().map(|(contest, choice)| {
        [
            contest.matrix.clone(),
            contest.stored.name().into(),
            contest.values.name().into(),
            if choice.any_order { "any" } else { "" }.into(),
            choice.chosen.to_string(),
            choice.best.to_string(),
            contest.a.rows().to_string(),
            contest.a.nnz().to_string(),
            contest.longest_row.to_string(),
            choice.uses.to_string(),
            number(Some(choice.auto_ms), 3),
            number(Some(choice.best_ms), 3),
            percent(Some(choice.regret)),
            share(choice.noise),
        ]
    });
    (!wrong.is_empty()).then(|| table(header, 6, rows))
}

/// The regrets of formats.
pub fn summaries(all: &[ForUses]) -> String {
    let line = |of: &ForUses| {
        let order = if of.any_order { " in any order" } else { "" };
        let regrets =
            |mean, worst| format!("{} % in the mean, {} % at worst", percent(Some(mean)), percent(Some(worst)));
        let wrong = of
            .wrong
            .map_or(String::new(), |(count, mean, worst)| format!("; {count} regret more, {}", regrets(mean, worst)));
        format!(
            "regret of auto for {}, values {}{order}, {} choices: {} ({}); noise {} %; of the formats alone {}\n  auto's \
             choice was the fastest format in {}, within the noise of it in {}{wrong}",
            sizes::count(of.uses as usize, "use"),
            of.values.name(),
            of.choices,
            regrets(of.regrets.mean, of.regrets.worst),
            of.regrets.worst_of,
            share(of.noise),
            regrets(of.of_formats[0], of.of_formats[1]),
            of.right,
            of.as_good,
        )
    };
    all.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noisy_products_are_marked_and_counted() {
        let of = |noisy, repeated| Contest { matrix: "m".into(), noisy, repeated, ..Contest::default() };
        assert!(super::noisy(&[of(false, true)]).is_none() && !products(&[of(false, false)]).contains("m *"));
        let all = [of(true, true), of(false, true), of(true, false)];
        assert!(super::noisy(&all).unwrap().starts_with("* 2 products, 1 of them measured again"));
        assert_eq!(products(&all).matches("m *").count(), 2);
    }
}
