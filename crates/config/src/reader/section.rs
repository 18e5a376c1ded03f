//! One table of `config.toml`: its sub-tables, its keys, and the messages about them.
//!
//! Reading a key marks it as used. When a section is dropped, unused keys become warnings with their line. An environment
//! variable overrides the file's value. The typed reads (`bool`, `port`, …) are in `typed_values.rs`.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use selvedge_project_files::{MAX_SETTINGS_BYTES, read_text};
use toml_edit::{Item, TableLike, Value};

use super::effective::json_of;
use super::operator_keys::{is_operator_key, is_operator_secret, is_variable_for_key};
use super::setting::SettingOrigin;
use super::source::{Location, Source};

/// Prefix of the variables that override the Supabase CLI's keys.
const CLI_PREFIX: &str = "SUPABASE_";
/// Prefix of the variables that override the keys of `[selvedge]`.
const SELVEDGE_PREFIX: &str = "SELVEDGE_";

/// One table of the configuration.
pub(crate) struct Section<'a> {
    source: &'a Source,
    /// Dotted path (`auth.email`); empty for the root.
    path: String,
    /// [`CLI_PREFIX`] or [`SELVEDGE_PREFIX`].
    prefix: &'static str,
    table: Option<&'a dyn TableLike>,
    known: RefCell<BTreeSet<String>>,
    /// Whether the section is disabled. Its values have no effect then, so unset variables cause no warning.
    is_switched_off: Cell<bool>,
}

/// A value that was found for a key, before it is converted to the type that the key has.
pub(crate) enum RawValue<'a> {
    /// From the file.
    Toml(&'a Value),
    /// From the environment: text, whatever the type of the key.
    Text(String),
}

/// A value and its origin.
type FoundValue<'a> = (RawValue<'a>, Location);

impl RawValue<'_> {
    /// The value as text; `None` for a TOML value of another type.
    pub(crate) fn into_text(self) -> Option<String> {
        match self {
            Self::Toml(value) => value.as_str().map(str::to_owned),
            Self::Text(text) => Some(text),
        }
    }
}

impl<'a> Section<'a> {
    /// The whole file as a section.
    pub(crate) fn root(source: &'a Source) -> Self {
        Self {
            source,
            path: String::new(),
            prefix: CLI_PREFIX,
            table: source.table(),
            known: RefCell::default(),
            is_switched_off: Cell::new(false),
        }
    }

    /// A sub-table, present or not. A value of another type under that name is an error.
    pub(crate) fn section(&self, key: &str) -> Section<'a> {
        self.known.borrow_mut().insert(key.to_owned());
        let item = self.table.and_then(|table| table.get(key));
        let table = item.and_then(Item::as_table_like);
        if let (Some(item), None) = (item, table) {
            let message = format!("{} must be a table ([{0}])", self.dotted(key));
            self.source
                .add_error(&self.source.location(item.span()), &message);
        }
        Section {
            source: self.source,
            path: self.dotted(key),
            prefix: self.prefix,
            table,
            known: RefCell::default(),
            is_switched_off: Cell::new(self.is_switched_off.get()),
        }
    }

    /// The section `[selvedge]`, whose keys are overridden by `SELVEDGE_<KEY>` (`SELVEDGE_<SECTION>_<KEY>` in its
    /// sub-tables) instead of `SUPABASE_…`.
    pub(crate) fn selvedge_section(&self, key: &str) -> Section<'a> {
        let mut section = self.section(key);
        section.prefix = SELVEDGE_PREFIX;
        section
    }

    /// Whether the file has this table.
    pub(crate) fn is_present(&self) -> bool {
        self.table.is_some()
    }

    /// The names of all entries, in the file's order, for tables whose keys the user chooses (`[storage.buckets.*]`).
    pub(crate) fn entry_names(&self) -> Vec<String> {
        let names: Vec<String> = self
            .table
            .map(|table| table.iter().map(|(name, _)| name.to_owned()).collect())
            .unwrap_or_default();
        self.known.borrow_mut().extend(names.iter().cloned());
        names
    }

    /// Entries beside the `known` ones that variables of the process add to such a table (`SUPABASE_DB_SETTINGS_WORK_MEM` is `work_mem`), in the
    /// order of the alphabet.
    pub(crate) fn names_of_process(&self, known: &[String]) -> Vec<String> {
        let prefix = self.variable_of("");
        let environment = self.source.environment();
        let known: BTreeSet<String> = known.iter().map(|name| self.variable_of(name)).collect();
        let names: BTreeSet<String> = environment
            .with_prefix(&prefix)
            .filter(|(variable, value)| !value.is_empty() && environment.is_of_process(variable))
            .filter(|(variable, _)| variable.len() > prefix.len() && !known.contains(*variable))
            .map(|(variable, _)| variable[prefix.len()..].to_ascii_lowercase())
            .collect();
        names.into_iter().collect()
    }

    /// Accepts every key of the table without reading it: the Supabase CLI has the table, this server does not use it.
    pub(crate) fn ignore_all(&self) {
        self.entry_names();
    }

    /// Accepts keys of the Supabase CLI that have no effect in this server.
    pub(crate) fn ignore(&self, keys: &[&str]) {
        self.known
            .borrow_mut()
            .extend(keys.iter().map(|key| (*key).to_owned()));
    }

    /// The section's switch, `enabled`.
    pub(crate) fn is_enabled(&self, default: bool) -> bool {
        let is_enabled = self.bool("enabled", default);
        if !is_enabled {
            self.is_switched_off.set(true);
        }
        is_enabled
    }

    /// The switch of a sign-in method: `enabled`, else the key that it was called before.
    pub(crate) fn is_enabled_or_older(&self, older_key: &str, default: bool) -> bool {
        let older = self.bool(older_key, default);
        // The section's other values stay in use: links that were mailed before the method was switched off, for example.
        self.bool("enabled", older)
    }

    /// Reports, with its line, that the value of `key` is well-formed but cannot be used.
    pub(crate) fn report_error(&self, key: &str, reason: &str) {
        self.source
            .add_error(&self.location_of(key), &format!("{} {reason}", self.dotted(key)));
    }

    /// Reports, with its line, something about `key` that does not stop the start.
    pub(crate) fn report_warning(&self, key: &str, remark: &str) {
        self.source
            .add_warning(&self.location_of(key), &format!("{} {remark}", self.dotted(key)));
    }

    /// Reads `key` and converts its value; a failed conversion is an error that says what was `expected`. The message quotes
    /// the value unless it `is_secret`.
    pub(crate) fn read<T>(
        &self,
        key: &str,
        expected: &str,
        is_secret: bool,
        convert: impl FnOnce(RawValue<'a>) -> Option<T>,
    ) -> Option<T> {
        let Some((value, location)) = self.find(key, is_secret) else {
            self.record_unset(key, is_secret);
            return None;
        };
        let shown = match &value {
            RawValue::Toml(value) => json_of(value),
            RawValue::Text(text) => text.as_str().into(),
        };
        let mut settings = self.source.settings();
        settings.record(self.dotted(key), shown, location.origin.clone(), is_secret);
        drop(settings);
        let quoted = match &value {
            // Errors are printed and end up in logs, so they never quote a secret.
            _ if is_secret => String::new(),
            RawValue::Toml(value) => format!(" = {}", value.to_string().trim()),
            RawValue::Text(text) => format!(" = {text:?}"),
        };
        let converted = convert(value);
        if converted.is_none() {
            self.source.add_error(
                &location,
                &format!("{}{quoted}: expected {expected}", self.dotted(key)),
            );
        }
        converted
    }

    /// Notes that a key counts as not set, whatever was read.
    fn record_unset(&self, key: &str, is_secret: bool) {
        let unset = serde_json::Value::Null;
        let mut settings = self.source.settings();
        settings.record(self.dotted(key), unset, SettingOrigin::Default, is_secret);
    }

    /// Notes the default that takes the place of a key that is not set.
    pub(crate) fn record_default(&self, key: &str, default: impl Into<serde_json::Value>) {
        let mut settings = self.source.settings();
        settings.record_default(&self.dotted(key), default.into());
    }

    /// Finds the value of `key` and its location: the environment's, that of a secret's own file, else the one in `config.toml`, with
    /// `env(NAME)` replaced.
    fn find(&self, key: &str, is_secret: bool) -> Option<FoundValue<'a>> {
        self.known.borrow_mut().insert(key.to_owned());
        let of_variable = || {
            let (variable, text) = self.overriding_variable(key)?;
            Some((RawValue::Text(text.to_owned()), Location::of_variable(&variable)))
        };
        let of_secret_file = || {
            if is_secret {
                self.read_secret_file(key)
            } else {
                None
            }
        };
        let of_file = || self.find_in_file(key);
        let sources: [&dyn Fn() -> Option<FoundValue<'a>>; 3] = [&of_variable, &of_secret_file, &of_file];
        let mut found = sources.iter().filter_map(|find| find());
        if !is_operator_key(&self.dotted(key)) {
            return found.next();
        }
        // The file's value is skipped, so that a value of the process in a later place still counts.
        found.find_map(|(value, location)| {
            if self.is_said_by_process(key, &location.origin) {
                return Some((value, location));
            }
            if !is_unset_reference(&value, key) {
                self.refuse_key(key, location);
            }
            None
        })
    }

    fn is_said_by_process(&self, key: &str, origin: &SettingOrigin) -> bool {
        let environment = self.source.environment();
        match origin {
            SettingOrigin::Environment { environment: name } => environment.is_of_process(name),
            SettingOrigin::File {
                environment: Some(name),
                ..
            } => environment.is_of_process(name) && is_variable_for_key(name, key),
            SettingOrigin::File { .. } | SettingOrigin::Flag { .. } | SettingOrigin::Default => false,
        }
    }

    fn refuse_key(&self, key: &str, location: Location) {
        let file = match &location.origin {
            SettingOrigin::Environment { environment: name } => {
                self.source.environment().find_place_in_files(name)
            }
            _ => None,
        };
        let location = match file {
            Some(place) => location.named(place),
            None => location,
        };
        let message = format!(
            "{} has no effect in a file of the project, whose authors would gain by it: take it out, and set {} in the environment",
            self.dotted(key),
            self.variable_of(key)
        );
        self.source.add_refused_key(&location, &message);
    }

    /// The key's value in `config.toml`, with `env(NAME)` replaced by that variable.
    fn find_in_file(&self, key: &str) -> Option<FoundValue<'a>> {
        let item = self.table?.get(key)?;
        let mut location = self.source.location(item.span());
        let Some(value) = item.as_value() else {
            self.source.add_error(
                &location,
                &format!("{} is a table, and should be a value", self.dotted(key)),
            );
            return None;
        };
        // A replaced reference is text whatever the type of the key, so that `port = "env(PORT)"` works.
        let value = match value.as_str().map(|text| self.replace_reference(text, key)) {
            Some((text, true)) => {
                location.origin.name_variable(value.as_str().unwrap_or_default());
                RawValue::Text(text)
            }
            _ => RawValue::Toml(value),
        };
        Some((value, location))
    }

    /// Replaces a text that is exactly `env(NAME)` by that variable, and returns whether it did. As in the CLI, a reference
    /// to an unset variable stays unchanged; we add a warning.
    pub(crate) fn replace_reference(&self, text: &str, key: &str) -> (String, bool) {
        let Some(name) = parse_env_reference(text) else {
            return (text.to_owned(), false);
        };
        let environment = self.source.environment();
        if is_operator_secret(name)
            && environment.is_of_process(name)
            && !self.accepts_operator_secret(key, name)
        {
            let message = format!(
                "{}: env({name}) is not replaced: that variable has a secret of whoever runs the server, which the project's authors could read \
                 here",
                self.dotted(key)
            );
            self.source.add_refused_key(&self.location_of(key), &message);
            return (text.to_owned(), false);
        }
        if let Some(value) = environment.get(name) {
            return (value.to_owned(), true);
        }
        if !self.is_switched_off.get() {
            let effect = match is_operator_key(&self.dotted(key)) {
                true => "the key has no value".to_owned(),
                false => format!("the text env({name}) is used as it stands"),
            };
            let message = format!(
                "{}: the environment variable {name} is not set; {effect}",
                self.dotted(key)
            );
            self.source.add_warning(&self.location_of(key), &message);
        }
        (text.to_owned(), false)
    }

    /// Whether the key is one into which this secret of the operator belongs.
    fn accepts_operator_secret(&self, key: &str, variable: &str) -> bool {
        let dotted = self.dotted(key);
        dotted == "selvedge.database_url" || is_operator_key(&dotted) || self.variable_of(key) == variable
    }

    /// The value of a secret whose file the process names. The text ends before its last line break, and an empty one is an error: a secret
    /// that is missing would be replaced by another one.
    fn read_secret_file(&self, key: &str) -> Option<FoundValue<'a>> {
        let environment = self.source.environment();
        let names = std::iter::once(self.variable_of(key)).chain(self.older_variable_of(key));
        let found = names.map(|name| environment.find_secret_file(&name));
        let found = found.filter_map(Result::transpose).next()?;
        let (variable, path) = match found {
            Ok(found) => found,
            Err(variable) => {
                let message = format!(
                    "{}: it is in a file of the project, and only the environment of the process may name files with secrets",
                    self.dotted(key)
                );
                self.source.add_error(&Location::of_variable(&variable), &message);
                return None;
            }
        };
        let location = Location::of_variable(&variable);
        let refuse = |reason: &dyn std::fmt::Display| {
            let message = format!("{}: cannot use {}: {reason}", self.dotted(key), path.display());
            self.source.add_error(&location, &message);
        };
        let text = match read_text(&path, MAX_SETTINGS_BYTES) {
            Ok(text) => text,
            Err(error) => {
                refuse(&error);
                return None;
            }
        };
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        if text.is_empty() {
            refuse(&"it is empty");
            return None;
        }
        Some((RawValue::Text(text.to_owned()), location))
    }

    /// The name of the environment variable that overrides `key`.
    fn variable_of(&self, key: &str) -> String {
        let dotted = self.dotted(key);
        let name = match self.prefix {
            // The prefix replaces the section's own name: selvedge.s3.bucket is SELVEDGE_S3_BUCKET.
            SELVEDGE_PREFIX => dotted.split_once('.').map_or("", |(_, below)| below),
            _ => &dotted,
        };
        let name = name.replace(['.', '-'], "_").to_ascii_uppercase();
        format!("{}{name}", self.prefix)
    }

    /// The name and value of the environment variable that overrides `key`, if it is set.
    fn overriding_variable(&self, key: &str) -> Option<(String, &'a str)> {
        let mut names = std::iter::once(self.variable_of(key)).chain(self.older_variable_of(key));
        names.find_map(|name| {
            let value = self.source.environment().get(&name)?;
            Some((name, value))
        })
    }

    /// Another name of that variable. The CLI has no `[auth.saml]`; users of Supabase's own server have set its variables.
    fn older_variable_of(&self, key: &str) -> Option<String> {
        let dotted = self.dotted(key);
        match dotted.strip_prefix("auth.saml.") {
            Some(key) => Some(format!("GOTRUE_SAML_{}", key.to_ascii_uppercase())),
            None if dotted == "auth.rate_limit.sso" => Some("GOTRUE_RATE_LIMIT_SSO".to_owned()),
            None => None,
        }
    }

    /// Where the value of `key` is written. A missing key is reported at the first key of its table.
    fn location_of(&self, key: &str) -> Location {
        if let Some((variable, _)) = self.overriding_variable(key) {
            return Location::of_variable(&variable);
        }
        let Some(table) = self.table else {
            return self.source.location_of_file();
        };
        let first_key = || {
            let (name, _) = table.iter().next()?;
            table.key(name)?.span()
        };
        let span = table.key(key).and_then(toml_edit::Key::span);
        self.source.location(span.or_else(first_key))
    }

    fn dotted(&self, key: &str) -> String {
        if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        }
    }
}

/// The name in a text that is exactly `env(NAME)`.
fn parse_env_reference(text: &str) -> Option<&str> {
    text.strip_prefix("env(")?.strip_suffix(')')
}

/// Whether the value is an allowed `env(NAME)` whose variable is not set here. The file is right then, so nothing is warned of.
fn is_unset_reference(value: &RawValue<'_>, key: &str) -> bool {
    let RawValue::Toml(value) = value else {
        return false;
    };
    let name = value.as_str().and_then(parse_env_reference);
    name.is_some_and(|name| is_variable_for_key(name, key))
}

impl Drop for Section<'_> {
    /// Reports the unused keys. If a known key is at most two typing errors away, it is suggested.
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
            self.source.add_warning(&self.source.location(span), &message);
        }
    }
}
