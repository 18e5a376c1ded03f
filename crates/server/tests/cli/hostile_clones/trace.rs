//! Reads what `strace` has recorded of a command and of all processes that it started: which files they wrote, made, removed or ran.

use std::path::{Component, Path, PathBuf};
use std::process::Command;

use super::world::World;

/// What changes files, and what runs programs. `?` stands before those that not every machine has.
const CALLS: &str = "trace=openat,execve,unlinkat,renameat2,mkdirat,symlinkat,linkat,fchmodat,fchownat,fchmod,fchown,truncate,\
     mknodat,?open,?creat,?unlink,?rmdir,?rename,?renameat,?mkdir,?symlink,?link,?chmod,?chown,?lchown,?mknod";

/// Whether `strace` is installed and may watch other processes here.
pub(super) fn is_possible() -> bool {
    let watched = Command::new("strace")
        .args(["-qq", "-o", "/dev/null", "true"])
        .output();
    watched.is_ok_and(|output| output.status.success())
}

/// A command that runs another under `strace`, with one file for each process in a folder.
pub(super) fn watch(world: &World, program: &Path, folder: &Path) -> Command {
    let mut command = world.command(Path::new("strace"));
    command.args([
        "-ff",
        "-qq",
        "-y",
        "-s",
        "4096",
        "-e",
        CALLS,
        "-e",
        "signal=none",
        "-o",
    ]);
    command.arg(folder.join("process")).arg(program);
    command
}

/// The recorded lines that changed or ran something that the project may not touch.
pub(super) fn list_violations(world: &World, folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder)
        .expect("readable")
        .map(|file| file.expect("an entry").path());
    let mut violations = Vec::new();
    for file in files {
        let text = std::fs::read(&file).expect("readable");
        let text = String::from_utf8_lossy(&text);
        violations.extend(
            text.lines()
                .filter(|line| is_violation(world, line))
                .map(str::to_owned),
        );
    }
    violations
}

/// The process that was started first: that of the command.
pub(super) fn first_process(folder: &Path) -> u32 {
    let files = std::fs::read_dir(folder).expect("readable");
    let processes = files
        .flatten()
        .filter_map(|file| file.path().extension()?.to_str()?.parse().ok());
    processes.min().expect("a process")
}

fn is_violation(world: &World, line: &str) -> bool {
    let Some((call, rest)) = line.split_once('(') else {
        return false;
    };
    let Some((arguments, result)) = rest.rsplit_once(" = ") else {
        return false;
    };
    if result.starts_with('-') || result.starts_with('?') {
        return false;
    }
    match call {
        "openat" | "open" | "creat" => {
            let writes = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"]
                .iter()
                .any(|flag| arguments.contains(flag));
            let opened = result
                .split_once('<')
                .map_or("", |(_, path)| path.trim_end_matches('>'));
            (writes || call == "creat") && !may_write(world, opened)
        }
        "execve" => {
            let program = list_paths(arguments).into_iter().next().unwrap_or_default();
            !may_run(world, &program) || arguments.contains(&world.path("markers").display().to_string())
        }
        // The first string is what the link says, which is not touched.
        "symlink" | "symlinkat" => list_paths(arguments)
            .last()
            .is_some_and(|path| !may_write(world, path)),
        _ => list_paths(arguments).iter().any(|path| !may_write(world, path)),
    }
}

/// The paths among the arguments of a call. A relative one follows the folder that its descriptor stands for; when the call takes none, it
/// is below the current folder, and is listed only when it leads upward.
fn list_paths(arguments: &str) -> Vec<String> {
    let mut paths = Vec::new();
    let mut folder: Option<&str> = None;
    let mut left = arguments;
    while let Some(at) = left.find(['<', '"', '[']) {
        let (mark, rest) = (left.as_bytes()[at], &left[at + 1..]);
        // The arguments of a program follow its path.
        if mark == b'[' {
            break;
        }
        let Some(end) = find_end(rest, if mark == b'<' { b'>' } else { b'"' }) else {
            break;
        };
        let text = &rest[..end];
        if mark == b'<' {
            folder = Some(text);
        } else if let (false, Some(folder)) = (text.starts_with('/'), folder.take()) {
            paths.push(format!("{folder}/{text}"));
        } else if text.starts_with('/') || text.split('/').any(|part| part == "..") {
            paths.push(text.to_owned());
        }
        left = &rest[end + 1..];
    }
    // A call on an open file alone.
    paths.extend(folder.map(str::to_owned));
    paths
}

fn find_end(text: &str, mark: u8) -> Option<usize> {
    let bytes = text.as_bytes();
    (0..bytes.len()).find(|at| bytes[*at] == mark && (*at == 0 || bytes[*at - 1] != b'\\'))
}

/// The path without `..`, with the links of its folder resolved as far as they are still there.
fn resolve(path: &str) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in Path::new(path.trim_end_matches(" (deleted)")).components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    match (plain.parent().map(Path::canonicalize), plain.file_name()) {
        (Some(Ok(parent)), Some(name)) => parent.join(name),
        _ => plain,
    }
}

fn may_write(world: &World, path: &str) -> bool {
    const OTHERS: [&str; 7] = [
        "/dev/null",
        "/dev/tty",
        "/dev/pts/",
        // Memory that PostgreSQL's processes share.
        "/dev/shm/PostgreSQL.",
        "/proc/",
        // Trees of PostgreSQL's programs, which all projects share.
        "/var/cache/selvedge",
        "/var/lib/selvedge",
    ];
    if !path.starts_with('/') {
        // Pipes, sockets and memory have no path; a relative one leads upward.
        return !path.contains("..");
    }
    let real = resolve(path);
    let in_cache = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))
        .is_some_and(|cache| real.starts_with(cache.join("selvedge")));
    let is_own = ["clone", "home", "state", "tmp"]
        .iter()
        .any(|name| real.starts_with(world.path(name)));
    let real = real.display().to_string();
    is_own || in_cache || OTHERS.iter().any(|prefix| real.starts_with(prefix))
}

/// Whether a program is neither the clone's nor the victim's.
fn may_run(world: &World, program: &str) -> bool {
    let real = Path::new(program)
        .canonicalize()
        .unwrap_or_else(|_| resolve(program));
    // A project for whose cluster the shared folder is out of reach has its own tree of programs there.
    let is_tree = real.starts_with(world.clone_path(".selvedge/programs"));
    is_tree || !real.starts_with(world.path(""))
}

#[test]
fn the_paths_of_recorded_calls_are_found() {
    let found = [
        r#"AT_FDCWD</a>, "b/c", 0"#,
        r#"AT_FDCWD</a>, "/b", AT_FDCWD</a>, "c", 0"#,
        r#""b", "../c""#,
        r#"7</a/b>, 0600"#,
        r#""/bin/sh", ["sh", "-c", "/x"], 0x7ff /* 9 vars */"#,
    ];
    let found = found.map(|arguments| list_paths(arguments).join(" "));
    assert_eq!(found, ["/a/b/c", "/b /a/c", "../c", "/a/b", "/bin/sh"]);
}

#[test]
fn what_is_written_removed_or_run_outside_is_seen() {
    if !is_possible() {
        return;
    }
    let world = World::new(0);
    let seen = |script: &str| {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = watch(&world, Path::new("/bin/sh"), folder.path());
        command.args(["-c", script]).output().expect("strace runs");
        !list_violations(&world, folder.path()).is_empty()
    };

    for script in [
        "echo x >> ../victim/env",
        "ln -s ../victim shortcut; echo x > shortcut/new-file",
        "rm shortcut/new-file",
        "mkdir ../victim/new-folder",
        "mv seed.sql ../victim/new-folder",
        "chmod 644 ../victim/ssh/id_ed25519",
        "bin/hook",
        "cat /dev/null; touch ../markers/ran",
    ] {
        assert!(seen(script), "{script}");
    }
    for script in [
        "cat ../victim/env",
        "echo x > own; mv own new; rm new",
        "mkdir folder; ln -s ../victim link; rm link",
    ] {
        assert!(!seen(script), "{script}");
    }
}
