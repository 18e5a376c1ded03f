//! Lists the local modules that a function imports, to notice their changes, and its type-only imports.
//!
//! Imports are found as text and not by parsing TypeScript: a module that is listed by mistake costs a needless restart
//! at most, and Deno itself decides what is really loaded.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;
use selvedge_project_files::{MAX_SETTINGS_BYTES, read_text};
use serde_json::Value;
use url::Url;

/// Most modules that are followed. Source: `SUPABASE_FUNCTIONS_WATCH_LIMIT` of the CLI, which counts folders.
const MOST_MODULES: usize = 1_000;

static IMPORTS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?:\bfrom|\bimport)\s*\(?\s*["']([^"'\n]+)["']"#).expect("a valid expression")
});

/// The modules that a function's entrypoint imports, directly and indirectly.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ModuleGraph {
    /// Local files, the entrypoint first.
    pub(crate) files: Vec<PathBuf>,
    /// Specifiers of declaration files (`….d.ts`) that are not local. They have no code.
    pub(crate) type_only: Vec<String>,
}

/// Follows the imports of a function's entrypoint. `import_map` is the composed one.
pub(crate) fn scan_modules(entrypoint: &Path, import_map: &Value) -> ModuleGraph {
    let mut graph = ModuleGraph::default();
    let mut types = BTreeSet::new();
    let mut seen = BTreeSet::from([entrypoint.to_path_buf()]);
    let mut open = vec![entrypoint.to_path_buf()];
    while let Some(file) = open.pop() {
        let text = read_text(&file, MAX_SETTINGS_BYTES).unwrap_or_default();
        for specifier in IMPORTS.captures_iter(&text).map(|found| found[1].to_owned()) {
            match resolve_local(&specifier, &file, import_map) {
                Some(local) if seen.len() < MOST_MODULES && seen.insert(local.clone()) => open.push(local),
                Some(_) => {}
                None if specifier.ends_with(".d.ts") => {
                    types.insert(specifier);
                }
                None => {}
            }
        }
        graph.files.push(file);
    }
    graph.type_only = types.into_iter().collect();
    graph
}

/// The local file that a specifier means; `None` for packages and other hosts.
fn resolve_local(specifier: &str, importer: &Path, import_map: &Value) -> Option<PathBuf> {
    if ["./", "../", "/"]
        .iter()
        .any(|start| specifier.starts_with(start))
    {
        let importer = Url::from_file_path(importer).ok()?;
        return importer.join(specifier).ok()?.to_file_path().ok();
    }
    let imports = import_map.get("imports")?.as_object()?;
    let address = match imports.get(specifier) {
        Some(address) => address.as_str()?.to_owned(),
        None => {
            let prefixes = imports.iter().filter(|(name, _)| name.ends_with('/'));
            let (name, address) = prefixes
                .filter(|(name, _)| specifier.starts_with(name.as_str()))
                .max_by_key(|(name, _)| name.len())?;
            format!("{}{}", address.as_str()?, &specifier[name.len()..])
        }
    };
    // The path of a URL with another scheme would be taken for a local one.
    let url = Url::parse(&address).ok().filter(|url| url.scheme() == "file")?;
    url.to_file_path().ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    #[test]
    fn gw_043_imports_are_followed_through_relative_paths_and_the_import_map() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for sub in ["hello", "_shared"] {
            fs::create_dir(path(sub)).unwrap();
        }
        let entry = "import 'jsr:@supabase/functions-js/edge-runtime.d.ts'\nimport 'functions-js/edge-runtime.d.ts'\n\
                     import { a } from \"../_shared/a.ts\"\nconst b = await import('@/b.ts')\n\
                     import hono from 'npm:hono'\n";
        fs::write(path("hello/index.ts"), entry).unwrap();
        fs::write(
            path("_shared/a.ts"),
            "export * from './a.ts'; export { c } from './c.ts'",
        )
        .unwrap();
        fs::write(path("_shared/b.ts"), "").unwrap();
        let shared = Url::from_directory_path(path("_shared")).unwrap();
        let map = json!({ "imports": {
            "@/": shared.as_str(), "hono": "npm:hono@4", "functions-js/": "jsr:/@supabase/functions-js@2/",
        } });

        let mut graph = scan_modules(&path("hello/index.ts"), &map);
        graph.files.sort();

        let expected = ["_shared/a.ts", "_shared/b.ts", "_shared/c.ts", "hello/index.ts"].map(path);
        assert_eq!(graph.files, expected);
        let type_only = [
            "functions-js/edge-runtime.d.ts",
            "jsr:@supabase/functions-js/edge-runtime.d.ts",
        ];
        assert_eq!(graph.type_only, type_only);
    }
}
