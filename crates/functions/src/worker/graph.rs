//! Refuses functions that import files outside of the project. Deno itself says what a function imports (`deno info`), with the same
//! import map and settings as it is run.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use selvedge_project_files::{MAX_SCRIPT_BYTES, read_file};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use tokio::process::Command;
use tokio::time::timeout;
use url::Url;

use super::confinement::{Confinement, run};
use crate::project::Boundary;

/// How long Deno may take to download what a function imports, and to list it.
const LONGEST_LISTING: Duration = Duration::from_secs(120);

/// The answer of `deno info --json`, as far as it is used.
#[derive(Debug, Deserialize)]
struct Listing {
    roots: Vec<String>,
    modules: Vec<Module>,
    #[serde(default)]
    redirects: HashMap<String, String>,
}

#[derive(Debug, Deserialize)]
struct Module {
    specifier: String,
    #[serde(default)]
    dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    /// What is loaded; `None` for types alone.
    code: Option<Resolved>,
}

#[derive(Debug, Deserialize)]
struct Resolved {
    /// `None` when the name means nothing.
    specifier: Option<String>,
}

/// What a worker needs to have its modules checked.
#[derive(Debug)]
pub(super) struct GraphCheck {
    /// `deno info`.
    pub(super) command: Command,
    /// What it may read: a module may be the name of a device that has no end.
    pub(super) confinement: Confinement,
    /// Texts that decide what the imports mean: the import map and the configuration.
    pub(super) settings: Vec<u8>,
    pub(super) entrypoint: PathBuf,
    pub(super) boundary: Boundary,
}

/// The functions that were checked, by name, so that Deno is asked again only when something has changed.
#[derive(Debug, Default)]
pub(crate) struct CheckedGraphs(Mutex<HashMap<String, CheckedGraph>>);

#[derive(Debug, Clone)]
struct CheckedGraph {
    files: Vec<PathBuf>,
    /// Hash of the settings and the files.
    hash: Vec<u8>,
}

impl CheckedGraphs {
    /// Returns the local files of a function with links resolved.
    ///
    /// # Errors
    /// A text that names the first file which the function may not import.
    pub(super) async fn check(&self, slug: &str, check: GraphCheck) -> Result<Vec<PathBuf>, String> {
        let GraphCheck {
            command,
            confinement,
            settings,
            entrypoint,
            boundary,
        } = check;
        let known = self.lock().get(slug).cloned();
        if let Some(known) =
            known.filter(|known| hash_graph(&settings, &known.files) == Some(known.hash.clone()))
        {
            return Ok(known.files);
        }
        let output = timeout(LONGEST_LISTING, run(command, confinement))
            .await
            .map_err(|_| {
                "Deno takes too long to list the function's modules: hosts of modules do not answer, or a module is a pipe that nobody \
                 writes to."
                    .to_owned()
            })?;
        let files = list_files(output, &entrypoint, &boundary)?;
        // Not with a file that is missing: what appears there later was not checked.
        if let Some(hash) = hash_graph(&settings, &files) {
            let files = files.clone();
            self.lock().insert(slug.to_owned(), CheckedGraph { files, hash });
        }
        Ok(files)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, CheckedGraph>> {
        // Each change is one insertion, so the map is valid after a panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hash of a function's settings and files; `None` when a file cannot be read or has become a link to another one.
fn hash_graph(settings: &[u8], files: &[PathBuf]) -> Option<Vec<u8>> {
    let mut hash = Sha256::new();
    hash.update(Sha256::digest(settings));
    for file in files {
        if file.canonicalize().ok()? != *file {
            return None;
        }
        hash.update(Sha256::digest(file.as_os_str().as_encoded_bytes()));
        hash.update(Sha256::digest(read_file(file, MAX_SCRIPT_BYTES).ok()?));
    }
    Some(hash.finalize().to_vec())
}

fn list_files(
    output: io::Result<Output>,
    entrypoint: &Path,
    boundary: &Boundary,
) -> Result<Vec<PathBuf>, String> {
    let output = output.map_err(|error| format!("Deno cannot list the function's modules: {error}"))?;
    let listing: Listing = serde_json::from_slice(&output.stdout).map_err(|_| {
        let text = String::from_utf8_lossy(&output.stderr);
        format!("Deno cannot list the function's modules: {}", text.trim_end())
    })?;
    let mut files = BTreeSet::new();
    for path in [entrypoint.to_path_buf()]
        .into_iter()
        .chain(list_loaded_files(&listing))
    {
        let admitted = boundary
            .admit(&path)
            .ok_or_else(|| describe_refusal(&path, boundary))?;
        files.insert(admitted);
    }
    Ok(files.into_iter().collect())
}

fn describe_refusal(path: &Path, boundary: &Boundary) -> String {
    format!(
        "The function imports {}. Functions are made of modules below {}, and not of hidden files, .env files, config.toml, signing \
         keys and the data folder. Other folders need [selvedge.functions] module_folders.",
        path.display(),
        boundary.root().display()
    )
}

/// The local files of all modules that Deno loads when it runs the roots; not those that give types alone.
fn list_loaded_files(listing: &Listing) -> Vec<PathBuf> {
    let modules: HashMap<&str, &Module> = listing
        .modules
        .iter()
        .map(|module| (module.specifier.as_str(), module))
        .collect();
    let mut seen = BTreeSet::new();
    let mut open: Vec<&str> = listing.roots.iter().map(String::as_str).collect();
    while let Some(specifier) = open.pop() {
        if !seen.insert(specifier) {
            continue;
        }
        open.extend(listing.redirects.get(specifier).map(String::as_str));
        let dependencies = modules
            .get(specifier)
            .map(|module| module.dependencies.as_slice());
        let loaded = dependencies
            .unwrap_or_default()
            .iter()
            .filter_map(|dependency| dependency.code.as_ref()?.specifier.as_deref());
        open.extend(loaded);
    }
    seen.into_iter()
        // The path of a URL with another scheme would be taken for a local one.
        .filter_map(|specifier| Url::parse(specifier).ok().filter(|url| url.scheme() == "file"))
        .filter_map(|url| url.to_file_path().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_040_files_are_listed_through_redirects_and_data_urls_but_not_for_types() {
        let listing = serde_json::json!({
            "roots": ["file:///p/index.ts"],
            "modules": [
                { "specifier": "file:///p/index.ts", "kind": "esm", "dependencies": [
                    { "specifier": "./a.ts", "code": { "specifier": "file:///p/a.ts", "span": {} } },
                    { "specifier": "./t.ts", "type": { "specifier": "file:///p/t.ts" } },
                    { "specifier": "nothing", "code": { "error": "not a dependency" } },
                    { "specifier": "data:,x", "code": { "specifier": "data:,x" }, "isDynamic": true },
                ] },
                { "specifier": "file:///p/t.ts", "dependencies": [{ "code": { "specifier": "file:///etc/types.ts" } }] },
                { "specifier": "file:///p/b.ts", "dependencies": [{ "code": { "specifier": "file:///p/a%20b.json" } }] },
                { "specifier": "data:,x", "dependencies": [{ "code": { "specifier": "file:///etc/shadow" } }] },
                { "specifier": "file:///etc/shadow", "error": "permission denied" },
            ],
            "redirects": { "file:///p/a.ts": "file:///p/b.ts" },
        });
        let listing: Listing = serde_json::from_value(listing).unwrap();

        let files = list_loaded_files(&listing);

        let expected = ["/etc/shadow", "/p/a b.json", "/p/a.ts", "/p/b.ts", "/p/index.ts"];
        assert_eq!(files, expected.map(PathBuf::from));
    }

    #[test]
    fn gw_040_a_changed_file_or_setting_is_listed_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().canonicalize().unwrap().join("index.ts");
        std::fs::write(&file, "1").unwrap();
        let files = [file.clone()];

        let before = hash_graph(b"map", &files);
        let other_map = hash_graph(b"another", &files);
        std::fs::write(&file, "2").unwrap();
        let changed = hash_graph(b"map", &files);
        std::fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink("/etc/hostname", &file).unwrap();

        assert!(before.is_some() && before != other_map && before != changed);
        assert_eq!(hash_graph(b"map", &files), None);
    }
}
