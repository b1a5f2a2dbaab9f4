//! Tests of `tools/demo` with stand-ins for cargo and the command. CI runs it with the real ones.
use super::*;

/// A stand-in for cargo: `build` puts the command where cargo would, `run` runs it.
const CARGO: &str = r#"#!/usr/bin/env bash
case $1 in
build) mkdir -p "${CARGO_TARGET_DIR:-target}/release" && cp "$COMMAND" "${CARGO_TARGET_DIR:-target}/release/blockmul" ;;
run) while [ "$1" != -- ]; do shift; done; shift; exec "$COMMAND" "$@" ;;
esac
"#;
/// A stand-in for the command.
const COMMAND: &str = "#!/usr/bin/env bash\necho \"blockmul $*\"\n";

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
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/demo");
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
