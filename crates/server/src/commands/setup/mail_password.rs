//! The mail server's password: where it comes from, and how it is forgotten.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, Result, bail};
use secrecy::SecretString;
use selvedge_config::Environment;
use selvedge_terminal::ask_secret;

use super::answers::Answers;
use super::files::SMTP_PASSWORD;
use super::machine::Machine;
use super::places::{CREDENTIALS, SERVER_UNIT};
use super::plan::unit_file;
use super::process::Command;
use super::record::Record;
use super::step::{Content, Owner, write_file};
use super::undo::Undo;
use crate::cli::SetupArgs;

/// Names the file with the mail server's password.
const PASSWORD_FILE: &str = "SMTP_PASSWORD_FILE";

/// The mail server's password, where one is needed and was not kept before.
///
/// # Errors
/// When it is missing, or its file cannot be read.
pub(super) fn find(
    answers: &Answers,
    machine: &Machine,
    args: &SetupArgs,
    asks: bool,
) -> Result<Option<SecretString>> {
    let Some((host, Some(user))) = answers.mail_login() else {
        return Ok(None);
    };
    let environment = Environment::of_process();
    if let Some(path) = environment.get(PASSWORD_FILE) {
        let text =
            fs::read_to_string(path).with_context(|| format!("{PASSWORD_FILE}: cannot read {path}"))?;
        let text = text.trim_end_matches(['\r', '\n']);
        if text.is_empty() {
            bail!("{PASSWORD_FILE}: {path} is empty");
        }
        return Ok(Some(text.to_owned().into()));
    }
    match machine.has_password {
        true if !asks || args.smtp_url.is_none() => Ok(None),
        _ if asks => Ok(Some(ask_secret(&format!(
            "Password of {user} at the mail server {host}: "
        ))?)),
        // A dry run prints the name of the file with the password, and never the password itself.
        _ if args.dry_run => Ok(Some(String::new().into())),
        _ => bail!(
            "the password of {user} at the mail server {host} is missing: name a file with it by {PASSWORD_FILE}"
        ),
    }
}

/// Removes the password of another mail server or user, before the settings name this one: a run that is cut off then leaves none to be sent
/// to the wrong one. The unit does without it first, as systemd starts none whose credential is missing.
///
/// # Errors
/// When a file cannot be written or removed.
pub(super) fn forget_password(record: &mut Record) -> Result<()> {
    let path = Path::new(CREDENTIALS).join(SMTP_PASSWORD);
    match path.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        found => found.with_context(|| path.display().to_string())?,
    };
    let unit = unit_file(SERVER_UNIT);
    let unit = Path::new(&unit);
    if record.made.contains(&Undo::File(unit.to_owned()))
        && let Ok(text) = fs::read_to_string(unit)
        && let Some(without) = without_password(&text)
    {
        record.owe_restarts(&[SERVER_UNIT])?;
        write_file(unit, &Content::Text(without), 0o644, Owner::Root)
            .with_context(|| format!("cannot write {}", unit.display()))?;
        Command::new(&["systemctl", "daemon-reload"]).run()?;
    }
    fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))
}

/// The unit without its credential; `None` where it has none.
fn without_password(unit: &str) -> Option<String> {
    let names_it = |line: &str| line.starts_with(&format!("LoadCredential={SMTP_PASSWORD}:"));
    if !unit.lines().any(names_it) {
        return None;
    }
    let left = unit.lines().filter(|line| !names_it(line));
    Some(left.map(|line| format!("{line}\n")).collect())
}

#[cfg(test)]
mod tests {
    use super::super::files::server_unit;
    use super::*;

    #[test]
    fn prod_008_a_unit_without_its_password_is_the_one_that_never_had_it() {
        let answers = Answers::default();

        let without = without_password(&server_unit(&answers, true));

        assert_eq!(without, Some(server_unit(&answers, false)));
        assert_eq!(without_password(&server_unit(&answers, false)), None);
    }
}
