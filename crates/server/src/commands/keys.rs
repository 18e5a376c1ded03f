//! `selvedge keys`: prints the project's keys, makes a new set for `serve`, or rotates the key that signs user tokens.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, Result};
use indexmap::IndexMap;
use secrecy::{ExposeSecret, SecretString};
use selvedge_config::Config;
use selvedge_keys::{KeySet, signing_keys};
use selvedge_terminal::{DIM, GOOD, OutputFormat, Values, print_values, render_values};
use selvedge_token::KeyAlgorithm;

use crate::cli::{KeysAction, KeysArgs, RotateArgs, SigningAlgorithm};

/// Runs `selvedge keys`.
///
/// # Errors
/// When a configured key is malformed, or the file of signing keys cannot be written.
pub(super) fn run(config: &Config, args: &KeysArgs) -> Result<()> {
    if let Some(KeysAction::Rotate(args)) = &args.action {
        return rotate_signing_key(config, args);
    }
    if !args.generate {
        print_values(&keys_by_name(&KeySet::of_instance(config)?, ""), args.output);
        return Ok(());
    }
    let keys = keys_by_name(&KeySet::generate(), "SUPABASE_AUTH_");
    if let Some(path) = &args.file {
        write_new_file(path, &render_values(&keys, args.output))?;
        anstream::println!(
            "{GOOD}New keys{GOOD:#} in {}, which only you may read",
            path.display()
        );
        return Ok(());
    }
    // A comment is valid in an env file, but not in JSON.
    if args.output == OutputFormat::Env {
        anstream::println!(
            "{DIM}# A new set. Keep it secret, and give it to `selvedge serve` as variables.{DIM:#}"
        );
    }
    print_values(&keys, args.output);
    Ok(())
}

/// Writes a file that did not exist, with rights for its owner alone from the beginning.
fn write_new_file(path: &Path, text: &str) -> Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .with_context(|| format!("{} cannot be made", path.display()))?;
    file.write_all(text.as_bytes())
        .and_then(|()| file.sync_all())
        .with_context(|| format!("{} cannot be written", path.display()))
}

/// `selvedge keys rotate`: a running server keeps signing with the old key until it is restarted.
fn rotate_signing_key(config: &Config, args: &RotateArgs) -> Result<()> {
    let algorithm = match args.algorithm {
        SigningAlgorithm::Es256 => KeyAlgorithm::Es256,
        SigningAlgorithm::Rs256 => KeyAlgorithm::Rs256,
        SigningAlgorithm::EdDsa => KeyAlgorithm::EdDsa,
    };
    let rotated = signing_keys::rotate(config, algorithm, args.keep)?;
    let path = rotated.path.display();
    anstream::println!("{GOOD}New key{GOOD:#} {} in {path}", rotated.kid);
    match rotated.kept {
        0 => {}
        1 => anstream::println!("  one older key goes on verifying"),
        kept => anstream::println!("  {kept} older keys go on verifying"),
    }
    if !rotated.is_configured {
        anstream::println!(
            "  name it in config.toml:  {DIM}[auth] signing_keys_path = \"./{}\"{DIM:#}",
            signing_keys::DEFAULT_NAME
        );
    }
    anstream::println!("  restart the server to sign with it, and keep the file out of version control");
    Ok(())
}

/// The keys by the names that `status` prints. With the prefix `SUPABASE_AUTH_` they are the variables that override
/// `[auth]`.
fn keys_by_name(keys: &KeySet, prefix: &str) -> Values {
    let optional = |key: &Option<SecretString>| key.as_ref().map(|key| key.expose_secret().to_owned());
    let named = [
        ("JWT_SECRET", Some(keys.jwt_secret.expose_secret().to_owned())),
        ("PUBLISHABLE_KEY", optional(&keys.publishable_key)),
        ("SECRET_KEY", optional(&keys.secret_key)),
        ("ANON_KEY", Some(keys.anon_key.expose_secret().to_owned())),
        (
            "SERVICE_ROLE_KEY",
            Some(keys.service_role_key.expose_secret().to_owned()),
        ),
    ];
    named
        .into_iter()
        .filter_map(|(name, value)| Some((format!("{prefix}{name}").into(), value?)))
        .collect::<IndexMap<_, _>>()
}
