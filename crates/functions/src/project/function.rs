//! Which functions a project has. Source: functions contract §1.

use std::fs;
use std::path::{Path, PathBuf};

use secrecy::SecretString;

use crate::config::FunctionsConfig;

/// A function of the project, declared in `config.toml` or found in its folder.
#[derive(Debug, Clone)]
pub(crate) struct Function {
    /// The name in the URL.
    pub(crate) slug: String,
    /// Whether a call needs a valid JWT.
    pub(crate) verify_jwt: bool,
    pub(crate) entrypoint: PathBuf,
    pub(crate) import_map: Option<PathBuf>,
    /// Glob patterns, relative to the project.
    pub(crate) static_files: Vec<String>,
    /// `[functions.<slug>.env]`.
    pub(crate) env: Vec<(String, SecretString)>,
}

/// Whether a name is a function's: a letter, then letters, digits, `_` and `-`.
pub fn is_valid_slug(slug: &str) -> bool {
    slug.starts_with(|first: char| first.is_ascii_alphabetic())
        && slug
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || matches!(character, '_' | '-'))
}

/// The names of the functions in a project's folder `functions`, sorted.
pub fn list_function_folders(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut slugs: Vec<String> = entries
        .filter(|entry| entry.path().join("index.ts").is_file())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|slug| is_valid_slug(slug))
        .collect();
    slugs.sort_unstable();
    slugs
}

/// Finds a function by name; `None` when there is none, or it is disabled. Reads the disk, so that functions whose folder is
/// added while the server runs are found.
pub(crate) fn find_function(config: &FunctionsConfig, slug: &str) -> Option<Function> {
    if !is_valid_slug(slug) {
        return None;
    }
    if let Some(declared) = config.declared.iter().find(|declared| declared.slug == slug) {
        return declared.enabled.then(|| Function {
            slug: declared.slug.clone(),
            verify_jwt: declared.verify_jwt && !config.skips_jwt,
            entrypoint: declared.entrypoint.clone(),
            import_map: declared.import_map.clone(),
            static_files: declared.static_files.clone(),
            env: declared.env.clone(),
        });
    }
    let entrypoint = config.folder.join(slug).join("index.ts");
    (entrypoint.is_file() && is_spelled_so(&config.folder, slug)).then(|| Function {
        slug: slug.to_owned(),
        verify_jwt: !config.skips_jwt,
        entrypoint,
        import_map: None,
        static_files: Vec::new(),
        env: Vec::new(),
    })
}

/// Whether the folder has an entry with exactly this name. On file systems without case `HELLO` would otherwise be a second, undeclared
/// function in the folder of `hello`, which may be disabled.
fn is_spelled_so(folder: &Path, name: &str) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).any(|entry| entry == *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_035_a_function_is_called_as_its_folder_is_spelled() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("hello")).unwrap();

        assert!(is_spelled_so(folder.path(), "hello"));
        assert!(!is_spelled_so(folder.path(), "HELLO"));
    }

    #[test]
    fn gw_035_function_names_begin_with_a_letter() {
        let cases = [
            ("hello", true),
            ("Hello-World_2", true),
            ("", false),
            ("_shared", false),
            ("2fa", false),
            ("a.b", false),
            ("../x", false),
        ];
        for (slug, valid) in cases {
            assert_eq!(is_valid_slug(slug), valid, "{slug}");
        }
    }
}
