//! Chooses a function's import map, and composes from it the one that is passed to Deno. Source: functions contract §1.
//!
//! Deno gets a composed map and not the project's file, because two entries are added: short names of packages with
//! sub-paths, which Deno itself adds only to a `deno.json` that it finds alone, and empty modules for type-only imports
//! (`jsr:@supabase/functions-js/edge-runtime.d.ts`), which must not stop a start when their registry cannot be reached.

use std::path::{Path, PathBuf};

use selvedge_project_files::{MAX_SETTINGS_BYTES, read_text};
use serde_json::{Map, Value, json};
use url::Url;

use super::function::Function;
use crate::config::FunctionsConfig;

/// Stands for a module that has types only.
const EMPTY_MODULE: &str = "data:text/javascript,export%7B%7D";

/// Where an import map comes from, in the order of precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MapOrigin {
    /// `--import-map`
    Flag,
    /// `import_map` of `[functions.<slug>]`
    Declared,
    /// `deno.json` or `deno.jsonc` beside the entrypoint
    DenoJson,
    /// `import_map.json` beside the entrypoint, which the CLI calls deprecated
    Deprecated,
    /// `functions/import_map.json`
    Fallback,
}

/// The import map of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChosenMap {
    pub(crate) path: PathBuf,
    pub(crate) origin: MapOrigin,
}

impl ChosenMap {
    /// Whether the file is a `deno.json`, which has compiler options besides imports.
    pub(crate) fn is_deno_config(&self) -> bool {
        self.path
            .file_name()
            .is_some_and(|name| name == "deno.json" || name == "deno.jsonc")
    }
}

/// The file with the imports of a function; `None` when it has none.
pub(crate) fn choose_import_map(config: &FunctionsConfig, function: &Function) -> Option<ChosenMap> {
    let given = [
        (config.import_map.clone(), MapOrigin::Flag),
        (function.import_map.clone(), MapOrigin::Declared),
    ];
    let beside = function.entrypoint.parent().unwrap_or(&config.folder);
    let found = [
        (beside.join("deno.json"), MapOrigin::DenoJson),
        (beside.join("deno.jsonc"), MapOrigin::DenoJson),
        (beside.join("import_map.json"), MapOrigin::Deprecated),
        (config.folder.join("import_map.json"), MapOrigin::Fallback),
    ];
    let given = given
        .into_iter()
        .filter_map(|(path, origin)| Some((path?, origin)));
    let found = found.into_iter().filter(|(path, _)| path.is_file());
    let (path, origin) = given.chain(found).next()?;
    Some(ChosenMap { path, origin })
}

/// Composes the import map for Deno: the entries of `file` with absolute addresses, and an empty module for every specifier
/// of `type_only`.
///
/// # Errors
/// A text with the file's name when it cannot be read or is not an import map.
pub(crate) fn compose_import_map(file: Option<&Path>, type_only: &[String]) -> Result<Value, String> {
    let (base, source) = match file {
        Some(file) => read_map(file)?,
        None => (None, json!({})),
    };
    let base = base.as_ref();
    let mut imports = resolve_entries(source.get("imports"), base);
    for specifier in type_only {
        imports.insert(specifier.clone(), Value::from(EMPTY_MODULE));
    }
    let scopes: Map<String, Value> = source
        .get("scopes")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(scope, entries)| {
            let entries = Value::Object(resolve_entries(Some(entries), base));
            (resolve_address(scope, base), entries)
        })
        .collect();
    Ok(json!({ "imports": imports, "scopes": scopes }))
}

/// The import map in a file with the URL that its relative addresses start from. A `deno.json` may name another file.
fn read_map(file: &Path) -> Result<(Option<Url>, Value), String> {
    let value = read_jsonc(file)?;
    match named_map(file, &value) {
        Some(other) => Ok((Url::from_file_path(&other).ok(), read_jsonc(&other)?)),
        None => Ok((Url::from_file_path(file).ok(), value)),
    }
}

/// The other file with the import map that a `deno.json` names, if it does.
pub(crate) fn find_named_map(file: &Path) -> Option<PathBuf> {
    named_map(file, &read_jsonc(file).ok()?)
}

fn named_map(file: &Path, value: &Value) -> Option<PathBuf> {
    let other = value.get("importMap")?.as_str()?;
    let folder = file.parent().unwrap_or(Path::new("/"));
    value.get("imports").is_none().then(|| folder.join(other))
}

fn read_jsonc(file: &Path) -> Result<Value, String> {
    let text = read_text(file, MAX_SETTINGS_BYTES)
        .map_err(|error| format!("import map {}: {error}", file.display()))?;
    parse_jsonc(&text).map_err(|error| format!("import map {}: {error}", file.display()))
}

/// JSON with comments and trailing commas, as in `deno.jsonc`; an empty file is an empty object.
pub(super) fn parse_jsonc(text: &str) -> Result<Value, String> {
    let parsed =
        jsonc_parser::parse_to_serde_value::<Option<Value>>(text, &jsonc_parser::ParseOptions::default())
            .map_err(|error| error.to_string())?;
    Ok(parsed.unwrap_or_else(|| json!({})))
}

fn resolve_entries(entries: Option<&Value>, base: Option<&Url>) -> Map<String, Value> {
    let mut resolved = Map::new();
    for (name, address) in entries.and_then(Value::as_object).into_iter().flatten() {
        let name = resolve_address(name, base);
        let Some(address) = address.as_str() else {
            resolved.insert(name, address.clone());
            continue;
        };
        if let Some((name, address)) = expand_subpath(&name, address) {
            resolved.entry(name).or_insert_with(|| Value::from(address));
        }
        resolved.insert(name, Value::from(resolve_address(address, base)));
    }
    resolved
}

/// Adds `"hono/": "npm:/hono@4/"` for `"hono": "npm:hono@4"`, as Deno's own configuration does.
fn expand_subpath(name: &str, address: &str) -> Option<(String, String)> {
    let scheme = ["npm:", "jsr:"]
        .into_iter()
        .find(|scheme| address.starts_with(scheme))?;
    if name.ends_with('/') || address.ends_with('/') {
        return None;
    }
    let package = address[scheme.len()..].trim_start_matches('/');
    Some((format!("{name}/"), format!("{scheme}/{package}/")))
}

/// A relative path as an absolute URL; other addresses and names are kept.
fn resolve_address(address: &str, base: Option<&Url>) -> String {
    let is_relative = ["./", "../", "/"].iter().any(|start| address.starts_with(start));
    match base.filter(|_| is_relative).map(|base| base.join(address)) {
        Some(Ok(url)) => url.to_string(),
        _ => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn function(entrypoint: PathBuf, import_map: Option<PathBuf>) -> Function {
        Function {
            slug: "hello".to_owned(),
            verify_jwt: true,
            entrypoint,
            import_map,
            static_files: Vec::new(),
            env: Vec::new(),
        }
    }

    #[test]
    fn gw_040_import_maps_are_chosen_in_the_documented_order() {
        let project = tempfile::tempdir().unwrap();
        let mut config = crate::testing::config(project.path());
        let folder = config.folder.join("hello");
        fs::create_dir_all(&folder).unwrap();
        let mut hello = function(folder.join("index.ts"), None);
        let mut chosen = Vec::new();
        chosen.push(choose_import_map(&config, &hello).map(|map| map.origin));
        for file in ["../import_map.json", "import_map.json", "deno.jsonc"] {
            fs::write(folder.join(file), "{}").unwrap();
            chosen.push(choose_import_map(&config, &hello).map(|map| map.origin));
        }
        hello.import_map = Some(folder.join("own.json"));
        chosen.push(choose_import_map(&config, &hello).map(|map| map.origin));
        config.import_map = Some(folder.join("flag.json"));
        chosen.push(choose_import_map(&config, &hello).map(|map| map.origin));

        let expected = [
            None,
            Some(MapOrigin::Fallback),
            Some(MapOrigin::Deprecated),
            Some(MapOrigin::DenoJson),
            Some(MapOrigin::Declared),
            Some(MapOrigin::Flag),
        ];
        assert_eq!(chosen, expected);
    }

    #[test]
    fn gw_040_composed_maps_have_absolute_addresses_sub_paths_and_empty_type_modules() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deno.jsonc");
        let text = r#"{
            // shared code
            "imports": { "@/": "../_shared/", "hono": "npm:hono@4", "x/": "npm:/x@1/", },
        }"#;
        fs::write(&file, text).unwrap();

        let types = ["jsr:@supabase/functions-js/edge-runtime.d.ts".to_owned()];
        let map = compose_import_map(Some(&file), &types).unwrap();

        let shared = Url::from_file_path(folder.path())
            .unwrap()
            .join("_shared/")
            .unwrap();
        let imports = &map["imports"];
        assert_eq!(imports["@/"], shared.as_str());
        assert_eq!(imports["hono"], "npm:hono@4");
        assert_eq!(imports["hono/"], "npm:/hono@4/");
        assert_eq!(imports["x/"], "npm:/x@1/");
        assert_eq!(imports["x//"], Value::Null);
        assert_eq!(imports[&types[0]], EMPTY_MODULE);
    }
}
