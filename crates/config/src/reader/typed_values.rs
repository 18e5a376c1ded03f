//! The typed reads of a [`Section`]: each names its key and, where the key may be left out, its default.
//!
//! `name(key, default)` always returns a value; `optional_name(key)` returns `None` for a key that is not set. A value of
//! another type is reported and counts as not set.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use secrecy::SecretString;

use super::section::{RawValue, Section};
use super::units::{parse_go_duration, parse_size};

impl Section<'_> {
    pub(crate) fn bool(&self, key: &str, default: bool) -> bool {
        let value = self.optional_bool(key);
        self.record_default(key, default);
        value.unwrap_or(default)
    }

    pub(crate) fn optional_bool(&self, key: &str) -> Option<bool> {
        self.read(key, "true or false", false, |value| match value {
            RawValue::Toml(value) => value.as_bool(),
            RawValue::Text(text) => match text.to_ascii_lowercase().as_str() {
                "true" | "t" | "1" => Some(true),
                "false" | "f" | "0" => Some(false),
                _ => None,
            },
        })
    }

    /// A whole number within `range`.
    pub(crate) fn integer<T>(&self, key: &str, default: T, range: RangeInclusive<T>) -> T
    where
        T: TryFrom<i64> + PartialOrd + Display,
    {
        let value = self.optional_integer(key, range);
        let shown = default.to_string().parse::<i64>();
        self.record_default(key, shown.unwrap_or_default());
        value.unwrap_or(default)
    }

    pub(crate) fn optional_integer<T>(&self, key: &str, range: RangeInclusive<T>) -> Option<T>
    where
        T: TryFrom<i64> + PartialOrd + Display,
    {
        let expected = format!("a whole number from {} to {}", range.start(), range.end());
        self.read(key, &expected, false, |value| {
            let number = match value {
                RawValue::Toml(value) => value.as_integer()?,
                RawValue::Text(text) => text.trim().parse().ok()?,
            };
            T::try_from(number).ok().filter(|number| range.contains(number))
        })
    }

    pub(crate) fn port(&self, key: &str, default: u16) -> u16 {
        self.integer(key, default, 1..=u16::MAX)
    }

    /// Reads an optional port. Compat: `0` also means none, as in the CLI.
    pub(crate) fn optional_port(&self, key: &str) -> Option<u16> {
        self.optional_integer(key, 0..=u16::MAX).filter(|port| *port != 0)
    }

    /// A text; an empty one counts as set.
    pub(crate) fn string(&self, key: &str, default: &str) -> String {
        let value = self.read(key, "a text in quotes", false, RawValue::into_text);
        self.record_default(key, default);
        value.unwrap_or_else(|| default.to_owned())
    }

    /// A text; an empty one counts as not set.
    pub(crate) fn optional_string(&self, key: &str) -> Option<String> {
        Some(self.string(key, "")).filter(|text| !text.is_empty())
    }

    /// A text that no message may quote; an empty one counts as not set.
    pub(crate) fn optional_secret(&self, key: &str) -> Option<SecretString> {
        self.read(key, "a text in quotes", true, RawValue::into_text)
            .filter(|text| !text.is_empty())
            .map(Into::into)
    }

    /// Every `NAME = "secret"` of a table whose keys the user chooses, in the file's order.
    pub(crate) fn secret_entries(&self) -> Vec<(String, SecretString)> {
        let names = self.entry_names().into_iter();
        names
            .filter_map(|name| self.optional_secret(&name).map(|value| (name, value)))
            .collect()
    }

    /// A path, relative to `base` unless it is absolute.
    pub(crate) fn optional_path(&self, key: &str, base: &Path) -> Option<PathBuf> {
        // Collecting the components drops the `.` of `./images`.
        self.optional_string(key)
            .map(|path| base.join(path).components().collect())
    }

    /// A list of texts; in the environment separated by commas.
    pub(crate) fn strings(&self, key: &str, default: &[&str]) -> Vec<String> {
        let list = self.read(
            key,
            "a list of texts ([\"a\", \"b\"])",
            false,
            |value| match value {
                RawValue::Toml(value) => value
                    .as_array()?
                    .iter()
                    .map(|entry| entry.as_str().map(|text| self.replace_reference(text, key).0))
                    .collect(),
                RawValue::Text(text) => Some(
                    text.split(',')
                        .map(|part| part.trim().to_owned())
                        .filter(|part| !part.is_empty())
                        .collect(),
                ),
            },
        );
        self.record_default(key, default.to_vec());
        list.unwrap_or_else(|| default.iter().map(|text| (*text).to_owned()).collect())
    }

    /// One word of a closed set.
    pub(crate) fn choice<T: Clone + PartialEq>(&self, key: &str, default: T, allowed: &[(&str, T)]) -> T {
        let words: Vec<String> = allowed.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        let expected = format!("one of {}", words.join(", "));
        let chosen = self.read(key, &expected, false, |value| {
            let word = value.into_text()?;
            allowed
                .iter()
                .find(|(allowed, _)| *allowed == word)
                .map(|(_, meaning)| meaning.clone())
        });
        if let Some((word, _)) = allowed.iter().find(|(_, meaning)| *meaning == default) {
            self.record_default(key, *word);
        }
        chosen.unwrap_or(default)
    }

    pub(crate) fn duration(&self, key: &str, default: Duration) -> Duration {
        let value = self.optional_duration(key);
        self.record_default(key, format!("{default:?}"));
        value.unwrap_or(default)
    }

    /// A duration in Go's notation, as the CLI reads it.
    pub(crate) fn optional_duration(&self, key: &str) -> Option<Duration> {
        let expected = "a duration such as \"30s\", \"5m\" or \"24h\"";
        self.read(key, expected, false, |value| {
            parse_go_duration(&value.into_text()?)
        })
    }

    /// A number of bytes: a text such as `"50MiB"`, or a whole number.
    pub(crate) fn optional_size(&self, key: &str) -> Option<u64> {
        let expected = "a size such as \"50MiB\", \"500KB\" or a number of bytes";
        self.read(key, expected, false, |value| match value {
            RawValue::Toml(value) if value.is_integer() => {
                value.as_integer().and_then(|bytes| bytes.try_into().ok())
            }
            text => parse_size(&text.into_text()?),
        })
    }

    pub(crate) fn size(&self, key: &str, default_bytes: u64) -> u64 {
        let value = self.optional_size(key);
        self.record_default(key, default_bytes);
        value.unwrap_or(default_bytes)
    }

    /// Every `NAME = value` of a table whose keys the user chooses; numbers and booleans are taken as their text.
    pub(crate) fn text_entries(&self) -> Vec<(String, String)> {
        self.read_texts(self.entry_names())
    }

    /// As [`Section::text_entries`], with entries that are set by variables of the process alone.
    pub(crate) fn text_entries_and_variables(&self) -> Vec<(String, String)> {
        let mut names = self.entry_names();
        names.extend(self.names_of_process(&names));
        self.read_texts(names)
    }

    fn read_texts(&self, names: Vec<String>) -> Vec<(String, String)> {
        names
            .into_iter()
            .filter_map(|name| {
                let expected = "a text, a number or a boolean";
                let value = self.read(&name, expected, false, |value| match value {
                    RawValue::Toml(value) if value.is_array() || value.is_inline_table() => None,
                    RawValue::Toml(value) => Some(match value.as_str() {
                        Some(text) => text.to_owned(),
                        None => value.to_string().trim().to_owned(),
                    }),
                    RawValue::Text(text) => Some(text),
                })?;
                Some((name, value))
            })
            .collect()
    }
}
