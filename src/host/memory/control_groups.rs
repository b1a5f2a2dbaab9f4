//! The memory that the limits of Linux control groups (versions 1 and 2) leave to this process.
use std::fs;
use std::path::{Component, Path};

/// File names in one version of the control groups.
struct Files {
    limit: &'static str,
    used: &'static str,
    /// Names of the lines in `memory.stat` that count cached pages of files. The system reclaims
    /// cached pages before it kills a process.
    cached: [&'static str; 2],
}

const VERSION_1: Files = Files {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    cached: ["total_inactive_file", "total_active_file"],
};
const VERSION_2: Files =
    Files { limit: "memory.max", used: "memory.current", cached: ["inactive_file", "active_file"] };

/// Number of bytes that the control groups of this process leave to it, or `None` if there is no
/// limit: the minimum over the process's own group and all groups above it. `groups` is the text of
/// `/proc/self/cgroup`, and `mounted` is the folder of the groups' file systems.
///
/// In a container, `groups` may contain the path of a group as seen from outside, while the folder
/// `mounted` is that group itself. So folders that do not exist are skipped on the way up.
pub fn left(groups: &str, mounted: &Path) -> Option<u64> {
    groups.lines().filter_map(|line| left_by_line(line, mounted)).min()
}

/// Number of bytes left by the groups that a line `number:controllers:path` names. A line of
/// version 2 is `0::path`.
fn left_by_line(line: &str, mounted: &Path) -> Option<u64> {
    let mut parts = line.splitn(3, ':');
    let (number, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
    let (files, root) = match (number, controllers) {
        // If version 1 is also in use, version 2 has its own folder.
        ("0", "") => (VERSION_2, [mounted.join("unified"), mounted.to_owned()].into_iter().find(|root| root.is_dir())?),
        (_, controllers) if controllers.split(',').any(|name| name == "memory") => (VERSION_1, mounted.join("memory")),
        _ => return None,
    };
    // Groups outside the root of a container are not visible.
    let inside = Path::new(path).components().filter(|part| matches!(part, Component::Normal(_)));
    let group = inside.fold(root.clone(), |group, part| group.join(part));
    group
        .ancestors()
        .take_while(|group| group.starts_with(&root))
        .filter_map(|group| left_by_group(group, &files))
        .min()
}

/// Number of bytes that the limit of one group leaves.
fn left_by_group(group: &Path, files: &Files) -> Option<u64> {
    let number = |name| fs::read_to_string(group.join(name)).ok()?.trim().parse::<u64>().ok();
    let (limit, used) = (number(files.limit)?, number(files.used)?);
    let stat = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
    let cached = stat.lines().filter_map(|line| {
        let (name, bytes) = line.split_once(' ')?;
        if files.cached.contains(&name) { bytes.trim().parse::<u64>().ok() } else { None }
    });
    let held = used.saturating_sub(cached.fold(0, u64::saturating_add));
    Some(limit.saturating_sub(held))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    /// A folder of control groups that contains the given files.
    fn mounted(files: &[(&str, &str)]) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{text}\n")).unwrap();
        }
        folder
    }

    fn found(groups: &str, files: &[(&str, &str)]) -> Option<u64> {
        left(groups, mounted(files).path())
    }

    #[test]
    fn version_2_leaves_the_least_of_the_groups_above() {
        let own = [("a/b/memory.max", "5000"), ("a/b/memory.current", "3000")];
        assert_eq!(found("0::/a/b\n", &own), Some(2000));
        let unlimited = [("a/b/memory.max", "max"), ("a/b/memory.current", "3000")];
        assert_eq!(found("0::/a/b\n", &unlimited), None);
        let above = [("a/memory.max", "4000"), ("a/memory.current", "3500")];
        assert_eq!(found("0::/a/b\n", &[own, above].concat()), Some(500));
        assert_eq!(found("0::/a/b\n", &[unlimited, above].concat()), Some(500));
        let full = [("memory.max", "10"), ("memory.current", "11")];
        assert_eq!(found("0::/a/b\n", &[own, full].concat()), Some(0), "the root too, which a container has");
        assert_eq!(found("0::/other\n", &own), None);
        assert_eq!(found("0::/\n", &[]), None);
    }

    #[test]
    fn pages_of_files_are_not_held() {
        let stat = "anon 1000\nfile 2500\ninactive_file 1500\nactive_file 500\ntotal_inactive_file 7";
        let files = [("a/memory.max", "5000"), ("a/memory.current", "4000"), ("a/memory.stat", stat)];
        assert_eq!(found("0::/a\n", &files), Some(3000));
    }

    #[test]
    fn version_1_and_both_side_by_side() {
        let groups = "12:cpu,cpuacct:/x\n4:hugetlb,memory:/docker/1\n0::/docker/1\n";
        let first = [
            ("memory/docker/1/memory.limit_in_bytes", "9223372036854771712"),
            ("memory/docker/1/memory.usage_in_bytes", "3000"),
            ("memory/docker/memory.limit_in_bytes", "7000"),
            ("memory/docker/memory.usage_in_bytes", "4000"),
            ("memory/docker/memory.stat", "cache 9\ntotal_inactive_file 1000\ninactive_file 5"),
        ];
        assert_eq!(found(groups, &first), Some(4000));
        let second = [("unified/docker/1/memory.max", "300"), ("unified/docker/1/memory.current", "100")];
        assert_eq!(found(groups, &[&first[..], &second].concat()), Some(200));
    }

    #[test]
    fn in_a_container_the_root_is_the_group() {
        let files = [("memory.max", "600"), ("memory.current", "100")];
        for path in ["/", "/../..", "/system.slice/docker-1.scope", "/../elsewhere"] {
            assert_eq!(found(&format!("0::{path}\n"), &files), Some(500), "{path}");
        }
        let first = [("memory/memory.limit_in_bytes", "600"), ("memory/memory.usage_in_bytes", "50")];
        assert_eq!(found("3:memory:/docker/1\n", &first), Some(550));
    }

    #[test]
    fn what_is_none_of_these_says_nothing() {
        let files = [("a/memory.max", "many"), ("a/memory.current", "1"), ("memory.max", "7")];
        for groups in ["", "\n", "0::", "0:", "x:y", "0::/a\n"] {
            assert_eq!(found(groups, &files), None, "{groups:?}");
        }
    }
}
