//! Changes the settings of edge functions while the server runs: when `config.toml` changes, and for as long as a `functions serve`
//! is connected.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use selvedge_config::{Config, Mode};
use selvedge_functions::{Functions, FunctionsConfig, explain_refusal, list_function_folders};
use selvedge_keys::KeySet;
use selvedge_project_trust as project_trust;
use selvedge_terminal::print_warnings;
use selvedge_token::KeyRing;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

use super::function_sessions::{SessionChange, SessionOptions};
use super::translate::functions::functions_config;

/// Interval at which the file's time of change is read; a saved change takes effect within 300 ms.
const INTERVAL: Duration = Duration::from_millis(200);

/// The inputs of the functions' settings besides the file.
pub(super) struct SettingsSource {
    /// The configuration that the server has started with.
    pub(super) config: Config,
    pub(super) keys: KeySet,
    pub(super) ring: Arc<KeyRing>,
    pub(super) mode: Mode,
}

/// Loads `config.toml` again when it has changed, and when a session of `functions serve` begins or ends. Only `[functions.*]`,
/// `[edge_runtime]` and `[selvedge.functions]` take effect. A file with an error changes nothing.
pub(super) async fn follow_settings(
    functions: Functions,
    source: SettingsSource,
    mut sessions: mpsc::Receiver<SessionChange>,
) {
    let file = source.config.project.folder.join("config.toml");
    let source = Arc::new(source);
    let mut seen = read_file_state(&file).await;
    let mut options = None;
    let mut ticks = interval(INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => {
                let state = read_file_state(&file).await;
                if state == seen {
                    continue;
                }
                seen = state;
                tracing::info!(target: "edge_function::files", "File change detected: {} (WRITE)", file.display());
                if let Err(error) = apply_settings(&functions, &source, &options).await {
                    tracing::warn!(target: "edge_function::files", "config.toml cannot be used: {error}");
                }
            }
            Some(change) = sessions.recv() => {
                let applied = apply_settings(&functions, &source, &change.options).await;
                if applied.is_ok() {
                    options = change.options;
                }
                // An error means that the client has disconnected; its session's end restores the options.
                let _ = change.applied.send(applied);
            }
        }
    }
}

/// Says at the start why functions will not run. Whoever calls one is told nothing about programs of this machine.
pub(super) fn warn_of_refused_deno(settings: &FunctionsConfig) {
    if list_function_folders(&settings.folder).is_empty() {
        return;
    }
    if let Some(reason) = explain_refusal(&settings.deno) {
        print_warnings(&[format!("functions cannot run: {reason}")]);
    }
}

/// Loads the configuration and applies it to the functions' next calls.
async fn apply_settings(
    functions: &Functions,
    source: &Arc<SettingsSource>,
    session: &Option<SessionOptions>,
) -> Result<(), String> {
    let flags = match session {
        Some(options) => options.add_to(&source.config.flags),
        None => source.config.flags.clone(),
    };
    let announces_calls = session.is_some() || source.config.functions.announces_calls;
    let (functions, source) = (functions.clone(), Arc::clone(source));
    // Files are read on a blocking thread, because this thread runs other tasks.
    let applied = tokio::task::spawn_blocking(move || {
        let loaded = Config::load(&flags).map_err(|error| error.to_string())?;
        project_trust::check_again(&loaded.config).map_err(|error| error.to_string())?;
        let config = with_functions_of(&source.config, loaded.config);
        let mut settings = functions_config(&config, &source.keys, &source.ring, source.mode);
        settings.announces_calls = announces_calls;
        functions.replace_config(settings);
        Ok(())
    });
    applied.await.map_err(|error| error.to_string())?
}

/// Returns the running configuration with the functions' part of a new one: ports and keys of a running server do not
/// change.
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
