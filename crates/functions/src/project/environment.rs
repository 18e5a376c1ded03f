//! The variables that a function sees. Source: functions contract §2.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use indexmap::IndexMap;
use secrecy::{ExposeSecret, SecretString};
use selvedge_project_files::{MAX_SETTINGS_BYTES, read_file};

use super::boundary::Boundary;
use super::env_file::parse_env_file;
use super::function::Function;
use crate::config::FunctionsConfig;

/// Names that users cannot set.
const RESERVED_PREFIX: &str = "SUPABASE_";

/// Name and value of every variable of a function: secrets of the configuration, then the env file, then the function's
/// own, then the platform's; a later one of the same name wins.
///
/// # Errors
/// An env file that cannot be read. The text does not quote the file, which holds secrets.
pub(crate) fn compose_environment(
    config: &FunctionsConfig,
    function: &Function,
) -> Result<Vec<(String, SecretString)>, String> {
    let environment = &config.environment;
    let secrets = environment
        .secrets
        .iter()
        .map(|(name, value)| (name.to_uppercase(), value.clone()));
    let given = secrets
        .chain(read_env_file(config)?)
        .chain(function.env.iter().cloned());
    let mut variables = IndexMap::new();
    for (name, value) in given {
        if name.starts_with(RESERVED_PREFIX) {
            warn_of_reserved_name(&name);
        } else if is_valid(&name, &value) {
            variables.insert(name, value);
        }
    }
    variables.extend(environment.platform.iter().cloned());
    Ok(variables.into_iter().collect())
}

/// Says once for each name that it is skipped; variables are composed for every worker.
fn warn_of_reserved_name(name: &str) {
    static WARNED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut warned = WARNED.lock().unwrap_or_else(PoisonError::into_inner);
    if warned.insert(name.to_owned()) {
        tracing::warn!("Env name cannot start with {RESERVED_PREFIX}, skipping: {name}");
    }
}

/// The variables of `--env-file`, or of `functions/.env` if there is one.
fn read_env_file(config: &FunctionsConfig) -> Result<Vec<(String, SecretString)>, String> {
    let usual = config.folder.join(".env");
    let file = match &config.environment.env_file {
        Some(given) => given,
        None if usual.is_file() => &usual,
        None => return Ok(Vec::new()),
    };
    let unreadable = |error: &dyn std::fmt::Display| format!("env file {}: {error}", file.display());
    // Functions can send what they read anywhere, so a link of somebody else's project to a file of the user's is not read.
    if config.environment.env_file.is_none() && leads_out_of_project(config, &usual) {
        return Err(unreadable(
            &"it leads out of the project by a link; name its target with --env-file",
        ));
    }
    let bytes = read_file(file, MAX_SETTINGS_BYTES).map_err(|error| unreadable(&error))?;
    let parsed = parse_env_file(&bytes).map_err(|error| unreadable(&error))?;
    for warning in parsed.warnings() {
        tracing::warn!("{}: {warning}", file.display());
    }
    let pairs = parsed.values.into_iter();
    Ok(pairs.map(|(name, value)| (name, value.into())).collect())
}

/// Whether a file in `functions/` is a link to one that is in neither the repository nor that folder.
fn leads_out_of_project(config: &FunctionsConfig, file: &Path) -> bool {
    let boundary = Boundary::of(config);
    let places = [
        Some(boundary.root().to_owned()),
        config.folder.canonicalize().ok(),
    ];
    let target = file.canonicalize().ok();
    target.is_some_and(|target| !places.iter().flatten().any(|place| target.starts_with(place)))
}

/// Whether the operating system accepts the pair as a variable.
fn is_valid(name: &str, value: &SecretString) -> bool {
    !name.is_empty() && !name.contains(['=', '\0']) && !value.expose_secret().contains('\0')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::find_function;

    #[test]
    fn gw_041_later_sources_win_and_reserved_names_are_skipped() {
        let project = tempfile::tempdir().unwrap();
        let mut config = crate::testing::config(project.path());
        std::fs::create_dir_all(config.folder.join("hello")).unwrap();
        std::fs::write(config.folder.join("hello/index.ts"), "").unwrap();
        std::fs::write(
            config.folder.join(".env"),
            "A=file\nSUPABASE_URL=evil\nB='two words'\nJSON={\"key\": \"x\"}\n",
        )
        .unwrap();
        config.environment.secrets = vec![("a".into(), "secret".into()), ("c".into(), "3".into())];
        config.environment.platform = vec![("SUPABASE_URL".into(), "http://here".into())];
        let function = find_function(&config, "hello").unwrap();

        let variables = compose_environment(&config, &function).unwrap();

        let mut seen: Vec<(&str, &str)> = variables
            .iter()
            .map(|(name, value)| (name.as_str(), value.expose_secret()))
            .collect();
        seen.sort_unstable();
        let expected = [
            ("A", "file"),
            ("B", "two words"),
            ("C", "3"),
            ("JSON", "{\"key\": \"x\"}"),
            ("SUPABASE_URL", "http://here"),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn gw_109_an_env_file_that_is_a_link_out_of_the_project_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("clone");
        let config = crate::testing::config(&project);
        std::fs::create_dir_all(&config.folder).unwrap();
        std::fs::write(folder.path().join("env"), "STOLEN=secret\n").unwrap();
        std::fs::write(project.join("env"), "OWN=value\n").unwrap();
        let read = |target: &Path| {
            let link = config.folder.join(".env");
            let _ = std::fs::remove_file(&link);
            std::os::unix::fs::symlink(target, &link).unwrap();
            read_env_file(&config)
        };

        let inside = read(&project.join("env")).unwrap();
        let outside = read(&folder.path().join("env")).unwrap_err();

        assert_eq!(inside.first().map(|(name, _)| name.as_str()), Some("OWN"));
        assert!(outside.contains("--env-file"), "{outside}");
    }

    #[test]
    fn gw_041_an_invalid_env_file_is_named_without_quoting_it() {
        let project = tempfile::tempdir().unwrap();
        let config = crate::testing::config(project.path());
        std::fs::create_dir_all(config.folder.join("hello")).unwrap();
        std::fs::write(config.folder.join("hello/index.ts"), "").unwrap();
        std::fs::write(config.folder.join(".env"), "this is hunter2\n").unwrap();
        let function = find_function(&config, "hello").unwrap();

        let message = compose_environment(&config, &function).unwrap_err();

        assert!(
            message.contains(".env") && !message.contains("hunter2"),
            "{message}"
        );
    }
}
