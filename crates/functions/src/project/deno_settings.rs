//! The files with settings that Deno looks for by itself, in the folders of a function's modules and above.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use selvedge_project_files::{MAX_SETTINGS_BYTES, read_text};
use serde_json::Value;

use super::import_map::parse_jsonc;

/// What Deno reads in every folder from a module's upward, besides the file that `--config` names.
const NAMES: [&str; 6] = [
    "deno.json",
    "deno.jsonc",
    "jsr.json",
    "package.json",
    "deno.lock",
    ".npmrc",
];
/// Keys that name folders with settings of their own: members of a workspace, and packages that stand for published ones.
const MEMBER_KEYS: [&str; 4] = ["workspace", "workspaces", "links", "patch"];

/// Lists the settings of these files, as far as they exist. A function may not read them; Deno does it for itself.
pub(crate) fn list_deno_settings<'a>(files: impl IntoIterator<Item = &'a Path>) -> Vec<PathBuf> {
    let folders: BTreeSet<&Path> = files
        .into_iter()
        .flat_map(|file| file.ancestors().skip(1))
        .collect();
    let mut found = BTreeSet::new();
    for folder in folders {
        for path in list_in(folder) {
            found.extend(
                list_member_folders(&path)
                    .iter()
                    .flat_map(|member| list_in(member)),
            );
            found.insert(path);
        }
    }
    found.into_iter().collect()
}

fn list_in(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let folder = folder.to_path_buf();
    NAMES
        .into_iter()
        .map(move |name| folder.join(name))
        .filter(|path| path.is_file())
}

/// The folders that a `deno.json` or `package.json` names as members, by glob patterns.
fn list_member_folders(file: &Path) -> Vec<PathBuf> {
    let (Ok(text), Some(folder)) = (read_text(file, MAX_SETTINGS_BYTES), file.parent()) else {
        return Vec::new();
    };
    let settings = parse_jsonc(&text).unwrap_or_default();
    MEMBER_KEYS
        .iter()
        .filter_map(|key| settings.get(key))
        .flat_map(|members| list_texts(members.get("members").unwrap_or(members)))
        .filter_map(|pattern| glob::glob(folder.join(pattern).to_str()?).ok())
        .flat_map(|paths| paths.filter_map(Result::ok))
        .collect()
}

fn list_texts(values: &Value) -> impl Iterator<Item = &str> {
    values.as_array().into_iter().flatten().filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn gw_042_settings_are_those_of_the_folders_above_and_of_members_of_their_workspace() {
        let folder = tempfile::tempdir().unwrap();
        let files = [
            ("deno.json", r#"{ "workspace": { "members": ["./packages/*"] } }"#),
            ("packages/a/deno.jsonc", "{ /* name */ }"),
            ("apps/functions/hello/package.json", "{}"),
            ("apps/other/package.json", "{}"),
            ("apps/functions/.env", ""),
        ];
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let entrypoint = folder.path().join("apps/functions/hello/index.ts");

        let found = list_deno_settings([entrypoint.as_path()]);

        let inner: Vec<_> = found
            .iter()
            .filter_map(|path| path.strip_prefix(folder.path()).ok())
            .collect();
        let expected = [
            "apps/functions/hello/package.json",
            "deno.json",
            "packages/a/deno.jsonc",
        ];
        assert_eq!(inner, expected.map(Path::new));
    }
}
