//! The keys of the project: whether `serve` accepts them.

use super::finding::Finding;
use crate::config::Config;
use crate::database::home::is_home;
use crate::keys::KeySet;

/// Examines the keys as `serve` does at its start.
pub(super) fn examine_keys(config: &Config) -> Vec<Finding> {
    let keys = match is_home(config) {
        true => KeySet::for_home(config),
        false => KeySet::for_production(config),
    };
    let keys = match keys {
        Ok(keys) => keys,
        Err(error) => {
            // The message explains itself in several lines: what is wrong, and the command that mends it.
            let text = format!("{error:#}");
            let (message, advice) = text
                .split_once('\n')
                .unwrap_or((&text, "selvedge keys --generate"));
            return vec![finding_for_bad_keys(config, message, advice.trim())];
        }
    };
    let mut findings = Vec::new();
    if let Err(error) = keys.ring() {
        let advice = "replace the key in the file of auth.signing_keys_path: selvedge keys rotate";
        findings.push(Finding::error("keys", format!("{error:#}"), advice));
    } else if keys.signing_keys.is_empty() {
        findings.push(Finding::warning(
            "keys",
            "tokens of users are signed with the JWT secret, which other programs need in order to verify them",
            "make a signing key: selvedge keys rotate",
        ));
    } else {
        let count = keys.signing_keys.len();
        findings.push(Finding::ok(
            "keys",
            format!("the project has keys of its own and {count} signing keys"),
        ));
    }
    findings
}

/// With an external database the project is meant for production, where bad keys are a fault.
fn finding_for_bad_keys(config: &Config, message: &str, advice: &str) -> Finding {
    if config.selvedge.database_url.is_some() || is_home(config) {
        Finding::error("keys", message, advice)
    } else {
        Finding::warning("keys", message, advice)
    }
}
