//! Lists features that the configuration switches on and that this version does not have; they are reported at the
//! start.

use super::auth::AuthSection;
use super::database::DatabaseConfig;

/// One warning per feature that is switched on and not supported.
pub(super) fn list_unsupported(auth: &AuthSection, db: &DatabaseConfig) -> Vec<String> {
    let features = [
        ("[auth.third_party]", !auth.third_party.is_empty()),
        ("[db.vault]", !db.vault.is_empty()),
    ];
    features
        .into_iter()
        .filter(|(_, is_on)| *is_on)
        .map(|(name, _)| format!("{name} is switched on and not part of this version"))
        .collect()
}
