//! Checks that the modules of each room, and those of the command, do not depend on each other in
//! circles.
use super::{
    File, files_of, rooms, source,
    wings::{Modules, file},
};
use std::collections::BTreeSet;

/// Rooms whose modules may name each other. In `matrix` each format is converted from the others.
/// In `tuning` the tables are constants of the type whose functions read them.
const IN_CIRCLES: [&str; 2] = ["matrix", "tuning"];

/// The folder of the command's sources.
const COMMAND: &str = "tools/blockmul/src";

#[test]
fn no_two_modules_of_a_room_name_each_other() {
    let files = source();
    let rooms: Vec<_> = rooms(&files).into_iter().filter(|room| !IN_CIRCLES.contains(&&**room)).collect();
    assert!(rooms.len() > 20, "{rooms:?}");
    for room in &rooms {
        let circle = Modules::new(&files, room).circle(&files);
        assert!(circle.is_empty(), "modules of {room} in a circle: {circle:#?}");
    }
}

#[test]
fn no_two_modules_of_the_command_name_each_other() {
    let files = files_of(COMMAND);
    let circle = Modules::new(&files, "").circle(&files);
    assert!(circle.is_empty(), "modules of the command in a circle: {circle:#?}");
}

#[test]
fn modules_that_name_each_other_are_seen() {
    let circle_with = |mut files: Vec<File>, folder: &str, planted: File| -> BTreeSet<String> {
        let modules = Modules::new(&files, folder);
        files.push(planted);
        modules.circle(&files).into_iter().map(|(to, _)| to).collect()
    };
    for (path, code, circle) in [
        ("device/queue.rs", "use super::{cl::check, work::Work};", ["queue", "work"]),
        ("device/pool/memory.rs", "use crate::device::Buffer;", ["buffer", "pool"]),
        ("device/handle.rs", "use crate::{Device, Result, device::Marker};", ["handle", "marker"]),
    ] {
        let found = circle_with(source(), "device", file(path, code));
        assert!(circle.iter().all(|module| found.contains(*module)), "{path}: {code}: {found:?}");
    }
    for (path, code, circle) in [
        ("target/run.rs", "use crate::{failure::Failure, report::Report};", ["report", "target"]),
        ("matrix_size.rs", "use super::overflow::Extent;", ["matrix_size", "overflow"]),
    ] {
        let found = circle_with(files_of(COMMAND), "", file(path, code));
        assert!(circle.iter().all(|module| found.contains(*module)), "{path}: {code}: {found:?}");
    }
    let of_macro = file("device/parameters.rs", "$crate::device::kernel! {}");
    assert!(Modules::new(&source(), "device").named_by(&of_macro).is_empty(), "a macro is no module");
}
