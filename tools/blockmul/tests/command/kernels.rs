//! Tests of compiled kernels: they are kept for the next run, and damaged ones do not disturb it.
use super::{Desk, Ran, SQUARE, common, ran};
use std::{fs, path::PathBuf};

/// A desk with a matrix, and a folder `kernels` for compiled kernels.
struct Fixture(Desk);

impl Fixture {
    fn new() -> Self {
        let desk = Desk::with([("a.mtx", SQUARE)]);
        Self(desk)
    }

    /// Computes A·A with kernels that are kept in `cache`. Logs the loading and compilation of
    /// kernels.
    fn multiply(&self, cache: &str) -> Ran {
        let device = common::device().info().index;
        let mut command = self
            .0
            .command(&format!("multiply a.mtx --method esc -o - --report report.json --overwrite --device {device}"));
        command.env("BLOCKMUL_CACHE", cache).env("BLOCKMUL_LOG", "blockmul::device=debug");
        let ran = ran(command);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        ran
    }

    fn kernels(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.0.path("kernels")) else { return Vec::new() };
        let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    }
}

fn compiled(ran: &Ran) -> bool {
    ran.stderr.contains("kernels compiled")
}

fn loaded(ran: &Ran) -> bool {
    ran.stderr.contains("kernels loaded")
}

#[test]
fn the_second_run_loads_what_the_first_compiled() {
    let fixture = Fixture::new();
    let first = fixture.multiply("kernels");
    assert!(compiled(&first) && !loaded(&first), "{}", first.stderr);
    let kept = fixture.kernels();
    assert!(kept.len() > 2, "{kept:?}");
    let second = fixture.multiply("kernels");
    assert!(!compiled(&second) && loaded(&second), "{}", second.stderr);
    assert_eq!(first.stdout, second.stdout);
    assert_eq!(fixture.kernels(), kept, "nothing is written again");
    let report: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(fixture.0.path("report.json")).unwrap()).unwrap();
    assert!(report["kernels_ms"].as_f64().unwrap() > 0.0, "{report}");
}

#[test]
fn whatever_is_odd_about_a_file_its_kernels_are_compiled_again() {
    let fixture = Fixture::new();
    let first = fixture.multiply("kernels");
    let spoil: [fn(&PathBuf); 4] = [
        |path| {
            let mut bytes = fs::read(path).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            fs::write(path, bytes).unwrap();
        },
        |path| fs::write(path, &fs::read(path).unwrap()[..50]).unwrap(),
        |path| fs::write(path, "").unwrap(),
        // Only the binaries are removed, so that the small files of kernels name missing binaries.
        |path| {
            if path.extension().unwrap() == "binary" {
                fs::remove_file(path).unwrap();
            }
        },
    ];
    for (number, spoil) in spoil.into_iter().enumerate() {
        fixture.kernels().iter().for_each(spoil);
        let again = fixture.multiply("kernels");
        assert!(compiled(&again), "{number}: {}", again.stderr);
        assert_eq!(again.stdout, first.stdout, "{number}");
        let mended = fixture.multiply("kernels");
        assert!(!compiled(&mended) && loaded(&mended), "{number}: {}", mended.stderr);
    }
}

#[test]
fn a_cache_that_is_off_or_cannot_be_used_is_no_error() {
    let fixture = Fixture::new();
    fixture.0.put("file", "");
    for cache in ["off", "OFF", "file", "file/below", "/dev/null/below"] {
        let ran = fixture.multiply(cache);
        assert!(compiled(&ran) && !loaded(&ran), "{cache}: {}", ran.stderr);
    }
    assert_eq!(fixture.0.files(), ["a.mtx", "file", "report.json"]);
}

#[test]
#[cfg(unix)]
fn a_folder_that_others_can_write_to_is_not_trusted() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = Fixture::new();
    let folder = fixture.0.path("kernels");
    fixture.multiply("kernels");
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    for path in fixture.kernels() {
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{path:?}");
    }
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    let ran = fixture.multiply("kernels");
    assert!(compiled(&ran) && !loaded(&ran), "{}", ran.stderr);
    assert!(ran.stderr.contains("kernels are not cached"), "{}", ran.stderr);
    // Without a log one warning is printed, except with an option that suppresses it.
    let device = common::device().info().index;
    let messages = |options: &str| {
        let mut command = fixture.0.command(&format!("multiply a.mtx --method esc --device {device} {options}"));
        command.env("BLOCKMUL_CACHE", "kernels");
        let ran = super::ran(command);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        ran.stderr
    };
    let warned = messages("");
    let words = "warning: every run compiles its kernels, since the folder kernels is not used: others may write to it; \
                 use `chmod go-w kernels`\n";
    assert_eq!(warned.matches("warning: ").count(), 1, "{warned}");
    assert!(warned.contains(words), "{warned}");
    assert_eq!(messages("-q -o -"), "");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(!messages("").contains("warning"));
}

/// If a file were replaced by a pipe, opening it would take forever.
#[test]
#[cfg(unix)]
fn pipes_in_the_folder_are_not_waited_for() {
    let fixture = Fixture::new();
    let first = fixture.multiply("kernels");
    for path in fixture.kernels() {
        fs::remove_file(&path).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    }
    let again = fixture.multiply("kernels");
    assert!(compiled(&again) && !loaded(&again), "{}", again.stderr);
    assert_eq!(again.stdout, first.stdout);
    assert!(loaded(&fixture.multiply("kernels")), "the pipes are replaced");
}

/// `sudo` may keep the caller's `HOME`. A folder that the superuser made would then prevent the
/// user from making one.
#[test]
#[cfg(target_os = "linux")]
fn no_folder_is_made_in_the_home_of_another_user() {
    let fixture = Fixture::new();
    let home = fixture.0.path("home");
    fs::create_dir(&home).unwrap();
    let multiply = || {
        let line = format!("multiply a.mtx --method esc --device {}", common::device().info().index);
        let mut command = fixture.0.command(&line);
        command.env_remove("BLOCKMUL_CACHE").env_remove("XDG_CACHE_HOME").env("HOME", &home);
        // PoCL has a cache of its own.
        command.env("POCL_CACHE_DIR", fixture.0.path("pocl"));
        let ran = super::ran(command);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        ran.stderr
    };
    if std::os::unix::fs::chown(&home, Some(12_345), None).is_err() {
        return; // this user cannot write to the home of another
    }
    let warned = multiply();
    assert!(warned.contains("it would be in the home of another user; set BLOCKMUL_CACHE"), "{warned}");
    assert_eq!(fs::read_dir(&home).unwrap().count(), 0);
    std::os::unix::fs::chown(&home, Some(rustix::process::geteuid().as_raw()), None).unwrap();
    assert!(!multiply().contains("warning"));
    assert!(home.join(".cache/blockmul/kernels").is_dir());
}

#[test]
fn the_cache_is_cleared_by_a_command() {
    let fixture = Fixture::new();
    fixture.multiply("kernels");
    let notes = fixture.0.path("kernels").join("notes.txt");
    fs::write(&notes, "the user's").unwrap();
    let clear = |cache: &str| {
        let mut command = fixture.0.command("devices --clear-cache");
        command.env("BLOCKMUL_CACHE", cache);
        ran(command)
    };
    let cleared = clear("kernels");
    assert_eq!(cleared.status, 0, "{}", cleared.stderr);
    assert!(
        cleared.stdout.starts_with("kernels: ") && cleared.stdout.contains(" kernels removed, "),
        "{}",
        cleared.stdout
    );
    assert_eq!(fixture.kernels(), [notes]);
    assert!(clear("kernels").stdout.contains(": 0 kernels removed"));
    assert!(clear("nowhere").stdout.contains(": 0 kernels removed"));
    assert!(clear("off").stdout.contains("BLOCKMUL_CACHE is off"));
    fixture.0.fails("devices --clear-cache --json", 2, &["--json"]);
    assert!(compiled(&fixture.multiply("kernels")));
}

/// The test needs a terminal, which the program `script` provides.
#[test]
#[cfg(target_os = "linux")]
fn a_terminal_shows_that_kernels_are_compiled() {
    let fixture = Fixture::new();
    let blockmul = env!("CARGO_BIN_EXE_blockmul");
    let line = format!("{blockmul} multiply a.mtx --method esc --device {}", common::device().info().index);
    let shown = |cache: &str| {
        let mut command = assert_cmd::Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).current_dir(fixture.0.path(".")).env("TERM", "xterm");
        let ran = ran({
            command.env("BLOCKMUL_CACHE", cache);
            command
        });
        assert_eq!(ran.status, 0, "{}", ran.stdout);
        ran.stdout.contains("compiling kernels for") && ran.stdout.contains("(first run)")
    };
    assert!(shown("kernels"), "the first run");
    assert!(!shown("kernels"), "the second one loads them");
}
