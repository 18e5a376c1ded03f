//! The control group whose memory limit is the lowest: that of this process, or one that contains it. Versions 1 and 2.
//!
//! Source: Linux' documentation of control groups (`cgroup-v2`, `cgroup-v1/memory`) and `proc_pid_mountinfo(5)`.

use std::fs;
use std::path::{Path, PathBuf};

/// File names of the memory controller in one version of control groups.
#[derive(Debug, PartialEq, Eq)]
struct Files {
    limit: &'static str,
    used: &'static str,
    /// The lines of `memory.stat` with the bytes of `used` that the kernel reclaims before it kills: pages of files. Those that were read
    /// lately are among them, because a database reads its files again and again.
    droppable: [&'static str; 2],
}

const CGROUP_V1: Files = Files {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    droppable: ["total_inactive_file", "total_active_file"],
};
const CGROUP_V2: Files = Files {
    limit: "memory.max",
    used: "memory.current",
    droppable: ["inactive_file", "active_file"],
};

/// Version 1 reports the largest multiple of a page, which is above this value, when there is no limit.
const NO_LIMIT: u64 = 1 << 60;

/// A control group with a memory limit.
#[derive(Debug, PartialEq, Eq)]
pub struct ControlGroup {
    folder: PathBuf,
    files: &'static Files,
    limit_bytes: u64,
}

impl ControlGroup {
    /// The group with the lowest limit among that of this process and those around it. `None` where none has a limit.
    pub fn find() -> Option<Self> {
        let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let folders = find_folders(&groups, &mounts);
        folders
            .into_iter()
            .filter_map(|(folder, top, files)| Self::lowest(&folder, &top, files))
            .min_by_key(|group| group.limit_bytes)
    }

    /// The group with the lowest limit from `folder` up to `top`.
    fn lowest(folder: &Path, top: &Path, files: &'static Files) -> Option<Self> {
        let groups = folder.ancestors().take_while(|group| group.starts_with(top));
        groups
            .filter_map(|group| {
                let limit = fs::read_to_string(group.join(files.limit)).ok()?;
                // The word `max` is no number, and means none.
                let limit_bytes = limit.trim().parse().ok().filter(|limit| *limit < NO_LIMIT)?;
                Some(Self {
                    folder: group.to_owned(),
                    files,
                    limit_bytes,
                })
            })
            .min_by_key(|group| group.limit_bytes)
    }

    /// Its limit, above which the system kills a process of the group.
    pub fn limit_bytes(&self) -> u64 {
        self.limit_bytes
    }

    /// The memory in use by all processes of the group, without what the system can drop. `None` when it cannot be read.
    pub(crate) fn used_bytes(&self) -> Option<u64> {
        let used: u64 = fs::read_to_string(self.folder.join(self.files.used))
            .ok()?
            .trim()
            .parse()
            .ok()?;
        let statistics = fs::read_to_string(self.folder.join("memory.stat")).ok()?;
        let droppable = statistics.lines().filter_map(|line| {
            let (name, value) = line.split_once(' ')?;
            let is_droppable = self.files.droppable.contains(&name);
            is_droppable.then(|| value.parse::<u64>().ok())?
        });
        Some(used.saturating_sub(droppable.sum()))
    }
}

/// The folders of this process' groups that can limit memory, each with the folder at the top of its hierarchy.
fn find_folders(groups: &str, mounts: &str) -> Vec<(PathBuf, PathBuf, &'static Files)> {
    let find = |line: &str| {
        // `hierarchy:controllers:path`; version 2 names no controllers.
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let files = if controllers.is_empty() {
            &CGROUP_V2
        } else if controllers.split(',').any(|name| name == "memory") {
            &CGROUP_V1
        } else {
            return None;
        };
        let (root, top) = mounts.lines().find_map(|line| find_mount(line, files))?;
        // In a container the mount may show the container's group as its root, while the path is the machine's.
        let below = Path::new(path)
            .strip_prefix(root)
            .unwrap_or_else(|_| Path::new(""));
        Some((top.join(below), top, files))
    };
    groups.lines().filter_map(find).collect()
}

/// Root and mount point, if a line of `mountinfo` is that of the version's hierarchy.
fn find_mount<'l>(line: &'l str, files: &Files) -> Option<(&'l str, PathBuf)> {
    let (place, kind) = line.split_once(" - ")?;
    let mut place = place.split(' ').skip(3);
    let (root, mount_point) = (place.next()?, place.next()?);
    let mut kind = kind.split(' ');
    let (name, options) = (kind.next()?, kind.nth(1)?);
    let is_wanted = match name {
        "cgroup2" => *files == CGROUP_V2,
        "cgroup" => *files == CGROUP_V1 && options.split(',').any(|option| option == "memory"),
        _ => false,
    };
    is_wanted.then(|| (root, PathBuf::from(mount_point)))
}

/// The memory of the machine in bytes. `None` where the system does not say it.
pub fn machine_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = total.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, name: &str, text: &str) {
        fs::create_dir_all(folder).expect("a folder");
        fs::write(folder.join(name), text).expect("written");
    }

    #[test]
    fn the_lowest_limit_of_a_group_and_those_around_it_counts() {
        let machine = tempfile::tempdir().expect("a folder");
        let (outer, inner) = (machine.path().join("outer"), machine.path().join("outer/inner"));
        write(machine.path(), "memory.max", "1\n");
        write(&outer, "memory.max", "1000\n");
        write(&inner, "memory.max", "max\n");
        write(&outer, "memory.current", "700\n");
        write(
            &outer,
            "memory.stat",
            "anon 300\ninactive_file 250\nactive_file 50\n",
        );

        let found = ControlGroup::lowest(&inner, &outer, &CGROUP_V2).expect("a limit");

        assert_eq!((found.limit_bytes(), found.used_bytes()), (1000, Some(400)));
        fs::remove_file(outer.join("memory.max")).expect("removed");
        assert_eq!(ControlGroup::lowest(&inner, &outer, &CGROUP_V2), None);
    }

    #[test]
    fn version_1_has_other_names_and_a_number_for_no_limit() {
        let machine = tempfile::tempdir().expect("a folder");
        let group = machine.path().join("a");
        write(machine.path(), "memory.limit_in_bytes", "9223372036854771712\n");
        write(&group, "memory.limit_in_bytes", "268435456\n");
        write(&group, "memory.usage_in_bytes", "100\n");
        write(&group, "memory.stat", "inactive_file 1\ntotal_inactive_file 30\n");

        let found = ControlGroup::lowest(&group, machine.path(), &CGROUP_V1).expect("a limit");

        assert_eq!((found.limit_bytes(), found.used_bytes()), (268_435_456, Some(70)));
    }

    #[test]
    fn the_folder_of_a_group_is_found_through_its_mount() {
        let mounts = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n\
            34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n\
            35 31 0:32 /docker/ab /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
            41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
        let groups = "9:name=systemd:/\n4:cpu,memory:/docker/ab/c\n3:cpuset:/\n0::/system.slice/x.service\n";

        let found = find_folders(groups, mounts);

        let folders: Vec<_> = found.iter().map(|(folder, top, _)| (folder, top)).collect();
        let path = |text: &str| PathBuf::from(text);
        assert_eq!(
            folders,
            [
                (&path("/sys/fs/cgroup/memory/c"), &path("/sys/fs/cgroup/memory")),
                (
                    &path("/sys/fs/cgroup/unified/system.slice/x.service"),
                    &path("/sys/fs/cgroup/unified")
                ),
            ]
        );
    }
}
