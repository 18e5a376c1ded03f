//! The text of `config.toml`, the environment that may override it, and the errors and warnings found while reading.
//!
//! A wrong value becomes an error with file, line and what is allowed; reading continues with the key's default, so that one
//! run reports every wrong value.

use std::cell::{RefCell, RefMut};
use std::ops::Range;
use std::path::Path;

use serde_json::Value;
use toml_edit::{Document, TableLike};

use super::effective::EffectiveSettings;
use super::setting::SettingOrigin;
use crate::environment::Environment;

/// One `config.toml` (or none) with the environment that may override it.
pub(crate) struct Source {
    /// The file's name in messages.
    label: String,
    text: String,
    document: Option<Document<String>>,
    environment: Environment,
    findings: RefCell<Findings>,
    /// The warnings about operator keys in files of the project, which are ignored.
    refused_keys: RefCell<Vec<String>>,
    settings: RefCell<EffectiveSettings>,
}

/// Errors stop the start, warnings are printed. Each carries its offset in the file.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    errors: Vec<(usize, String)>,
    warnings: Vec<(usize, String)>,
}

impl Findings {
    /// Errors and warnings, each in the file's order; findings about environment variables come last.
    pub(crate) fn into_lines(self) -> (Vec<String>, Vec<String>) {
        let lines = |mut findings: Vec<(usize, String)>| {
            findings.sort_by_key(|(offset, _)| *offset);
            findings.into_iter().map(|(_, line)| line).collect()
        };
        (lines(self.errors), lines(self.warnings))
    }
}

/// Where a value comes from: an offset in the file for sorting, a name for messages (`config.toml:12`), and the origin for
/// programs.
pub(crate) struct Location {
    offset: usize,
    name: String,
    pub(crate) origin: SettingOrigin,
}

impl Location {
    /// The location of a value that an environment variable gives.
    pub(crate) fn of_variable(name: &str) -> Self {
        Self {
            offset: usize::MAX,
            name: format!("environment variable {name}"),
            origin: SettingOrigin::Environment {
                environment: name.to_owned(),
            },
        }
    }

    /// The same source with the name of the file that has the variable, for messages.
    pub(crate) fn named(self, name: String) -> Self {
        Self { name, ..self }
    }
}

impl Source {
    /// Parses the file's text.
    ///
    /// # Errors
    /// One message with file and line when the text is not TOML.
    pub(crate) fn parse(path: &Path, text: String, environment: Environment) -> Result<Self, Vec<String>> {
        let label = path.display().to_string();
        let document = Document::parse(text.clone()).map_err(|error| {
            let line = error.span().map_or(1, |span| line_of(&text, span.start));
            vec![format!(
                "{label}:{line}: {}",
                error.message().trim().replace('\n', ", ")
            )]
        })?;
        Ok(Self {
            label,
            text,
            document: Some(document),
            environment,
            findings: RefCell::default(),
            refused_keys: RefCell::default(),
            settings: RefCell::default(),
        })
    }

    /// The source of a project without a `config.toml`: only the environment.
    pub(crate) fn without_file(environment: Environment) -> Self {
        Self {
            label: "config.toml".to_owned(),
            text: String::new(),
            document: None,
            environment,
            findings: RefCell::default(),
            refused_keys: RefCell::default(),
            settings: RefCell::default(),
        }
    }

    pub(crate) fn environment(&self) -> &Environment {
        &self.environment
    }

    /// The file's top-level table.
    pub(crate) fn table(&self) -> Option<&dyn TableLike> {
        self.document
            .as_ref()
            .map(|document| document.as_table() as &dyn TableLike)
    }

    /// Everything found so far. Call it after the last section is dropped, as dropping reports unknown keys.
    pub(crate) fn into_findings(self) -> Findings {
        self.findings.into_inner()
    }

    /// The settings that were read so far.
    pub(crate) fn settings(&self) -> RefMut<'_, EffectiveSettings> {
        self.settings.borrow_mut()
    }

    /// Records that a variable with another name has set the key.
    pub(crate) fn record_variable(&self, key: &str, name: &str, value: impl Into<Value>, is_secret: bool) {
        let origin = Location::of_variable(name).origin;
        let mut settings = self.settings();
        settings.record(key.to_owned(), value.into(), origin, is_secret);
    }

    /// Returns the location of a byte range of the file; that of its start for `None`.
    pub(crate) fn location(&self, span: Option<Range<usize>>) -> Location {
        let offset = span.map_or(0, |span| span.start);
        let line = line_of(&self.text, offset);
        Location {
            offset,
            name: format!("{}:{line}", self.label),
            origin: SettingOrigin::File {
                file: self.label.clone(),
                line,
                environment: None,
            },
        }
    }

    /// The location of a value that neither the file nor a variable has: the file as a whole.
    pub(crate) fn location_of_file(&self) -> Location {
        Location {
            offset: 0,
            name: self.label.clone(),
            origin: SettingOrigin::Default,
        }
    }

    /// The warnings about operator keys in files, which commands print that print no others.
    pub(crate) fn refused_keys(&self) -> Vec<String> {
        self.refused_keys.borrow().clone()
    }

    /// Adds the warning that a key counts from the environment of the process alone.
    pub(crate) fn add_refused_key(&self, location: &Location, message: &str) {
        let line = format!("{}: {message}", location.name);
        let mut refused = self.refused_keys.borrow_mut();
        if !refused.contains(&line) {
            refused.push(line);
        }
        drop(refused);
        self.add_warning(location, message);
    }

    pub(crate) fn add_error(&self, location: &Location, message: &str) {
        let line = format!("{}: {message}", location.name);
        self.findings.borrow_mut().errors.push((location.offset, line));
    }

    /// Adds a warning unless it was added before: some keys are read twice.
    pub(crate) fn add_warning(&self, location: &Location, message: &str) {
        let line = (location.offset, format!("{}: {message}", location.name));
        let warnings = &mut self.findings.borrow_mut().warnings;
        if !warnings.contains(&line) {
            warnings.push(line);
        }
    }
}

/// The number of the line, from 1, that holds the byte at `offset`.
fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes()
        .iter()
        .take(offset)
        .filter(|byte| **byte == b'\n')
        .count()
        + 1
}
