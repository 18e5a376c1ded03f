//! The environment variables of the process and of the project's `.env` files, read once.
//!
//! This is the only place in the workspace that reads environment variables; everything else receives typed configuration.
//! A variable of the process wins over the files.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use selvedge_functions::parse_env_file;
use selvedge_project_files::{MAX_SETTINGS_BYTES, read_file, read_text};
use selvedge_terminal::print_warnings;

/// The folder of a service's credentials, which systemd names.
const CREDENTIALS: &str = "CREDENTIALS_DIRECTORY";

/// Variables that override keys of `config.toml`, or that it refers to by `env(NAME)`.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    values: HashMap<String, String>,
    /// The variables that come from a file, with that file.
    of_files: HashMap<String, PathBuf>,
    /// The names of those that the process has, also where a file says the same.
    of_process: HashSet<String>,
    /// What files say of variables that the process has with another value.
    hidden: HashMap<String, String>,
    /// The files that were read.
    files: Vec<PathBuf>,
}

impl Environment {
    /// Reads the process's variables, then the `.env` files of `project` and of its parents up to the current directory. The first
    /// definition of a name wins. `default_stage` decides which files, unless SUPABASE_ENV does. Source: gateway contract §7.
    ///
    /// # Errors
    /// A file that exists and cannot be read or parsed. The message gives its path and not its content.
    pub fn load(project: &Path, default_stage: &str) -> Result<Self, String> {
        let here = std::env::current_dir().and_then(|path| path.canonicalize()).ok();
        Self::of_process().with_files(project, default_stage, here.as_deref())
    }

    /// Loads what a process with these variables would, which does not run in a folder above the project.
    ///
    /// # Errors
    /// As [`Environment::load`].
    pub fn load_elsewhere(
        variables: &[(String, String)],
        project: &Path,
        default_stage: &str,
    ) -> Result<Self, String> {
        let environment: Self = variables.iter().cloned().collect();
        environment.with_files(project, default_stage, None)
    }

    fn with_files(
        mut self,
        project: &Path,
        default_stage: &str,
        here: Option<&Path>,
    ) -> Result<Self, String> {
        let stage = self.get("SUPABASE_ENV").unwrap_or(default_stage).to_owned();
        for folder in env_file_folders(project, here) {
            for name in file_names(&stage) {
                self.add_file(&folder.join(name))?;
            }
        }
        Ok(self)
    }

    /// The value of `name`, if it is set.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// What the files of the project say of a variable, whatever the process says.
    pub(super) fn get_of_files(&self, name: &str) -> Option<&str> {
        match self.of_files.contains_key(name) {
            true => self.get(name),
            false => self.hidden.get(name).map(String::as_str),
        }
    }

    /// Whether a variable was set for this process, and not by a file of the project. One of the same value as in a file counts as
    /// the file's.
    pub fn is_of_process(&self, name: &str) -> bool {
        self.values.contains_key(name) && !self.of_files.contains_key(name)
    }

    /// File and line of a variable that comes from a file: `/srv/app/.env:3`.
    pub(super) fn find_place_in_files(&self, name: &str) -> Option<String> {
        let file = self.of_files.get(name)?;
        let place = file.display();
        Some(match find_variable_line(file, name) {
            Some(line) => format!("{place}:{line}"),
            None => place.to_string(),
        })
    }

    /// The file that holds a secret: the one that `NAME_FILE` names, or the credential `NAME` of systemd (`LoadCredential=`), with the variable
    /// that leads there. Only variables of the process do, because a file of the project could name any file of the machine.
    ///
    /// # Errors
    /// The variable, where a file of the project has it and the process has not: the secret would be missing without a word.
    pub(super) fn find_secret_file(&self, name: &str) -> Result<Option<(String, PathBuf)>, String> {
        let variable = format!("{name}_FILE");
        if let Some(path) = self.get(&variable).map(PathBuf::from) {
            return match self.of_process.contains(&variable) {
                true => Ok(Some((variable, path))),
                false => Err(variable),
            };
        }
        let folder = self
            .get(CREDENTIALS)
            .filter(|_| self.of_process.contains(CREDENTIALS));
        let path = folder.map(|folder| Path::new(folder).join(name));
        // One that cannot be looked at is not missing: whoever reads it says why.
        let is_missing = |path: &Path| {
            path.symlink_metadata()
                .is_err_and(|error| error.kind() == ErrorKind::NotFound)
        };
        let found = path.filter(|path| !is_missing(path));
        Ok(found.map(|path| (CREDENTIALS.to_owned(), path)))
    }

    /// The process's own variables, without any file.
    pub fn of_process() -> Self {
        std::env::vars_os().filter_map(text_pair).collect()
    }

    /// The `.env` files that were read.
    pub(super) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Names and values of the variables whose name begins with `prefix`.
    pub fn with_prefix<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.values
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .filter(move |(name, _)| name.starts_with(prefix))
    }

    fn add_file(&mut self, path: &Path) -> Result<(), String> {
        if !path.is_file() {
            return Ok(());
        }
        let unreadable = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let bytes = read_file(path, MAX_SETTINGS_BYTES).map_err(|error| unreadable(&error))?;
        let file = parse_env_file(&bytes).map_err(|error| unreadable(&error))?;
        self.files.push(path.to_owned());
        for warning in file.warnings() {
            print_warnings(&[format!("{}: {warning}", path.display())]);
        }
        for (name, value) in file.values {
            match self.values.entry(name) {
                Entry::Vacant(entry) => {
                    self.of_files.insert(entry.key().clone(), path.to_owned());
                    entry.insert(value);
                }
                // A shell or another program has read the same file before.
                Entry::Occupied(entry) if *entry.get() == value => {
                    let name = entry.key().clone();
                    self.of_files.entry(name).or_insert_with(|| path.to_owned());
                }
                Entry::Occupied(entry) => {
                    // The first file wins among them.
                    if !self.of_files.contains_key(entry.key()) {
                        self.hidden.entry(entry.key().clone()).or_insert(value);
                    }
                }
            }
        }
        Ok(())
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        let values: HashMap<String, String> = pairs
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        Self {
            of_process: values.keys().cloned().collect(),
            values,
            of_files: HashMap::new(),
            hidden: HashMap::new(),
            files: Vec::new(),
        }
    }
}

/// The line, from 1, that sets a variable in a file of variables.
pub fn find_variable_line(file: &Path, name: &str) -> Option<usize> {
    let text = read_text(file, MAX_SETTINGS_BYTES).ok()?;
    let sets = |line: &str| {
        let line = line.trim_start();
        let line = line.strip_prefix("export ").unwrap_or(line);
        line.split_once('=').is_some_and(|(key, _)| key.trim() == name)
    };
    text.lines().position(sets).map(|line| line + 1)
}

fn text_pair(pair: (std::ffi::OsString, std::ffi::OsString)) -> Option<(String, String)> {
    Some((pair.0.into_string().ok()?, pair.1.into_string().ok()?))
}

/// The names of `.env` files; earlier ones win.
fn file_names(stage: &str) -> Vec<String> {
    let mut names = vec![format!(".env.{stage}.local")];
    if stage != "test" {
        names.push(".env.local".to_owned());
    }
    names.extend([format!(".env.{stage}"), ".env".to_owned()]);
    names
}

/// The project's folder and its parents up to the current directory. If the project is not below the current directory: its
/// folder and its parent.
fn env_file_folders(project: &Path, here: Option<&Path>) -> Vec<PathBuf> {
    let project = project.canonicalize().unwrap_or_else(|_| project.to_path_buf());
    match here {
        Some(top) if project.starts_with(top) => project
            .ancestors()
            .take_while(|folder| folder.starts_with(top))
            .map(Path::to_path_buf)
            .collect(),
        _ => project.ancestors().take(2).map(Path::to_path_buf).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_029_env_files_are_read_in_the_documented_order() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("supabase");
        std::fs::create_dir(&project).unwrap();
        std::fs::write(project.join(".env.development.local"), "SELVEDGE_T_A=1\n").unwrap();
        std::fs::write(project.join(".env.local"), "SELVEDGE_T_A=2\nSELVEDGE_T_B=2\n").unwrap();
        std::fs::write(
            project.join(".env"),
            "SELVEDGE_T_B=3\nSELVEDGE_T_C='three # 3' # comment\nSELVEDGE_T_E=pass$word it's\r\n",
        )
        .unwrap();
        std::fs::write(
            folder.path().join(".env"),
            "SELVEDGE_T_C=4\nSELVEDGE_T_D=4\nPATH=no\n",
        )
        .unwrap();

        let environment = Environment::load(&project, "development").unwrap();

        let values = ["A", "B", "C", "D", "E"].map(|name| environment.get(&format!("SELVEDGE_T_{name}")));
        assert_eq!(
            values,
            [
                Some("1"),
                Some("2"),
                Some("three # 3"),
                Some("4"),
                Some("pass$word it's")
            ]
        );
        assert_ne!(environment.get("PATH"), Some("no"), "the process wins over files");
    }

    #[test]
    fn gw_029_a_variable_that_a_file_has_with_the_same_value_counts_as_the_files() {
        let folder = tempfile::tempdir().unwrap();
        let (same, other) = (folder.path().join("same"), folder.path().join("other"));
        std::fs::write(&same, "DATABASE_URL=postgresql://db/x\n").unwrap();
        std::fs::write(&other, "DATABASE_URL=postgresql://db/y\n").unwrap();
        let of_process = || Environment::from_iter([("DATABASE_URL", "postgresql://db/x")]);

        for (file, is_of_process) in [(same, false), (other, true)] {
            let mut environment = of_process();
            environment.add_file(&file).unwrap();
            assert_eq!(environment.is_of_process("DATABASE_URL"), is_of_process);
            assert_eq!(environment.get("DATABASE_URL"), Some("postgresql://db/x"));
        }
    }

    #[test]
    fn prod_006_a_server_reads_no_files_of_development() {
        let folder = tempfile::tempdir().unwrap();
        for (stage, value) in [("development", "laptop"), ("production", "server")] {
            std::fs::write(
                folder.path().join(format!(".env.{stage}")),
                format!("SELVEDGE_T_STAGE={value}\n"),
            )
            .unwrap();
        }

        let stage = |default: &str| {
            let environment = Environment::load(folder.path(), default).unwrap();
            environment.get("SELVEDGE_T_STAGE").map(str::to_owned)
        };

        assert_eq!(stage("production").as_deref(), Some("server"));
        assert_eq!(stage("development").as_deref(), Some("laptop"));
    }

    #[test]
    fn prod_006_only_the_process_names_files_with_secrets() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(".env");
        std::fs::write(
            &file,
            "SELVEDGE_T_A_FILE=/run/a\nSELVEDGE_T_B_FILE=/etc/shadow\nCREDENTIALS_DIRECTORY=/etc\n",
        )
        .unwrap();
        let credentials = folder.path().display().to_string();
        std::fs::write(folder.path().join("SELVEDGE_T_C"), "c").unwrap();

        let variables = [
            ("SELVEDGE_T_A_FILE", "/run/a"),
            (CREDENTIALS, credentials.as_str()),
        ];
        let mut environment = Environment::from_iter(variables);
        environment.add_file(&file).unwrap();
        let find = |name: &str| environment.find_secret_file(name);

        // Also where a file of the project says the same, as one does that Compose or systemd has read.
        assert_eq!(
            find("SELVEDGE_T_A"),
            Ok(Some(("SELVEDGE_T_A_FILE".to_owned(), "/run/a".into())))
        );
        assert_eq!(find("SELVEDGE_T_B"), Err("SELVEDGE_T_B_FILE".to_owned()));
        let credential = folder.path().join("SELVEDGE_T_C");
        assert_eq!(
            find("SELVEDGE_T_C"),
            Ok(Some((CREDENTIALS.to_owned(), credential)))
        );
        assert_eq!(find("SELVEDGE_T_D"), Ok(None));
        // A link that leads nowhere is a credential that cannot be read, and not one that nobody gave.
        let dangling = folder.path().join("SELVEDGE_T_D");
        std::os::unix::fs::symlink("/nowhere", &dangling).unwrap();
        assert_eq!(find("SELVEDGE_T_D"), Ok(Some((CREDENTIALS.to_owned(), dangling))));
    }

    #[test]
    fn gw_029_an_invalid_env_file_is_named_without_quoting_it() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(".env"), "this is hunter2\n").unwrap();

        let message = Environment::load(folder.path(), "development").unwrap_err();

        assert!(
            message.contains(".env") && !message.contains("hunter2"),
            "{message}"
        );
    }
}
