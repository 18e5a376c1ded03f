//! Finishes a `migration squash` that was cut off, on the database that it was begun on.

use anyhow::{Result, bail};
use selvedge_postgres::migrate::{SquashJournal, forget_migrations, list_migrations, record_migrations};
use selvedge_terminal::GOOD;
use tokio_postgres::Client;

use super::identity::find_identity;

/// Does what is left to do of a squash, if it was begun on the database of `client`. The files are deleted last: without the history they
/// would be missing.
///
/// # Errors
/// On another database, whose history need not have the migrations; and when somebody has changed a file that would be deleted. Then
/// nothing was changed.
pub async fn finish_squash(client: &mut Client, journal: SquashJournal) -> Result<()> {
    if !journal.is_of(&find_identity(client).await?) {
        return refuse_other_database(&journal);
    }
    check_history(client, &journal).await?;
    journal.check_older()?;
    correct_history(client, &journal).await?;
    complete_files(journal)
}

/// Refuses a history that is not the one with which the squash was begun, as after a restore of an older backup: statements of the one file would
/// count as applied that never ran.
async fn check_history(client: &Client, journal: &SquashJournal) -> Result<()> {
    let applied = list_migrations(client, &[]).await?;
    let is_applied = |version: &String| applied.iter().any(|status| status.version == *version);
    let older = journal.older_versions();
    if is_applied(&journal.last.version) && (older.iter().all(is_applied) || !older.iter().any(is_applied)) {
        return Ok(());
    }
    let lacking = std::iter::once(&journal.last.version).chain(&older);
    let lacking: Vec<&str> = lacking
        .filter(|version| !is_applied(version))
        .map(String::as_str)
        .collect();
    bail!(
        "`migration squash` was cut off, and the history of this database has changed since: it lacks {}. Nothing was changed\n  get the \
         files that were squashed from version control, and delete {}",
        lacking.join(", "),
        journal.folder().display()
    )
}

/// Deletes the files that are left to delete, and says that the squash is finished.
///
/// # Errors
/// When one has changed, or cannot be deleted.
pub fn complete_files(journal: SquashJournal) -> Result<()> {
    journal.delete_older()?;
    anstream::println!(
        "{GOOD}finished{GOOD:#} the squash into {}",
        journal.last.path.display()
    );
    Ok(journal.finish()?)
}

/// Lets the history of the database have the one migration in the place of all.
///
/// # Errors
/// When a query fails, or the file cannot be read.
pub async fn correct_history(client: &mut Client, journal: &SquashJournal) -> Result<()> {
    forget_migrations(client, &journal.older_versions()).await?;
    Ok(record_migrations(client, &[&journal.last]).await?)
}

/// Refuses to finish a squash on another database than the one that it was begun on, and names that one.
///
/// # Errors
/// Always.
pub fn refuse_other_database(journal: &SquashJournal) -> Result<()> {
    bail!(
        "`migration squash` was cut off, and was begun on another database than this one ({}). Nothing was changed\n  finish it there:  \
         selvedge migration squash (with that one's address)\n  or, if that one does not exist any more: get the files that were squashed \
         from version control, and delete {}",
        match journal.database_name() {
            "" => "an unknown one",
            name => name,
        },
        journal.folder().display()
    )
}
