//! `selvedge keys`: the project's keys, or a new set for `serve`.

use anyhow::Result;
use indexmap::IndexMap;
use secrecy::{ExposeSecret, SecretString};

use crate::cli::{KeysArgs, OutputFormat};
use crate::config::Config;
use crate::key_set::KeySet;
use crate::output::{self, DIM, Values};

pub(super) fn run(config: &Config, args: &KeysArgs) -> Result<()> {
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
