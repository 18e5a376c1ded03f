//! Entry point of the fuzz target `config` (folder `fuzz/`), compiled with `--cfg fuzzing` alone.

use std::path::Path;

use crate::environment::Environment;
use crate::loader::Config;
use crate::project::Project;
use crate::reader::source::Source;

/// Takes the text of a `config.toml`.
///
/// # Panics
/// When an error or a warning does not name a line of the file.
pub fn check_config(text: &str) {
    let nowhere = Path::new("/nonexistent");
    let project = Project::find(None, nowhere).expect("a folder without a project");
    let lines = text.lines().count().max(1) + 1;
    let findings = match Source::parse(Path::new("config.toml"), text.to_owned(), Environment::default()) {
        Ok(source) => {
            let config = Config::read_sections(&source, project);
            let _ = (config.api_url(), config.rest_settings());
            let (errors, warnings) = source.into_findings().into_lines();
            errors.into_iter().chain(warnings).collect()
        }
        Err(errors) => errors,
    };
    for finding in findings {
        let line = finding
            .strip_prefix("config.toml:")
            .and_then(|rest| rest.split(':').next())
            .and_then(|line| line.parse::<usize>().ok());
        assert!(line.is_some_and(|line| (1..=lines).contains(&line)), "{finding}");
    }
}
