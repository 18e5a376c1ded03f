//! What the configuration asks for and this version does not have, said once at the start.

use super::Config;

/// One line per feature that is switched on and absent.
pub(super) fn warnings(config: &Config) -> Vec<String> {
    let auth = &config.auth;
    let named = |section: &str, names: Vec<&str>| -> Vec<String> {
        names
            .into_iter()
            .map(|name| format!("[auth.{section}.{name}]"))
            .collect()
    };
    let mut asked: Vec<String> = [
        ("[auth.third_party]", !auth.third_party.is_empty()),
        ("[db.vault]", !config.db.vault.is_empty()),
        (
            "[functions.*]",
            config.functions.enabled && !config.functions.functions.is_empty(),
        ),
    ]
    .into_iter()
    .filter(|(_, is_on)| *is_on)
    .map(|(name, _)| name.to_owned())
    .collect();
    // OAuth 1.0a, which nobody else speaks; X is the same service with OAuth 2.
    let old = auth.external.iter().filter(|provider| provider.name == "twitter");
    asked.extend(named(
        "external",
        old.map(|provider| provider.name.as_str()).collect(),
    ));
    asked
        .iter()
        .map(|name| format!("{name} is switched on and not part of this version"))
        .collect()
}
