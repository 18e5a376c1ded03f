//! The loader: values, overrides, and messages with their line numbers.

mod keys;
mod operator;
mod overrides;

use std::path::Path;
use std::time::Duration;

use secrecy::ExposeSecret;

use super::*;

const NO_VARIABLES: [(&str, &str); 0] = [];

/// A project folder with this `config.toml`, read under these variables.
fn load<const N: usize>(text: &str, variables: [(&str, &str); N]) -> Result<Loaded, Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let supabase = folder.path().join("supabase");
    std::fs::create_dir(&supabase).unwrap();
    std::fs::write(supabase.join("config.toml"), text).unwrap();
    let project = Project::find(Some(folder.path()), Path::new("/")).unwrap();
    let file = project.file.clone().unwrap().display().to_string();
    let relative = |lines: Vec<String>| {
        lines
            .iter()
            .map(|line| line.replace(&file, "config.toml"))
            .collect::<Vec<_>>()
    };
    Config::load_project(project, variables.into_iter().collect(), &Flags::default())
        .map(|loaded| Loaded {
            warnings: relative(loaded.warnings),
            ..loaded
        })
        .map_err(|error| relative(error.0))
}

fn errors(text: &str) -> Vec<String> {
    load(text, NO_VARIABLES)
        .map(|loaded| loaded.warnings)
        .expect_err("the configuration should be refused")
}
