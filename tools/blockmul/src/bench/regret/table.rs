//! The output of a study of regrets as text.
use super::super::contest::{Contest, Entrant, LeftOut};
use super::super::table::{NOTHING, count, number, table};
use super::summary::Regrets;
use super::{Classes, Cliff, FAMILIES, Study, Summary, Validation};
use blockmul::Method;

/// Every table, each with a line that says what it is.
pub fn text(study: &Study) -> String {
    let mut parts = vec![products(&study.products)];
    parts.extend(noisy(&study.products));
    parts.extend(left_out(&study.products));
    parts.extend(study.summary.as_ref().map(summary));
    parts.extend((!study.classes.is_empty()).then(|| classes(&study.classes)));
    parts.extend((!study.cliffs.is_empty()).then(|| cliffs(&study.cliffs)));
    parts.extend(study.validation.as_ref().map(validation));
    parts.join("\n\n")
}

fn percent(part: Option<f64>) -> String {
    part.map_or(NOTHING.into(), |part| format!("{:+.1}", 100.0 * part))
}

fn products(contests: &[Contest]) -> String {
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
        let stands_for = FAMILIES.iter().find(|family| family.name == contest.family);
        let auto = contest.entrants.iter().find(|entrant| entrant.method == Method::Auto);
        let best = contest.best();
        [
            format!("{}{}", contest.matrix, if contest.noisy { " *" } else { "" }),
            stands_for.map_or(String::new(), |family| family.stands_for.into()),
            auto.map(Entrant::shares).filter(|shares| !shares.is_empty()).unwrap_or(NOTHING.into()),
            best.map_or(NOTHING.into(), |best| best.name.clone()),
            count(contest.products),
            number(contest.auto_ms(), 3),
            number(auto.and_then(|auto| auto.spread).map(|part| 100.0 * part), 1),
            number(best.and_then(|best| best.ms), 3),
            percent(contest.regret()),
            if contest.wrong() == 0 { "yes" } else { "NO" }.into(),
        ]
    });
    table(header, 4, rows)
}

/// The products whose times say little.
fn noisy(contests: &[Contest]) -> Option<String> {
    let count = contests.iter().filter(|of| of.noisy).count();
    let repeated = contests.iter().filter(|of| of.noisy && of.repeated).count();
    (count > 0).then(|| {
        format!(
            "* {count} products, {repeated} of them measured again: auto or the fastest method has one time, or a spread \
             above 100 %"
        )
    })
}

/// The methods that were left out, each with the number of products and the reason in the one that
/// it left the least of.
fn left_out(contests: &[Contest]) -> Option<String> {
    let mut methods: Vec<(&str, Vec<&LeftOut>)> = Vec::new();
    for left_out in contests.iter().flat_map(|contest| &contest.left_out) {
        match methods.iter_mut().find(|(name, _)| *name == left_out.name) {
            Some((_, reasons)) => reasons.push(left_out),
            None => methods.push((&left_out.name, vec![left_out])),
        }
    }
    let line = |(name, reasons): &(&str, Vec<&LeftOut>)| {
        let part = |of: &LeftOut| of.part.unwrap_or(f64::INFINITY);
        let least = reasons.iter().min_by(|one, other| part(one).total_cmp(&part(other)))?;
        let why = if least.part.is_some() { format!("it {} in one", least.why) } else { least.why.clone() };
        Some(format!("{name} is left out of {} of {} products: {why}", reasons.len(), contests.len()))
    };
    (!methods.is_empty()).then(|| methods.iter().filter_map(line).collect::<Vec<_>>().join("\n"))
}

fn summary(of: &Summary) -> String {
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

fn classes(all: &[Classes]) -> String {
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

/// The fastest method of a product, and its time.
fn fastest(of: &Contest) -> Option<String> {
    of.best().map(|best| format!("{} {}", best.name, number(best.ms, 3)))
}

fn cliffs(all: &[Cliff]) -> String {
    let header =
        ["parameter and threshold", "methods", "from", "to", "largest jump %", "behind", "fastest before, behind, ms"];
    let rows = all.iter().map(|cliff| {
        let value =
            |point: Option<&super::cliffs::Point>| point.map_or(NOTHING.into(), |point| point.value.to_string());
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

fn validation(of: &Validation) -> String {
    let header = ["costs fitted to", "judged by", "regret %", "worst %", "best chosen %"];
    let row = |name: String, predicted: &super::validation::Predicted| {
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

    #[test]
    fn a_method_that_was_left_out_left_the_least_part_in_one() {
        let of = |parts: &[Option<f64>]| {
            let left_out = |part: &Option<f64>| LeftOut {
                name: "hub".into(),
                why: part.map_or("no memory".into(), |part| format!("leaves {:.1} %", 100.0 * part)),
                part: *part,
            };
            let contests: Vec<_> =
                parts.iter().map(|part| Contest { left_out: vec![left_out(part)], ..Contest::default() }).collect();
            super::left_out(&contests).unwrap()
        };
        assert_eq!(
            of(&[Some(1.0), Some(0.392), None, Some(0.5)]),
            "hub is left out of 4 of 4 products: it leaves 39.2 % in one"
        );
        assert_eq!(of(&[None]), "hub is left out of 1 of 1 products: no memory");
    }
}
