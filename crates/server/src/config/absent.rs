//! What the configuration asks for and this version does not have, said once at the start.

use super::Config;

/// One line per feature that is switched on and absent.
pub(super) fn warnings(config: &Config) -> Vec<String> {
    let auth = &config.auth;
    let asked = [
        ("[auth.third_party]", !auth.third_party.is_empty()),
        ("[db.vault]", !config.db.vault.is_empty()),
        (
            "[functions.*]",
            config.functions.enabled && !config.functions.functions.is_empty(),
        ),
    ]
    .into_iter()
    .filter(|(_, is_on)| *is_on);
    asked
        .map(|(name, _)| format!("{name} is switched on and not part of this version"))
        .collect()
}
