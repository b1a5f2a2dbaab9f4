//! Kinds of inputs that users of other projects have reported, from the folder that
//! `BLOCKMUL_FIELD_CASES` names. If this variable is not set, these tests print a line and pass.
//! Other tests write inputs of the same kinds themselves, and need no folder.
mod damping;
mod graphs;
mod inputs;
mod padding;
mod problems;

use super::*;

/// Returns the path of a case, if the folder is there.
fn case(name: &str) -> Option<String> {
    let Some(folder) = std::env::var_os("BLOCKMUL_FIELD_CASES") else {
        eprintln!("left out: BLOCKMUL_FIELD_CASES does not name a folder of cases");
        return None;
    };
    let path = PathBuf::from(folder).join(name);
    assert!(path.is_file(), "{} is missing", path.display());
    Some(path.to_str().unwrap().into())
}
