//! Tests of `tools/demo` and `tools/setup` with scripts in place of cargo, the command and package
//! managers. CI runs the demo with the real programs.
use super::*;

/// A script that replaces cargo: `build` copies the command to cargo's folder, `run` runs it.
const CARGO: &str = r#"#!/usr/bin/env bash
case $1 in
build) mkdir -p "${CARGO_TARGET_DIR:-target}/release" && cp "$COMMAND" "${CARGO_TARGET_DIR:-target}/release/blockmul" ;;
run) while [ "$1" != -- ]; do shift; done; shift; exec "$COMMAND" "$@" ;;
esac
"#;
/// A script that replaces the command.
const COMMAND: &str = "#!/usr/bin/env bash\necho \"blockmul $*\"\n";

/// A script that replaces a package manager: it stores its arguments and makes a C compiler.
const MANAGER: &str = "#!/bin/sh\necho \"$*\" >>\"$LOG\"\n[ \"$1\" = update ] || { printf '#!/bin/sh\\n' >\"$BIN/cc\"; chmod +x \"$BIN/cc\"; }\n";

/// A folder of programs in which `manager` is the only package manager and the C compiler is
/// missing.
#[cfg(unix)]
fn bare_system(desk: &Desk, manager: &str) -> PathBuf {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let bin = desk.path("bin");
    std::fs::create_dir(&bin).unwrap();
    for program in ["sh", "id", "tr", "grep", "head", "sleep", "printf", "chmod", "env"] {
        let real = ["/bin", "/usr/bin"].iter().map(|folder| Path::new(folder).join(program)).find(|path| path.exists());
        symlink(real.unwrap(), bin.join(program)).unwrap();
    }
    for (name, text) in [(manager, MANAGER), ("sudo", "#!/bin/sh\nexec \"$@\"\n")] {
        std::fs::write(bin.join(name), text).unwrap();
        std::fs::set_permissions(bin.join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    bin
}

#[test]
#[cfg(unix)]
fn packages_are_installed_without_a_partial_upgrade() {
    for (manager, words) in [
        ("pacman", "-S --needed --noconfirm gcc\n"),
        ("dnf", "install -y gcc\n"),
        ("apt-get", "update -q\ninstall -q -y --no-install-recommends gcc libc6-dev\n"),
    ] {
        let desk = Desk::new();
        let (bin, log) = (bare_system(&desk, manager), desk.path("log"));
        let setup = |words: &[&str], may: &str| {
            let mut command = Command::new(Path::new(ROOT).join("tools/setup"));
            command.args(words).env("PATH", &bin).env("BIN", &bin).env("LOG", &log).env("BLOCKMUL_INSTALL", may);
            ran(command)
        };
        for (words, may) in [(&["--no-install", "linker"][..], ""), (&["linker"], "no")] {
            let refused = setup(words, may);
            assert_eq!(refused.status, 1, "{}", refused.stderr);
            assert!(refused.stderr.contains(&format!("is missing ({manager}: gcc")), "{}", refused.stderr);
            assert!(!log.exists(), "nothing is installed");
        }
        // If there is no terminal, no question is asked.
        let installed = setup(&["linker"], "");
        assert_eq!(installed.status, 0, "{}", installed.stderr);
        assert_eq!(std::fs::read_to_string(&log).unwrap(), words);
        assert_eq!(setup(&["--no-install", "linker"], "").stderr, "", "all is there");
    }
}

/// The test needs a terminal, which the program `script` provides.
#[test]
#[cfg(target_os = "linux")]
fn on_a_terminal_packages_are_installed_if_the_user_says_so() {
    for (answer, installs) in [("n\n", false), ("\n", false), ("y\n", true)] {
        let desk = Desk::new();
        let (bin, log) = (bare_system(&desk, "pacman"), desk.path("log"));
        let line = format!(
            "env PATH={} BIN={} LOG={} BLOCKMUL_INSTALL= {}/tools/setup linker",
            bin.display(),
            bin.display(),
            log.display(),
            ROOT
        );
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).write_stdin(answer);
        let ran = ran(command);
        assert!(ran.stdout.contains("install them? [y/N]"), "{}", ran.stdout);
        assert_eq!((ran.status, log.exists()), (if installs { 0 } else { 1 }, installs), "{}", ran.stdout);
    }
}

#[test]
#[cfg(unix)]
fn the_demo_finds_what_cargo_built_wherever_that_is() {
    use std::os::unix::fs::PermissionsExt;
    let desk = Desk::new();
    let script = |name: &str, text: &str| {
        let path = desk.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    let demo = Path::new(ROOT).join("tools/demo");
    script("tools/demo", &std::fs::read_to_string(demo).unwrap());
    script("tools/setup", "#!/usr/bin/env bash\n");
    script("bin/cargo", CARGO);
    script("bin/blockmul", COMMAND);
    let path = format!("{}:{}", desk.path("bin").display(), std::env::var("PATH").unwrap());
    for target in [Some(desk.path("elsewhere")), None] {
        let mut command = Command::new(desk.path("tools/demo"));
        command.args(["--element", "f32"]).env("PATH", &path).env("COMMAND", desk.path("bin/blockmul"));
        match target {
            Some(target) => command.env("CARGO_TARGET_DIR", target),
            None => command.env_remove("CARGO_TARGET_DIR"),
        };
        let ran = ran(command);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        let lines: Vec<&str> = ran.stdout.lines().collect();
        let [generate, multiply] = lines[..] else { panic!("two commands, not {lines:?}") };
        let matrix =
            generate.strip_prefix("blockmul generate bundle-adjustment --cameras 200 --points 20000 --seed 1 -o ");
        let matrix = matrix.unwrap_or_else(|| panic!("{generate}"));
        assert!(matrix.ends_with("/W.mtx"), "{matrix}");
        assert_eq!(multiply, format!("blockmul multiply {matrix} --repeat 3 --verify --element f32"));
    }
}
