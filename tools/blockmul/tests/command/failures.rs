//! Tests of exit statuses and their messages.
use super::*;

/// Runs the command as if this machine had no OpenCL: with a library without drivers, then with a
/// file that is not a library. The second run is left out if the command cannot start with this
/// file, because a feature of the library links OpenCL.
fn without_opencl(desk: &Desk, line: &str) -> Vec<Ran> {
    let mut empty = desk.command(line);
    empty.env("OCL_ICD_VENDORS", desk.path("no-drivers")).env_remove("OCL_ICD_FILENAMES");
    let mut all = vec![ran(empty)];
    let folder = desk.path("no-opencl");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("libOpenCL.so.1"), "").unwrap();
    let broken = |line| {
        let mut broken = desk.command(line);
        broken.env("LD_LIBRARY_PATH", &folder).env_remove("OPENCL_DYLIB_PATH");
        ran(broken)
    };
    if broken("--version").status == 0 {
        all.push(broken(line));
    }
    all
}

#[test]
fn without_opencl_the_command_says_what_to_install() {
    let desk = Desk::with([("a.mtx", SQUARE)]);
    for line in ["devices", "devices --json", "multiply a.mtx --device 0", "multiply a.mtx --method esc"] {
        for ran in without_opencl(&desk, line) {
            assert_eq!((ran.status, ran.stdout.as_str()), (3, ""), "{line}: {}", ran.stderr);
            assert!(ran.stderr.contains("install pocl-opencl-icd"), "{}", ran.stderr);
        }
    }
}

#[test]
fn without_opencl_auto_is_the_reference_and_says_so() {
    let desk = Desk::with([("a.mtx", SQUARE)]);
    let want = desk.multiply("a.mtx -o -").stdout;
    for ran in without_opencl(&desk, "multiply a.mtx -o - --report r.json") {
        assert_eq!((ran.status, &ran.stdout), (0, &want), "{}", ran.stderr);
        assert!(ran.stderr.contains("reference"), "{}", ran.stderr);
        let report: Value = serde_json::from_str(&std::fs::read_to_string(desk.path("r.json")).unwrap()).unwrap();
        assert_eq!((&report["device"]["name"], &report["method"]), (&"reference".into(), &"reference".into()));
    }
    let auto = desk.ok("multiply a.mtx");
    assert!(auto.stderr.contains("device: "), "auto names its device: {}", auto.stderr);
}

#[test]
fn wrong_usage_and_unreadable_inputs_are_status_2() {
    let desk = Desk::new();
    desk.put("s.mtx", SQUARE);
    desk.put("wide.mtx", WIDE);
    desk.put("bad.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n3 1 1\n");
    desk.put("twice.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n1 1 2\n");
    desk.put("complex.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n");
    for (line, words) in [
        ("multiply", &["<A>"][..]),
        ("multiply s.mtx --no-such-option", &["--no-such-option"]),
        ("multiply s.mtx --element f8", &["f8", "f16"]),
        ("multiply s.mtx --method magic", &["magic", "esc"]),
        ("multiply s.mtx --memory-limit much", &["much", "2GiB"]),
        ("multiply s.mtx --repeat 0", &["0"]),
        ("multiply s.mtx wide.mtx", &["A is 3x3, B is 2x4"]),
        ("multiply s.mtx wide.mtx --block 3 --block-b 1", &["A is 1x1 blocks of 3x3, B is 2x4"]),
        ("multiply s.mtx --method masked", &["--method masked needs a --mask"]),
        ("multiply s.mtx --mask s.mtx --method hash", &["--method hash is for products without --mask"]),
        ("multiply missing.mtx", &["missing.mtx"]),
        ("multiply bad.mtx", &["bad.mtx:4: "]),
        ("multiply twice.mtx", &["twice.mtx:4: "]),
        ("multiply complex.mtx", &["complex.mtx:1: ", "complex"]),
        ("multiply s.mtx bad.mtx -o c.mtx", &["bad.mtx:4: "]),
    ] {
        desk.fails(line, 2, words);
    }
    assert!(!desk.path("c.mtx").exists());
    assert!(desk.multiply("twice.mtx --sum-duplicates -o -").stdout.contains("1 1 9"));
}

#[test]
fn a_device_that_is_not_there_is_status_3_and_lists_what_is() {
    let desk = Desk::with([("s.mtx", SQUARE)]);
    let device = common::device();
    let name = &device.info().name;
    desk.fails("multiply s.mtx --device 99", 3, &["\"99\"", name]);
    desk.fails("multiply s.mtx --device nonesuch", 3, &["\"nonesuch\"", name]);
}

#[test]
fn a_limit_too_small_is_status_4_and_a_small_one_means_bands() {
    let desk = Desk::new();
    desk.ok("generate power-law --nodes 4096 --edges 60000 --integer -q -o p.mtx");
    let index = common::device().info().index;
    desk.fails(
        &format!("multiply p.mtx --device {index} --memory-limit 100kB -o c.mtx"),
        4,
        &["bytes needed", "available"],
    );
    assert_eq!(desk.files(), ["p.mtx"], "a failure leaves nothing");
    let whole = desk.report("p.mtx -o whole.mtx");
    // The limit is less than C alone takes in f64.
    let limit = whole["c"]["nnz"].as_u64().unwrap() * 12 / 3 * 2;
    let banded = desk.report(&format!("p.mtx -o banded.mtx --memory-limit {limit}"));
    assert!(
        banded["bands"].as_u64().unwrap() > 1 && banded["held_device_bytes"].as_u64().unwrap() <= limit,
        "{banded}"
    );
    assert_eq!(banded["c"], whole["c"]);
    assert!(std::fs::read(desk.path("whole.mtx")).unwrap() == std::fs::read(desk.path("banded.mtx")).unwrap());
}

/// Without -o and --verify no band of C is kept, but the report is the same.
#[test]
fn a_product_that_nobody_keeps_is_reported_alike() {
    let desk = Desk::new();
    desk.ok("generate uniform --rows 2000 --per-column 9 --seed 1 -q -o u.mtx");
    let limit = desk.report("u.mtx -o whole.mtx")["peak_device_bytes"].as_u64().unwrap() / 3;
    for options in [format!("--memory-limit {limit}"), "--drop 0.1".into(), "--block 2".into(), "--mask u.mtx".into()] {
        let [kept, dropped] = ["-o c.mtx", ""].map(|output| desk.report(&format!("u.mtx {options} {output}")));
        for field in ["c", "products", "flops", "expansion_factor", "bands", "overflowed", "dropped", "bins"] {
            assert_eq!(kept[field], dropped[field], "{options}: {field}");
        }
        assert!(kept["c"]["nnz"].as_u64() > Some(0) && dropped["verified"].is_null(), "{dropped}");
    }
    let text = desk.multiply("u.mtx --explain").stderr;
    assert!(text.contains("products"), "{text}");
}

/// The bound of a band's memory is far above the memory that the band takes. A product that only
/// compared bounds would refuse the limit.
#[test]
fn a_limit_under_which_bands_fit_is_obeyed() {
    let desk = Desk::new();
    desk.ok("generate uniform --rows 2207 --per-column 10 --seed 1 -q -o u.mtx");
    let report = desk.report("u.mtx --memory-limit 1MiB --verify");
    assert_eq!(report["a"]["nnz"], 22_070);
    assert!(report["bands"].as_u64() > Some(1) && report["held_device_bytes"].as_u64() <= Some(1 << 20), "{report}");
    assert_eq!(report["verified"]["max_abs_error"], 0.0);
}

#[test]
#[cfg(unix)]
fn a_place_that_cannot_be_written_is_status_5() {
    let desk = Desk::with([("s.mtx", SQUARE)]);
    // Every write to /dev/full fails.
    desk.fails("transpose s.mtx -o /dev/full", 5, &["/dev/full"]);
    desk.fails("multiply s.mtx --device reference -q --report /dev/full", 5, &["/dev/full"]);
}

/// Every file of the folder is multiplied or refused. No file may crash the command, take forever,
/// or cause an internal error.
#[test]
fn malformed_files_are_read_as_the_format_says_or_refused() {
    let Some(folder) = common::data("malformed") else { return };
    let desk = Desk::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let mut command = desk.command("multiply --device reference");
        let ran = ran({
            command.arg(&path).timeout(std::time::Duration::from_secs(60));
            command
        });
        match ran.status {
            0 => {}
            2 => assert!(names_a_line(&ran.stderr, &path), "{}", ran.stderr),
            status => panic!("{}: {status}: {}", path.display(), ran.stderr),
        }
    }
}

fn names_a_line(message: &str, path: &Path) -> bool {
    let after = message.split_once(&format!("{}:", path.display())).map_or("", |(_, after)| after);
    after.split_once(':').is_some_and(|(line, _)| line.parse::<u64>().is_ok())
}

/// The command compares the size of a large product with the limit. It learns that a smaller one
/// does not fit when an allocation fails.
#[test]
#[cfg(target_os = "linux")]
fn memory_that_the_system_refuses_is_status_4() {
    let desk = Desk::new();
    // A column is multiplied by a row. C is full, and takes 12 bytes for each of its 4.8 or 9
    // million entries.
    for cols in [2200, 3000] {
        desk.ok(&format!("generate uniform --rows 1 --cols {cols} --per-column 1 -q -o {cols}.mtx"));
    }
    let limited = |cols: u64, kilobytes: u64| {
        let line = format!("multiply {cols}.mtx --transpose-a --device reference -q -o c.npz");
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("ulimit -v {kilobytes}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_blockmul")]);
        shell.args(line.split_whitespace()).current_dir(desk.0.path());
        shell.env("RAYON_NUM_THREADS", "1").env("MALLOC_ARENA_MAX", "1");
        ran(shell)
    };
    let whole = limited(3000, 1 << 22);
    assert_eq!(whole.status, 0, "{}", whole.stderr);
    std::fs::remove_file(desk.path("c.npz")).unwrap();
    for (cols, limit, words) in [
        (2200, 96 << 10, "error: not enough memory on the host: "),
        (3000, 128 << 10, "error: not enough memory for the product (at least): 108000000 bytes needed, "),
    ] {
        let refused = limited(cols, limit);
        assert_eq!((refused.status, refused.stdout.as_str()), (4, ""), "{}", refused.stderr);
        assert!(refused.stderr.contains(words), "{}", refused.stderr);
        assert!(!refused.stderr.contains("backtrace") && !refused.stderr.contains("panicked"), "{}", refused.stderr);
        assert_eq!(desk.files(), ["2200.mtx", "3000.mtx"]);
    }
}

/// A reader of stdout may stop early. If the reader of another output stops, the command fails.
#[test]
#[cfg(target_os = "linux")]
fn a_pipe_whose_reader_leaves_is_a_failure() {
    let desk = Desk::new();
    // The file is larger than a pipe's buffer.
    desk.ok("generate uniform --rows 3000 --per-column 8 -q -o u.mtx");
    assert!(std::process::Command::new("mkfifo").arg(desk.path("pipe.mtx")).status().unwrap().success());
    let reader = std::thread::spawn({
        let path = desk.path("pipe.mtx");
        move || drop(std::fs::File::open(path).unwrap())
    });
    let ran = desk.run("transpose u.mtx -o pipe.mtx -q");
    reader.join().unwrap();
    assert_eq!(ran.status, 5, "{}", ran.stderr);
    assert!(ran.stderr.contains("pipe.mtx: its reader left before all was written"), "{}", ran.stderr);
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_has_one_message() {
    let desk = Desk::new();
    desk.ok("generate uniform --rows 20000 --per-column 8 -q -o u.mtx");
    for name in ["full.npz", "full.mtx", "full.mtx.gz", "full.mtx.bz2", "full.bin", "full.txt"] {
        std::os::unix::fs::symlink("/dev/full", desk.path(name)).unwrap();
        let ran = desk.run(&format!("convert u.mtx -o {name} -q"));
        assert_eq!(ran.status, 5, "{name}: {}", ran.stderr);
        let told = &ran.stderr;
        assert!(told.starts_with(&format!("error: {name}: ")), "{name}: {told}");
        assert!(
            told.ends_with("No space left on device (os error 28)\n") && told.lines().count() == 1,
            "{name}: {told}"
        );
    }
}

/// The limit of `ulimit -f`, at which the system would end the process by a signal.
#[test]
#[cfg(target_os = "linux")]
fn a_file_that_may_not_grow_is_a_failure_and_leaves_nothing() {
    let desk = Desk::new();
    desk.ok("generate uniform --rows 20000 --per-column 8 -q -o u.mtx");
    let limited = |line: &str| {
        let mut shell = Command::new("bash");
        shell.args(["-c", &format!("ulimit -f 100; exec \"$0\" {line}"), env!("CARGO_BIN_EXE_blockmul")]);
        shell.current_dir(desk.0.path());
        ran(shell)
    };
    for (line, name) in [
        ("convert u.mtx -o c.npz -q", "c.npz"),
        ("transpose u.mtx -o c.mtx -q", "c.mtx"),
        ("generate bal --cameras 20 --points 3000 -o p.txt -q", "p.txt"),
        ("convert u.mtx -o - -q > out", "stdout"),
    ] {
        let ran = limited(line);
        assert_eq!(ran.status, 5, "{line}: {}", ran.stderr);
        assert_eq!(ran.stderr, format!("error: {name}: File too large (os error 27)\n"), "{line}");
        let _it_is_stdout = std::fs::remove_file(desk.path("out"));
        assert_eq!(desk.files(), ["u.mtx"], "{line}");
    }
    desk.put("c.mtx", "as it was");
    assert_eq!(limited("transpose u.mtx -o c.mtx -q").status, 5);
    assert_eq!(std::fs::read_to_string(desk.path("c.mtx")).unwrap(), "as it was");
}

/// A shell closes stdout with `>&-`. A result that would be lost is refused before it is computed.
#[test]
#[cfg(unix)]
fn a_closed_stdout_is_a_failure_unless_it_has_only_a_summary() {
    let desk = Desk::with([("s.mtx", SQUARE)]);
    let shell = |line: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("exec \"$0\" {line}"), env!("CARGO_BIN_EXE_blockmul")]);
        ran({
            shell.current_dir(desk.0.path());
            shell
        })
    };
    for line in [
        "transpose s.mtx -o -",
        "multiply s.mtx --device reference -q -o -",
        "multiply s.mtx --device reference -q -o c.mtx --report -",
        "multiply s.mtx --device reference",
        "info s.mtx",
        "devices",
    ] {
        for closed in [">&-", "1</dev/null"] {
            let ran = shell(&format!("{line} {closed}"));
            assert_eq!(ran.status, 5, "{line} {closed}: {}", ran.stderr);
            assert!(ran.stderr.contains("error: stdout: it is closed, and the result would be lost"), "{}", ran.stderr);
        }
        // Python's DEVNULL is open both for reading and for writing.
        for open in [">/dev/null", "1<>/dev/null"] {
            let ran = shell(&format!("{line} {open}"));
            assert_eq!(ran.status, 0, "{line} {open}: {}", ran.stderr);
        }
        let _it_may_be_there = std::fs::remove_file(desk.path("c.mtx"));
    }
    desk.ok("generate g2o --poses 20 --closures 5 -q -o g.g2o");
    for line in [
        "transpose s.mtx -o t.mtx",
        "multiply s.mtx --device reference -o t.mtx",
        "solve g.g2o -o t.g2o",
        "hessian g.g2o --write H=t.mtx",
        "bench uniform:9x2 --rounds 1 --json t.json",
    ] {
        let ran = shell(&format!("{line} >&-"));
        assert_eq!(ran.status, 0, "{line}: {}", ran.stderr);
    }
    assert_eq!(desk.files(), ["g.g2o", "s.mtx", "t.g2o", "t.json", "t.mtx"]);
}

#[test]
#[cfg(unix)]
fn a_name_stays_on_its_line() {
    let desk = Desk::new();
    let (name, shown) = ("x\nerror: fake.mtx", "x\\nerror: fake.mtx");
    let run = |words: &[&str], logged: &str| {
        let mut command = desk.command("");
        command.args(words).env("BLOCKMUL_LOG", logged);
        ran(command)
    };
    for exists in [false, true] {
        if exists {
            desk.put(name, SQUARE);
        }
        for words in [
            &["info", name][..],
            &["transpose", name, "-o", "b.mtx"],
            &["generate", "uniform", "--rows", "9", "-o", "b\nerror: c.mtx"],
            &["multiply", name, "--device", "reference"],
            &["apply", name, "--device", "reference"],
            &["compare", name, name],
            &["spy", name, "--device", "reference", "-o", "b\nerror: p.png"],
            &["solve", name],
            &["bench", name, "--rounds", "1"],
            &["info", name, name],
        ] {
            for logged in ["off", "blockmul=info"] {
                let ran = run(words, logged);
                let lines: Vec<_> = ran.stdout.lines().chain(ran.stderr.lines()).collect();
                assert!(!lines.iter().any(|line| line.starts_with("error: fake.mtx")), "{words:?}: {lines:#?}");
                assert!(!lines.iter().any(|line| line.starts_with("error: c.mtx")), "{words:?}: {lines:#?}");
                assert!(!lines.iter().any(|line| line.starts_with("error: p.png")), "{words:?}: {lines:#?}");
                if !exists && words.contains(&name) {
                    assert!(ran.stderr.contains(shown), "{words:?}: {}", ran.stderr);
                }
            }
        }
    }
    let refused = run(&["multiply", name, "--block", "1\nerror: fake.mtx"], "off");
    assert!(refused.status == 2 && refused.stderr.contains("1\\nerror: fake.mtx"), "{}", refused.stderr);
    let refused = run(&["multiply", name, "--block=1\nerror: fake.mtx"], "off");
    assert!(refused.status == 2 && refused.stderr.contains("'1\\nerror: fake.mtx'"), "{}", refused.stderr);
}

#[test]
#[cfg(unix)]
fn names_cannot_steer_the_terminal() {
    let desk = Desk::new();
    let name = "a\u{1b}[2Jb.mtx";
    desk.put(name, SQUARE);
    for line in ["info -q", "transpose -o b.mtx", "compare s.mtx"] {
        desk.put("s.mtx", SQUARE);
        let ran = ran({
            let mut command = desk.command(line);
            command.arg(name);
            command
        });
        assert!(
            !ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'),
            "{line}: {} {}",
            ran.stdout,
            ran.stderr
        );
    }
    let refused = ran({
        let mut command = desk.command("info");
        command.arg(format!("none-{name}"));
        command
    });
    assert!(refused.stderr.contains("none-a\\u{1b}[2Jb.mtx"), "{}", refused.stderr);
    assert!(!refused.stderr.contains('\u{1b}'), "{}", refused.stderr);
}
