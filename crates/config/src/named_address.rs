//! Where the address of the database comes from: the process (a variable or a flag) or a file of the project. This decides which commands use the
//! address, and which passwords are sent there.

use crate::database_address::describe_url;
use crate::environment::Environment;
use crate::linked::link_file;
use crate::loader::{Config, ConfigError};
use crate::reader::setting::SettingOrigin;

impl Config {
    /// Leaves out an address of the database that a file of the project names. Such a file is for the server that runs the
    /// project in production; a command of a developer in the same folder must not reach that database unless it says so.
    ///
    /// Compat: the Supabase CLI does not read `DATABASE_URL` at all, so that under its name that of the process does not count
    /// either.
    pub(super) fn ignore_database_of_files(&mut self, environment: &Environment, ignores_process: bool) {
        let is_of_process = self.is_address_of_process(environment);
        if is_of_process && ignores_process {
            self.selvedge.database_url = None;
            return;
        }
        self.selvedge.is_database_of_process = is_of_process;
        if is_of_process {
            return;
        }
        if let Some(url) = self.selvedge.database_url.take() {
            self.selvedge.ignored_database_url = Some(describe_url(&url));
        }
    }

    /// Whether the address comes from a variable of the process, also by `env(NAME)` in a file.
    fn is_address_of_process(&self, environment: &Environment) -> bool {
        match self.origin_of("selvedge.database_url") {
            Some(
                SettingOrigin::Environment { environment: name }
                | SettingOrigin::File {
                    environment: Some(name),
                    ..
                },
            ) => environment.is_of_process(name),
            _ => false,
        }
    }

    fn origin_of(&self, key: &str) -> Option<&SettingOrigin> {
        let setting = self.settings.iter().find(|setting| setting.key == key);
        setting.map(|setting| &setting.origin)
    }

    /// Refuses passwords of the process for an address that a file of the project names: whoever wrote the file chose who receives them. Call it
    /// after the flags, which may name another address.
    ///
    /// # Errors
    /// Names the place of the address, and the variables.
    pub(super) fn keep_passwords_from_addresses_of_files(
        &self,
        environment: &Environment,
    ) -> Result<(), ConfigError> {
        let section = &self.selvedge;
        let origin = self.origin_of("selvedge.database_url");
        let location = match origin {
            Some(SettingOrigin::Flag { flag: "--linked" }) => {
                link_file(&self.project.folder).display().to_string()
            }
            Some(SettingOrigin::Flag { .. } | SettingOrigin::Default) | None => return Ok(()),
            _ if self.is_address_of_process(environment) => return Ok(()),
            Some(SettingOrigin::File { file, line, .. }) => format!("{file}:{line}"),
            Some(SettingOrigin::Environment { environment: name }) => environment
                .find_place_in_files(name)
                .unwrap_or_else(|| name.clone()),
        };
        let passwords = [
            ("SELVEDGE_CONSOLE_PASSWORD", &section.console_password),
            ("SELVEDGE_POSTGRES_PASSWORD", &section.postgres_password),
            ("SELVEDGE_SERVICE_PASSWORD", &section.service_password),
        ];
        let given: Vec<&str> = passwords
            .iter()
            .filter_map(|(name, password)| password.is_some().then_some(*name))
            .collect();
        if section.database_url.is_none() || given.is_empty() {
            return Ok(());
        }
        Err(ConfigError(vec![format!(
            "{location}: {} of the environment would go to the database that this file of the project names: take the address out there, and \
             set DATABASE_URL in the environment, too",
            given.join(", ")
        )]))
    }
}
