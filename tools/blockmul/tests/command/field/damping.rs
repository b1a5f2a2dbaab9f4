//! A single unknown without influence does not end a solution early.
use super::{super::*, case};

fn cost(name: &str, more: &str) -> Option<f64> {
    let path = case(name)?;
    let told = Desk::new().ok(&format!("solve {path} --json - --device {} {more}", common::device().info().index));
    Some(serde_json::from_str::<Value>(&told.stdout).unwrap()["cost"].as_f64().unwrap())
}

#[test]
fn a_focal_length_of_zero_is_solved() {
    for linear in ["cholesky", "conjugate-gradients"] {
        let Some(cost) = cost("ba-focal-length-zero.txt", &format!("--linear {linear}")) else { return };
        assert!((cost - 1.030611).abs() < 2e-6, "{linear}: {cost}");
    }
}

#[test]
fn an_open_chain_without_weight_of_angles_is_solved() {
    let Some(cost) = cost("graph-open-chain-no-angle-weight.g2o", "") else { return };
    assert!(2.0 * cost < 1e-9, "{cost}");
}
