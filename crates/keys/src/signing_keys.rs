//! The file of `auth.signing_keys_path`: read at start, rotated by `selvedge keys rotate`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use selvedge_config::Config;
use selvedge_database::home::is_home;
use selvedge_project_files::{MAX_SETTINGS_BYTES, read_text};
use selvedge_project_trust::write_private_file;
use selvedge_token::{JsonWebKey, KeyAlgorithm, development, generate_signing_key};

use super::home_keys::rotate_signing_keys;

/// The default file name; the Supabase CLI's.
pub const DEFAULT_NAME: &str = "signing_keys.json";

/// The keys of the configured file; `None` when no file is configured or the configured one does not exist.
///
/// # Errors
/// A file that cannot be read, or that is not a JSON array of keys.
pub fn read(config: &Config) -> Result<Option<Vec<JsonWebKey>>> {
    match &config.auth.signing_keys_path {
        Some(path) => read_file(path),
        None => Ok(None),
    }
}

/// The path of the configured file if the file does not exist. That happens in a fresh clone: `config.toml` names the file,
/// but private keys are not committed.
pub fn find_missing_file(config: &Config) -> Option<&Path> {
    let path = config.auth.signing_keys_path.as_deref()?;
    (!path.exists()).then_some(path)
}

fn read_file(path: &Path) -> Result<Option<Vec<JsonWebKey>>> {
    let text = match read_text(path, MAX_SETTINGS_BYTES) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(error)
                .with_context(|| format!("auth.signing_keys_path: cannot read {}", path.display()));
        }
    };
    let keys = serde_json::from_str(&text).with_context(|| {
        format!(
            "auth.signing_keys_path: {} is not a JSON array of keys",
            path.display()
        )
    })?;
    Ok(Some(keys))
}

/// The result of a rotation.
pub struct Rotation {
    pub path: PathBuf,
    /// Id of the new key, which signs from the next start on.
    pub kid: String,
    /// How many older keys remain, to verify tokens.
    pub kept: usize,
    /// Whether the configuration already names the file.
    pub is_configured: bool,
}

/// Generates a key and puts it first in the file, so that it signs. Up to `keep` older keys are kept as public keys, so that
/// their tokens still verify and nobody is signed out.
///
/// # Errors
/// When the file cannot be read or written, or is a link: the new file would replace the link, and the keys that it leads to stay in use
/// elsewhere.
pub fn rotate(config: &Config, algorithm: KeyAlgorithm, keep: usize) -> Result<Rotation> {
    let new = generate_signing_key(algorithm);
    let kid = new.kid.clone().unwrap_or_default();
    if config.auth.signing_keys_path.is_none() && is_home(config) {
        let mut kept = 0;
        let path = rotate_signing_keys(config, |known| {
            let keys = put_first(new, &known, keep);
            kept = keys.len() - 1;
            keys
        })?;
        return Ok(Rotation {
            path,
            kid,
            kept,
            is_configured: true,
        });
    }
    let configured = config.auth.signing_keys_path.clone();
    let path = configured
        .clone()
        .unwrap_or_else(|| config.project.folder.join(DEFAULT_NAME));
    if path.is_symlink() {
        bail!(
            "{} is a link, and nothing was changed: name the file that it leads to, {}",
            path.display(),
            std::fs::read_link(&path).unwrap_or_default().display()
        );
    }
    let known = read_file(&path)?.unwrap_or_default();
    let keys = put_first(new, &known, keep);
    write_private_file(
        &path,
        &serde_json::to_string_pretty(&keys).context("keys are JSON")?,
    )
    .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(Rotation {
        path,
        kid,
        kept: keys.len() - 1,
        is_configured: configured.is_some(),
    })
}

/// A new key and up to `keep` of the known ones.
fn put_first(new: JsonWebKey, known: &[JsonWebKey], keep: usize) -> Vec<JsonWebKey> {
    // The development key is removed: its private half is public, so everybody could sign tokens that verify.
    let older = known.iter().filter(|key| !development::is_development_key(key));
    // Older keys lose their private half: they only verify, and a leaked file then reveals one signing key.
    let older = older.take(keep).map(JsonWebKey::to_public);
    std::iter::once(new).chain(older).collect()
}

#[cfg(test)]
mod tests {
    use selvedge_config::{Environment, Flags, Project};
    use serde_json::Value;

    use super::*;
    use crate::KeySet;

    fn config(folder: &Path, path: Option<&str>) -> Config {
        let project = Project::find(None, folder).unwrap();
        let variables: Vec<(&str, &str)> = path
            .map(|path| ("SUPABASE_AUTH_SIGNING_KEYS_PATH", path))
            .into_iter()
            .collect();
        let environment: Environment = variables.into_iter().collect();
        Config::load_project(project, environment, &Flags::default())
            .unwrap()
            .config
    }

    #[test]
    fn auth_050_after_a_rotation_old_tokens_verify_and_only_the_new_key_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.json");
        let config = config(folder.path(), path.to_str());

        rotate(&config, KeyAlgorithm::Es256, 3).unwrap();
        let before = KeySet::for_development(&config).unwrap().ring().unwrap();
        let token = before.sign(&serde_json::json!({"sub": "a"})).unwrap();
        let rotated = rotate(&config, KeyAlgorithm::EdDsa, 3).unwrap();

        assert!(rotated.is_configured && rotated.kept == 1);
        let after = KeySet::for_development(&config).unwrap().ring().unwrap();
        assert!(after.verify(&token).is_ok());
        let text = std::fs::read_to_string(&path).unwrap();
        let keys: Vec<Value> = serde_json::from_str(&text).unwrap();
        assert_eq!(keys[0]["kid"], rotated.kid);
        assert!(keys[0].get("d").is_some() && keys[1].get("d").is_none());
        let mode = std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
        rotate(&config, KeyAlgorithm::Es256, 0).unwrap();
        let forgotten = KeySet::for_development(&config).unwrap().ring().unwrap();
        assert!(forgotten.verify(&token).is_err());
    }

    #[test]
    fn a_missing_key_file_means_the_development_key_for_start_and_an_error_for_serve() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nowhere.json");
        let config = config(folder.path(), path.to_str());

        assert_eq!(find_missing_file(&config), Some(path.as_path()));
        let keys = KeySet::for_development(&config).unwrap();
        assert!(development::is_development_key(&keys.signing_keys[0]));
        assert!(KeySet::for_production(&config).is_err());
    }
}
