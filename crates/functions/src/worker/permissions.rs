//! What Deno permits a function: files for reading, a folder for writing, the network.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::launcher::Launcher;
use super::state::Worker;
use crate::project::{Boundary, Function};

/// What a function may ask of the machine (`--allow-sys`): everything that Deno knows but `inspector`, sessions of a debugger of
/// the whole process, and `setPriority`.
const SYSTEM_INFORMATION: &str = "hostname,osRelease,osUptime,loadavg,networkInterfaces,systemMemoryInfo,uid,gid,cpus,homedir,\
     username,statfs,getPriority,userInfo";

/// Lists what the function may read: its folder, its static files, downloaded packages, and the worker's folder. Its folder not if it is the
/// project's, which holds keys and passwords, and static files only if they may be imported as well.
///
/// # Errors
/// A text that names a link in one of these folders that leads out of the project. The function could read what it leads to, as far as Deno
/// itself may: the user's `.npmrc`, for example.
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
    let own: Vec<PathBuf> = own.flat_map(|path| boundary.admitted_parts(&path)).collect();
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
