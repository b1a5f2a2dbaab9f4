//! The findings of a study of regrets as text.
use super::families::stands_for;
use super::formats::{Choice, Contest as OfFormats, USES};
use super::methods::{Classes, Cliff, Contest, Entrant, Point, Predicted, Validation};
use super::summary::{ForUses, Regrets, Summary, mean_noise};
use blockmul::Method;
use blockmul_cli::sizes;
use blockmul_cli::table::{NOTHING, count, named, number};

fn percent(part: Option<f64>) -> String {
    part.map_or(NOTHING.into(), |part| format!("{:+.1}", 100.0 * part))
}

/// A fraction as a percentage, without the sign.
fn share(part: Option<f64>) -> String {
    number(part.map(|part| 100.0 * part), 1)
}

fn verified(wrong: usize) -> String {
    if wrong == 0 { "yes" } else { "NO" }.into()
}

/// The times of `auto` and of the fastest method for products of scalars.
pub fn products(contests: &[Contest]) -> String {
    let rows = contests.iter().map(|contest| {
        let (auto, best) = (contest.entrant(Method::Auto), contest.best());
        [
            ("matrix", format!("{}{}", contest.matrix, if contest.noisy { " *" } else { "" })),
            ("stands for", stands_for(&contest.family).into()),
            ("auto's choice", auto.map(Entrant::shares).filter(|shares| !shares.is_empty()).unwrap_or(NOTHING.into())),
            ("best", best.map_or(NOTHING.into(), |best| best.name.clone())),
            ("products", count(contest.products)),
            ("auto ms", number(contest.auto_ms(), 3)),
            ("spread %", share(auto.and_then(|auto| auto.spread))),
            ("best ms", number(best.and_then(|best| best.ms), 3)),
            ("regret %", percent(contest.regret())),
            ("verified", verified(contest.wrong())),
        ]
    });
    named(4, rows)
}

/// Returns a note about the products whose times are unreliable.
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

/// Returns the lines about the regrets of methods.
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
    let rows = all.iter().map(|of| {
        let best = of.classes.iter().map(|class| {
            let best = class.contest.best().map_or(NOTHING, |best| best.name.as_str());
            format!("{} {}: {best}", class.columns, class.class)
        });
        [
            ("by class", of.matrix.clone()),
            ("classes and their fastest", best.collect::<Vec<_>>().join("; ")),
            ("auto ms", number(Some(of.auto_ms), 3)),
            ("auto, apart ms", number(Some(of.apart_ms), 3)),
            ("oracle ms", number(Some(of.oracle_ms), 3)),
            ("regret %", percent(Some(of.apart_ms / of.oracle_ms - 1.0))),
        ]
    });
    let note =
        "each class is a product of its own, with its own analysis: \"apart\" is the sum of auto's times of them";
    format!("{}\n({note})", named(2, rows))
}

pub fn cliffs(all: &[Cliff]) -> String {
    let fastest = |of: &Contest| of.best().map(|best| format!("{} {}", best.name, number(best.ms, 3)));
    let rows = all.iter().map(|cliff| {
        let value = |point: Option<&Point>| point.map_or(NOTHING.into(), |point| point.value.to_string());
        let mut methods: Vec<&str> = cliff.points.iter().map(|point| point.methods.as_str()).collect();
        methods.dedup();
        [
            ("parameter and threshold", cliff.what.clone()),
            ("methods", methods.join(" | ")),
            ("from", value(cliff.points.first())),
            ("to", value(cliff.points.last())),
            ("largest jump %", percent(cliff.jump)),
            ("behind", cliff.at.map_or(NOTHING.into(), |at| at.to_string())),
            ("fastest before, behind, ms", cliff.sides.iter().filter_map(fastest).collect::<Vec<_>>().join(", ")),
        ]
    });
    named(2, rows)
}

pub fn validation(of: &Validation) -> String {
    let row = |name: String, predicted: &Predicted| {
        [
            ("costs fitted to", name),
            ("judged by", predicted.products.to_string()),
            ("regret %", percent(Some(predicted.regret))),
            ("worst %", percent(Some(predicted.worst))),
            ("best chosen %", number(Some(100.0 * predicted.best), 0)),
        ]
    };
    let folds = of.folds.iter().map(|fold| row(fold.families.join(", "), &fold.predicted));
    let present = row("the device's costs".into(), &of.present);
    format!(
        "{}\nchoices by costs that are fitted to a third of the families regret {} % on the others, and are the fastest \
         in {:.0} %",
        named(1, folds.chain([present])),
        percent(Some(of.regret)),
        100.0 * of.best
    )
}

/// The regrets of formats of each family at each number of uses: mean, worst, mean noise.
pub fn families(contests: &[OfFormats]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for contest in contests {
        if !names.contains(&contest.family.as_str()) {
            names.push(&contest.family);
        }
    }
    let rows = names.iter().map(|name| {
        let of: Vec<_> = contests.iter().filter(|contest| contest.family == *name).collect();
        let choices = |uses: u64| of.iter().flat_map(|of| &of.choices).filter(move |choice| choice.uses == uses);
        let of_uses = USES.map(|uses| {
            let regrets = || choices(uses).map(|choice| choice.regret);
            let worst = regrets().reduce(f64::max);
            let mean = worst.map(|_| regrets().sum::<f64>() / regrets().count() as f64);
            [percent(mean), percent(worst), share(mean_noise(choices(uses)))]
        });
        let [[a, worst_a, noise_a], [b, worst_b, noise_b], [c, worst_c, noise_c]] = of_uses;
        let count = of.iter().map(|of| of.choices.len()).sum::<usize>().to_string();
        let verified = verified(of.iter().map(|of| of.wrong()).sum());
        [
            ("matrices", (*name).to_owned()),
            ("stands for", stands_for(name).to_owned()),
            ("choices", count),
            ("1 use: regret %", a),
            ("worst", worst_a),
            ("noise", noise_a),
            ("10 uses: regret %", b),
            ("worst", worst_b),
            ("noise", noise_b),
            ("1000 uses: regret %", c),
            ("worst", worst_c),
            ("noise", noise_c),
            ("verified", verified),
        ]
    });
    named(2, rows)
}

/// The choices of formats whose regret exceeds the noise, the worst first.
pub fn wrong(contests: &[OfFormats]) -> Option<String> {
    let mut wrong: Vec<(&OfFormats, &Choice)> = contests
        .iter()
        .flat_map(|of| of.choices.iter().map(move |choice| (of, choice)))
        .filter(|(_, choice)| choice.is_wrong())
        .collect();
    wrong.sort_by(|one, other| other.1.regret.total_cmp(&one.1.regret));
    let rows = wrong.iter().map(|(contest, choice)| {
        [
            ("wrong choices", contest.matrix.clone()),
            ("stored by", contest.stored.name().into()),
            ("values", contest.values.name().into()),
            ("order", if choice.any_order { "any" } else { "" }.into()),
            ("auto's choice", choice.chosen.to_string()),
            ("best", choice.best.to_string()),
            ("rows", contest.a.rows().to_string()),
            ("entries", contest.a.nnz().to_string()),
            ("longest", contest.longest_row.to_string()),
            ("uses", choice.uses.to_string()),
            ("auto ms", number(Some(choice.auto_ms), 3)),
            ("best ms", number(Some(choice.best_ms), 3)),
            ("regret %", percent(Some(choice.regret))),
            ("noise %", share(choice.noise)),
        ]
    });
    (!wrong.is_empty()).then(|| named(6, rows))
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
