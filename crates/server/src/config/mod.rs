//! The one typed configuration and its one loader.
//!
//! Defaults ← `config.toml` (the Supabase CLI's format) ← environment ← flags. [`Config::load`] returns
//! everything the process needs to know; nothing reads files or variables for configuration later on.
//! Unknown keys are warnings, wrong values errors, both with the line they stand in.

mod absent;
mod api;
mod auth;
mod database;
mod environment;
mod own;
mod own_auth;
pub(crate) mod postgrest;
pub(crate) mod postgrest_file;
mod project;
mod section;
mod services;
mod source;
mod storage;
mod storage_environment;
mod values;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use secrecy::SecretString;
use selvedge_rest::RestConfig;

pub use api::{ApiConfig, TlsFiles};
pub use auth::{
    AuthSection, CaptchaProvider, CaptchaSection, EmailSection, EmailTemplate, FactorSwitch, HookSection,
    KeySection, MfaSection, NotificationTemplate, OauthServerSection, PasswordRequirements, PhoneFactor,
    ProviderSection, RateLimitSection, SmsProvider, SmsSection, SmtpSection, ThirdParty, Twilio,
    WebauthnSection,
};
pub use database::{DatabaseConfig, MajorVersion, MigrationsConfig, SeedConfig};
pub use environment::Environment;
pub use own::{LimitsSection, OwnSection, S3ProtocolSection, S3Section};
pub use own_auth::OwnAuthSection;
pub use postgrest::{LogLevel, NamedSetting, ProcessSettings};
pub use project::Project;
pub use services::{FunctionPolicy, FunctionSection, FunctionsSection, InboxSection, RealtimeSection};
pub use storage::{BucketSection, StorageSection};

use postgrest::SettingFindings;
use source::Source;

/// Everything the process was told.
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
    /// `[inbucket]`
    pub inbox: InboxSection,
    /// `[storage]`
    pub storage: StorageSection,
    /// `[auth]`
    pub auth: AuthSection,
    /// `[edge_runtime]`, `[functions.*]`
    pub functions: FunctionsSection,
    /// `[selvedge]`
    pub own: OwnSection,
    /// `PGRST_*`: what the environment says to REST, on top of `[api]`.
    pub postgrest: Vec<NamedSetting>,
}

/// What the command line says; it wins over everything else.
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
}

/// A configuration and what deserves a word about it.
#[derive(Debug)]
pub struct Loaded {
    /// The configuration.
    pub config: Config,
    /// Lines for the user: unknown keys, variables that are not set.
    pub warnings: Vec<String>,
}

/// Why there is no configuration: one line per finding.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.join("\n"))]
pub struct ConfigError(pub Vec<String>);

impl Config {
    /// Loads the project named by the flags, or the nearest one.
    ///
    /// # Errors
    /// Every wrong value, with file and line, what was expected and what was found.
    pub fn load(flags: &Flags) -> Result<Loaded, ConfigError> {
        let here = std::env::current_dir().map_err(|error| one(format!("current directory: {error}")))?;
        let project = Project::find(flags.project.as_deref(), &here).map_err(one)?;
        let environment = Environment::load(&project.folder).map_err(one)?;
        Self::load_project(project, environment, flags)
    }

    /// The loader below the process: a project, an environment and flags in, a configuration out.
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
                    .map_err(|error| one(format!("{}: {error}", file.display())))?;
                Source::parse(Some(&shown(file)), text, environment).map_err(ConfigError)?
            }
            None => Source::without_file(environment),
        };
        let mut config = Self::read(&source, project);
        let (errors, mut warnings) = source.into_findings().into_lines();
        if !errors.is_empty() {
            return Err(ConfigError(errors));
        }
        config.apply(flags);
        warnings.extend(absent::warnings(&config));
        let checked = config.rest_settings();
        if !checked.2.errors.is_empty() {
            return Err(ConfigError(checked.2.errors));
        }
        warnings.extend(checked.2.warnings);
        warnings.extend(postgrest::warn_of_standalone_only(&config.postgrest));
        Ok(Loaded { config, warnings })
    }

    fn read(source: &Source, mut project: Project) -> Self {
        let root = source.root();
        // `[remotes]` concern linked projects; Studio, analytics and experiments are not ours.
        for without_effect in ["remotes", "studio", "analytics", "experimental"] {
            root.section(without_effect).accept_all();
        }
        if let Some(id) = root.optional_string("project_id") {
            project.id = project::sanitized_id(&id);
        }
        let mut own = OwnSection::read(&root.own_section("selvedge"), &project);
        let variable = |name| source.environment().get(name);
        if let Some(url) = variable("DATABASE_URL").or_else(|| variable("PGRST_DB_URI")) {
            own.database_url = Some(url.into());
        }
        let mut storage = StorageSection::read(&root.section("storage"), &project.folder);
        storage_environment::apply(source, &mut storage, &mut own);
        Self {
            api: ApiConfig::read(&root.section("api"), &project.folder),
            db: DatabaseConfig::read(&root.section("db")),
            realtime: RealtimeSection::read(&root.section("realtime")),
            inbox: InboxSection::read(&root.section("inbucket")),
            storage,
            auth: AuthSection::read(&root.section("auth"), &project.folder, &project.repository),
            functions: FunctionsSection::read(
                &root.section("edge_runtime"),
                &root.section("functions"),
                &project.folder,
            ),
            postgrest: postgrest::from_environment(source.environment()),
            own,
            project,
        }
    }

    fn apply(&mut self, flags: &Flags) {
        replace(&mut self.api.port, &flags.port);
        replace(&mut self.db.port, &flags.db_port);
        replace(&mut self.inbox.port, &flags.inbox_port);
        replace_some(&mut self.own.host, &flags.host);
        replace_some(&mut self.own.pg_bin, &flags.pg_bin);
        replace_some(&mut self.own.database_url, &flags.database_url);
        replace_some(&mut self.own.workers, &flags.workers);
        replace_some(&mut self.own.log, &flags.log);
        self.own.require_keys |= flags.require_keys;
        if flags.json_logs {
            self.own.json_logs = Some(true);
        }
    }

    /// The settings of REST and, as far as they concern it, of the process: `[api]`, then `PGRST_*`.
    pub(crate) fn rest_settings(&self) -> (RestConfig, ProcessSettings, SettingFindings) {
        let mut rest = RestConfig {
            schemas: self.api.schemas.clone(),
            extra_search_path: self.api.extra_search_path.clone(),
            max_rows: Some(self.api.max_rows).filter(|rows| *rows > 0),
            openapi_proxy_uri: Some(format!("{}/rest/v1", self.api_url())),
            ..RestConfig::default()
        };
        let mut process = ProcessSettings::default();
        let mut findings = postgrest::apply(&self.postgrest, &mut rest, &mut process);
        if let Err(error) = rest.check_keys() {
            findings.errors.push(format!("PGRST_JWT_SECRET {error}"));
        }
        (rest, process, findings)
    }

    /// The address of the API as clients see it, without a slash at its end.
    pub fn api_url(&self) -> String {
        let scheme = if self.api.tls.is_some() { "https" } else { "http" };
        match &self.api.external_url {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None => format!("{scheme}://127.0.0.1:{}", self.api.port),
        }
    }
}

fn replace<T: Clone>(value: &mut T, flag: &Option<T>) {
    if let Some(flag) = flag {
        *value = flag.clone();
    }
}

fn replace_some<T: Clone>(value: &mut Option<T>, flag: &Option<T>) {
    if flag.is_some() {
        value.clone_from(flag);
    }
}

fn one(message: String) -> ConfigError {
    ConfigError(vec![message])
}

/// A path as messages show it: relative to the current directory where that is shorter.
fn shown(path: &Path) -> PathBuf {
    std::env::current_dir()
        .ok()
        .and_then(|here| path.strip_prefix(here).map(Path::to_path_buf).ok())
        .unwrap_or_else(|| path.to_path_buf())
}
