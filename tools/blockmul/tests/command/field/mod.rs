//! Inputs of kinds that users of other projects report, from the folder named by
//! `BLOCKMUL_FIELD_CASES`. Without it these tests print a line and pass: tests beside the code have
//! inputs of the same kinds that they write themselves.
mod damping;
mod graphs;
mod inputs;
mod padding;
mod problems;

use super::*;

/// The path of a case, if the folder is there.
fn case(name: &str) -> Option<String> {
    let Some(folder) = std::env::var_os("BLOCKMUL_FIELD_CASES") else {
        eprintln!("left out: BLOCKMUL_FIELD_CASES does not name a folder of cases");
        return None;
    };
    let path = PathBuf::from(folder).join(name);
    assert!(path.is_file(), "{} is missing", path.display());
    Some(path.to_str().unwrap().into())
}
