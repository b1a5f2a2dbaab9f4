//! Tests of the command in a shell: help, completions, the manual, colours, pipes, signals.
use super::*;
use std::process::Stdio;

#[test]
fn every_subcommand_explains_itself() {
    let desk = Desk::new();
    let help = desk.ok("--help").stdout;
    for subcommand in [
        "multiply",
        "apply",
        "paths",
        "components",
        "triangles",
        "info",
        "spy",
        "compare",
        "convert",
        "transpose",
        "add",
        "generate",
        "cg",
        "bench",
        "tune",
        "devices",
        "completions",
        "man",
    ] {
        assert!(help.contains(&format!("  {subcommand} ")), "{subcommand}: {help}");
        for form in [format!("{subcommand} --help"), format!("{subcommand} -h"), format!("help {subcommand}")] {
            let help = desk.ok(&form).stdout;
            assert!(help.contains("Examples:") && help.contains("Usage:"), "{form}: {help}");
        }
    }
    let help = desk.ok("multiply --help").stdout;
    for option in [
        "--transpose-a",
        "--transpose-b",
        "--block ",
        "--block-b",
        "--element",
        "--device",
        "--method",
        "--verify",
        "--report",
        "--memory-limit",
        "--repeat",
        "--quiet",
        "--explain",
        "--output",
        "--sum-duplicates",
    ] {
        assert!(help.contains(option), "{option}: {help}");
    }
    assert!(desk.ok("--version").stdout.contains(env!("CARGO_PKG_VERSION")));
    desk.fails("", 2, &["Usage"]);
}

#[test]
fn what_is_nearly_right_is_set_right() {
    let desk = Desk::with([("s.mtx", SQUARE)]);
    desk.fails("multiply s.mtx --blok 3", 2, &["'--block'"]);
    desk.fails("multply s.mtx", 2, &["'multiply'"]);
    desk.fails("info s.mtx --jsn", 2, &["'--json'"]);
    desk.fails("multiply s.mtx --element f63", 2, &["'f64'"]);
    desk.put("w.mtx", WIDE);
    desk.fails("multiply w.mtx w.mtx", 2, &["hint: A·Bᵀ would fit: --transpose-b"]);
    desk.fails("multiply s.mtx --device nonesuch", 3, &["hint: ", "blockmul devices"]);
    desk.fails("multiply s.mtx --block 2", 2, &["3 rows cannot be cut", "fits: 3", "hint: "]);
}

#[test]
fn completions_know_every_subcommand() {
    let desk = Desk::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = desk.ok(&format!("completions {shell}")).stdout;
        for word in ["multiply", "compare", "components", "triangles", "memory-limit"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    desk.fails("completions tcsh", 2, &["tcsh", "bash"]);
    // The script is tested in bash itself.
    std::fs::write(desk.path("c.bash"), desk.ok("completions bash").stdout).unwrap();
    let script = "source c.bash; COMP_WORDS=(blockmul multiply --trans); COMP_CWORD=2; _blockmul blockmul --trans multiply; \
                  echo ${COMPREPLY[@]}";
    let bash = std::process::Command::new("bash").args(["-c", script]).current_dir(desk.path("")).output().unwrap();
    assert_eq!(String::from_utf8(bash.stdout).unwrap().trim(), "--transpose-a --transpose-b");
}

#[test]
fn the_manual_has_a_page_for_every_subcommand() {
    let desk = Desk::new();
    let page = desk.ok("man").stdout;
    assert!(page.contains(".TH blockmul 1") && page.contains("blockmul\\-multiply(1)"), "{page}");
    desk.ok("man pages/man1");
    let pages = std::fs::read_dir(desk.path("pages/man1")).unwrap();
    let mut pages: Vec<_> = pages.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    pages.sort();
    for name in
        ["blockmul.1", "blockmul-multiply.1", "blockmul-info.1", "blockmul-generate-uniform.1", "blockmul-man.1"]
    {
        assert!(pages.iter().any(|page| page == name), "{name}: {pages:?}");
    }
    let page = std::fs::read_to_string(desk.path("pages/man1/blockmul-multiply.1")).unwrap();
    assert!(page.contains("Examples:") && page.contains("blockmul multiply"), "{page}");
    desk.put("file", "");
    desk.fails("man file", 5, &["file"]);
}

#[test]
fn colours_are_for_terminals_only() {
    let desk = Desk::new();
    for line in ["--help", "multiply missing.mtx", "multiply --blok"] {
        let ran = desk.run(line);
        assert!(!ran.stdout.contains('\x1b') && !ran.stderr.contains('\x1b'), "{line}");
        let mut forced = desk.command(line);
        let forced = super::ran({
            forced.env("CLICOLOR_FORCE", "1").env_remove("NO_COLOR");
            forced
        });
        assert!(forced.stdout.contains("\x1b[") || forced.stderr.contains("\x1b["), "{line}: colours when forced");
        let mut plain = desk.command(line);
        let plain = super::ran({
            plain.env("NO_COLOR", "1").env("TERM", "xterm");
            plain
        });
        assert!(!plain.stdout.contains('\x1b') && !plain.stderr.contains('\x1b'), "{line} with NO_COLOR");
    }
}

/// A reader of stdout may stop early, as in `blockmul info A.mtx | head -1`.
#[test]
fn a_reader_that_has_read_enough_is_no_failure() {
    let desk = Desk::new();
    desk.ok("generate uniform --rows 20000 -q -o u.mtx");
    for line in [
        "info u.mtx",
        "spy --device reference u.mtx",
        "spy --device reference u.mtx -o -",
        "convert u.mtx -o -",
        "completions zsh",
        "man",
        "devices",
        "multiply --device reference u.mtx -o -",
    ] {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_blockmul"))
            .args(line.split_whitespace())
            .current_dir(desk.path(""))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(!String::from_utf8_lossy(&output.stderr).contains("error"), "{line}");
    }
}

/// Whether the process has written to a file in `folder` that has no name yet, or has a temporary
/// name.
#[cfg(target_os = "linux")]
fn writes_in(folder: &Path, process: u32) -> bool {
    let Ok(entries) = std::fs::read_dir(format!("/proc/{process}/fd")) else { return false };
    entries.flatten().any(|entry| {
        let is_output = std::fs::read_link(entry.path()).is_ok_and(|file| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            file.starts_with(folder) && (name.ends_with(" (deleted)") || name.starts_with(".blockmul-"))
        });
        is_output && std::fs::metadata(entry.path()).is_ok_and(|about| about.len() > 0)
    })
}

/// A signal ends the command while it writes. After the signal no file of the command remains.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_leaves_nothing_half_written() {
    use std::os::unix::process::ExitStatusExt;
    use std::time::{Duration, Instant};
    let desk = Desk::new();
    desk.ok("generate uniform --rows 25000 --per-column 16 -q -o u.mtx");
    let folder = desk.path("").canonicalize().unwrap();
    let ends = |arguments: &[&str], signal: &str, output: &str, status: Option<i32>| {
        desk.put(output, "as it was");
        let mut child = std::process::Command::new("env")
            .args(arguments)
            .args([env!("CARGO_BIN_EXE_blockmul"), "transpose", "u.mtx", "-o", output])
            .current_dir(desk.path(""))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let begun = Instant::now();
        while !writes_in(&folder, child.id()) {
            assert!(child.try_wait().unwrap().is_none(), "ended before it was seen to write");
            assert!(begun.elapsed() < Duration::from_secs(120), "no unfinished file");
            std::thread::sleep(Duration::from_millis(1));
        }
        let kill = std::process::Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
        assert!(kill.success());
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), status, "{signal}");
        assert_eq!(ended.status.signal(), status.is_none().then_some(9), "{signal}");
        assert_eq!(std::fs::read_to_string(desk.path(output)).unwrap(), "as it was");
        std::fs::remove_file(desk.path(output)).unwrap();
        assert_eq!(desk.files(), ["u.mtx"], "{signal}");
        String::from_utf8(ended.stderr).unwrap()
    };
    // The program that runs these tests may ignore signals. In this run signals are set as on a
    // terminal.
    let all = ["--default-signal"];
    ends(&all, "INT", "c.mtx.gz", Some(130));
    for (signal, number) in [("TERM", 15), ("HUP", 1), ("ALRM", 14), ("VTALRM", 26), ("PROF", 27), ("USR1", 10)] {
        ends(&all, signal, "c.mtx", Some(128 + number));
    }
    ends(&all, "USR2", "c.npz", Some(140));
    let told = ends(&all, "XCPU", "c.mtx", Some(152));
    assert!(told.contains("error: the processor time that this process may take is used up"), "{told}");
    // In this run signals are set as in the background of a script.
    ends(&["--default-signal", "--ignore-signal=INT,HUP"], "TERM", "c.mtx", Some(143));
    // After SIGKILL the command cannot remove files. If the system has files without names, nothing
    // remains.
    let flags = rustix::fs::OFlags::TMPFILE | rustix::fs::OFlags::RDWR;
    if rustix::fs::open(&folder, flags, rustix::fs::Mode::RUSR).is_ok() {
        ends(&all, "KILL", "c.mtx", None);
        ends(&all, "KILL", "c.npz", None);
    }
}

/// `nohup` and scripts start a command with some signals ignored on purpose.
#[cfg(target_os = "linux")]
#[test]
fn signals_that_are_ignored_stay_so() {
    use std::io::Write;
    let mut child = std::process::Command::new("env")
        .args(["--default-signal", "--ignore-signal=INT,HUP", env!("CARGO_BIN_EXE_blockmul"), "info", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // The text is longer than the buffer of a pipe. When all of it is written, the command has
    // begun to read.
    stdin.write_all(SQUARE.as_bytes()).unwrap();
    stdin.write_all(&b"% a comment\n".repeat(1 << 17)).unwrap();
    for signal in ["HUP", "INT"] {
        std::process::Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stdout).contains("3 x 3, 4 entries"));
}
