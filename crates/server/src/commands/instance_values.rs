//! URLs and keys of a running instance, as `status`, `start` and stacks print them. Source: gateway contract §6.

use secrecy::{ExposeSecret, SecretString};
use selvedge_config::Config;
use selvedge_database::home::is_home;
use selvedge_database::instance::{console_url, database_url, inbox_url};
use selvedge_keys::KeySet;
use selvedge_terminal::Values;
use selvedge_token::development;

/// The names among [`urls_and_keys`] whose values give all rights.
pub(super) const SECRETS: [&str; 4] = [
    "SECRET_KEY",
    "JWT_SECRET",
    "SERVICE_ROLE_KEY",
    "S3_PROTOCOL_ACCESS_KEY_SECRET",
];

/// URLs and keys of a running instance, by the names that the Supabase CLI prints, in its order.
pub(super) fn urls_and_keys(config: &Config, keys: &KeySet) -> Values {
    let api = config.api_url();
    let inbox = config.inbox.enabled.then(|| inbox_url(config.inbox.port));
    let console = &config.console;
    let console = console.enabled_in_start.then(|| console_url(console.port));
    let optional = |key: &Option<SecretString>| key.as_ref().map(|key| key.expose_secret().to_owned());
    // In production there is neither a port of PostgreSQL nor a well-known key.
    let in_development = |value: String| (!is_home(config)).then_some(value);
    let named = [
        ("API_URL", Some(api.clone())),
        ("REST_URL", Some(format!("{api}/rest/v1"))),
        ("GRAPHQL_URL", Some(format!("{api}/graphql/v1"))),
        ("FUNCTIONS_URL", Some(format!("{api}/functions/v1"))),
        ("STORAGE_S3_URL", Some(format!("{api}/storage/v1/s3"))),
        (
            "DB_URL",
            in_development(database_url(config.db.port, &config.db.name)),
        ),
        ("STUDIO_URL", console),
        // Compat: older versions of the CLI print INBUCKET_URL, newer ones MAILPIT_URL; scripts use either.
        ("INBUCKET_URL", inbox.clone()),
        ("MAILPIT_URL", inbox),
        ("PUBLISHABLE_KEY", optional(&keys.publishable_key)),
        ("SECRET_KEY", optional(&keys.secret_key)),
        ("JWT_SECRET", Some(keys.jwt_secret.expose_secret().to_owned())),
        ("ANON_KEY", Some(keys.anon_key.expose_secret().to_owned())),
        (
            "SERVICE_ROLE_KEY",
            Some(keys.service_role_key.expose_secret().to_owned()),
        ),
        (
            "S3_PROTOCOL_ACCESS_KEY_ID",
            in_development(development::s3_access_key_id()),
        ),
        (
            "S3_PROTOCOL_ACCESS_KEY_SECRET",
            in_development(development::s3_secret_access_key()),
        ),
        ("S3_PROTOCOL_REGION", in_development("local".to_owned())),
    ];
    named
        .into_iter()
        .filter_map(|(name, value)| Some((name.into(), value?)))
        .collect()
}
