//! What Deno permits a function: files for reading, a folder for writing, the network.

use std::ffi::OsString;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use super::launcher::Launcher;
use super::state::Worker;
use crate::project::{Boundary, Function};

/// What a function may ask of the machine (`--allow-sys`): everything that Deno knows but `inspector`, sessions of a debugger of
/// the whole process, and `setPriority`.
const SYSTEM_INFORMATION: &str = "hostname,osRelease,osUptime,loadavg,networkInterfaces,systemMemoryInfo,uid,gid,cpus,homedir,\
     username,statfs,getPriority,userInfo";

/// The most bytes of the paths that a function may read, one after the other: the system takes no argument of 128 KiB.
const MAX_PATH_BYTES: usize = 64 << 10;

/// Lists what the function may read: its folder, its static files, downloaded packages, and the worker's folder. Its folder not if it is the
/// project's, which holds keys and passwords, and static files only if they may be imported as well.
///
/// # Errors
/// A text that names a link in one of these folders that leads out of the project. The function could read what it leads to, as far as Deno
/// itself may: the user's `.npmrc`, for example. Also one that names a pipe or device, or that says that these are too many files.
pub(super) fn list_readable_paths(
    launcher: &Launcher,
    function: &Function,
    worker: &Worker,
    boundary: &Boundary,
) -> Result<Vec<PathBuf>, String> {
    let config = &launcher.config;
    let beside = function.entrypoint.parent().unwrap_or(&config.folder);
    let static_files = expand_static_files(&config.project, &function.static_files);
    let own = [beside.to_path_buf()].into_iter().chain(static_files).filter(|path| {
        let is_admitted = boundary.admits_all(path);
        if !is_admitted {
            tracing::warn!(function = function.slug, path = %path.display(), "the function may not read this");
        }
        is_admitted
    });
    let own: Vec<PathBuf> = own
        .flat_map(|path| {
            let parts = boundary.admitted_parts(&path);
            for link in parts.left_out {
                tracing::warn!(function = function.slug, path = %link.display(), "the function may not read all that this leads to");
            }
            parts.paths
        })
        .collect();
    check_length(&own, beside)?;
    if let Some(special) = own.iter().find_map(|folder| find_special_file(folder)) {
        return Err(format!(
            "{} is no regular file, and Deno could read it for ever.",
            special.display()
        ));
    }
    if let Some(link) = own.iter().find_map(|folder| boundary.find_link_out(folder)) {
        return Err(format!(
            "{} is a link that leads out of the project, so functions are not given its folder.",
            link.display()
        ));
    }
    let packages = [config.cache_folder.join("npm"), worker.deno_folder().join("npm")];
    Ok(own
        .into_iter()
        .chain([worker.folder.clone()])
        .chain(packages)
        .collect())
}

/// Refuses more paths than a command can have. `beside` is the folder of the function's entrypoint.
fn check_length(paths: &[PathBuf], beside: &Path) -> Result<(), String> {
    // In the function's settings each has quotes and a comma.
    let length: usize = paths.iter().map(|path| path.as_os_str().len() + 3).sum();
    if length <= MAX_PATH_BYTES {
        return Ok(());
    }
    Err(format!(
        "The function would be given {} files one by one, because there are passwords or keys among them in {} or its static files: put          them elsewhere, or the entrypoint into a folder without them.",
        paths.len(),
        beside.display()
    ))
}

/// A pipe or device at or below a path. What is behind links is asked about as links.
fn find_special_file(path: &Path) -> Option<PathBuf> {
    let mut entries = WalkDir::new(path).into_iter().filter_map(Result::ok);
    let is_special = |entry: &DirEntry| {
        let kind = entry.file_type();
        kind.is_fifo() || kind.is_char_device() || kind.is_block_device()
    };
    entries.find(is_special).map(DirEntry::into_path)
}

/// Deno's permissions: the network as in the original, writing to the worker's folder. Programs and native libraries are
/// refused.
pub(super) fn list_permissions(readable: &[PathBuf], worker: &Worker) -> Vec<OsString> {
    vec![
        "--allow-net".into(),
        "--allow-env".into(),
        format!("--allow-sys={SYSTEM_INFORMATION}").into(),
        "--allow-import".into(),
        format_paths("--allow-read=", readable),
        format_paths("--allow-write=", std::slice::from_ref(&worker.folder)),
    ]
}

/// The files that match glob patterns, which are relative to the project.
fn expand_static_files(project: &Path, patterns: &[String]) -> Vec<PathBuf> {
    patterns
        .iter()
        .filter_map(|pattern| {
            let pattern = project.join(pattern);
            glob::glob(pattern.to_str()?).ok()
        })
        .flatten()
        .filter_map(Result::ok)
        .map(|path| path.canonicalize().unwrap_or(path))
        .collect()
}

/// An option with a list of paths. Deno separates them by commas; a comma in a path is doubled.
fn format_paths(option: &str, paths: &[PathBuf]) -> OsString {
    let paths: Vec<String> = paths
        .iter()
        .map(|path| path.to_string_lossy().replace(',', ",,"))
        .collect();
    format!("{option}{}", paths.join(",")).into()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn paths_with_commas_stay_one_path() {
        let paths = [PathBuf::from("/a,b"), PathBuf::from("/c")];

        assert_eq!(format_paths("--allow-read=", &paths), "--allow-read=/a,,b,/c");
    }

    #[test]
    fn gw_040_more_files_than_a_command_can_have_are_refused_with_what_to_do() {
        let paths = |count: usize| vec![PathBuf::from("/repository/packages/one-of-them"); count];

        assert_eq!(check_length(&paths(1_000), Path::new("/api")), Ok(()));
        let refused = check_length(&paths(3_000), Path::new("/api")).unwrap_err();
        assert!(
            refused.contains("3000 files one by one") && refused.contains("/api"),
            "{refused}"
        );
    }

    #[test]
    fn gw_109_pipes_in_the_folder_of_a_function_are_found_before_deno_reads_them() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("index.ts"), "").unwrap();
        assert_eq!(find_special_file(folder.path()), None);

        let pipe = folder.path().join("pipe.ts");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();

        assert_eq!(find_special_file(folder.path()), Some(pipe));
    }

    #[test]
    fn gw_040_static_files_are_globs_relative_to_the_project() {
        let project = tempfile::tempdir().unwrap();
        let folder = project.path().canonicalize().unwrap();
        fs::create_dir_all(folder.join("functions/pages")).unwrap();
        for name in ["a.html", "b.html", "c.txt"] {
            fs::write(folder.join("functions/pages").join(name), "").unwrap();
        }

        let files = expand_static_files(&folder, &["./functions/pages/*.html".to_owned()]);

        assert_eq!(
            files,
            ["a.html", "b.html"].map(|name| folder.join("functions/pages").join(name))
        );
    }
}
