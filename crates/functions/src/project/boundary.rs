//! Which files of the machine may be part of a function: modules below the project's repository and in folders that the operator has
//! named, and nothing that holds its secrets.
//!
//! Deno asks for no permission to read what a module imports by a literal name. So `import key from "../../signing_keys.json"` would
//! give a function, and every package in it, whatever the server's user can read.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use selvedge_project_files::{
    find_repository, is_data_folder, is_environment_file, is_private_path, resolve,
};
use walkdir::{DirEntry, WalkDir};

use crate::config::FunctionsConfig;

/// What a function may read of a folder outside of `functions/`.
#[derive(Debug, Default)]
pub(crate) struct AdmittedParts {
    /// The largest files and folders without anything private in them.
    pub(crate) paths: Vec<PathBuf>,
    /// Links that are left out, because what they lead to has something private in it.
    pub(crate) left_out: Vec<PathBuf>,
}

/// The files that a project's functions may be made of.
#[derive(Debug)]
pub(crate) struct Boundary {
    /// The repository's folder, with links resolved.
    root: PathBuf,
    /// Folders outside of it that the operator has named, with links resolved.
    module_folders: Vec<PathBuf>,
    /// `functions/` of the project, with links resolved.
    functions: PathBuf,
    /// File systems that modules may be on: those of the repository, of `functions/`, which may be mounted, and of the folders
    /// outside.
    devices: Vec<u64>,
    /// Folders and files that are never part of a function, with links resolved.
    protected: Vec<PathBuf>,
}

impl Boundary {
    pub(crate) fn of(config: &FunctionsConfig) -> Self {
        let root = find_repository(&resolve(&config.repository));
        let functions = resolve(&config.folder);
        let module_folders: Vec<PathBuf> = config.module_folders.iter().map(|path| resolve(path)).collect();
        let folders = [&root, &functions].into_iter().chain(&module_folders);
        Self {
            devices: folders.filter_map(|folder| read_device(folder)).collect(),
            protected: config.protected.iter().map(|path| resolve(path)).collect(),
            root,
            module_folders,
            functions,
        }
    }

    /// The repository's folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The file behind a path when it may be part of a function; `None` otherwise, without a difference between a file that is
    /// not there and one that is forbidden.
    pub(crate) fn admit(&self, path: &Path) -> Option<PathBuf> {
        let path = resolve(path);
        let inner = self.find_inner(&path)?;
        let mut folders = path.ancestors().take(inner.components().count());
        let is_own = path.starts_with(&self.functions);
        let is_admitted = self.admits_name(&path, inner) && (is_own || !folders.any(is_data_folder));
        is_admitted.then_some(path)
    }

    /// A path, links resolved, relative to the repository or to a folder that the operator has named.
    fn find_inner<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        let mut folders = [&self.root].into_iter().chain(&self.module_folders);
        folders.find_map(|folder| path.strip_prefix(folder).ok())
    }

    /// Whether a path, links resolved, is nothing private by its names and its place. It may be in a data folder all the same.
    fn admits_name(&self, path: &Path, inner: &Path) -> bool {
        let is_protected = self.protected.iter().any(|protected| path.starts_with(protected));
        let is_mounted = read_device(path).is_some_and(|device| !self.devices.contains(&device));
        let is_own = path.starts_with(&self.functions);
        !(is_protected || is_mounted || is_environment_file(path)) && (is_own || !is_private_path(inner))
    }

    /// Whether a path leads to a place in the repository, in `functions/` or in a folder that the operator has named.
    pub(crate) fn holds(&self, path: &Path) -> bool {
        let path = resolve(path);
        self.folders().any(|folder| path.starts_with(folder))
    }

    /// The folders of which files may be part of a function: the repository, `functions/`, and those that the operator has named.
    pub(crate) fn folders(&self) -> impl Iterator<Item = &Path> {
        let own = [&self.root, &self.functions].into_iter();
        own.chain(&self.module_folders).map(PathBuf::as_path)
    }

    /// Whether Deno may read a file with its own settings. Above the repository it looks for them as well, and those are the user's; a link of
    /// the project leads nowhere else.
    pub(crate) fn admits_settings(&self, path: &Path) -> bool {
        let real = resolve(path);
        if self.holds(&real) {
            return !self.protected.iter().any(|protected| real.starts_with(protected));
        }
        path.parent()
            .is_some_and(|folder| self.root.starts_with(folder) && self.root != folder)
    }

    /// The first link in a folder, or in one behind a link, that leads to something that is no part of a function. Deno lets a function read all
    /// files by their names in a folder that it may read, and does not ask where a link leads.
    pub(crate) fn find_link_out(&self, folder: &Path) -> Option<PathBuf> {
        let mut seen = BTreeSet::new();
        let mut waiting = vec![folder.to_path_buf()];
        while let Some(folder) = waiting.pop() {
            if !seen.insert(resolve(&folder)) {
                continue;
            }
            // What a link to nothing leads to cannot be among the files that the worker may open.
            let links = WalkDir::new(folder)
                .into_iter()
                .filter_map(Result::ok)
                .filter(|entry| entry.path_is_symlink() && entry.path().exists());
            for link in links.map(DirEntry::into_path) {
                let target = resolve(&link);
                if !self.admits_all(&target) {
                    return Some(link);
                }
                if target.is_dir() {
                    waiting.push(target);
                }
            }
        }
        None
    }

    /// What of a file or folder a function may read: all of it, or of a folder outside of `functions/` with something private in it, at any depth,
    /// the parts that are admitted.
    pub(crate) fn admitted_parts(&self, path: &Path) -> AdmittedParts {
        let mut parts = AdmittedParts::default();
        if !self.admits_all(path) {
            return parts;
        }
        let real = resolve(path);
        if real.starts_with(&self.functions) || self.add_parts(&real, &mut parts) {
            parts.paths = vec![path.to_path_buf()];
            parts.left_out.clear();
        }
        parts
    }

    /// Whether all of a file or folder is admitted. If it is not, its admitted parts are added. The path has no links in it, and it is in no data
    /// folder.
    fn add_parts(&self, path: &Path, parts: &mut AdmittedParts) -> bool {
        let is_admitted = self
            .find_inner(path)
            .is_some_and(|inner| self.admits_name(path, inner));
        if !is_admitted || !path.is_dir() {
            return is_admitted;
        }
        if is_data_folder(path) {
            return false;
        }
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        let entries: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        let (links, entries): (Vec<_>, Vec<_>) = entries.into_iter().partition(|entry| entry.is_symlink());
        let count = entries.len();
        let whole: Vec<PathBuf> = entries
            .into_iter()
            .filter(|entry| self.add_parts(entry, parts))
            .collect();
        // Those of a whole folder are asked about as links.
        if whole.len() == count {
            return true;
        }
        let (given, left_out): (Vec<_>, Vec<_>) = links
            .into_iter()
            .filter(|link| link.exists())
            .partition(|link| self.is_link_to_whole(link));
        parts.paths.extend(whole.into_iter().chain(given));
        parts.left_out.extend(left_out);
        false
    }

    fn is_link_to_whole(&self, link: &Path) -> bool {
        let is_whole = |folder: &Path| self.add_parts(folder, &mut AdmittedParts::default());
        self.admits_all(link) && is_whole(&resolve(link))
    }

    /// Whether a function may read a file, or all of a folder: none that holds something protected, such as the project's own.
    pub(crate) fn admits_all(&self, folder: &Path) -> bool {
        self.admit(folder).is_some_and(|folder| {
            !self
                .protected
                .iter()
                .any(|protected| protected.starts_with(&folder))
        })
    }
}

fn read_device(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().map(|metadata| metadata.dev())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_040_modules_are_files_of_the_repository_without_its_secrets() {
        let outside = tempfile::tempdir().unwrap();
        let base = outside.path().canonicalize().unwrap();
        let repository = base.join("shop");
        let mut config = crate::testing::config(&repository.join("supabase"));
        config.repository = repository.clone();
        config.protected = [".selvedge", "keys.json"]
            .map(|name| config.project.join(name))
            .to_vec();
        let files = [
            "shop/supabase/functions/hello/index.ts",
            "shop/supabase/functions/hello/.hidden/data.json",
            "shop/supabase/functions/hello/config.toml",
            "shop/packages/prices/mod.ts",
            "shop/node_modules/.pnpm/hono/index.js",
            "shop/supabase/functions/.env",
            "shop/supabase/functions/hello/.env.local",
            "shop/supabase/.selvedge/superuser-password",
            "shop/supabase/keys.json",
            "shop/supabase/config.toml",
            "shop/admin/supabase/signing_keys.json",
            "shop/.git/config",
            "shop/.npmrc",
            "neighbour/secret.json",
        ];
        for file in files.map(|file| base.join(file)) {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        let link = repository.join("supabase/functions/hello/link.json");
        std::os::unix::fs::symlink(base.join("neighbour/secret.json"), &link).unwrap();
        let boundary = Boundary::of(&config);

        let admitted = files.map(|file| boundary.admit(&base.join(file)).is_some());

        let expected: [bool; 14] = std::array::from_fn(|index| index < 5);
        assert_eq!(admitted, expected, "{files:?}");
        for outer in [
            link.as_path(),
            Path::new("/etc/hostname"),
            Path::new("/proc/self/environ"),
            &repository.join("supabase/../../neighbour/missing.ts"),
        ] {
            assert_eq!(boundary.admit(outer), None, "{}", outer.display());
        }
        assert!(boundary.admits_all(&config.folder.join("hello")));
        assert!(!boundary.admits_all(&config.project) && !boundary.admits_all(&repository));
    }

    #[test]
    fn gw_040_folders_that_the_operator_names_are_admitted_without_what_they_hide() {
        let outside = tempfile::tempdir().unwrap();
        let base = outside.path().canonicalize().unwrap();
        let mut config = crate::testing::config(&base.join("shop"));
        config.module_folders = vec![base.join("shared/packages"), base.join("missing")];
        for file in [
            "shared/packages/prices/mod.ts",
            "shared/packages/.npmrc",
            "shared/packages/.env",
            "shared/other.ts",
        ] {
            let file = base.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        let admits =
            |config: &FunctionsConfig, file: &str| Boundary::of(config).admit(&base.join(file)).is_some();

        assert!(admits(&config, "shared/packages/prices/mod.ts"));
        for file in [
            "shared/packages/.npmrc",
            "shared/packages/.env",
            "shared/other.ts",
            "shared/packages/../other.ts",
        ] {
            assert!(!admits(&config, file), "{file}");
        }
        config.module_folders.clear();
        assert!(!admits(&config, "shared/packages/prices/mod.ts"));
    }

    #[test]
    fn gw_040_links_that_lead_out_of_the_project_are_found_in_a_functions_folder() {
        let outside = tempfile::tempdir().unwrap();
        let base = outside.path().canonicalize().unwrap();
        let mut config = crate::testing::config(&base.join("shop/supabase"));
        config.repository = base.join("shop");
        config.module_folders = vec![base.join("shared")];
        config.protected = vec![config.project.join("config.toml")];
        let folder = config.folder.join("hello");
        for name in ["hello/pages", "_shared"] {
            fs::create_dir_all(config.folder.join(name)).unwrap();
        }
        fs::write(config.project.join("config.toml"), "").unwrap();
        for name in ["shared", "neighbour"] {
            fs::create_dir_all(base.join(name)).unwrap();
        }
        for (target, link) in [("../_shared", "shared"), ("../../../../shared", "operator")] {
            std::os::unix::fs::symlink(target, folder.join(link)).unwrap();
        }
        let boundary = Boundary::of(&config);
        assert_eq!(boundary.find_link_out(&folder), None);

        for target in ["/etc/hostname", "../../../../../neighbour"] {
            let link = folder.join("pages/link");
            std::os::unix::fs::symlink(target, &link).unwrap();
            let found = boundary.find_link_out(&folder);
            fs::remove_file(&link).unwrap();
            assert_eq!(found, Some(link), "{target}");
        }
        // In two steps, and to what is in the repository and no part of a function.
        for (target, link) in [
            ("/etc/hostname", config.folder.join("_shared/rc")),
            ("../../../config.toml", folder.join("pages/settings")),
            ("../../..", folder.join("pages/up")),
        ] {
            std::os::unix::fs::symlink(target, &link).unwrap();
            let found = boundary.find_link_out(&folder);
            fs::remove_file(&link).unwrap();
            assert!(
                found.is_some_and(|found| found.file_name() == link.file_name()),
                "{target}"
            );
        }
    }

    #[test]
    fn gw_040_a_folder_outside_of_the_functions_is_given_without_what_is_private_in_it() {
        let outside = tempfile::tempdir().unwrap();
        let base = outside.path().canonicalize().unwrap();
        let mut config = crate::testing::config(&base.join("a"));
        config.repository = base.clone();
        let files = [
            ".git/HEAD",
            "assets/logo.svg",
            "web/index.html",
            "web/.env.local",
            "web/pages/a.html",
            "b/supabase/functions/x/index.ts",
            "b/supabase/.selvedge/superuser-password",
            "c/data/superuser-password",
            "c/data/storage/x",
            "d/.env",
            "d/index.ts",
            "d/node_modules/hono/.eslintrc",
            "d/node_modules/hono/index.js",
            "d/node_modules/private/.npmrc",
            "d/node_modules/private/index.js",
            "e/Config.TOML",
            "e/page.html",
        ];
        for file in files.map(|file| base.join(file)) {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        for (target, link) in [
            ("../assets", "d/public"),
            ("../web", "d/pages"),
            ("nowhere", "d/gone"),
        ] {
            std::os::unix::fs::symlink(target, base.join(link)).unwrap();
        }
        let boundary = Boundary::of(&config);
        let parts = |name: &str| {
            let mut parts = boundary.admitted_parts(&base.join(name)).paths;
            parts.sort();
            parts
                .iter()
                .map(|part| part.strip_prefix(&base).unwrap().display().to_string())
                .collect::<Vec<_>>()
        };

        assert_eq!(parts("assets"), ["assets"]);
        assert_eq!(parts("web"), ["web/index.html", "web/pages"]);
        assert_eq!(parts("b/supabase"), ["b/supabase/functions"]);
        assert_eq!(parts("c"), [""; 0]);
        assert_eq!(parts("c/data/storage"), [""; 0]);
        // Packages stay whole as far as they can, and so do folders behind links.
        let of_packages = [
            "d/index.ts",
            "d/node_modules/hono",
            "d/node_modules/private/index.js",
            "d/public",
        ];
        assert_eq!(parts("d"), of_packages);
        assert_eq!(
            boundary.admitted_parts(&base.join("d")).left_out,
            [base.join("d/pages")]
        );
        assert_eq!(parts("e"), ["e/page.html"]);
    }

    #[test]
    fn gw_040_settings_of_deno_are_files_of_the_project_or_above_it() {
        let outside = tempfile::tempdir().unwrap();
        let base = outside.path().canonicalize().unwrap();
        let mut config = crate::testing::config(&base.join("shop/supabase"));
        config.repository = base.join("shop");
        config.protected = vec![config.project.join("signing_keys.json")];
        fs::create_dir_all(config.folder.join("hello")).unwrap();
        fs::create_dir(base.join("shop/.git")).unwrap();
        for name in [
            "package.json",
            "shop/deno.json",
            "shop/supabase/signing_keys.json",
            "key",
        ] {
            fs::write(base.join(name), "{}").unwrap();
        }
        let links = [
            ("../../key", "shop/supabase/package.json"),
            ("signing_keys.json", "shop/supabase/jsr.json"),
            ("../deno.json", "shop/supabase/deno.json"),
        ];
        for (target, link) in links {
            std::os::unix::fs::symlink(target, base.join(link)).unwrap();
        }
        let boundary = Boundary::of(&config);
        let admits = |name: &str| boundary.admits_settings(&base.join(name));

        assert!(admits("package.json") && admits("shop/deno.json") && admits("shop/supabase/deno.json"));
        assert!(!admits("shop/supabase/package.json") && !admits("shop/supabase/jsr.json"));
        assert!(!admits("other/package.json"));
    }
}
