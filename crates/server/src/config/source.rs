//! The text of `config.toml` with the environment that may override it, and what reading them found.
//!
//! Wrong values become errors with file, line and what is allowed; the default stands in, so that one run
//! reports them all.

use std::cell::RefCell;
use std::path::Path;

use toml_edit::{Document, TableLike};

use super::environment::Environment;
use super::section::Section;

/// One `config.toml` (or none) with the environment that may override it.
pub(crate) struct Source {
    /// How messages name the file.
    pub(super) label: String,
    text: String,
    document: Option<Document<String>>,
    environment: Environment,
    findings: RefCell<Findings>,
}

/// What reading found, in the file's order; errors stop the start, warnings are printed.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    errors: Vec<(usize, String)>,
    warnings: Vec<(usize, String)>,
}

impl Findings {
    /// Errors and warnings, each ordered by where they stand.
    pub(crate) fn into_lines(self) -> (Vec<String>, Vec<String>) {
        let lines = |mut findings: Vec<(usize, String)>| {
            findings.sort_by_key(|(offset, _)| *offset);
            findings.into_iter().map(|(_, line)| line).collect()
        };
        (lines(self.errors), lines(self.warnings))
    }
}

/// Where a value stands: its offset in the file, and how messages say it.
pub(super) struct Place {
    pub(super) offset: usize,
    pub(super) name: String,
}

impl Source {
    /// Takes the file's text; a text that is not TOML is an error with its line.
    pub(crate) fn parse(
        path: Option<&Path>,
        text: String,
        environment: Environment,
    ) -> Result<Self, Vec<String>> {
        let label = path.map_or_else(|| "config.toml".to_owned(), |path| path.display().to_string());
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
        })
    }

    /// A project without a file: the environment alone.
    pub(crate) fn without_file(environment: Environment) -> Self {
        Self {
            label: "config.toml".to_owned(),
            text: String::new(),
            document: None,
            environment,
            findings: RefCell::default(),
        }
    }

    pub(crate) fn environment(&self) -> &Environment {
        &self.environment
    }

    /// The whole file as a section.
    pub(crate) fn root(&self) -> Section<'_> {
        let table = self
            .document
            .as_ref()
            .map(|document| document.as_table() as &dyn TableLike);
        Section::new(self, String::new(), "SUPABASE_", table, false)
    }

    /// Everything found so far. To be called after the last section is gone.
    pub(crate) fn into_findings(self) -> Findings {
        self.findings.into_inner()
    }

    pub(super) fn place(&self, span: Option<std::ops::Range<usize>>) -> Place {
        let offset = span.map_or(0, |span| span.start);
        Place {
            offset,
            name: format!("{}:{}", self.label, line_of(&self.text, offset)),
        }
    }

    pub(super) fn error(&self, place: &Place, message: &str) {
        let line = format!("{}: {message}", place.name);
        self.findings.borrow_mut().errors.push((place.offset, line));
    }

    pub(super) fn warn(&self, place: &Place, message: &str) {
        let line = (place.offset, format!("{}: {message}", place.name));
        let warnings = &mut self.findings.borrow_mut().warnings;
        if !warnings.contains(&line) {
            warnings.push(line);
        }
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes()
        .iter()
        .take(offset)
        .filter(|byte| **byte == b'\n')
        .count()
        + 1
}
