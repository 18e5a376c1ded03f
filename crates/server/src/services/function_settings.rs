//! Gives edge functions their new settings when `config.toml` changes while the server runs, as `supabase functions serve` does.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use selvedge_functions::Functions;
use selvedge_token::KeyRing;
use tokio::time::{MissedTickBehavior, interval};

use super::mode::Mode;
use super::translate::functions::functions_config;
use crate::config::Config;
use crate::keys::KeySet;

/// How often the file is looked at; a saved change counts within 300 ms.
const INTERVAL: Duration = Duration::from_millis(200);

/// What the settings of functions are made of besides the file.
pub(super) struct SettingsSource {
    /// The configuration that the server has started with.
    pub(super) config: Config,
    pub(super) keys: KeySet,
    pub(super) ring: Arc<KeyRing>,
    pub(super) mode: Mode,
}

/// Reads `config.toml` again whenever it has changed. Only `[functions.*]`, `[edge_runtime]` and `[selvedge.functions]` take
/// effect; a file with an error changes nothing.
pub(super) async fn follow_config_file(functions: Functions, source: SettingsSource) {
    let file = source.config.project.folder.join("config.toml");
    let source = Arc::new(source);
    let mut seen = read_file_state(&file).await;
    let mut ticks = interval(INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let state = read_file_state(&file).await;
        if state == seen {
            continue;
        }
        seen = state;
        let (functions, source) = (functions.clone(), Arc::clone(&source));
        // A blocking thread reads the files, so that the tasks beside this one go on.
        let _ = tokio::task::spawn_blocking(move || apply_config_file(&functions, &source)).await;
    }
}

fn apply_config_file(functions: &Functions, source: &SettingsSource) {
    match Config::load(&source.config.flags) {
        Ok(loaded) => {
            let config = with_functions_of(&source.config, loaded.config);
            functions.replace_config(functions_config(&config, &source.keys, &source.ring, source.mode));
            tracing::info!(target: "edge_function", "config.toml has changed: functions have its settings");
        }
        Err(error) => {
            tracing::warn!(target: "edge_function", "config.toml has changed and cannot be used: {error}");
        }
    }
}

/// The configuration that the server runs with, except for what a new one says about functions: ports and keys of a running
/// server do not change.
fn with_functions_of(running: &Config, new: Config) -> Config {
    let mut config = running.clone();
    config.functions = new.functions;
    config.selvedge.functions = new.selvedge.functions;
    config
}

/// When the file was changed last, and its length; `None` for a file that is not there.
async fn read_file_state(file: &Path) -> Option<(SystemTime, u64)> {
    let metadata = tokio::fs::metadata(file).await.ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}
