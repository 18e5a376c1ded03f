//! The keys that a production database's home keeps: made at its first start, for what nobody has given.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use secrecy::{ExposeSecret, SecretString};
use selvedge_config::Config;
use selvedge_database::initialized::may_be_initialized;
use selvedge_postgres::cluster::open_own_file;
use selvedge_project_trust::write_private_file;
use selvedge_token::{
    JsonWebKey, KeyAlgorithm, generate_jwt_secret, generate_publishable_key, generate_secret_key,
    generate_signing_key,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The file in the home, which its owner alone may read.
const FILE: &str = "keys.json";

/// Its content. What a file or a variable gave at the first start is not in it.
#[derive(Default, Serialize, Deserialize)]
struct HomeKeys {
    #[serde(skip_serializing_if = "Option::is_none")]
    jwt_secret: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    publishable_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    secret_key: Option<String>,
    /// As in the file of `auth.signing_keys_path`, where none is named: the first signs. Homes of earlier versions have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    signing_keys: Vec<JsonWebKey>,
}

/// Makes the keys that the configuration lacks, in a home that has none yet, for the first start of its server.
///
/// # Errors
/// When the file cannot be written.
pub fn make_home_keys(config: &Config) -> Result<()> {
    let path = file(config);
    if path.symlink_metadata().is_ok() {
        return Ok(());
    }
    let given = &config.auth.keys;
    let keys = HomeKeys {
        jwt_secret: given.jwt_secret.is_none().then(generate_jwt_secret),
        publishable_key: given.publishable_key.is_none().then(generate_publishable_key),
        secret_key: given.secret_key.is_none().then(generate_secret_key),
        // A public key lets other programs verify tokens; the JWT secret would let them make some. Where that is given, others have it already,
        // and would refuse tokens that they cannot verify with it.
        signing_keys: match (&config.auth.signing_keys_path, &given.jwt_secret) {
            (None, None) => vec![generate_signing_key(KeyAlgorithm::Es256)],
            _ => Vec::new(),
        },
    };
    write(config, &keys)
}

fn write(config: &Config, keys: &HomeKeys) -> Result<()> {
    let path = file(config);
    let text = serde_json::to_string_pretty(keys).context("keys are text")?;
    write_private_file(&path, &text).with_context(|| format!("cannot write {}", path.display()))
}

/// Replaces the home's signing keys by what `rotate` makes of them, and returns the file.
///
/// # Errors
/// When the file cannot be read or written.
pub(super) fn rotate_signing_keys(
    config: &Config,
    rotate: impl FnOnce(Vec<JsonWebKey>) -> Vec<JsonWebKey>,
) -> Result<PathBuf> {
    let path = file(config);
    // A file without the other keys would keep the first start from making them.
    if path.symlink_metadata().is_err() {
        bail!("the home has no keys yet: the first start of `selvedge serve` makes them");
    }
    let mut keys = read(config)?;
    keys.signing_keys = rotate(keys.signing_keys);
    write(config, &keys)?;
    Ok(path)
}

/// The configuration with the home's keys in the place of those that it lacks, and the home's signing keys.
///
/// # Errors
/// When a key is neither given nor in the home: a new one would make all tokens invalid.
pub(super) fn with_home_keys(config: &Config) -> Result<(Config, Vec<JsonWebKey>)> {
    let path = file(config);
    let kept = read(config)?;
    let was_served = may_be_initialized(config);
    let mut config = config.clone();
    let keys = &mut config.auth.keys;
    fill(&mut keys.jwt_secret, kept.jwt_secret);
    fill(&mut keys.publishable_key, kept.publishable_key);
    fill(&mut keys.secret_key, kept.secret_key);
    if keys.jwt_secret.is_none() && !was_served {
        bail!("the home has no keys yet: the first start of `selvedge serve` makes them");
    }
    if keys.jwt_secret.is_none() {
        bail!(
            "{} has no JWT secret, and SUPABASE_AUTH_JWT_SECRET (auth.jwt_secret) is not set: give the one with which this database was \
             served before, or everybody is signed out\n  for new ones:  selvedge keys --generate",
            path.display()
        );
    }
    Ok((config, kept.signing_keys))
}

fn fill(key: &mut Option<SecretString>, kept: Option<String>) {
    if key.as_ref().is_none_or(|key| key.expose_secret().is_empty()) {
        *key = kept.map(SecretString::from);
    }
}

fn read(config: &Config) -> Result<HomeKeys> {
    let path = file(config);
    match open_own_file(&path, false) {
        Ok(file) => serde_json::from_reader(file).with_context(|| format!("{} is damaged", path.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(HomeKeys::default()),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

fn file(config: &Config) -> PathBuf {
    config.selvedge.data_dir.join(FILE)
}

/// The file with the home's keys, and what tells whether another one holds the same; `None` where the folder is no home, or has none.
pub fn find_home_keys(config: &Config) -> Option<(PathBuf, String)> {
    let path = file(config);
    let mut keys: HomeKeys = serde_json::from_reader(open_own_file(&path, false).ok()?).ok()?;
    // They change by `keys rotate`, and the former ones go on verifying.
    keys.signing_keys = Vec::new();
    let text = serde_json::to_string_pretty(&keys).ok()?;
    // Earlier versions took the file as it is, which had no signing keys and ends in a line break.
    Some((path, hex::encode(Sha256::digest(format!("{text}\n")))))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use selvedge_config::{Environment, Flags, Project};
    use selvedge_database::initialized::mark_initialized;

    use super::*;
    use crate::KeySet;
    use crate::signing_keys::rotate;

    fn config(home: &std::path::Path, variables: &[(&str, &str)]) -> Config {
        let environment: Environment = variables.iter().copied().collect();
        let project = Project::find(None, home).unwrap();
        let flags = Flags {
            data_dir: Some(home.to_owned()),
            ..Flags::default()
        };
        Config::load_project(project, environment, &flags).unwrap().config
    }

    #[test]
    fn prod_001_the_first_start_makes_what_nobody_has_given_and_later_ones_keep_it() {
        let home = tempfile::tempdir().unwrap();
        let own = "a-secret-that-nobody-else-knows-12345";
        let none = config(home.path(), &[]);

        make_home_keys(&none).unwrap();
        let first = KeySet::for_home(&none).unwrap();
        make_home_keys(&none).unwrap();
        let second = KeySet::for_home(&none).unwrap();
        let given = KeySet::for_home(&config(home.path(), &[("SUPABASE_AUTH_JWT_SECRET", own)])).unwrap();

        let mode = file(&none).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(
            first.jwt_secret.expose_secret(),
            second.jwt_secret.expose_secret()
        );
        assert!(first.browser_key().starts_with("sb_publishable_"));
        assert_eq!(given.jwt_secret.expose_secret(), own);
        assert_eq!(given.browser_key(), first.browser_key());
    }

    #[test]
    fn prod_016_a_secret_that_others_know_goes_on_signing() {
        let home = tempfile::tempdir().unwrap();
        let own = "a-secret-that-nobody-else-knows-12345";
        let config = config(home.path(), &[("SUPABASE_AUTH_JWT_SECRET", own)]);

        make_home_keys(&config).unwrap();

        assert!(KeySet::for_home(&config).unwrap().signing_keys.is_empty());
    }

    #[test]
    fn prod_016_another_signing_key_does_not_make_them_other_keys() {
        let home = tempfile::tempdir().unwrap();
        let config = config(home.path(), &[]);
        make_home_keys(&config).unwrap();
        let before = find_home_keys(&config).unwrap();

        rotate_signing_keys(&config, |_| vec![generate_signing_key(KeyAlgorithm::Es256)]).unwrap();
        let rotated = find_home_keys(&config).unwrap();
        let mut keys = read(&config).unwrap();
        keys.secret_key = Some("another".to_owned());
        write(&config, &keys).unwrap();

        assert_eq!(rotated, before);
        assert_ne!(find_home_keys(&config).unwrap(), before);
        // As earlier versions have noted it.
        keys.signing_keys = Vec::new();
        write(&config, &keys).unwrap();
        let text = std::fs::read(file(&config)).unwrap();
        assert_eq!(
            find_home_keys(&config).unwrap().1,
            hex::encode(Sha256::digest(text))
        );
    }

    #[test]
    fn prod_016_a_new_home_signs_tokens_of_users_with_a_key_of_its_own() {
        let home = tempfile::tempdir().unwrap();
        let named = home.path().join("named.json");
        let (own, other) = (
            config(home.path(), &[]),
            config(
                home.path(),
                &[("SUPABASE_AUTH_SIGNING_KEYS_PATH", named.to_str().unwrap())],
            ),
        );
        let kid = |token: &str| {
            let head = token.split('.').next().unwrap();
            let head = base64::Engine::decode(&base64::prelude::BASE64_URL_SAFE_NO_PAD, head).unwrap();
            let head: serde_json::Value = serde_json::from_slice(&head).unwrap();
            (head["alg"].clone(), head["kid"].clone())
        };
        let claims = serde_json::json!({ "sub": "a" });
        // The mark of a home.
        std::fs::write(home.path().join("production"), "").unwrap();

        assert!(rotate(&own, KeyAlgorithm::Es256, 3).is_err());
        make_home_keys(&own).unwrap();
        let token = KeySet::for_home(&own)
            .unwrap()
            .ring()
            .unwrap()
            .sign(&claims)
            .unwrap();
        let rotated = rotate(&own, KeyAlgorithm::Es256, 3).unwrap();
        let ring = KeySet::for_home(&own).unwrap().ring().unwrap();

        assert_eq!(kid(&token).0, "ES256");
        assert!(ring.verify(&token).is_ok());
        assert_eq!(kid(&ring.sign(&claims).unwrap()).1, rotated.kid.as_str());
        assert_eq!(
            (rotated.path, rotated.kept, rotated.is_configured),
            (file(&own), 1, true)
        );
        // A file that is named wins, and what the home has is not used.
        std::fs::write(&named, "[]").unwrap();
        assert!(KeySet::for_home(&other).unwrap().signing_keys.is_empty());
    }

    #[test]
    fn prod_001_a_secret_that_is_given_no_more_is_not_replaced_by_another_one() {
        let home = tempfile::tempdir().unwrap();
        let own = "a-secret-that-nobody-else-knows-12345";

        make_home_keys(&config(home.path(), &[("SUPABASE_AUTH_JWT_SECRET", own)])).unwrap();
        let before = KeySet::for_home(&config(home.path(), &[]))
            .unwrap_err()
            .to_string();
        mark_initialized(&config(home.path(), &[])).unwrap();
        let text = std::fs::read_to_string(home.path().join(FILE)).unwrap();
        let refused = KeySet::for_home(&config(home.path(), &[]))
            .unwrap_err()
            .to_string();

        assert!(!text.contains(own) && text.contains("sb_secret_"), "{text}");
        assert!(
            before.contains("first start of `selvedge serve`") && refused.contains("signed out"),
            "{before} {refused}"
        );
    }
}
