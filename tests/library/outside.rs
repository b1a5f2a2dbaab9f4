//! The device on which tests run, and data and Python if the machine has them. The tests of other
//! packages also use this file.
#![allow(dead_code, reason = "each program uses its part")]
use blockmul::Device;
use std::{path::PathBuf, sync::OnceLock};

/// Returns the device that `BLOCKMUL_TEST_DEVICE` names, otherwise any device. If there is no
/// device, the tests fail; they are not skipped.
pub fn device() -> Device {
    static DEVICE: OnceLock<Device> = OnceLock::new();
    let wanted = std::env::var("BLOCKMUL_TEST_DEVICE").unwrap_or("auto".into());
    DEVICE.get_or_init(|| Device::select(&wanted).unwrap_or_else(|error| panic!("{error}"))).clone()
}

/// Returns a file in the folder that `BLOCKMUL_DATA` names, if it exists.
pub fn data(path: &str) -> Option<PathBuf> {
    let file = PathBuf::from(std::env::var_os("BLOCKMUL_DATA")?).join(path);
    file.exists().then_some(file)
}

/// Returns a Python that can import `modules` of a package: the one that `BLOCKMUL_PYTHON` names,
/// otherwise any that is found. If no Python can, the tests print a line and pass, unless CI is
/// set.
pub fn python(package: &str, modules: &str) -> Option<String> {
    let found = importing(modules);
    if found.is_none() {
        let missing = format!("no Python with {package} (tools/setup installs it)");
        assert!(std::env::var_os("CI").is_none(), "{missing}");
        eprintln!("left out: {missing}");
    }
    found
}

/// Works like [`python`], for a package that the package managers of systems do not have. If no
/// Python can import this package, the tests print a line and pass, also if CI is set.
pub fn python_with_pip(package: &str, modules: &str) -> Option<String> {
    let found = importing(modules);
    if found.is_none() {
        eprintln!("left out: no Python with {package} (pip install {package}, and BLOCKMUL_PYTHON names that Python)");
    }
    found
}

fn importing(modules: &str) -> Option<String> {
    let named = std::env::var("BLOCKMUL_PYTHON").ok();
    let candidates = named.map_or(vec!["python3".into(), "/usr/bin/python3".into()], |named| vec![named]);
    let imports = |python: &String| {
        let output = std::process::Command::new(python).args(["-c", &format!("import {modules}")]).output();
        output.is_ok_and(|output| output.status.success())
    };
    candidates.into_iter().find(imports)
}
