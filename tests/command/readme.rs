//! Runs every command that the README shows, and compares its output with the README's.
use super::Desk;
use std::process::Command;

const README: &str = include_str!("../../README.md");
const CI: &str = concat!(include_str!("../../.ci/run"), include_str!("../../tools/test"));

/// A line after `$ ` without its comment, and the output that the page shows below it.
struct Shown {
    command: String,
    output: String,
}

fn shown() -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    let blocks = README.split("```console\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    for line in blocks.flat_map(str::lines) {
        match line.strip_prefix("$ ") {
            Some(command) => {
                let command = command.split(" #").next().unwrap().trim_end().to_owned();
                all.push(Shown { command, output: String::new() });
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

/// Keeps what is the same on every machine: without times, sizes of memory, names of devices and
/// their table.
fn lasting(output: &str) -> String {
    let mut text = String::new();
    for line in output.lines() {
        if let Some(esc) = line.find(" by esc") {
            text += &line[..esc];
        } else if line.starts_with("device: ") {
            text += "device";
        } else {
            let mut words: Vec<&str> = Vec::new();
            for word in line.split_whitespace() {
                let measured = word.contains('.') && word.trim_end_matches([',', ';']).parse::<f64>().is_ok();
                let after_measured = words.last() == Some(&"#");
                match measured || after_measured && matches!(word, "B" | "KiB" | "MiB" | "GiB") {
                    true => words.push("#"),
                    // The percentage of a stage.
                    false if after_measured && words.len() == 2 && word.parse::<u8>().is_ok() => words.push("#"),
                    false => words.push(word),
                }
            }
            text += &words.join(" ");
        }
        text.push('\n');
        if line.ends_with("on the devices here:") {
            break;
        }
    }
    text
}

/// The command in a line of a script, without the word that times it (`step "NAME" `) and without
/// variables.
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

#[test]
#[cfg(unix)]
fn every_command_of_the_readme_does_what_it_shows() {
    let desk = Desk::new();
    let blockmul = std::path::Path::new(env!("CARGO_BIN_EXE_blockmul"));
    let path = format!("{}:{}", blockmul.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let (mut run, mut elsewhere) = (0, 0);
    for Shown { command, output } in shown() {
        if command.starts_with("tools/") || command.starts_with("cargo ") {
            assert!(
                CI.lines().any(|line| command_of(line).starts_with(&command)),
                "neither .ci/run nor tools/test runs {command}"
            );
            elsewhere += 1;
            continue;
        }
        assert!(command.starts_with("blockmul "), "{command}");
        let script = format!("exec 2>&1; {command}");
        let ran =
            Command::new("sh").args(["-c", &script]).current_dir(desk.path(".")).env("PATH", &path).output().unwrap();
        let said = String::from_utf8(ran.stdout).unwrap();
        assert!(ran.status.success(), "{command}: {said}");
        if !output.is_empty() {
            assert_eq!(lasting(&said), lasting(&output), "{command}");
        }
        run += 1;
    }
    assert!(run >= 15 && elsewhere >= 3, "{run} commands run, {elsewhere} elsewhere");
}
