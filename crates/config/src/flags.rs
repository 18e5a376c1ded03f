//! The flags of the command line that set configuration values.

use std::path::PathBuf;

use secrecy::SecretString;
use selvedge_functions::InspectMode;
use selvedge_postgres::cluster::LockPurpose;
use serde_json::{Value, json};

use crate::reader::effective::EffectiveSettings;
use crate::reader::setting::SettingOrigin;

/// The flags that set configuration values. They win over every other source.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    /// `--project`
    pub project: Option<PathBuf>,
    /// `--data-dir`, as an absolute path
    pub data_dir: Option<PathBuf>,
    /// The command, as it is written to the project's lock.
    pub purpose: LockPurpose,
    /// Whether the command changes the database on which it works.
    pub writes: bool,
    /// Whether an address of the database in a file of the project (`.env`, `config.toml`) counts: for `serve`, for `doctor`, and
    /// with `--external`.
    pub uses_database_of_files: bool,
    /// Whether the process's own `DATABASE_URL` does not count, as for the Supabase CLI.
    pub ignores_database_of_process: bool,
    /// `--port`
    pub port: Option<u16>,
    /// `--db-port`
    pub db_port: Option<u16>,
    /// `--inbox-port`
    pub inbox_port: Option<u16>,
    /// `--studio-port`
    pub studio_port: Option<u16>,
    /// `--no-studio`
    pub no_studio: bool,
    /// `--smtp-port`
    pub smtp_port: Option<u16>,
    /// `--local`: `DATABASE_URL` is ignored
    pub is_local: bool,
    /// `--linked`: the command works on the database that `selvedge link` has recorded
    pub is_linked: bool,
    /// `--host`
    pub host: Option<String>,
    /// `--pg-bin`
    pub pg_bin: Option<PathBuf>,
    /// `--database-url`
    pub database_url: Option<SecretString>,
    /// `--workers`
    pub workers: Option<usize>,
    /// `--require-keys`
    pub require_keys: bool,
    /// `--json-logs`
    pub json_logs: bool,
    /// `--log`
    pub log: Option<String>,
    /// `--deno-bin`
    pub deno_bin: Option<PathBuf>,
    /// `--env-file`
    pub env_file: Option<PathBuf>,
    /// `--import-map`
    pub import_map: Option<PathBuf>,
    /// `--no-verify-jwt`
    pub no_verify_jwt: bool,
    /// `--inspect`, `--inspect-mode`
    pub inspect: Option<InspectMode>,
}

impl Flags {
    /// Records which values come from flags, so that their origin is shown.
    pub(super) fn record(&self, settings: &mut EffectiveSettings) {
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| json!(path.display().to_string()));
        let is_given = |switch: bool, value: bool| switch.then_some(json!(value));
        let given: [(&str, &'static str, Option<Value>); 16] = [
            ("api.port", "--port", self.port.map(Value::from)),
            ("db.port", "--db-port", self.db_port.map(Value::from)),
            (
                "local_smtp.port",
                "--inbox-port",
                self.inbox_port.map(Value::from),
            ),
            (
                "local_smtp.smtp_port",
                "--smtp-port",
                self.smtp_port.map(Value::from),
            ),
            ("studio.port", "--studio-port", self.studio_port.map(Value::from)),
            ("studio.enabled", "--no-studio", is_given(self.no_studio, false)),
            ("selvedge.host", "--host", self.host.clone().map(Value::from)),
            ("selvedge.data_dir", "--data-dir", path(&self.data_dir)),
            ("selvedge.pg_bin", "--pg-bin", path(&self.pg_bin)),
            ("selvedge.workers", "--workers", self.workers.map(Value::from)),
            (
                "selvedge.require_keys",
                "--require-keys",
                is_given(self.require_keys, true),
            ),
            (
                "selvedge.json_logs",
                "--json-logs",
                is_given(self.json_logs, true),
            ),
            ("selvedge.log", "--log", self.log.clone().map(Value::from)),
            ("selvedge.functions.deno", "--deno-bin", path(&self.deno_bin)),
            ("edge_runtime.env_file", "--env-file", path(&self.env_file)),
            ("edge_runtime.import_map", "--import-map", path(&self.import_map)),
        ];
        for (key, flag, value) in given {
            if let Some(value) = value {
                settings.record(key.to_owned(), value, SettingOrigin::Flag { flag }, false);
            }
        }
        let database = [
            ("--local", self.is_local, Value::Null),
            ("--linked", self.is_linked, json!(true)),
            ("--database-url", self.database_url.is_some(), json!(true)),
        ];
        for (flag, is_given, value) in database {
            if is_given {
                let key = "selvedge.database_url".to_owned();
                settings.record(key, value, SettingOrigin::Flag { flag }, true);
            }
        }
    }
}
