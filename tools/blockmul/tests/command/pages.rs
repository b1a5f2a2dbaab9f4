//! Runs every command in a code fence `console` on a page, and compares its output with the output
//! on the page. Checks that every link of a page leads to a file. Commands in code fences `sh` are
//! not run, because they need data or other machines.
//!
//! Each page has a folder of its own, in which its commands run one after another. If the expected
//! status is not 0, the comment `# exit status N` gives it. A line `...` stands for output that is
//! left out.
use super::{Desk, ROOT};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::ScopedJoinHandle;

const CI: &str = concat!(include_str!("../../../../.ci/run"), include_str!("../../../test"));
const LEFT_OUT: &str = "...";

/// The pages of the repository's root, of `docs/` and of `benches/`, with their texts.
fn pages() -> Vec<(PathBuf, String)> {
    let mut folders = vec![Path::new(ROOT).join("docs"), Path::new(ROOT).join("benches")];
    let mut paths: Vec<PathBuf> = entries(Path::new(ROOT)).into_iter().filter(|path| path.is_file()).collect();
    while let Some(folder) = folders.pop() {
        for path in entries(&folder) {
            if path.is_dir() { &mut folders } else { &mut paths }.push(path);
        }
    }
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// A command of a page, and the output that the page shows below it.
struct Shown {
    command: String,
    status: i32,
    output: String,
}

fn shown(page: &str) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    let blocks = page.split("```console\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    for line in blocks.flat_map(str::lines) {
        match line.strip_prefix("$ ") {
            Some(line) => {
                let (command, comment) = line.split_once(" # ").unwrap_or((line, ""));
                let status = comment.trim().strip_prefix("exit status ").map_or(0, |status| status.parse().unwrap());
                all.push(Shown { command: command.trim_end().to_owned(), status, output: String::new() });
            }
            None => {
                let output = &mut all.last_mut().expect("a command before its output").output;
                output.push_str(line);
                output.push('\n');
            }
        }
    }
    all
}

/// Returns the part of an output that is the same on every machine: without times, sizes of memory,
/// names of devices, and tables of devices.
fn lasting(output: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for line in output.lines() {
        lines.push(if let Some(method) = line.find(" by esc") {
            line[..method].to_owned()
        } else if line.starts_with("device: ") {
            "device".to_owned()
        } else {
            without_measurements(line)
        });
        if line.ends_with("on the devices here:") {
            break;
        }
    }
    lines
}

fn without_measurements(line: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    for word in line.split_whitespace() {
        let measured = word.contains('.') && word.trim_end_matches([',', ';']).parse::<f64>().is_ok();
        let after_measured = words.last() == Some(&"#");
        match measured || after_measured && matches!(word, "B" | "KiB" | "MiB" | "GiB") {
            true => words.push("#"),
            // The word after a time is the percentage of a stage.
            false if after_measured && words.len() == 2 && word.parse::<u8>().is_ok() => words.push("#"),
            false => words.push(word),
        }
    }
    words.join(" ")
}

/// Whether `said` is equal to `shown`. Each `...` in `shown` stands for any lines.
fn is_shown(said: &[String], shown: &[String]) -> bool {
    match shown.split_first() {
        None => said.is_empty(),
        Some((line, rest)) if line == LEFT_OUT => (0..=said.len()).any(|left_out| is_shown(&said[left_out..], rest)),
        Some((line, rest)) => said.first() == Some(line) && is_shown(&said[1..], rest),
    }
}

/// Returns the command in a line of a script, without the function that times it (`step "NAME" `)
/// and without variables.
fn command_of(line: &str) -> &str {
    let mut command = line.trim();
    if let Some(step) = command.strip_prefix("step \"") {
        command = step.split_once("\" ").map_or("", |(_name, command)| command);
    }
    while let Some((variable, rest)) = command.split_once(' ')
        && variable.contains('=')
    {
        command = rest;
    }
    command
}

/// Runs the commands of a page. Returns how many ran, and how many CI runs instead.
#[cfg(unix)]
fn run(page: &str) -> (usize, usize) {
    let desk = Desk::new();
    let blockmul = Path::new(env!("CARGO_BIN_EXE_blockmul"));
    let path = format!("{}:{}", blockmul.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let (mut here, mut in_ci) = (0, 0);
    for Shown { command, status, output } in shown(page) {
        if command.starts_with("tools/") || command.starts_with("cargo ") {
            let runs = CI.lines().any(|line| command_of(line).starts_with(&command));
            assert!(runs, "neither .ci/run nor tools/test runs {command}");
            in_ci += 1;
            continue;
        }
        let script = format!("exec 2>&1; {command}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).current_dir(desk.path(".")).env("PATH", &path);
        // The setting is that of the other tests of `bench`.
        let ran = shell.env("POCL_MEMORY_LIMIT", "1").output().unwrap();
        let said = String::from_utf8(ran.stdout).unwrap();
        assert_eq!(ran.status.code(), Some(status), "{command}: {said}");
        if !output.is_empty() {
            assert!(is_shown(&lasting(&said), &lasting(&output)), "{command}\nthe page:\n{output}\nsaid:\n{said}");
        }
        here += 1;
    }
    (here, in_ci)
}

#[test]
#[cfg(unix)]
fn every_command_of_a_page_does_what_it_shows() {
    let pages = pages();
    let counts: Vec<_> = std::thread::scope(|scope| {
        let runs: Vec<_> = pages.iter().map(|(path, text)| (path, scope.spawn(|| run(text)))).collect();
        let count = |(path, run): (&PathBuf, ScopedJoinHandle<'_, _>)| {
            run.join().unwrap_or_else(|_| panic!("{}: the command above", path.display()))
        };
        runs.into_iter().map(count).collect()
    });
    let (here, in_ci) = counts.iter().fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
    assert!(here >= 40 && in_ci >= 4, "{here} commands run, {in_ci} in CI");
}

#[test]
fn outputs_are_compared_line_by_line_but_for_those_left_out() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let said = lines("a\nb\nc");
    for shown in ["a\nb\nc", "...", "...\nc", "a\n...", "a\n...\nc", "...\na\nb\nc\n...", "...\nb\n..."] {
        assert!(is_shown(&said, &lines(shown)), "{shown}");
    }
    for shown in ["", "a\nb", "a\nc", "...\nb", "b\n...", "...\nc\nb\n...", "a\nb\nc\nd"] {
        assert!(!is_shown(&said, &lines(shown)), "{shown}");
    }
    let [Shown { command, status, .. }] = &shown("```console\n$ false  # exit status 1\n```\n")[..] else { panic!() };
    assert_eq!((command.as_str(), *status), ("false", 1));
    assert_eq!(lasting(" setup  0.084  10\nC = A·B in f64 by esc on x"), ["setup # #", "C = A·B in f64"]);
}

/// Returns the name that links use for a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn every_link_of_a_page_leads_somewhere() {
    let mut links = 0;
    for (page, text) in pages() {
        for link in text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
            if link.contains("://") {
                continue;
            }
            let (file, heading) = link.split_once('#').map_or((link, None), |(file, heading)| (file, Some(heading)));
            let target = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            assert!(target.exists(), "{}: no {link}", page.display());
            if let Some(heading) = heading {
                let text = std::fs::read_to_string(&target).unwrap();
                let mut headings = text.lines().filter_map(|line| line.strip_prefix('#'));
                let found = headings.any(|line| anchor(line.trim_start_matches('#')) == heading);
                assert!(found, "{}: no heading {link}", page.display());
            }
            links += 1;
        }
    }
    assert!(links >= 30, "{links} links");
}
