//! How a change of the machine is taken back.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use nix::unistd::User;
use serde::{Deserialize, Serialize};

use super::packages;
use super::process::Command;

/// How a step is taken back. It is kept in a file between two runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Undo {
    Packages(Vec<String>),
    User(String),
    /// Only where it is empty.
    Folder(PathBuf),
    /// With all that is in it.
    Tree(PathBuf),
    File(PathBuf),
    /// Only with this text: people may have written into it.
    Unchanged(PathBuf, String),
    Service(String),
}

impl Undo {
    /// Takes the step back, and returns a sentence where something stays.
    ///
    /// # Errors
    /// What could not be done.
    pub(super) fn apply(&self) -> Result<Option<String>> {
        match self {
            Self::Packages(names) => return packages::remove(names),
            Self::User(name) => {
                if User::from_name(name)?.is_some() {
                    Command::new(&["userdel", name]).run()?;
                }
            }
            Self::Folder(path) => match fs::remove_dir(path) {
                Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {
                    return Ok(Some(format!("{self}, as something is in it")));
                }
                Err(error) if error.kind() == ErrorKind::ResourceBusy => {
                    return Ok(Some(format!("{self}, as a disk is mounted there")));
                }
                removed => check_removed(path, removed)?,
            },
            Self::Tree(path) => check_removed(path, fs::remove_dir_all(path))?,
            Self::File(path) => {
                let _ = fs::remove_file(unfinished(path));
                check_removed(path, fs::remove_file(path))?;
            }
            Self::Unchanged(path, text) => match fs::read_to_string(path) {
                Ok(found) if found != *text => {
                    return Ok(Some(format!("{self}, as people have written into it")));
                }
                _ => check_removed(path, fs::remove_file(path))?,
            },
            Self::Service(unit) => {
                Command::new(&["systemctl", "disable", "--quiet", "--now", unit])
                    .may_fail()
                    .run()?;
            }
        }
        Ok(None)
    }
}

impl Undo {
    /// What `--dry-run` prints of it.
    pub(super) fn plan(&self) -> String {
        match self {
            Self::Folder(_) => format!("{self}, if nothing is in it"),
            Self::Unchanged(..) => format!("{self}, if nobody has written into it"),
            Self::User(_) => format!("{self}, if no data are left that belong to it"),
            Self::Packages(names) => {
                let ours = names.iter().filter(|name| name.starts_with(packages::OURS));
                let ours: Vec<&str> = ours.map(String::as_str).collect();
                format!("packages {}, if no other PostgreSQL runs", ours.join(", "))
            }
            _ => self.to_string(),
        }
    }
}

impl std::fmt::Display for Undo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Packages(names) => write!(f, "packages {}", names.join(", ")),
            Self::User(name) => write!(f, "user {name}"),
            Self::Folder(path) | Self::Tree(path) => write!(f, "folder {}", path.display()),
            Self::File(path) | Self::Unchanged(path, _) => write!(f, "file {}", path.display()),
            Self::Service(unit) => write!(f, "service {unit}"),
        }
    }
}

/// The outcome of a removal. What is gone already is removed.
fn check_removed(path: &Path, removed: std::io::Result<()>) -> Result<()> {
    match removed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed.with_context(|| format!("cannot remove {}", path.display())),
    }
}

/// Where a file is until it is whole.
pub(super) fn unfinished(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    name.into()
}
