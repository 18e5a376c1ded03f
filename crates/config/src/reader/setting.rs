//! A setting in effect, and where its value comes from. The console shows both.

use serde::Serialize;
use serde_json::Value;

/// Where the value of a setting comes from. In JSON: `{"file","line"}`, `{"environment"}`, `{"flag"}` or `"default"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum SettingOrigin {
    /// A line of a file. If the line has `env(NAME)`, the value is that of the variable `NAME`.
    File {
        /// The file's path in messages.
        file: String,
        /// The line number, from 1.
        line: usize,
        /// The variable that the line refers to.
        #[serde(skip_serializing_if = "Option::is_none")]
        environment: Option<String>,
    },
    /// A variable of the environment or of a `.env` file.
    Environment {
        /// The variable's name.
        environment: String,
    },
    /// A flag of the command.
    Flag {
        /// The flag with its dashes.
        flag: &'static str,
    },
    /// Not set: the default value.
    #[serde(serialize_with = "write_default")]
    Default,
}

/// A key of the configuration, its value in effect, and where the value comes from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EffectiveSetting {
    /// The dotted key, as in `auth.email.otp_length`.
    pub key: String,
    /// The value; null for secrets and for what is not set.
    pub value: Value,
    /// Where the value comes from.
    pub origin: SettingOrigin,
    /// Whether the value is a secret, which is in no response.
    #[serde(rename = "secret")]
    pub is_secret: bool,
    /// Whether a value is set.
    #[serde(rename = "set")]
    pub is_set: bool,
}

impl SettingOrigin {
    /// Adds the variable that a text of the file refers to, as in `env(SMTP_PASSWORD)`.
    pub fn name_variable(&mut self, reference: &str) {
        if let Self::File { environment, .. } = self {
            let name = reference
                .strip_prefix("env(")
                .and_then(|rest| rest.strip_suffix(')'));
            *environment = name.map(str::to_owned);
        }
    }
}

fn write_default<S: serde::Serializer>(serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str("default")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn console_141_an_origin_tells_file_and_line_variable_flag_or_default() {
        let written = |origin: &SettingOrigin| serde_json::to_value(origin).unwrap();
        let mut origin = SettingOrigin::File {
            file: "config.toml".to_owned(),
            line: 3,
            environment: None,
        };
        assert_eq!(written(&origin), json!({ "file": "config.toml", "line": 3 }));
        origin.name_variable("env(SMTP_PASSWORD)");
        assert_eq!(written(&origin)["environment"], "SMTP_PASSWORD");
        assert_eq!(
            written(&SettingOrigin::Flag { flag: "--port" }),
            json!({ "flag": "--port" })
        );
        assert_eq!(written(&SettingOrigin::Default), json!("default"));
    }
}
