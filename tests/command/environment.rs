//! The variables that the command obeys: BLOCKMUL_DEVICE.
use super::*;

fn with(desk: &Desk, variables: &[(&str, &str)], line: &str) -> Ran {
    let mut command = desk.command(line);
    variables.iter().for_each(|(name, value)| {
        command.env(name, value);
    });
    ran(command)
}

#[test]
fn blockmul_device_is_the_default_of_every_command_with_a_device() {
    let desk = Desk::new();
    desk.put("s.mtx", SQUARE);
    desk.ok("generate g2o --poses 20 --closures 5 -q -o g.g2o");
    let (index, name) = (common::device().info().index, common::device().info().name.clone());
    for line in [
        "multiply s.mtx",
        "spy s.mtx -o s.png",
        "bench uniform:20x2 --rounds 1",
        "hessian g.g2o",
        "solve g.g2o",
        "schur g.g2o",
    ] {
        let wrong = with(&desk, &[("BLOCKMUL_DEVICE", "nonesuch")], line);
        assert_eq!((wrong.status, wrong.stdout.as_str()), (3, ""), "{line}: {}", wrong.stderr);
        for word in ["\"nonesuch\", the value of BLOCKMUL_DEVICE", name.as_str(), "hint: "] {
            assert!(wrong.stderr.contains(word), "{line}: no \"{word}\" in {}", wrong.stderr);
        }
        assert!(desk.ok(&format!("{} --help", line.split(' ').next().unwrap())).stdout.contains("BLOCKMUL_DEVICE"));
    }
    let device = |variables: &[(&str, &str)], option: &str| {
        let ran = with(&desk, variables, &format!("multiply s.mtx --report - -q {option}"));
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        report["device"]["name"].as_str().unwrap().to_owned()
    };
    assert_eq!(device(&[("BLOCKMUL_DEVICE", "reference")], ""), "reference");
    assert_eq!(device(&[("BLOCKMUL_DEVICE", &index.to_string())], ""), name);
    // The option says more than the variable; an empty one says nothing.
    assert_eq!(device(&[("BLOCKMUL_DEVICE", "nonesuch")], &format!("--device {index}")), name);
    assert_ne!(device(&[("BLOCKMUL_DEVICE", "nonesuch")], "--device auto"), "");
    assert_eq!(device(&[("BLOCKMUL_DEVICE", "")], ""), device(&[], ""));
}
