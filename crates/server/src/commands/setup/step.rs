//! One change of the machine, as data: printed by `--dry-run`, made, and taken back by `--uninstall`.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use nix::unistd::{Group, User};
use secrecy::{ExposeSecret as _, SecretString};
use selvedge_terminal::BOLD;

use super::answers::ACCOUNT;
use super::folder::{self, is_empty, is_own, open_folder};
use super::packages;
use super::places::{COMMAND, POSTGRES_UNIT, PROGRAM, PROGRAMS, SERVER_UNIT, USER};
use super::process::Command;
use super::ready;
use super::record::Record;
use super::undo::{Undo, unfinished};

/// The program that runs, whatever is at its path by now.
const RUNNING: &str = "/proc/self/exe";

/// A change of the machine. Making it twice is making it once.
#[derive(Debug)]
pub(super) enum Step {
    /// Packages of the distribution.
    Packages(Vec<&'static str>),
    /// A user of the system with a group of its own, who cannot log in.
    User(&'static str),
    Folder {
        path: PathBuf,
        mode: u32,
        owner: Owner,
        /// Whether what is in it can be made again, so that it goes with the folder.
        is_disposable: bool,
    },
    File {
        path: PathBuf,
        content: Content,
        mode: u32,
        owner: Owner,
    },
    /// A unit that is started now and with the machine.
    Service {
        unit: &'static str,
        /// Whether it is restarted when a file before it has changed.
        restarts: bool,
    },
    /// The first answer of the server, whose data folder this is.
    Ready(PathBuf),
    /// An account of the console.
    Account { name: String, password: SecretString },
    /// A command that may run again at any time.
    Run(Command),
}

/// To whom a folder or a file belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    Root,
    /// Root's, and readable by the server's group.
    RootForServer,
    Server,
}

/// What is in a file.
pub(super) enum Content {
    Text(String),
    /// Never printed.
    Secret(SecretString),
    /// Where nothing is there: people write into it.
    Initial(String),
    /// The program that runs now, whatever is at its path by now.
    ThisProgram(PathBuf),
}

impl Step {
    /// How it is taken back, known before it is made; `None` where nothing of it stays, or that stays for ever.
    ///
    /// # Errors
    /// When the machine does not tell which packages will come.
    pub(super) fn undo(&self) -> Result<Option<Undo>> {
        Ok(match self {
            Self::Ready(_) | Self::Account { .. } | Self::Run(_) => None,
            Self::Packages(names) => Some(Undo::Packages(packages::list_new(names)?)),
            Self::User(name) => Some(Undo::User((*name).to_owned())),
            Self::Folder {
                path,
                is_disposable: true,
                ..
            } => Some(Undo::Tree(path.clone())),
            Self::Folder { path, .. } => Some(Undo::Folder(path.clone())),
            Self::File {
                path,
                content: Content::Initial(text),
                ..
            } => Some(Undo::Unchanged(path.clone(), text.clone())),
            Self::File { path, .. } => Some(Undo::File(path.clone())),
            Self::Service { unit, .. } => Some(Undo::Service((*unit).to_owned())),
        })
    }

    /// The units that run with what was before this step.
    pub(super) fn units_to_restart(&self) -> &'static [&'static str] {
        match self {
            // One that people have written already stays as it is, but for who may read it.
            Self::File {
                path,
                content: Content::Initial(_),
                ..
            } if path.exists() => &[],
            Self::File { path, .. } if path != Path::new(COMMAND) => &[SERVER_UNIT],
            Self::Folder { path, .. } if path == Path::new(PROGRAMS) => &[POSTGRES_UNIT, SERVER_UNIT],
            _ => &[],
        }
    }

    /// Whether the machine is so already.
    ///
    /// # Errors
    /// What cannot be read.
    pub(super) fn is_done(&self, record: &Record) -> Result<bool> {
        Ok(match self {
            Self::Packages(names) => packages::are_installed(names)?,
            Self::User(name) => User::from_name(name)?.is_some(),
            Self::Folder {
                path, mode, owner, ..
            } => match open_folder(path)? {
                Some(folder) => {
                    let meta = folder.metadata()?;
                    owner.owns(&meta)? && meta.mode() & 0o7777 == *mode
                }
                None => false,
            },
            Self::File {
                path,
                content: Content::Initial(_),
                ..
            } => path.symlink_metadata().is_ok_and(|meta| !is_open_to_all(&meta)),
            Self::File {
                path,
                content,
                mode,
                owner,
            } => match path.symlink_metadata() {
                Ok(meta) => {
                    meta.is_file()
                        && meta.mode() & 0o7777 == *mode
                        && owner.owns(&meta)?
                        && content.is_in(path)?
                }
                Err(error) if error.kind() == ErrorKind::NotFound => false,
                Err(error) => return Err(error).with_context(|| path.display().to_string()),
            },
            Self::Service { unit, .. } => {
                let is = |question: &str| Command::new(&["systemctl", question, "--quiet", unit]).succeeds();
                is("is-enabled")? && is("is-active")? && !record.owes_restart(unit)
            }
            Self::Account { name, .. } => {
                let list = Command::new(&[COMMAND, "console", "user", "list"]);
                record.had_account(name) || has_account(&list.output()?, name)
            }
            Self::Ready(_) | Self::Run(_) => false,
        })
    }

    /// Refuses to replace what somebody else has made.
    ///
    /// # Errors
    /// What is there, and how to go on.
    pub(super) fn check(&self, record: &Record) -> Result<()> {
        match self {
            Self::File {
                content: Content::Initial(_),
                ..
            } => Ok(()),
            Self::File { path, content, .. } => {
                let is_own = record.made.contains(&Undo::File(path.clone()))
                    || (record.has_program_of_people && path == Path::new(PROGRAM));
                match path.symlink_metadata() {
                    Ok(meta) if !is_own && (!meta.is_file() || !content.is_in(path)?) => bail!(
                        "{} is there, and `selvedge setup` has not written it\n  look at it, and move it away:  mv {0} {0}.old",
                        path.display()
                    ),
                    _ => Ok(()),
                }
            }
            Self::Folder { path, owner, .. } => check_folder(path, *owner),
            Self::User(name) => match (User::from_name(name)?, Group::from_name(name)?) {
                (Some(_), None) | (None, Some(_)) => bail!(
                    "this machine has a user or a group {name} and not both\n  look at what has them:  getent passwd {name}; getent group {name}"
                ),
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Makes the change.
    ///
    /// # Errors
    /// What could not be done.
    pub(super) fn apply(&self, record: &Record) -> Result<()> {
        match self {
            Self::Packages(names) => packages::install(names).run(),
            Self::User(_) | Self::Run(_) => self.run_commands(),
            Self::Folder {
                path, mode, owner, ..
            } => folder::make_folder(path, *mode, owner.require_ids()?),
            Self::File {
                path,
                content,
                mode,
                owner,
            } if matches!(content, Content::Initial(_)) && path.symlink_metadata().is_ok() => {
                close_to_all(path, *mode, *owner).with_context(|| path.display().to_string())
            }
            Self::File {
                path,
                content,
                mode,
                owner,
            } => write_file(path, content, *mode, *owner)
                .with_context(|| format!("cannot write {}", path.display())),
            Self::Service { unit, restarts } => {
                let restarts = *restarts || record.owes_restart(unit);
                start(unit, restarts).iter().try_for_each(Command::run)
            }
            Self::Ready(home) => ready::wait_until_ready(home),
            Self::Account { name, password } => {
                // Said before it counts: whatever fails from here on, somebody has read it.
                anstream::println!(
                    "  account        {name} of the console gets the password {BOLD}{}{BOLD:#} (shown once)",
                    password.expose_secret()
                );
                self.run_commands()
            }
        }
    }

    fn run_commands(&self) -> Result<()> {
        self.commands().iter().try_for_each(Command::run)
    }

    /// The commands that it runs.
    pub(super) fn commands(&self) -> Vec<Command> {
        match self {
            Self::Packages(names) => packages::prepare()
                .into_iter()
                .chain([packages::install(names)])
                .collect(),
            Self::User(name) => vec![Command::new(&[
                "useradd",
                "--system",
                "--user-group",
                "--no-create-home",
                "--home-dir",
                "/nonexistent",
                "--shell",
                "/usr/sbin/nologin",
                name,
            ])],
            Self::Folder { .. } | Self::File { .. } => Vec::new(),
            Self::Service { unit, restarts } => start(unit, *restarts),
            Self::Ready(_) => vec![ready::question()],
            Self::Account { name, password } => {
                let add = [COMMAND, "console", "user", "add", name, "--level", "admin"];
                vec![Command::new(&add).with_input(password.clone())]
            }
            Self::Run(command) => vec![command.clone()],
        }
    }

    /// Whether it may take so long that people should know what they wait for.
    pub(super) fn is_slow(&self) -> bool {
        matches!(
            self,
            Self::Packages(_) | Self::Service { .. } | Self::Ready(_) | Self::Run(_)
        )
    }

    /// What is done, in one line.
    pub(super) fn title(&self) -> String {
        match self {
            Self::Packages(names) => format!("packages {}", names.join(", ")),
            Self::User(name) => format!("user {name}"),
            Self::Folder {
                path, mode, owner, ..
            } => {
                format!("folder {} ({mode:04o} {})", path.display(), owner.name())
            }
            Self::File {
                path, mode, owner, ..
            } => {
                format!("file {} ({mode:04o} {})", path.display(), owner.name())
            }
            Self::Service { unit, .. } => format!("service {unit}"),
            Self::Ready(_) => "the server's first answer".to_owned(),
            Self::Account { name, .. } => format!("account {name} of the console"),
            Self::Run(command) => format!("command {command}"),
        }
    }

    /// What `--dry-run` prints below the title: the file's text, or the commands.
    pub(super) fn details(&self) -> String {
        match self {
            Self::File { content, .. } => match content {
                Content::Text(text) | Content::Initial(text) => text.clone(),
                Content::Secret(_) => "(a secret)".to_owned(),
                Content::ThisProgram(source) => format!("(a copy of {})", source.display()),
            },
            Self::Run(_) => String::new(),
            _ => self
                .commands()
                .iter()
                .map(|command| format!("{command}\n"))
                .collect(),
        }
    }
}

impl Owner {
    fn name(self) -> String {
        match self {
            Self::Root => "root:root".to_owned(),
            Self::RootForServer => format!("root:{USER}"),
            Self::Server => format!("{USER}:{USER}"),
        }
    }

    /// Numbers of user and group. Before the server's user is made, nothing is its.
    fn ids(self) -> Result<Option<(u32, u32)>> {
        let user = || Ok::<_, nix::Error>(User::from_name(USER)?.map(|user| user.uid.as_raw()));
        let group = || Ok::<_, nix::Error>(Group::from_name(USER)?.map(|group| group.gid.as_raw()));
        Ok(match self {
            Self::Root => Some((0, 0)),
            Self::RootForServer => group()?.map(|group| (0, group)),
            Self::Server => user()?.zip(group()?),
        })
    }

    fn owns(self, meta: &fs::Metadata) -> Result<bool> {
        Ok(self.ids()? == Some((meta.uid(), meta.gid())))
    }

    /// As [`Owner::ids`]. Fails where the machine does not have the user yet.
    fn require_ids(self) -> Result<(u32, u32)> {
        self.ids()?
            .with_context(|| format!("this machine has no user {USER}"))
    }
}

impl Content {
    fn read(&self) -> Result<Vec<u8>> {
        match self {
            Self::Text(text) | Self::Initial(text) => Ok(text.clone().into_bytes()),
            Self::Secret(secret) => Ok(secret.expose_secret().to_owned().into_bytes()),
            // Nobody may write into a program that runs, while somebody may put another one at its path.
            Self::ThisProgram(_) => fs::read(RUNNING).with_context(|| format!("cannot read {RUNNING}")),
        }
    }

    fn is_in(&self, path: &Path) -> Result<bool> {
        let found = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(found == self.read()?)
    }
}

impl std::fmt::Debug for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => write!(f, "Text({text:?})"),
            Self::Secret(_) => write!(f, "Secret"),
            Self::Initial(text) => write!(f, "Initial({text:?})"),
            Self::ThisProgram(source) => write!(f, "ThisProgram({source:?})"),
        }
    }
}

/// Whether the console has this account, or another admin where nobody has named one.
fn has_account(listed: &str, name: &str) -> bool {
    let mut accounts = listed.lines().filter_map(|line| {
        let (account, _) = line.rsplit_once(" since ")?;
        account.trim().split_once(' ')
    });
    accounts.any(|(level, found)| found.trim() == name || (name == ACCOUNT && level == "admin"))
}

/// Refuses a folder of somebody else, or one in which something is.
fn check_folder(path: &Path, owner: Owner) -> Result<()> {
    let Some(found) = open_folder(path)? else {
        return Ok(());
    };
    let meta = found.metadata()?;
    if owner.owns(&meta)? || (is_own(meta.uid()) && is_empty(&found)?) {
        return Ok(());
    }
    let make = match owner.ids()? {
        Some(_) => String::new(),
        None => {
            format!("useradd --system --user-group --no-create-home --shell /usr/sbin/nologin {USER} && ")
        }
    };
    bail!(
        "{} is there, and belongs to somebody else\n  to give it to {1}:  {make}chown -R {1} {0}",
        path.display(),
        owner.name()
    )
}

/// What starts a unit now and with the machine.
fn start(unit: &str, restarts: bool) -> Vec<Command> {
    let start = if restarts { "restart" } else { "start" };
    vec![
        Command::new(&["systemctl", "daemon-reload"]),
        Command::new(&["systemctl", "enable", "--quiet", unit]),
        Command::new(&["systemctl", start, unit]),
    ]
}

/// Whether everybody may read or change a file of root's.
fn is_open_to_all(meta: &fs::Metadata) -> bool {
    meta.is_file() && is_own(meta.uid()) && meta.mode() & 0o007 != 0
}

/// Takes a file of root's from everybody who is not to read it. What is in it stays.
fn close_to_all(path: &Path, mode: u32, owner: Owner) -> Result<()> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(nix::libc::O_NOFOLLOW)
        .open(path)?;
    if is_open_to_all(&file.metadata()?) {
        let (user, group) = owner.require_ids()?;
        fchown(&file, Some(user), Some(group))?;
        file.set_permissions(fs::Permissions::from_mode(mode))?;
    }
    Ok(())
}

/// Writes a file beside its place, with its rights from the beginning, and puts it there in one step: also while the old program runs.
///
/// # Errors
/// When it cannot be written. The old one stays.
pub(super) fn write_file(path: &Path, content: &Content, mode: u32, owner: Owner) -> Result<()> {
    let unfinished = unfinished(path);
    // A leftover of an interrupted run would keep its own rights.
    let _ = fs::remove_file(&unfinished);
    let written =
        write_unfinished(&unfinished, content, mode, owner).and_then(|()| Ok(fs::rename(&unfinished, path)?));
    if written.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    written
}

fn write_unfinished(path: &Path, content: &Content, mode: u32, owner: Owner) -> Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(&content.read()?)?;
    let (user, group) = owner.require_ids()?;
    fchown(&file, Some(user), Some(group))?;
    file.set_permissions(fs::Permissions::from_mode(mode))?;
    Ok(file.sync_all()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prod_008_an_account_is_known_by_its_whole_name_and_admin_by_any_admin() {
        let listed =
            "  viewer   ops x since 2026-11-30, 0 sessions\n  admin    zoe since 2026-11-30, 1 sessions\n";

        for (name, expected) in [
            ("zoe", true),
            ("ops x", true),
            ("x", false),
            ("ops", false),
            ("admin", true),
        ] {
            assert_eq!(has_account(listed, name), expected, "{name}");
        }
        assert!(!has_account(
            "  viewer   ana since 2026-11-30, 0 sessions",
            "admin"
        ));
        assert!(!has_account(
            "no accounts; make one with:  selvedge console user add NAME",
            "admin"
        ));
    }
}
