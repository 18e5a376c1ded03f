//! `selvedge keys`: the project's keys, a new set for `serve`, or a new key for user tokens.

use anyhow::Result;
use indexmap::IndexMap;
use secrecy::{ExposeSecret, SecretString};
use selvedge_token::KeyAlgorithm;

use crate::cli::{KeysAction, KeysArgs, OutputFormat, RotateArgs, SigningAlgorithm};
use crate::config::Config;
use crate::key_set::KeySet;
use crate::output::{self, DIM, GOOD, Values};
use crate::signing_keys;

pub(super) fn run(config: &Config, args: &KeysArgs) -> Result<()> {
    if let Some(KeysAction::Rotate(args)) = &args.action {
        return rotate(config, args);
    }
    if !args.generate {
        output::print(&values(&KeySet::for_development(config)?, ""), args.output);
        return Ok(());
    }
    if args.output == OutputFormat::Env {
        anstream::println!(
            "{DIM}# A new set. Keep it secret, and give it to `selvedge serve` as variables.{DIM:#}"
        );
    }
    output::print(&values(&KeySet::generate(), "SUPABASE_AUTH_"), args.output);
    Ok(())
}

fn rotate(config: &Config, args: &RotateArgs) -> Result<()> {
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

/// By the names of `status`, or as the variables that override `[auth]`.
fn values(keys: &KeySet, prefix: &str) -> Values {
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
