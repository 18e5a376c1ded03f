//! The value of every key that was read, with where it comes from, so that the console can say why a setting is as it is.
//!
//! The text of a secret is never kept here, so nothing that shows these settings can show one.

use std::collections::BTreeMap;

use serde_json::Value;
use url::Url;

use super::setting::{EffectiveSetting, SettingOrigin};
use crate::database_address;

/// Replaces a password inside an address.
const MASK: &str = "masked";

/// Parts of names whose text is hidden even where a key is read as an ordinary text: `app.settings.jwt_secret`.
const SECRET_NAMES: [&str; 4] = ["secret", "password", "token", "api_key"];

/// The settings by their dotted keys (`auth.email.otp_length`).
#[derive(Debug, Clone, Default)]
pub struct EffectiveSettings(BTreeMap<String, EffectiveSetting>);

impl EffectiveSettings {
    /// Notes the value of a key. What was noted for the key before is replaced, because later sources win.
    pub(crate) fn record(&mut self, key: String, value: Value, origin: SettingOrigin, is_secret: bool) {
        let is_secret = is_secret || (value.is_string() && has_secret_name(&key));
        let is_set = !matches!(&value, Value::Null) && value.as_str() != Some("");
        let setting = EffectiveSetting {
            value: if is_secret {
                Value::Null
            } else {
                hide_passwords(value)
            },
            key: key.clone(),
            origin,
            is_secret,
            is_set,
        };
        self.0.insert(key, setting);
    }

    /// Gives the default of a key that neither the file nor the environment has.
    pub(crate) fn record_default(&mut self, key: &str, default: Value) {
        if let Some(setting) = self.0.get_mut(key)
            && setting.origin == SettingOrigin::Default
            && !setting.is_secret
        {
            setting.is_set = !default.is_null();
            setting.value = hide_passwords(default);
        }
    }

    /// The settings in the order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = &EffectiveSetting> {
        self.0.values()
    }
}

fn has_secret_name(key: &str) -> bool {
    // The names in this table are phone numbers, and the texts are codes that sign in.
    if key.starts_with("auth.sms.test_otp.") {
        return true;
    }
    let name = key.rsplit('.').next().unwrap_or(key).to_ascii_lowercase();
    SECRET_NAMES.iter().any(|part| name.contains(part))
}

/// The value with the passwords of its addresses replaced: `postgresql://ana:…@host/db`.
fn hide_passwords(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(hide_password(text)),
        Value::Array(values) => values.into_iter().map(hide_passwords).collect(),
        other => other,
    }
}

fn hide_password(text: String) -> String {
    if let Some(hidden) = database_address::hide_password(&text, MASK) {
        return hidden;
    }
    match Url::parse(&text) {
        Ok(mut url) if url.password().is_some() => match url.set_password(Some(MASK)) {
            Ok(()) => url.into(),
            Err(()) => text,
        },
        _ => text,
    }
}

/// A value of TOML as JSON.
pub(super) fn json_of(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => text.value().as_str().into(),
        toml_edit::Value::Integer(number) => (*number.value()).into(),
        toml_edit::Value::Float(number) => (*number.value()).into(),
        toml_edit::Value::Boolean(is_true) => (*is_true.value()).into(),
        toml_edit::Value::Array(values) => values.iter().map(json_of).collect(),
        toml_edit::Value::Datetime(_) | toml_edit::Value::InlineTable(_) => value.to_string().trim().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value_of(key: &str, text: &str) -> Value {
        let mut settings = EffectiveSettings::default();
        settings.record(key.to_owned(), text.into(), SettingOrigin::Default, false);
        settings.iter().next().unwrap().value.clone()
    }

    #[test]
    fn console_141_passwords_in_addresses_and_texts_with_the_names_of_secrets_are_hidden() {
        assert_eq!(
            value_of("a.url", "nats://ana:hunter2@host:4222"),
            "nats://ana:masked@host:4222"
        );
        assert_eq!(
            value_of("a.url", "https://host/path?x=1"),
            "https://host/path?x=1"
        );
        assert_eq!(
            value_of("db.settings.app.settings.jwt_secret", "hunter2"),
            Value::Null
        );
        assert_eq!(value_of("functions.env.STRIPE_API_KEY", "hunter2"), Value::Null);
        assert_eq!(value_of("auth.site_url", ""), "");
    }
}
