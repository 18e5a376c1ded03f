//! Takes back what `selvedge setup` has made. What cannot be removed stays in the record, and is tried again by another run.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use nix::unistd::geteuid;
use selvedge_terminal::{GOOD, WARN};

use super::confirm;
use super::places::{BACKUPS, PROGRAM, RECORD};
use super::process::Command;
use super::record::Record;
use super::undo::Undo;
use crate::cli::SetupArgs;

/// Takes back what was made, the last first.
pub(super) fn uninstall(mut record: Record, args: &SetupArgs) -> Result<()> {
    if record.made.is_empty() {
        bail!("{RECORD} names nothing that `selvedge setup` has made on this machine");
    }
    if args.dry_run {
        for undo in list_in_order(&record) {
            anstream::println!("remove {}", undo.plan());
        }
        return Ok(());
    }
    if !geteuid().is_root() {
        bail!("`selvedge setup --uninstall` must run as root");
    }
    confirm_uninstall(args)?;
    let failed = take_back(&mut record, |undo, record| match find_kept(record) {
        // Whoever is made next may get its number, and with that its files.
        Some(kept) if matches!(undo, Undo::User(_)) => {
            Ok(Some(format!("{undo}, as {} is its", kept.display())))
        }
        _ => undo.apply(),
    })?;
    Command::new(&["systemctl", "daemon-reload"]).may_fail().run()?;
    if !failed.is_empty() {
        bail!(
            "{} is still there; mend the cause and run `{PROGRAM} setup --uninstall` again",
            failed.join(", ")
        );
    }
    if record.close()? {
        anstream::println!(
            "  {WARN}stays{WARN:#}    {RECORD}, which says where the data are: another `selvedge setup` goes on with them"
        );
    }
    Ok(())
}

/// Asks before production is stopped. Nobody can be asked without a terminal.
fn confirm_uninstall(args: &SetupArgs) -> Result<()> {
    if args.yes {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        bail!("this stops the server and removes it\n  to do so without being asked:  --yes");
    }
    match confirm("Stop the server and remove it? Its data stay [y/N] ")? {
        true => Ok(()),
        false => bail!("nothing was changed"),
    }
}

/// A folder that has files of the server's user, or had them: it may be on a disk that is not mounted.
fn find_kept(record: &Record) -> Option<PathBuf> {
    let homes = record.homes.iter().map(PathBuf::as_path);
    let mut folders = homes.chain([Path::new(BACKUPS)]);
    let kept = folders.find(|folder| record.served.contains(*folder) || folder.exists());
    kept.map(Path::to_path_buf)
}

/// What was made from its end, but for the program: by that the rest can be tried again.
fn list_in_order(record: &Record) -> Vec<Undo> {
    let made = record.made.iter().rev().cloned();
    let (program, mut others): (Vec<Undo>, Vec<Undo>) =
        made.partition(|undo| *undo == Undo::File(PROGRAM.into()));
    others.extend(program);
    others
}

/// Takes back each step, also after one that fails, and returns those that have.
fn take_back(
    record: &mut Record,
    apply: impl Fn(&Undo, &Record) -> Result<Option<String>>,
) -> Result<Vec<String>> {
    let mut failed = Vec::new();
    for undo in list_in_order(record) {
        if !failed.is_empty() && undo == Undo::File(PROGRAM.into()) {
            anstream::println!("  {WARN}stays{WARN:#}    {undo}, for another try");
            continue;
        }
        match apply(&undo, record) {
            Ok(Some(stays)) => anstream::println!("  {WARN}stays{WARN:#}    {stays}"),
            Ok(None) => anstream::println!("  {GOOD}removed{GOOD:#}  {undo}"),
            Err(error) => {
                anstream::println!("  {WARN}failed{WARN:#}   {undo}: {error:#}");
                failed.push(undo.to_string());
                continue;
            }
        }
        record.forget(&undo)?;
    }
    Ok(failed)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use anyhow::anyhow;

    use super::*;

    #[test]
    fn prod_008_what_cannot_be_removed_keeps_nothing_else_and_is_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("setup.json");
        let mut record = Record::read(&path).unwrap();
        let program = Undo::File(PROGRAM.into());
        let made = [
            Undo::User("a".to_owned()),
            Undo::Folder("/b".into()),
            program.clone(),
            Undo::Service("c.service".to_owned()),
        ];
        for undo in &made {
            record.add(undo.clone()).unwrap();
        }
        let tried = RefCell::new(Vec::new());
        let take_back = |record: &mut Record, fails: bool| {
            take_back(record, |undo, _| {
                tried.borrow_mut().push(undo.clone());
                match fails && matches!(undo, Undo::Folder(_)) {
                    true => Err(anyhow!("a read-only file system")),
                    false => Ok(None),
                }
            })
        };

        let failed = take_back(&mut record, true).unwrap();

        assert_eq!(failed, ["folder /b"]);
        assert_eq!(*tried.borrow(), [&made[3], &made[1], &made[0]].map(Clone::clone));
        let mut again = Record::read(&path).unwrap();
        assert_eq!(again.made, [made[1].clone(), program.clone()]);
        tried.borrow_mut().clear();
        assert_eq!(take_back(&mut again, false).unwrap(), Vec::<String>::new());
        assert_eq!(*tried.borrow(), [made[1].clone(), program]);
        assert_eq!(Record::read(&path).unwrap().made, Vec::new());
    }

    #[test]
    fn prod_008_a_user_stays_also_while_the_disk_with_its_files_is_away() {
        let folder = tempfile::tempdir().unwrap();
        let mut record = Record::read(&folder.path().join("setup.json")).unwrap();
        let home = folder.path().join("away");
        record.homes.insert(home.clone());
        let before = find_kept(&record);

        record.note_served(&home).unwrap();

        assert_ne!(before, Some(home.clone()));
        assert_eq!(find_kept(&record), Some(home));
    }
}
