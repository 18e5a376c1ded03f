//! One table of the configuration, and the typed questions one can ask it.
//!
//! Asking for a key marks it as known; when the section goes out of scope, keys that nobody asked for become
//! warnings with their line. The environment's override wins over the file's value.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use secrecy::SecretString;
use toml_edit::{Item, TableLike, Value};

use super::source::{Place, Source};
use super::values::{parse_go_duration, parse_size};

/// One table of the configuration.
pub(crate) struct Section<'a> {
    source: &'a Source,
    /// Dotted path, empty for the root.
    path: String,
    /// `SUPABASE_`, or `SELVEDGE_` for our own section.
    prefix: &'static str,
    table: Option<&'a dyn TableLike>,
    known: RefCell<BTreeSet<String>>,
    /// Set where values have no effect (switched off, or not ours): unset variables are then no news.
    idle: Cell<bool>,
}

/// A value found for a key, before its type is known.
struct Found<'a> {
    value: Scalar<'a>,
    place: Place,
}

enum Scalar<'a> {
    /// From the file as it stands.
    File(&'a Value),
    /// From the environment: text that may spell any type.
    Text(String),
}

impl<'a> Section<'a> {
    pub(super) fn new(
        source: &'a Source,
        path: String,
        prefix: &'static str,
        table: Option<&'a dyn TableLike>,
        idle: bool,
    ) -> Self {
        Self {
            source,
            path,
            prefix,
            table,
            known: RefCell::default(),
            idle: Cell::new(idle),
        }
    }

    /// A sub-table, present or not. Anything but a table under that name is an error.
    pub(crate) fn section(&self, key: &str) -> Section<'a> {
        self.known.borrow_mut().insert(key.to_owned());
        let item = self.table.and_then(|table| table.get(key));
        let table = item.and_then(Item::as_table_like);
        if let (Some(item), None) = (item, table) {
            let message = format!("{} must be a table ([{0}])", self.dotted(key));
            self.source.error(&self.source.place(item.span()), &message);
        }
        Section::new(self.source, self.dotted(key), self.prefix, table, self.idle.get())
    }

    /// Our own section, overridden by `SELVEDGE_<KEY>` (`SELVEDGE_<SECTION>_<KEY>` below it) instead of `SUPABASE_…`.
    pub(crate) fn own_section(&self, key: &str) -> Section<'a> {
        let mut section = self.section(key);
        section.prefix = OWN_PREFIX;
        section
    }

    /// Whether the file has this table.
    pub(crate) fn is_present(&self) -> bool {
        self.table.is_some()
    }

    /// The names of the entries of a map-like section (`[storage.buckets.*]`), in the file's order.
    pub(crate) fn names(&self) -> Vec<String> {
        let names: Vec<String> = self
            .table
            .map(|table| table.iter().map(|(name, _)| name.to_owned()).collect())
            .unwrap_or_default();
        self.known.borrow_mut().extend(names.iter().cloned());
        names
    }

    /// Accepts everything below without a look: keys of parts that we do not have.
    pub(crate) fn accept_all(&self) {
        self.names();
    }

    /// Accepts keys that have no effect here.
    pub(crate) fn accept(&self, keys: &[&str]) {
        self.known
            .borrow_mut()
            .extend(keys.iter().map(|key| (*key).to_owned()));
    }

    /// The section's `enabled` switch.
    pub(crate) fn enabled(&self, default: bool) -> bool {
        let enabled = self.bool("enabled", default);
        if !enabled {
            self.idle.set(true);
        }
        enabled
    }

    pub(crate) fn bool(&self, key: &str, default: bool) -> bool {
        self.optional_bool(key).unwrap_or(default)
    }

    pub(crate) fn optional_bool(&self, key: &str) -> Option<bool> {
        self.read(key, "true or false", |value| match value {
            Scalar::File(value) => value.as_bool(),
            Scalar::Text(text) => match text.to_ascii_lowercase().as_str() {
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
        self.optional_integer(key, range).unwrap_or(default)
    }

    pub(crate) fn optional_integer<T>(&self, key: &str, range: RangeInclusive<T>) -> Option<T>
    where
        T: TryFrom<i64> + PartialOrd + Display,
    {
        let expected = format!("a whole number from {} to {}", range.start(), range.end());
        self.read(key, &expected, |value| {
            let number = match value {
                Scalar::File(value) => value.as_integer()?,
                Scalar::Text(text) => text.trim().parse().ok()?,
            };
            T::try_from(number).ok().filter(|number| range.contains(number))
        })
    }

    pub(crate) fn port(&self, key: &str, default: u16) -> u16 {
        self.integer(key, default, 1..=u16::MAX)
    }

    /// A port that may be left out; `0` also means none, as in Go.
    pub(crate) fn optional_port(&self, key: &str) -> Option<u16> {
        self.optional_integer(key, 0..=u16::MAX).filter(|port| *port != 0)
    }

    /// Text; an empty text counts as given.
    pub(crate) fn string(&self, key: &str, default: &str) -> String {
        self.read(key, "a text in quotes", text)
            .unwrap_or_else(|| default.to_owned())
    }

    /// Text that may be left out; an empty text counts as left out.
    pub(crate) fn optional_string(&self, key: &str) -> Option<String> {
        self.read(key, "a text in quotes", text)
            .filter(|text| !text.is_empty())
    }

    /// A secret that may be left out; its value never appears in a message.
    pub(crate) fn optional_secret(&self, key: &str) -> Option<SecretString> {
        self.read(key, SECRET, text)
            .filter(|text| !text.is_empty())
            .map(SecretString::from)
    }

    /// A path relative to `base`.
    pub(crate) fn optional_path(&self, key: &str, base: &Path) -> Option<PathBuf> {
        // Collecting the components drops the `.` of `./images`.
        self.optional_string(key)
            .map(|path| base.join(path).components().collect())
    }

    /// A list of texts; in the environment separated by commas.
    pub(crate) fn strings(&self, key: &str, default: &[&str]) -> Vec<String> {
        self.optional_strings(key)
            .unwrap_or_else(|| default.iter().map(|text| (*text).to_owned()).collect())
    }

    pub(crate) fn optional_strings(&self, key: &str) -> Option<Vec<String>> {
        self.read(key, "a list of texts ([\"a\", \"b\"])", |value| match value {
            Scalar::File(value) => value
                .as_array()?
                .iter()
                .map(|entry| entry.as_str().map(|text| self.substitute(text, key).0))
                .collect(),
            Scalar::Text(text) => Some(
                text.split(',')
                    .map(|part| part.trim().to_owned())
                    .filter(|part| !part.is_empty())
                    .collect(),
            ),
        })
    }

    /// One of a closed set of words.
    pub(crate) fn choice<T: Clone>(&self, key: &str, default: T, allowed: &[(&str, T)]) -> T {
        let words: Vec<String> = allowed.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        let expected = format!("one of {}", words.join(", "));
        self.read(key, &expected, |value| {
            let word = text(value)?;
            allowed
                .iter()
                .find(|(allowed, _)| *allowed == word)
                .map(|(_, meaning)| meaning.clone())
        })
        .unwrap_or(default)
    }

    pub(crate) fn duration(&self, key: &str, default: Duration) -> Duration {
        self.optional_duration(key).unwrap_or(default)
    }

    pub(crate) fn optional_duration(&self, key: &str) -> Option<Duration> {
        self.read(key, "a duration such as \"30s\", \"5m\" or \"24h\"", |value| {
            parse_go_duration(&text(value)?)
        })
    }

    pub(crate) fn optional_size(&self, key: &str) -> Option<u64> {
        self.read(
            key,
            "a size such as \"50MiB\", \"500KB\" or a number of bytes",
            |value| match &value {
                Scalar::File(value) if value.is_integer() => {
                    value.as_integer().and_then(|n| n.try_into().ok())
                }
                _ => parse_size(&text(value)?),
            },
        )
    }

    pub(crate) fn size(&self, key: &str, default_bytes: u64) -> u64 {
        self.optional_size(key).unwrap_or(default_bytes)
    }

    /// Every `NAME = "text"` of a free-form table; numbers and booleans are taken as their text.
    pub(crate) fn pairs(&self) -> Vec<(String, String)> {
        let names = self.names();
        names
            .into_iter()
            .filter_map(|name| {
                let value = self.read(&name, "a text, a number or a boolean", |value| match value {
                    Scalar::File(value) if value.is_array() || value.is_inline_table() => None,
                    Scalar::File(value) => Some(match value.as_str() {
                        Some(text) => text.to_owned(),
                        None => value.to_string().trim().to_owned(),
                    }),
                    Scalar::Text(text) => Some(text),
                })?;
                Some((name, value))
            })
            .collect()
    }

    /// Reports that a well-formed value cannot be used, at the place where it stands.
    pub(crate) fn refuse(&self, key: &str, reason: &str) {
        self.source
            .error(&self.place_of(key), &format!("{} {reason}", self.dotted(key)));
    }

    /// Reports something worth knowing about a key, at the place where it stands.
    pub(crate) fn remark(&self, key: &str, remark: &str) {
        self.source
            .warn(&self.place_of(key), &format!("{} {remark}", self.dotted(key)));
    }

    /// Where a key stands; a key that is missing stands where its table begins.
    fn place_of(&self, key: &str) -> Place {
        if let Some(place) = self.variable_place(key) {
            return place;
        }
        let Some(table) = self.table else {
            return Place {
                offset: 0,
                name: self.source.label.clone(),
            };
        };
        let first = || {
            table
                .iter()
                .next()
                .and_then(|(first, _)| table.key(first)?.span())
        };
        self.source
            .place(table.key(key).and_then(toml_edit::Key::span).or_else(first))
    }

    fn variable_place(&self, key: &str) -> Option<Place> {
        let variable = self.variable(key);
        self.source.environment().get(&variable)?;
        Some(Place {
            offset: usize::MAX,
            name: format!("environment variable {variable}"),
        })
    }

    fn read<T>(&self, key: &str, expected: &str, convert: impl FnOnce(Scalar<'a>) -> Option<T>) -> Option<T> {
        let found = self.find(key)?;
        let shown = match &found.value {
            _ if expected == SECRET => String::new(),
            Scalar::File(value) => format!(" = {}", value.to_string().trim()),
            Scalar::Text(text) => format!(" = {text:?}"),
        };
        let converted = convert(found.value);
        if converted.is_none() {
            let expected = if expected == SECRET {
                "a text in quotes"
            } else {
                expected
            };
            self.source.error(
                &found.place,
                &format!("{}{shown}: expected {expected}", self.dotted(key)),
            );
        }
        converted
    }

    /// The value of `key`: the environment's override, else the file's, with `env(NAME)` replaced.
    fn find(&self, key: &str) -> Option<Found<'a>> {
        self.known.borrow_mut().insert(key.to_owned());
        if let Some(place) = self.variable_place(key) {
            let text = self.source.environment().get(&self.variable(key))?.to_owned();
            return Some(Found {
                value: Scalar::Text(text),
                place,
            });
        }
        let item = self.table?.get(key)?;
        let place = self.source.place(item.span());
        let Some(value) = item.as_value() else {
            self.source.error(
                &place,
                &format!("{} is a table, and should be a value", self.dotted(key)),
            );
            return None;
        };
        let value = match value.as_str().map(|text| self.substitute(text, key)) {
            Some((text, true)) => Scalar::Text(text),
            _ => Scalar::File(value),
        };
        Some(Found { value, place })
    }

    /// Replaces a text that is `env(NAME)` as a whole; tells whether it did. Unset: kept, with a warning.
    fn substitute(&self, text: &str, key: &str) -> (String, bool) {
        let Some(name) = text.strip_prefix("env(").and_then(|rest| rest.strip_suffix(')')) else {
            return (text.to_owned(), false);
        };
        if let Some(value) = self.source.environment().get(name) {
            return (value.to_owned(), true);
        }
        if !self.idle.get() {
            let message = format!(
                "{}: the environment variable {name} is not set; the text env({name}) is used as it stands",
                self.dotted(key)
            );
            self.source.warn(&self.place_of(key), &message);
        }
        (text.to_owned(), false)
    }

    fn dotted(&self, key: &str) -> String {
        if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        }
    }

    /// The environment variable that overrides `key`.
    fn variable(&self, key: &str) -> String {
        let dotted = self.dotted(key);
        // The prefix names our own section already, but not those below it.
        let own = dotted.split_once('.').map_or("", |(_, below)| below);
        let name = if self.prefix == OWN_PREFIX { own } else { &dotted };
        format!(
            "{}{}",
            self.prefix,
            name.replace(['.', '-'], "_").to_ascii_uppercase()
        )
    }
}

const OWN_PREFIX: &str = "SELVEDGE_";

/// Marks values that no message may quote.
const SECRET: &str = "a secret";

fn text(value: Scalar<'_>) -> Option<String> {
    match value {
        Scalar::File(value) => value.as_str().map(str::to_owned),
        Scalar::Text(text) => Some(text),
    }
}

impl Drop for Section<'_> {
    fn drop(&mut self) {
        let Some(table) = self.table else { return };
        let known = self.known.borrow();
        for (name, item) in table.iter().filter(|(name, _)| !known.contains(*name)) {
            let span = table.key(name).and_then(|key| key.span()).or_else(|| item.span());
            let nearest = known
                .iter()
                .map(|candidate| (strsim::damerau_levenshtein(candidate, name), candidate))
                .min()
                .filter(|(distance, _)| *distance <= 2);
            let hint = nearest.map_or_else(String::new, |(_, name)| format!(" (did you mean {name}?)"));
            let message = format!("unknown key {}{hint}; it has no effect", self.dotted(name));
            self.source.warn(&self.source.place(span), &message);
        }
    }
}
