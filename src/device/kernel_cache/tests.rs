use super::*;
use crate::device::{File, Options, Source, arguments::Argument};
use std::{fs, path::Path, time::Duration};

const KEY: &str = "0123abcd0123abcd0123abcd0123abcd0123abcd0123abcd0123abcd0123abcd";

fn known() -> KnownKernel {
    let argument = |name: &str, cl_type: &str| Argument { name: name.into(), cl_type: cl_type.into() };
    let arguments = vec![argument("data", "double*"), argument("n", "uint")];
    let arguments = KernelArguments { name: "scan_3".into(), arguments };
    KnownKernel { key: KEY.into(), binary: "4567".into(), arguments }
}

#[test]
fn a_file_comes_back_as_it_was_kept() {
    let bytes = seal(&known(), b"\x7fELF of a driver");
    assert_eq!(unseal::<KnownKernel>(&bytes), Some((known(), b"\x7fELF of a driver".as_slice())));
}

#[test]
fn nothing_but_a_whole_file_is_taken() {
    let bytes = seal(&known(), b"\x7fELF of a driver");
    let taken = |bytes: &[u8]| unseal::<KnownKernel>(bytes).is_some();
    for cut in 0..bytes.len() {
        assert!(!taken(&bytes[..cut]), "{cut} of {} bytes", bytes.len());
    }
    for place in 0..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[place] ^= 1;
        assert!(!taken(&bytes), "byte {place} is another");
    }
    assert!(!taken(&[bytes.as_slice(), b"."].concat()), "one byte more");
    assert!(unseal::<KnownKernel>(&seal(&Binary { key: KEY.into() }, b"")).is_none(), "another kind of header");
}

/// A kernel for work-groups of this size.
fn unit(group_size: usize) -> Unit {
    let source = Source { files: &[&File { path: "cl/one.cl", text: "KERNEL scan(global double* data, uint n) {}" }] };
    Unit { source, options: Options::group_size(group_size), kernel: "scan" }
}

#[test]
fn programs_are_found_by_what_they_are_made_of() {
    let place = tempfile::tempdir().unwrap();
    let cache = |driver: &str| {
        let mut info = crate::device::test_device().info().clone();
        info.driver = driver.into();
        Cache { folder: Folder::new(place.path().into()), of_device: hash_of(&info, |_| None) }
    };
    let units = [unit(1), unit(2)];
    let arguments = ["scan_0", "scan_1"].map(|name| KernelArguments { name: name.into(), ..known().arguments });
    cache("1.0").store(&Batch::new(&units), units.iter().zip(&arguments), b"bytes");
    let found = cache("1.0").find(&unit(2)).unwrap();
    assert_eq!(found.arguments, arguments[1]);
    assert_eq!(cache("1.0").binary(&found.binary).as_deref(), Some(b"bytes".as_slice()));
    assert_eq!(cache("1.0").find(&unit(1)).unwrap().arguments, arguments[0]);
    assert_eq!(cache("1.0").find(&unit(3)), None);
    assert_eq!(cache("1.1").find(&unit(1)), None, "another driver");
    // A cache file that was renamed to the key of another file is refused.
    let files = names(place.path());
    let of = |ending: &str| {
        files.iter().filter(|name| name.ends_with(ending)).map(|name| place.path().join(name)).collect::<Vec<_>>()
    };
    let (known, binaries) = (of(".kernels"), of(".binary"));
    assert_eq!((known.len(), binaries.len()), (2, 1));
    fs::copy(&known[0], &known[1]).unwrap();
    let left = [1, 2].map(|group_size| cache("1.0").find(&unit(group_size)));
    assert_eq!(left.iter().flatten().count(), 1);
    fs::copy(&known[0], &binaries[0]).unwrap();
    assert_eq!(cache("1.0").binary(&found.binary), None);
}

#[test]
fn files_are_kept_read_and_cleared() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("new").join("kernels");
    let folder = Folder::usable(path.clone(), None).unwrap();
    assert_eq!(folder.read(KEY, KNOWN), None);
    folder.write(KEY, KNOWN, b"first").unwrap();
    folder.write(KEY, KNOWN, b"second").unwrap();
    assert_eq!(folder.read(KEY, KNOWN).as_deref(), Some(b"second".as_slice()));
    fs::write(path.join("notes.txt"), "the user's").unwrap();
    fs::write(path.join("add.binary"), "the user's too").unwrap();
    fs::create_dir(path.join(KEY).with_extension("binary")).unwrap();
    assert_eq!(folder.clear().unwrap(), Cleared { kernels: 1, bytes: 6 });
    let folder_of_that_name = format!("{KEY}.binary");
    assert_eq!(
        names(&path),
        [&folder_of_that_name, "add.binary", "notes.txt"],
        "nothing else is removed, nothing unfinished is left"
    );
    assert_eq!(Folder::new(place.path().join("none")).clear().unwrap(), Cleared::default());
}

#[test]
#[cfg(unix)]
fn folder_and_files_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("kernels");
    let folder = Folder::usable(path.clone(), None).unwrap();
    folder.write(KEY, KNOWN, b"bytes").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let file = path.join(names(&path).remove(0));
    assert_eq!((mode(&path), mode(&file)), (0o700, 0o600));
    // A driver executes these files, so files that others can write to are not read.
    let chmod = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    chmod(&file, 0o602);
    assert_eq!(folder.read(KEY, KNOWN), None);
    chmod(&path, 0o720);
    let refused = |path: &Path| Folder::usable(path.to_owned(), None).err();
    assert!(matches!(refused(&path), Some(Unusable::WritableByOthers)));
    assert!(matches!(refused(&file), Some(Unusable::Refused(_))), "no folder at all");
    assert!(matches!(refused(Path::new("/dev/null/kernels")), Some(Unusable::Refused(_))), "no place for a folder");
}

/// Simulates a program run by a `sudo` that does not change the variable `HOME`.
#[test]
#[cfg(unix)]
fn no_folder_is_made_in_the_home_of_another_user() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join(".cache/blockmul/kernels");
    if std::os::unix::fs::chown(home.path(), Some(12_345), None).is_err() {
        return; // no other user's home can be written to
    }
    let usable = || Folder::usable(path.clone(), Some(home.path()));
    assert!(matches!(usable().err(), Some(Unusable::HomeOfAnother)));
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
    // The cache uses a folder in the user's own home, a folder that exists already, and a folder
    // that the user requested.
    std::os::unix::fs::chown(home.path(), Some(rustix::process::geteuid().as_raw()), None).unwrap();
    assert!(usable().is_ok());
    std::os::unix::fs::chown(home.path(), Some(12_345), None).unwrap();
    assert!(usable().is_ok());
    assert!(Folder::usable(home.path().join("named"), None).is_ok());
}

/// Only regular files are opened, because opening a pipe would take forever.
#[test]
#[cfg(unix)]
fn what_is_no_file_is_not_read_and_not_waited_for() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("kernels");
    let folder = Folder::usable(path.clone(), None).unwrap();
    folder.write(KEY, KNOWN, b"bytes").unwrap();
    let (file, other) = (path.join(KEY).with_extension(KNOWN), path.join("other"));
    fs::rename(&file, &other).unwrap();
    let bind = |path: &Path| drop(std::os::unix::net::UnixListener::bind(path).unwrap());
    let pipe = |path: &Path| assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    let link = |path: &Path| std::os::unix::fs::symlink(&other, path).unwrap();
    let make: [&dyn Fn(&Path); 4] = [&pipe, &bind, &link, &|path| fs::create_dir(path).unwrap()];
    for (number, make) in make.into_iter().enumerate() {
        make(&file);
        let gives_way = !file.is_dir() || file.is_symlink();
        assert_eq!(folder.read(KEY, KNOWN), None, "{number}");
        assert_eq!(folder.write(KEY, KNOWN, b"again").is_ok(), gives_way, "{number}");
        assert_eq!(folder.read(KEY, KNOWN).is_some(), gives_way, "{number}");
        let _it_may_be_a_folder = fs::remove_file(&file);
    }
}

#[test]
fn what_was_used_longest_ago_leaves_first() {
    let place = tempfile::tempdir().unwrap();
    let write = |folder: &Folder, number: u64| folder.write(&format!("{number:064x}"), BINARY, &[0; 100]).unwrap();
    for number in 0..10 {
        let folder = Folder::of_bytes(place.path().into(), u64::MAX);
        write(&folder, number);
        let file = fs::File::options().write(true).open(place.path().join(format!("{number:064x}.binary"))).unwrap();
        file.set_modified(std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(number)).unwrap();
    }
    // The cache files have 1000 bytes in total, and 800 are allowed. The files that stay, without
    // the new file, have at most three quarters of the allowed bytes.
    write(&Folder::of_bytes(place.path().into(), 800), 10);
    let left: Vec<_> = (4..11).map(|number| format!("{number:064x}.binary")).collect();
    assert_eq!(names(place.path()), left);
}

#[test]
fn everything_that_a_binary_depends_on_is_in_its_key() {
    let place = tempfile::tempdir().unwrap();
    let cache = |change: fn(&mut DeviceInfo)| {
        let mut info = crate::device::test_device().info().clone();
        change(&mut info);
        Cache { folder: Folder::new(place.path().into()), of_device: hash_of(&info, |_| None) }
    };
    let same: fn(&mut DeviceInfo) = |_| ();
    let one = cache(same).key_of(&unit(4));
    assert_eq!((one.len(), &one), (64, &cache(same).key_of(&unit(4))));
    let changes: [fn(&mut DeviceInfo); 6] = [
        |info| info.name.push('x'),
        |info| info.version.push('x'),
        |info| info.driver.push('x'),
        |info| info.platform.push('x'),
        |info| info.platform_version.push('x'),
        |info| info.vendor.push('x'),
    ];
    let mut others: Vec<_> = changes.map(|change| cache(change).key_of(&unit(4))).into();
    let Unit { source, options, kernel } = unit(4);
    let mut add = |unit| others.push(cache(same).key_of(&unit));
    add(Unit { source: Source { files: &[&File { path: "cl/one.cl", text: "other" }] }, ..unit(4) });
    add(Unit { options: options.clone().define("N", 1), ..unit(4) });
    add(Unit { options: Options { flags: "-w".into(), ..options }, source, kernel });
    add(Unit { kernel: "other", ..unit(4) });
    let with = |name: &'static str| {
        let of_device = hash_of(crate::device::test_device().info(), |asked| (asked == name).then(|| "1".into()));
        Cache { folder: Folder::new(place.path().into()), of_device }.key_of(&unit(4))
    };
    assert_eq!(one, with("HOME"));
    others.extend(COMPILER_VARIABLES.map(with));
    for other in others {
        assert_ne!(one, other);
    }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
