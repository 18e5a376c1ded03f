//! What `selvedge setup` has made on this machine: kept in a file, so that `--uninstall` takes back that and nothing else.

use std::collections::BTreeSet;
use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use selvedge_project_trust::write_private_file;
use serde::{Deserialize, Serialize};

use super::answers::Answers;
use super::places::PROGRAM;
use super::undo::Undo;

/// The record of a machine.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Record {
    #[serde(skip)]
    path: PathBuf,
    /// What was said at the last run.
    #[serde(default)]
    pub(super) answers: Answers,
    /// How to take back what was made, in the order in which it was made.
    #[serde(default)]
    pub(super) made: Vec<Undo>,
    /// The project's config.toml, where it had one at the last run.
    #[serde(default)]
    pub(super) config_file: Option<PathBuf>,
    /// All data folders that the server of this machine has had.
    #[serde(default)]
    pub(super) homes: BTreeSet<PathBuf>,
    /// Those of them whose server has answered: a database is there, or was.
    #[serde(default)]
    pub(super) served: BTreeSet<PathBuf>,
    /// The first accounts of the console that were made or found, with their data folders: whoever removes one gets it back by no later run.
    #[serde(default)]
    accounts: BTreeSet<(PathBuf, String)>,
    /// Units that run with what was before a file of theirs was written. Noted before it is, so that a later run restarts them where this one
    /// was cut off.
    #[serde(default)]
    owed: BTreeSet<String>,
    /// Whether the program was put in its place by people, and may be replaced, but is not removed with the rest.
    #[serde(default)]
    pub(super) has_program_of_people: bool,
}

impl Record {
    /// Reads the record; an empty one where nothing was made.
    ///
    /// # Errors
    /// When the file cannot be read, or is damaged.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = match std::fs::read(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => b"{}".to_vec(),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => bail!(
                "this machine was set up already, and what was made is for root to read\n  run it as root:  sudo selvedge setup …"
            ),
            read => read.with_context(|| format!("cannot read {}", path.display()))?,
        };
        let record: Self =
            serde_json::from_slice(&text).with_context(|| format!("{} is damaged", path.display()))?;
        Ok(Self {
            path: path.to_owned(),
            ..record
        })
    }

    /// Notes how to take a step back, before it is made: what was begun can be taken back as well.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn add(&mut self, undo: Undo) -> Result<()> {
        let is_of_people = self.has_program_of_people && undo == Undo::File(PROGRAM.into());
        if is_of_people || self.made.contains(&undo) {
            return Ok(());
        }
        self.made.push(undo);
        self.write()
    }

    /// Removes an entry.
    ///
    /// # Errors
    /// As [`Record::add`].
    pub(super) fn forget(&mut self, undo: &Undo) -> Result<()> {
        self.made.retain(|made| made != undo);
        self.write()
    }

    /// Keeps the answers for the next run.
    ///
    /// # Errors
    /// As [`Record::add`].
    pub(super) fn keep_answers(&mut self, answers: &Answers) -> Result<()> {
        self.answers = answers.clone();
        self.homes.insert(answers.home.clone());
        self.write()
    }

    /// Notes that the server of this machine has answered with this data folder.
    ///
    /// # Errors
    /// As [`Record::add`].
    pub(super) fn note_served(&mut self, home: &Path) -> Result<()> {
        match self.served.insert(home.to_owned()) {
            true => self.write(),
            false => Ok(()),
        }
    }

    /// Notes that the data folder of the answers has this account, or had it.
    ///
    /// # Errors
    /// As [`Record::add`].
    pub(super) fn note_account(&mut self, name: &str) -> Result<()> {
        match self.accounts.insert((self.answers.home.clone(), name.to_owned())) {
            true => self.write(),
            false => Ok(()),
        }
    }

    /// Forgets the accounts of a database that is lost. [`Record::keep_answers`] writes it.
    pub(super) fn forget_accounts(&mut self, home: &Path) {
        self.accounts.retain(|(noted, _)| noted != home);
    }

    /// Whether an account was noted.
    pub(super) fn had_account(&self, name: &str) -> bool {
        self.accounts
            .contains(&(self.answers.home.clone(), name.to_owned()))
    }

    /// Whether packages of the distribution are among what was made.
    pub(super) fn has_packages(&self) -> bool {
        self.made.iter().any(|undo| matches!(undo, Undo::Packages(_)))
    }

    /// Notes that units are to be restarted.
    ///
    /// # Errors
    /// As [`Record::add`].
    pub(super) fn owe_restarts(&mut self, units: &[&str]) -> Result<()> {
        let before = self.owed.len();
        self.owed.extend(units.iter().map(|unit| (*unit).to_owned()));
        match self.owed.len() == before {
            true => Ok(()),
            false => self.write(),
        }
    }

    /// Whether a unit is to be restarted.
    pub(super) fn owes_restart(&self, unit: &str) -> bool {
        self.owed.contains(unit)
    }

    /// Notes that a unit was restarted.
    ///
    /// # Errors
    /// As [`Record::add`].
    pub(super) fn has_restarted(&mut self, unit: &str) -> Result<()> {
        match self.owed.remove(unit) {
            true => self.write(),
            false => Ok(()),
        }
    }

    /// Keeps where the data are and whose they are, when all that was made is taken back: otherwise a later run would begin an empty database
    /// somewhere else. Where nothing was served, removes the file, and its folder if nothing else is in that. Returns whether it stays.
    ///
    /// # Errors
    /// As [`Record::add`].
    pub(super) fn close(self) -> Result<bool> {
        if self.served.is_empty() {
            self.remove();
            return Ok(false);
        }
        let kept = Self {
            answers: Answers {
                home: self.answers.home,
                project: self.answers.project,
                ..Answers::default()
            },
            made: Vec::new(),
            owed: BTreeSet::new(),
            has_program_of_people: false,
            ..self
        };
        kept.write()?;
        Ok(true)
    }

    fn remove(self) {
        let _ = std::fs::remove_file(&self.path);
        if let Some(folder) = self.path.parent() {
            let _ = std::fs::remove_dir(folder);
        }
    }

    fn write(&self) -> Result<()> {
        let explain = || format!("cannot write {}", self.path.display());
        if let Some(folder) = self.path.parent() {
            let made = DirBuilder::new().recursive(true).mode(0o755).create(folder);
            made.with_context(explain)?;
        }
        let text = serde_json::to_string_pretty(self).with_context(explain)?;
        write_private_file(&self.path, &text).with_context(explain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prod_008_a_restart_that_is_owed_is_known_to_the_next_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("selvedge/setup.json");
        let mut record = Record::read(&path).unwrap();

        record.owe_restarts(&["a.service"]).unwrap();
        let mut again = Record::read(&path).unwrap();
        let owed = (again.owes_restart("a.service"), again.owes_restart("b.service"));
        again.has_restarted("a.service").unwrap();
        let left = Record::read(&path).unwrap();

        assert_eq!(owed, (true, false));
        assert!(!left.owes_restart("a.service"));
    }

    #[test]
    fn prod_008_what_was_made_is_known_to_the_next_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("selvedge/setup.json");
        let mut record = Record::read(&path).unwrap();
        let (first, second) = (Undo::File("/a".into()), Undo::Service("b.service".to_owned()));

        record.add(first.clone()).unwrap();
        record.add(second.clone()).unwrap();
        record.add(first.clone()).unwrap();
        let answers = Answers {
            domains: vec!["a.example".to_owned()],
            ..Answers::default()
        };
        record.keep_answers(&answers).unwrap();
        let mut again = Record::read(&path).unwrap();

        assert_eq!(
            (&again.answers, &again.made),
            (&answers, &vec![first.clone(), second.clone()])
        );
        again.forget(&second).unwrap();
        let left = Record::read(&path).unwrap();
        assert_eq!(left.made, [first]);
        assert!(!left.close().unwrap());
        assert!(!path.parent().unwrap().exists());
        std::fs::create_dir(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "{").unwrap();
        assert!(Record::read(&path).is_err());
    }

    #[test]
    fn prod_008_where_the_data_are_is_known_after_all_was_taken_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("selvedge/setup.json");
        let mut record = Record::read(&path).unwrap();
        let answers = Answers {
            domains: vec!["a.example".to_owned()],
            home: "/data/home".into(),
            project: "/srv/shop".into(),
            ..Answers::default()
        };
        record.keep_answers(&answers).unwrap();
        record.note_served(&answers.home).unwrap();
        record.add(Undo::Service("b.service".to_owned())).unwrap();

        assert!(record.close().unwrap());

        let left = Record::read(&path).unwrap();
        assert_eq!((left.answers.home, left.made), (answers.home.clone(), Vec::new()));
        assert_eq!(left.answers.project, answers.project);
        assert_eq!(left.answers.domains, Vec::<String>::new());
        assert!(left.served.contains(&answers.home));
    }

    #[test]
    fn prod_008_a_program_of_people_is_replaced_and_never_removed() {
        let folder = tempfile::tempdir().unwrap();
        let mut record = Record::read(&folder.path().join("setup.json")).unwrap();

        record.has_program_of_people = true;
        record.add(Undo::File(PROGRAM.into())).unwrap();

        assert_eq!(record.made, Vec::new());
    }

    #[test]
    fn prod_008_an_account_that_was_there_is_made_once_for_each_data_folder() {
        let folder = tempfile::tempdir().unwrap();
        let mut record = Record::read(&folder.path().join("setup.json")).unwrap();

        record.note_account("admin").unwrap();
        let had = (record.had_account("admin"), record.had_account("ana"));
        record.answers.home = "/data/other".into();

        assert_eq!((had, record.had_account("admin")), ((true, false), false));
        record.answers.home = Answers::default().home;
        assert!(record.had_account("admin"));
        record.forget_accounts(&Answers::default().home);
        assert!(!record.had_account("admin"));
    }
}
