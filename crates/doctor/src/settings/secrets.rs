//! The keys of the project: whether `serve` accepts them, and where secrets come from.

use selvedge_config::{Config, EffectiveSetting, SettingOrigin};
use selvedge_database::home::is_home;
use selvedge_keys::KeySet;

use crate::finding::Finding;

/// Examines the keys as `serve` does at its start.
pub(crate) fn examine_keys(config: &Config) -> Vec<Finding> {
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

/// Says of each secret of a server where it comes from, never what it is, and which files of variables were read.
pub(crate) fn examine_sources(config: &Config) -> Option<Finding> {
    if config.selvedge.database_url.is_none() && !is_home(config) {
        return None;
    }
    let secrets: Vec<&EffectiveSetting> = config
        .settings
        .iter()
        .filter(|setting| setting.is_secret && setting.is_set && setting.origin != SettingOrigin::Default)
        .collect();
    let sources = secrets
        .iter()
        .map(|secret| format!("{} from {}", secret.key, describe_origin(&secret.origin)));
    let files = config
        .environment_files
        .iter()
        .map(|path| path.display().to_string());
    let message = format!(
        "{}; files of variables that were read: {}",
        join_or(sources, "none is configured"),
        join_or(files, "none")
    );
    let is_in_file = |secret: &&EffectiveSetting| {
        matches!(
            &secret.origin,
            SettingOrigin::File {
                environment: None,
                ..
            }
        )
    };
    let in_file: Vec<&str> = secrets
        .iter()
        .copied()
        .filter(is_in_file)
        .map(|secret| secret.key.as_str())
        .collect();
    if in_file.is_empty() {
        return Some(Finding::ok("secrets", message));
    }
    let advice = format!(
        "{}: keep secrets out of config.toml: in a variable, in a file that NAME_FILE names, or in a credential of systemd",
        in_file.join(", ")
    );
    Some(Finding::warning("secrets", message, advice))
}

fn describe_origin(origin: &SettingOrigin) -> String {
    match origin {
        SettingOrigin::File {
            environment: Some(variable),
            ..
        }
        | SettingOrigin::Environment {
            environment: variable,
        } => format!("variable {variable}"),
        SettingOrigin::File { file, line, .. } => format!("{file}:{line}"),
        SettingOrigin::Flag { flag } => (*flag).to_owned(),
        SettingOrigin::Default => "the default".to_owned(),
    }
}

fn join_or(texts: impl Iterator<Item = String>, otherwise: &str) -> String {
    let texts: Vec<String> = texts.collect();
    match texts.is_empty() {
        true => otherwise.to_owned(),
        false => texts.join(", "),
    }
}

/// With an external database the project is meant for production, where bad keys are a fault.
fn finding_for_bad_keys(config: &Config, message: &str, advice: &str) -> Finding {
    if config.selvedge.database_url.is_some() || is_home(config) {
        Finding::error("keys", message, advice)
    } else {
        Finding::warning("keys", message, advice)
    }
}
