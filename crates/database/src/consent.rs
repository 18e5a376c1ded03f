//! Asks before something is destroyed that cannot be brought back.

use std::io::IsTerminal;

use anyhow::{Result, bail};
use selvedge_config::Config;
use selvedge_terminal::ask_question;

use crate::external::ExternalDatabase;
use crate::target::TargetDatabase;

/// Lets a command go on that empties a database. The project's own may be emptied without a question by scripts, as with the
/// Supabase CLI; one on this machine takes `--yes`; one on another machine takes the name of that machine, typed or as
/// `--yes=HOST`, because `--yes` stands in scripts that were written for another target.
///
/// # Errors
/// When nobody agrees. Nothing was changed then.
pub fn agree_to_empty(target: &TargetDatabase, yes: Option<&str>) -> Result<()> {
    match target {
        TargetDatabase::Running(_) => agree_to_empty_own(yes),
        TargetDatabase::External(database) => agree_to_empty_external(database, yes),
    }
}

/// As [`agree_to_empty`], for the project's own database, also while it does not run. Whoever names a host means another one.
///
/// # Errors
/// When `--yes` names a host.
pub fn agree_to_empty_own(yes: Option<&str>) -> Result<()> {
    match yes {
        None | Some("") => Ok(()),
        Some(given) => bail!(
            "--yes={given} does not name the target, which is the project's own database. Nothing was changed"
        ),
    }
}

/// As [`agree_to_empty`], for a database that this program does not run.
///
/// # Errors
/// When nobody agrees.
pub fn agree_to_empty_external(database: &ExternalDatabase, yes: Option<&str>) -> Result<()> {
    let (host, place) = (database.name_to_type(), database.describe());
    match yes {
        Some("") if database.needs_no_name() => return Ok(()),
        Some("") => {
            bail!("this deletes every row of {place}: for what is not this project's own say --yes={host}")
        }
        Some(given) if given == host => return Ok(()),
        Some(given) if given == database.address() && database.host_names() == host => return Ok(()),
        Some(given) => bail!("--yes={given} does not name the target, which is {place}. Nothing was changed"),
        None if !std::io::stdin().is_terminal() => {
            bail!("this deletes every row of {place}: say so with --yes={host}")
        }
        None => {}
    }
    let question = format!("This deletes every row of {place}. Type {host} to go on: ");
    if ask_question(&question)? == host {
        return Ok(());
    }
    bail!("nothing was changed");
}

/// Lets a command go on that deletes the project's own database and objects: by `--yes`, or by typing the project's name.
///
/// # Errors
/// When nobody agrees.
pub fn agree_to_delete_project(config: &Config, yes: bool) -> Result<()> {
    if yes {
        return Ok(());
    }
    let id = &config.project.id;
    if !std::io::stdin().is_terminal() {
        bail!("reset deletes every row and object of {id}: say so with --yes");
    }
    let question = format!("This deletes every row and object of {id}. Type the project's name to go on: ");
    if ask_question(&question)? == *id {
        return Ok(());
    }
    bail!("nothing was changed");
}
