//! Compares the settings of the new process with those of the old one, so that whoever has changed a setting sees that it took effect.

use std::collections::BTreeMap;

use selvedge_config::Config;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The settings of a process by their dotted keys, without secrets.
pub(in crate::commands) type Settings = BTreeMap<String, Value>;

/// A setting with different values in the old and the new process. A value is null where a process does not have the setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::commands) struct ChangedSetting {
    pub(in crate::commands) key: String,
    pub(in crate::commands) before: Value,
    pub(in crate::commands) after: Value,
}

/// The settings with which a new process has started.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::commands) struct AppliedSettings {
    pub(in crate::commands) settings: Settings,
    /// Settings of PostgreSQL that take effect only with its next start.
    pub(in crate::commands) waiting: Vec<String>,
}

/// The settings of a configuration that are no secrets.
pub(in crate::commands) fn list_settings(config: &Config) -> Settings {
    let shown = config.settings.iter().filter(|setting| !setting.is_secret);
    shown
        .map(|setting| (setting.key.clone(), setting.value.clone()))
        .collect()
}

/// Lists what differs, in the order of the keys.
pub(super) fn compare_settings(before: &Settings, after: &Settings) -> Vec<ChangedSetting> {
    let gone = before.keys().filter(|key| !after.contains_key(*key));
    let mut keys: Vec<&String> = after.keys().chain(gone).collect();
    keys.sort();
    let value = |settings: &Settings, key: &String| settings.get(key).cloned().unwrap_or(Value::Null);
    keys.into_iter()
        .map(|key| ChangedSetting {
            key: key.clone(),
            before: value(before, key),
            after: value(after, key),
        })
        .filter(|changed| changed.before != changed.after)
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn prod_004_settings_that_have_changed_are_named_with_both_values() {
        let settings = |pairs: &[(&str, Value)]| -> Settings {
            pairs
                .iter()
                .map(|(key, value)| ((*key).to_owned(), value.clone()))
                .collect()
        };
        let before = settings(&[
            ("api.max_rows", json!(1000)),
            ("b", json!("gone")),
            ("same", json!([1])),
        ]);
        let after = settings(&[
            ("a", json!(true)),
            ("api.max_rows", json!(500)),
            ("same", json!([1])),
        ]);

        let changed: Vec<_> = compare_settings(&before, &after)
            .into_iter()
            .map(|changed| (changed.key, changed.before, changed.after))
            .collect();

        let expected = [
            ("a", Value::Null, json!(true)),
            ("api.max_rows", json!(1000), json!(500)),
            ("b", json!("gone"), Value::Null),
        ];
        assert_eq!(
            changed,
            expected.map(|(key, before, after)| (key.to_owned(), before, after))
        );
    }
}
