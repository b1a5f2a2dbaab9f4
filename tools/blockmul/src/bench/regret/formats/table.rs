//! The output of a study of formats as text.
use super::super::super::table::{NOTHING, number, table};
use super::choice::Choice;
use super::contest::{Contest, USES};
use super::{FAMILIES, Summary, summary::mean_noise};
use crate::sizes::count;

/// Every table, each with a line that says what it is.
pub fn text(contests: &[Contest], summary: &[Summary]) -> String {
    let mut parts = vec![families(contests)];
    parts.extend(wrong(contests));
    parts.extend(left_out(contests));
    parts.push(summaries(summary));
    parts.join("\n\n")
}

fn percent(part: f64) -> String {
    format!("{:+.1}", 100.0 * part)
}

/// The regrets of a family at each number of uses: mean, worst, mean noise.
fn families(contests: &[Contest]) -> String {
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
        let stands_for = FAMILIES.iter().find(|family| family.name == *name).map_or("", |family| family.stands_for);
        let choices = |uses: u64| of.iter().flat_map(|of| &of.choices).filter(move |choice| choice.uses == uses);
        let [once, some, often] = USES.map(|uses| {
            let count = choices(uses).count();
            let mean = |of: fn(&Choice) -> f64| choices(uses).map(of).sum::<f64>() / count as f64;
            let worst = choices(uses).map(|choice| choice.regret).reduce(f64::max);
            match worst {
                Some(worst) => {
                    let noise = mean_noise(choices(uses)).map(|noise| 100.0 * noise);
                    [percent(mean(|of| of.regret)), percent(worst), number(noise, 1)]
                }
                None => [NOTHING; 3].map(String::from),
            }
        });
        let count = of.iter().map(|of| of.choices.len()).sum::<usize>().to_string();
        let verified = if of.iter().all(|of| of.wrong() == 0) { "yes" } else { "NO" };
        let [[a, b, c], [d, e, f], [g, h, i]] = [once, some, often];
        [(*name).to_owned(), stands_for.to_owned(), count, a, b, c, d, e, f, g, h, i, verified.to_owned()]
    });
    table(header, 2, rows)
}

/// The choices that regret more than the noise, the worst first.
fn wrong(contests: &[Contest]) -> Option<String> {
    let mut wrong: Vec<(&Contest, &Choice)> = contests
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
            percent(choice.regret),
            number(choice.noise.map(|noise| 100.0 * noise), 1),
        ]
    });
    (!wrong.is_empty()).then(|| table(header, 6, rows))
}

/// The formats that were left out, each with a reason and the number of matrices.
fn left_out(contests: &[Contest]) -> Option<String> {
    let mut reasons: Vec<(String, usize, &str)> = Vec::new();
    for left_out in contests.iter().flat_map(|contest| &contest.left_out) {
        let name = left_out.format.name();
        match reasons.iter_mut().find(|(known, ..)| known == name) {
            Some((_, count, _)) => *count += 1,
            None => reasons.push((name.into(), 1, &left_out.why)),
        }
    }
    let line = |(name, count, why): &(String, usize, &str)| {
        format!("{name} is left out of {count} of {}: {why}", contests.len())
    };
    (!reasons.is_empty()).then(|| reasons.iter().map(line).collect::<Vec<_>>().join("\n"))
}

fn summaries(all: &[Summary]) -> String {
    let line = |of: &Summary| {
        let order = if of.any_order { " in any order" } else { "" };
        let wrong = of.wrong.map_or(String::new(), |(count, mean, worst)| {
            format!("; {count} regret more, {} % in the mean, {} % at worst", percent(mean), percent(worst))
        });
        format!(
            "regret of auto for {}, values {}{order}, {} choices: {} % in the mean, {} % at worst ({}); noise {} \
             %; of the formats alone {} % in the mean, {} % at worst\n  auto's choice was the fastest format in {}, \
             within the noise of it in {}{wrong}",
            count(of.uses as usize, "use"),
            of.values.name(),
            of.choices,
            percent(of.mean),
            percent(of.worst),
            of.worst_of,
            number(of.noise.map(|noise| 100.0 * noise), 1),
            percent(of.of_formats[0]),
            percent(of.of_formats[1]),
            of.right,
            of.as_good,
        )
    };
    all.iter().map(line).collect::<Vec<_>>().join("\n")
}
