//! Tests of the command and of the library with faults: OpenCL calls that fail, a lost device, and
//! signals while files are written.
//!
//! ```text
//! cargo test --test faults              a share of all faults, in a minute
//! cargo test --test faults -- full      every index of every call, or 20 of them
//! cargo test --test faults -- full apply      the same, for subjects with this word in their names
//! cargo test --test faults -- soak      memory over 2,000 products, plans and Schur complements
//! ```
//!
//! tools/test runs the share and the soak, tools/faults the rest. The faults come from an OpenCL
//! library of this project, `opencl.c`. `cc` compiles it here, so a plain `cargo test` does not run
//! this program. Every run is a process of its own: the command, or this program with an operation
//! of the library. The process must end as without the fault, or with an error. Any other
//! [`Verdict`] fails the test.
#[cfg(unix)]
mod memory;
#[cfg(unix)]
mod operations;
#[cfg(unix)]
mod planted;
#[cfg(unix)]
mod process;
#[cfg(unix)]
mod signals;
#[cfg(unix)]
mod soak;
#[cfg(unix)]
mod subjects;
#[cfg(unix)]
mod sweep;
#[cfg(unix)]
mod verdict;
#[cfg(unix)]
mod workshop;

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    use std::process::ExitCode;
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let passed = match words[..] {
        [] => sweep::run(&sweep::SHARE, ""),
        ["full"] => sweep::run(&sweep::FULL, ""),
        ["full", word] => sweep::run(&sweep::FULL, word),
        ["soak"] => soak::run(),
        // The arguments with which this program starts itself.
        ["operation", name, output] => return operations::main(name, output.as_ref()),
        ["planted", mistake, output] => return planted::main(mistake, output.as_ref()),
        ["soaking", alive] => return soak::main(alive.as_ref()),
        _ => {
            eprintln!("usage: cargo test --test faults [-- full [WORD] | soak]");
            return ExitCode::from(2);
        }
    };
    match passed {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("faults: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(not(unix))]
fn main() {
    eprintln!("faults: left out: opencl.c and the signals are for Unix");
}
