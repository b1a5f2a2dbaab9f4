//! Every option of a product is combined with every other option. The products are the rows of a
//! pairwise covering array (`rows`). The results of all combinations have the bits of the
//! reference. Refused combinations are tested, too.
mod host;
mod on_device;
mod rows;

use crate::common::{Random, device};
use blockmul::{
    Part, Planned, Product, Result,
    groups::Group,
    product::{Inputs, Weights},
};
use half::f16;
use host::{Values, cell};
use on_device::of_element;
use rows::{
    A_T, ALIGNMENT, DROP, ELEMENT, GROUPS, HOW, KIND, MASK, OPTIONS, PART, PLAN, Row, SCALARS, covering, refusal,
};

fn check(row: &Row, seed: u64) -> Result<()> {
    match row[ELEMENT] {
        0 => of_element::<f64>(row, seed),
        1 => of_element::<f32>(row, seed),
        _ => of_element::<f16>(row, seed),
    }
}

fn said(row: &Row) -> String {
    let level = |(option, level): (usize, &usize)| (*level > 0).then(|| format!("{} {level}", OPTIONS[option].0));
    row.iter().enumerate().filter_map(level).collect::<Vec<_>>().join(", ")
}

#[test]
fn every_pair_of_options_has_the_bits_of_the_reference() {
    let rows = covering(&mut Random(13));
    assert!((12..60).contains(&rows.len()), "{} rows", rows.len());
    for (number, row) in rows.iter().enumerate() {
        check(row, number as u64).unwrap_or_else(|error| panic!("row {number} ({}): {error}", said(row)));
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_a_reason() {
    for levels in [
        &[(MASK, 1), (PART, 1)][..],
        &[(MASK, 1), (PART, 2), (HOW, PLAN)],
        &[(MASK, 1), (DROP, 1), (A_T, 1)],
        &[(DROP, 1), (HOW, PLAN)],
        &[(DROP, 1), (KIND, GROUPS)],
        &[(ALIGNMENT, 1), (KIND, SCALARS)],
        &[(ALIGNMENT, 1), (KIND, SCALARS), (HOW, PLAN)],
    ] {
        let mut row = [0; OPTIONS.len()];
        levels.iter().for_each(|&(option, level)| row[option] = level);
        let expected = refusal(&row).expect("on the list");
        let message = check(&row, 1).expect_err(&said(&row)).to_string();
        assert!(message.contains(expected), "{}: {message}", said(&row));
    }
    // A triangle requires a square product, and weights require a plan with weights.
    let a = device()
        .upload(&cell::<f64>(
            Group { blocks: 4, side: 2 },
            Group { blocks: 3, side: 2 },
            Values::Integers,
            &mut Random(1),
        ))
        .unwrap();
    let message = Product::of(a.t(), &a).times(a.t()).part(Part::Lower).run().unwrap_err().to_string();
    assert_eq!(message, "only a square product has a diagonal: this one is 3 by 4");
    let weights = device().zero_vector(8).unwrap();
    let plan = Product::gram(&a).plan().unwrap();
    let mut c = plan.output().unwrap();
    let message = plan.execute(Inputs::of(&a).weights(Weights::Rows(&weights)), &mut c).unwrap_err().to_string();
    assert_eq!(message, "the plan is of a product without weights: it is given some");
    let message = plan.execute([&a, &a, &a], &mut c).unwrap_err().to_string();
    assert_eq!(message, "the plan is of 2 factors, 3 are given");
    let plan = Product::gram(&a).weighted(Weights::Rows(&weights)).plan().unwrap();
    let message = plan.execute(&a, &mut c).unwrap_err().to_string();
    assert_eq!(message, "the plan is of a product with weights: it is given none");
}
