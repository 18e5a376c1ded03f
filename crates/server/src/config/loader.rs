//! Reads every section into one [`Config`]: defaults, then `config.toml`, then the environment, then flags.

use std::path::{Path, PathBuf};

use secrecy::SecretString;
use selvedge_functions::InspectMode;
use selvedge_rest::RestConfig;

use super::api::ApiConfig;
use super::auth::AuthSection;
use super::console::ConsoleSection;
use super::database::DatabaseConfig;
use super::environment::Environment;
use super::postgrest::{self, NamedSetting, ProcessSettings, SettingFindings};
use super::project::{self, Project};
use super::section::Section;
use super::selvedge::SelvedgeSection;
use super::services::{FunctionsSection, InboxSection, RealtimeSection};
use super::source::Source;
use super::storage::StorageSection;
use super::{storage_environment, unsupported};

/// The whole configuration of a project.
#[derive(Debug, Clone)]
pub struct Config {
    /// The project folder.
    pub project: Project,
    /// `[api]`
    pub api: ApiConfig,
    /// `[db]`
    pub db: DatabaseConfig,
    /// `[realtime]`
    pub realtime: RealtimeSection,
    /// `[local_smtp]`, or `[inbucket]`
    pub inbox: InboxSection,
    /// `[storage]`
    pub storage: StorageSection,
    /// `[auth]`
    pub auth: AuthSection,
    /// `[edge_runtime]`, `[functions.*]`
    pub functions: FunctionsSection,
    /// `[studio]` and `[selvedge.console]`
    pub console: ConsoleSection,
    /// `[selvedge]`
    pub selvedge: SelvedgeSection,
    /// The variables `PGRST_*`, which are settings of the REST service on top of `[api]`.
    pub postgrest: Vec<NamedSetting>,
    /// The flags that it was loaded with, so that it can be loaded again.
    pub flags: Flags,
}

/// The flags that set configuration values. They win over every other source.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    /// `--project`
    pub project: Option<PathBuf>,
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
    /// `--local`: `DATABASE_URL` does not count
    pub is_local: bool,
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

/// A configuration, and the warnings about it.
#[derive(Debug)]
pub struct Loaded {
    /// The configuration.
    pub config: Config,
    /// One line per warning: unknown keys, variables that are not set, features that this version lacks.
    pub warnings: Vec<String>,
}

/// The configuration cannot be used. One line per wrong value.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.join("\n"))]
pub struct ConfigError(pub Vec<String>);

impl Config {
    /// Loads the project that the flags name, or the nearest one upward from the current directory.
    ///
    /// # Errors
    /// Every wrong value, with file, line, the value and what was expected.
    pub fn load(flags: &Flags) -> Result<Loaded, ConfigError> {
        let here = std::env::current_dir().map_err(|error| single(format!("current directory: {error}")))?;
        let project = Project::find(flags.project.as_deref(), &here).map_err(single)?;
        let environment = Environment::load(&project.folder).map_err(single)?;
        Self::load_project(project, environment, flags)
    }

    /// Loads a given project with a given environment. It reads the project's `config.toml` and no variable of the
    /// process, so tests can call it.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn load_project(
        project: Project,
        environment: Environment,
        flags: &Flags,
    ) -> Result<Loaded, ConfigError> {
        let source = match &project.file {
            Some(file) => {
                let text = std::fs::read_to_string(file)
                    .map_err(|error| single(format!("{}: {error}", file.display())))?;
                Source::parse(&display_path(file), text, environment).map_err(ConfigError)?
            }
            None => Source::without_file(environment),
        };
        let mut config = Self::read_sections(&source, project);
        let (errors, mut warnings) = source.into_findings().into_lines();
        // All sections are read before this, so one run reports every wrong value.
        if !errors.is_empty() {
            return Err(ConfigError(errors));
        }
        config.apply_flags(flags);
        warnings.extend(unsupported::list_unsupported(&config.auth, &config.db));
        let (_, _, findings) = config.rest_settings();
        if !findings.errors.is_empty() {
            return Err(ConfigError(findings.errors));
        }
        warnings.extend(findings.warnings);
        warnings.extend(postgrest::warn_of_standalone_only(&config.postgrest));
        Ok(Loaded { config, warnings })
    }

    pub(super) fn read_sections(source: &Source, mut project: Project) -> Self {
        let root = Section::root(source);
        // Sections of the CLI for parts that this server does not have: linked remote projects, analytics, experiments.
        for without_effect in ["remotes", "analytics", "experimental"] {
            root.section(without_effect).ignore_all();
        }
        if let Some(id) = root.optional_string("project_id") {
            project.id = project::sanitized_id(&id);
        }
        let selvedge_section = root.selvedge_section("selvedge");
        let mut selvedge = SelvedgeSection::read(&selvedge_section, &project);
        let console = ConsoleSection::read(&root.section("studio"), &selvedge_section.section("console"));
        let variable = |name| source.environment().get(name);
        // These two names win over `[selvedge]`: hosting platforms set DATABASE_URL, and PGRST_DB_URI moves over from
        // PostgREST.
        if let Some(url) = variable("DATABASE_URL").or_else(|| variable("PGRST_DB_URI")) {
            selvedge.database_url = Some(url.into());
        }
        // After [selvedge], as its S3 settings win over the variables of the original storage service.
        let mut storage = StorageSection::read(&root.section("storage"), &project.folder);
        storage_environment::apply_storage_environment(source, &mut storage, &mut selvedge);
        Self {
            api: ApiConfig::read(&root.section("api"), &project.folder),
            db: DatabaseConfig::read(&root.section("db")),
            realtime: RealtimeSection::read(&root.section("realtime")),
            inbox: InboxSection::read(&root.section("local_smtp"), &root.section("inbucket")),
            storage,
            auth: AuthSection::read(&root.section("auth"), &project.folder, &project.repository),
            functions: FunctionsSection::read(
                &root.section("edge_runtime"),
                &root.section("functions"),
                &project.folder,
                source.environment(),
            ),
            postgrest: postgrest::from_environment(source.environment()),
            flags: Flags::default(),
            console,
            selvedge,
            project,
        }
    }

    fn apply_flags(&mut self, flags: &Flags) {
        replace_if_set(&mut self.api.port, &flags.port);
        replace_if_set(&mut self.db.port, &flags.db_port);
        replace_if_set(&mut self.inbox.port, &flags.inbox_port);
        replace_some(&mut self.inbox.smtp_port, &flags.smtp_port);
        replace_if_set(&mut self.console.port, &flags.studio_port);
        self.console.enabled_in_start &= !flags.no_studio;
        if flags.is_local {
            self.selvedge.database_url = None;
        }
        replace_some(&mut self.selvedge.host, &flags.host);
        replace_some(&mut self.selvedge.pg_bin, &flags.pg_bin);
        replace_some(&mut self.selvedge.database_url, &flags.database_url);
        replace_some(&mut self.selvedge.workers, &flags.workers);
        replace_some(&mut self.selvedge.log, &flags.log);
        replace_some(&mut self.selvedge.functions.deno, &flags.deno_bin);
        replace_some(&mut self.functions.env_file, &flags.env_file);
        replace_some(&mut self.functions.import_map, &flags.import_map);
        replace_some(&mut self.functions.inspect, &flags.inspect);
        self.functions.no_verify_jwt |= flags.no_verify_jwt;
        // A flag can only switch it on: there is no `--no-require-keys`.
        self.selvedge.require_keys |= flags.require_keys;
        self.flags = flags.clone();
        if flags.json_logs {
            self.selvedge.json_logs = Some(true);
        }
    }

    /// The settings of the REST service and those of the process that `PGRST_*` may change: `[api]`, then `PGRST_*`.
    pub(crate) fn rest_settings(&self) -> (RestConfig, ProcessSettings, SettingFindings) {
        let mut rest = RestConfig {
            schemas: self.api.schemas.clone(),
            extra_search_path: self.api.extra_search_path.clone(),
            max_rows: Some(self.api.max_rows).filter(|rows| *rows > 0),
            openapi_proxy_uri: Some(format!("{}/rest/v1", self.api_url())),
            ..RestConfig::default()
        };
        let mut process = ProcessSettings::default();
        let mut findings = postgrest::apply_setting(&self.postgrest, &mut rest, &mut process);
        if let Err(error) = rest.check_keys() {
            findings.errors.push(format!("PGRST_JWT_SECRET {error}"));
        }
        (rest, process, findings)
    }

    /// The URL at which clients reach the API, without a trailing slash.
    pub fn api_url(&self) -> String {
        let scheme = if self.api.tls.is_some() { "https" } else { "http" };
        match &self.api.external_url {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None => format!("{scheme}://127.0.0.1:{}", self.api.port),
        }
    }
}

fn replace_if_set<T: Clone>(value: &mut T, flag: &Option<T>) {
    if let Some(flag) = flag {
        *value = flag.clone();
    }
}

fn replace_some<T: Clone>(value: &mut Option<T>, flag: &Option<T>) {
    if flag.is_some() {
        value.clone_from(flag);
    }
}

fn single(message: String) -> ConfigError {
    ConfigError(vec![message])
}

/// A path for messages: relative to the current directory where it lies below it.
fn display_path(path: &Path) -> PathBuf {
    std::env::current_dir()
        .ok()
        .and_then(|here| path.strip_prefix(here).map(Path::to_path_buf).ok())
        .unwrap_or_else(|| path.to_path_buf())
}
