//! Reads every section into one [`Config`]: defaults, then `config.toml`, then the environment, then flags.

use std::path::{Component, Path, PathBuf};

use secrecy::ExposeSecret as _;
use selvedge_postgres::cluster::{LockPurpose, is_production_home};
use selvedge_project_files::{MAX_SETTINGS_BYTES, read_text};
use selvedge_rest::RestConfig;

use crate::database_address::describe_url;
use crate::environment::Environment;
use crate::flags::Flags;
use crate::linked::require_link;
use crate::postgrest::{self, NamedSetting, ProcessSettings, SettingFindings};
use crate::project::{self, Project};
use crate::read_paths::{list_read_paths, list_setting_files};
use crate::reader::effective::EffectiveSettings;
use crate::reader::removed;
use crate::reader::section::Section;
use crate::reader::setting::SettingOrigin;
use crate::reader::source::Source;
use crate::sections::api::ApiConfig;
use crate::sections::auth::AuthSection;
use crate::sections::console::ConsoleSection;
use crate::sections::database::DatabaseConfig;
use crate::sections::selvedge::{NamedPath, QUEUES_SCHEMA, SelvedgeSection, TlsSection};
use crate::sections::services::{FunctionsSection, InboxSection, RealtimeSection};
use crate::sections::storage::StorageSection;
use crate::sections::storage_environment;

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
    /// The `.env` files that were read.
    pub environment_files: Vec<PathBuf>,
    /// The flags that it was loaded with, so that it can be loaded again.
    pub flags: Flags,
    /// The value of every key with where it comes from.
    pub settings: EffectiveSettings,
    /// The warnings about it, one line each.
    pub warnings: Vec<String>,
    /// The warnings about ignored operator keys. Every command prints them, because whoever wrote the key believes that it counts.
    pub refused_keys: Vec<String>,
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
        let environment = Environment::load(&project.folder, default_stage(flags)).map_err(single)?;
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
                let text = read_text(file, MAX_SETTINGS_BYTES)
                    .map_err(|error| single(format!("{}: {error}", file.display())))?;
                Source::parse(&display_path(file), text, environment).map_err(ConfigError)?
            }
            None => Source::without_file(environment),
        };
        let source_environment = source.environment().clone();
        let mut config = Self::read_sections(&source, project);
        let (errors, mut warnings) = source.into_findings().into_lines();
        // All sections are read before this, so one run reports every wrong value.
        if !errors.is_empty() {
            return Err(ConfigError(errors));
        }
        if !flags.uses_database_of_files {
            config.ignore_database_of_files(&source_environment, flags.ignores_database_of_process);
        }
        if flags.is_linked {
            config.selvedge.database_url = Some(require_link(&config.project.folder).map_err(single)?);
        }
        config.apply_flags(flags);
        config.keep_passwords_from_addresses_of_files(&source_environment)?;
        config.apply_own_domain();
        config.note_what_files_name(&source_environment);
        let findings = config.check_given_settings();
        if !findings.errors.is_empty() {
            return Err(ConfigError(findings.errors));
        }
        warnings.extend(findings.warnings);
        warnings.extend(postgrest::warn_of_standalone_only(&config.postgrest));
        config.warnings.clone_from(&warnings);
        Ok(Loaded { config, warnings })
    }

    pub(super) fn read_sections(source: &Source, mut project: Project) -> Self {
        let root = Section::root(source);
        // Sections of the CLI for parts that this server does not have: linked remote projects and analytics.
        for without_effect in ["remotes", "analytics"] {
            root.section(without_effect).ignore_all();
        }
        removed::warn_of_removed_experiments(&root.section("experimental"));
        if let Some(id) = root.optional_string("project_id") {
            project.id = project::sanitized_id(&id);
        }
        let selvedge_section = root.selvedge_section("selvedge");
        let api = ApiConfig::read(&root.section("api"), &project.folder);
        let mut selvedge = SelvedgeSection::read(&selvedge_section, &project, api.tls.is_some());
        let console = ConsoleSection::read(&root.section("studio"), &selvedge_section.section("console"));
        replace_database_url(source, &mut selvedge);
        // After [selvedge], as its S3 settings win over the variables of the original storage service.
        let mut storage = StorageSection::read(&root.section("storage"), &project.folder);
        storage_environment::apply_storage_environment(source, &mut storage, &mut selvedge);
        let mut config = Self {
            api,
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
            postgrest: read_postgrest_variables(source),
            environment_files: Vec::new(),
            flags: Flags::default(),
            console,
            selvedge,
            project,
            settings: EffectiveSettings::default(),
            warnings: Vec::new(),
            refused_keys: Vec::new(),
        };
        config.settings = source.settings().clone();
        config.refused_keys = source.refused_keys();
        config
    }

    /// Notes which of the settings that decide over files and programs of this machine come from a file of the project. Call it after
    /// the flags, which win.
    fn note_what_files_name(&mut self, environment: &Environment) {
        let is_of_process = |key: &str| {
            let setting = self.settings.iter().find(|setting| setting.key == key);
            match setting.map(|setting| &setting.origin) {
                Some(SettingOrigin::Flag { .. }) => true,
                Some(SettingOrigin::Environment { environment: name }) => environment.is_of_process(name),
                // A file that refers to a variable of the process has chosen it: `env(HOME)` is the file's own word.
                Some(SettingOrigin::File { .. } | SettingOrigin::Default) | None => false,
            }
        };
        let functions = &self.selvedge.functions;
        let (pg_bin, deno) = (self.selvedge.pg_bin.as_deref(), functions.deno.as_deref());
        let mut paths = NamedPath::list_programs(pg_bin, deno, &functions.module_folders);
        paths.extend(list_read_paths(
            &self.project.folder,
            &self.selvedge,
            &self.auth,
            &self.storage,
            &self.db.seed,
        ));
        paths.extend(list_setting_files(&self.postgrest));
        paths.retain(|path| !is_of_process(path.key()));
        self.selvedge.is_data_dir_of_process = is_of_process("selvedge.data_dir");
        self.selvedge.paths_of_files = paths;
        self.environment_files = environment.files().to_vec();
    }

    /// Whether the data folder, which a file of the project may name, lies in the project and holds neither the project itself nor its
    /// repository, links resolved. Where it is a link itself, the link's own place counts.
    pub fn is_data_dir_deletable(&self) -> bool {
        let data = &self.selvedge.data_dir;
        let climbs = data.components().any(|part| part == Component::ParentDir);
        let parent = match data.parent() {
            Some(parent) if parent.as_os_str().is_empty() => Some(Path::new(".")),
            parent => parent,
        };
        let place = parent.and_then(|parent| parent.canonicalize().ok());
        let (Some(place), Some(name)) = (place, data.file_name()) else {
            return false;
        };
        let place = place.join(name);
        let project = &self.project;
        let (Ok(folder), Ok(repository)) = (project.folder.canonicalize(), project.repository.canonicalize())
        else {
            return false;
        };
        let is_of_git = place
            .strip_prefix(&repository)
            .is_ok_and(|path| path.starts_with(".git"));
        !climbs && !is_of_git && place.starts_with(&repository) && !folder.starts_with(&place)
    }

    /// Whether a flag, a variable or a file names the data folder.
    pub fn is_data_dir_named(&self) -> bool {
        let mut settings = self.settings.iter();
        settings.any(|setting| setting.key == "selvedge.data_dir" && setting.origin != SettingOrigin::Default)
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
        if flags.is_local || flags.is_linked || flags.database_url.is_some() {
            self.selvedge.is_database_of_process = false;
            self.selvedge.ignored_database_url = None;
        }
        replace_if_set(&mut self.selvedge.data_dir, &flags.data_dir);
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
        // A flag can only enable it: there is no `--no-require-keys`.
        self.selvedge.require_keys |= flags.require_keys;
        self.flags = flags.clone();
        if flags.json_logs {
            self.selvedge.json_logs = Some(true);
        }
        flags.record(&mut self.settings);
    }

    /// Checks the settings of the REST service whose values are in files. Before the project may be used, these files are not opened: a file
    /// of the project may have named them.
    ///
    /// # Errors
    /// One line per file that cannot be read, and value that is wrong.
    pub fn check_settings_in_files(&self) -> Result<(), ConfigError> {
        if self.postgrest.iter().all(|setting| setting.file().is_none()) {
            return Ok(());
        }
        let (_, _, findings) = self.rest_settings();
        match findings.errors.is_empty() {
            true => Ok(()),
            false => Err(ConfigError(findings.errors)),
        }
    }

    /// What is wrong with the settings of the REST service whose values are given themselves.
    fn check_given_settings(&self) -> SettingFindings {
        let given: Vec<NamedSetting> = self
            .postgrest
            .iter()
            .filter(|setting| setting.file().is_none())
            .cloned()
            .collect();
        self.apply_postgrest(&given).2
    }

    /// The settings of the REST service and those of the process that `PGRST_*` may change: `[api]`, then `PGRST_*`.
    pub fn rest_settings(&self) -> (RestConfig, ProcessSettings, SettingFindings) {
        self.apply_postgrest(&self.postgrest)
    }

    fn apply_postgrest(&self, settings: &[NamedSetting]) -> (RestConfig, ProcessSettings, SettingFindings) {
        let mut rest = RestConfig {
            schemas: self.exposed_schemas(),
            extra_search_path: self.api.extra_search_path.clone(),
            max_rows: Some(self.api.max_rows).filter(|rows| *rows > 0),
            openapi_proxy_uri: Some(format!("{}/rest/v1", self.api_url())),
            tenant_claim: self.selvedge.tenants.claim.clone(),
            ..RestConfig::default()
        };
        let mut process = ProcessSettings::default();
        let mut findings = postgrest::apply_setting(settings, &mut rest, &mut process);
        if let Err(error) = rest.check_keys() {
            findings.errors.push(format!("PGRST_JWT_SECRET {error}"));
        }
        if rest.tenant_claim.is_some() && rest.schema_prefixes().is_empty() {
            let message = "selvedge.tenants.claim needs a pattern such as \"tenant_*\" in api.schemas";
            findings.errors.push(message.to_owned());
        }
        (rest, process, findings)
    }

    /// The section of certificates that are obtained, where it counts: for a server in production, and for commands about it. A `start` on a
    /// laptop leaves it alone.
    pub fn acme(&self) -> Option<&TlsSection> {
        let is_production =
            self.flags.purpose.command == LockPurpose::SERVE || is_production_home(&self.selvedge.data_dir);
        self.selvedge.tls.as_ref().filter(|_| is_production)
    }

    /// The folder of the account and the certificate that [`acme`](Self::acme) is about.
    pub fn acme_folder(&self) -> PathBuf {
        self.selvedge.data_dir.join("tls")
    }

    /// Takes the first domain of the certificates as the server's address, unless another one is set.
    fn apply_own_domain(&mut self) {
        let url = self.acme().map(TlsSection::url);
        if self.api.external_url.is_none() {
            self.api.external_url = url;
        }
    }

    /// `api.schemas`, and that of queues where they are exposed.
    fn exposed_schemas(&self) -> Vec<String> {
        let mut schemas = self.api.schemas.clone();
        // Without a schema of its own the API would take that of queues for its default one.
        let exposes_queues = self.selvedge.queues.expose == Some(true) && !schemas.is_empty();
        if exposes_queues && !schemas.iter().any(|schema| schema == QUEUES_SCHEMA) {
            schemas.push(QUEUES_SCHEMA.to_owned());
        }
        schemas
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

/// Which `.env` files are read: those of a laptop are not a server's, nor those of commands about a home.
fn default_stage(flags: &Flags) -> &'static str {
    let process = Environment::of_process();
    let of_variable = process.get("SELVEDGE_DATA_DIR").map(Path::new);
    let named = flags.data_dir.as_deref().or(of_variable);
    let serves = [LockPurpose::SERVE, LockPurpose::KEEP].contains(&flags.purpose.command.as_str());
    match serves || named.is_some_and(is_production_home) {
        true => "production",
        false => "development",
    }
}

/// Takes the database's address from the variables that win over `[selvedge]`: hosting platforms set DATABASE_URL, and
/// PGRST_DB_URI moves over from PostgREST.
fn replace_database_url(source: &Source, selvedge: &mut SelvedgeSection) {
    selvedge.file_databases = selvedge.database_url.iter().map(describe_url).collect();
    for name in ["PGRST_DB_URI", "DATABASE_URL"] {
        if let Some(url) = source.environment().get_of_files(name) {
            selvedge.file_databases.push(describe_url(&url.into()));
        }
        if let Some(url) = source.environment().get(name) {
            selvedge.database_url = Some(url.into());
            source.record_variable("selvedge.database_url", name, url, true);
        }
    }
}

fn read_postgrest_variables(source: &Source) -> Vec<NamedSetting> {
    let settings = postgrest::from_environment(source.environment());
    for setting in &settings {
        let value = setting.value.expose_secret();
        source.record_variable(&setting.key(), &setting.shown, value, setting.is_secret());
    }
    settings
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

/// Shortens a path for messages: relative to the current directory if it is below it.
fn display_path(path: &Path) -> PathBuf {
    std::env::current_dir()
        .ok()
        .and_then(|here| path.strip_prefix(here).map(Path::to_path_buf).ok())
        .unwrap_or_else(|| path.to_path_buf())
}
