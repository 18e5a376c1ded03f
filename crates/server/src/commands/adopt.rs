//! `selvedge storage adopt`: says that all stored objects are of one database, so that this one removes bytes without an object again, and no
//! other one does.

use anyhow::{Context, Result, bail};
use selvedge_config::Config;
use selvedge_database::external::ExternalDatabase;
use selvedge_database::objects_owner::ObjectsOwner;
use selvedge_database::target::TargetDatabase;
use selvedge_database::{embedded, service_logins};
use selvedge_postgres::Logins;
use selvedge_storage::{OwnersNote, adopt_store};
use selvedge_terminal::{DIM, GOOD};

use crate::cli::{AdoptArgs, StorageAction};
use crate::services;

/// Runs `selvedge storage`.
///
/// # Errors
/// When nobody has agreed by the database's name, or the database or the store cannot be reached.
pub(super) async fn run(config: &Config, action: &StorageAction) -> Result<()> {
    let StorageAction::Adopt(args) = action;
    match TargetDatabase::find_required(config).await? {
        TargetDatabase::External(external) => adopt_for_other(config, args, &external).await,
        TargetDatabase::Running(running) => {
            let own = ObjectsOwner::Own;
            agree(args, own.name(), &config.project.id)?;
            let note = own.note_for_storage(config, None).await?;
            let logins = service_logins(|role| embedded::login_to_running(&running, role));
            adopt(config, &own, note, logins).await
        }
    }
}

/// For a database on another server.
async fn adopt_for_other(config: &Config, args: &AdoptArgs, external: &ExternalDatabase) -> Result<()> {
    agree(args, &external.describe(), &external.name_to_type())?;
    let session = external.connect().await?;
    let session: &tokio_postgres::Client = &session;
    let owner = ObjectsOwner::of_session(config, session, &external.describe()).await?;
    let note = owner.note_for_storage(config, Some(session)).await?;
    let logins = external.logins(config.console.schema_changes);
    adopt(config, &owner, note, logins).await
}

/// Asks for the name of the database, which a script cannot give by accident.
fn agree(args: &AdoptArgs, target: &str, name: &str) -> Result<()> {
    if args.yes.as_deref() != Some(name) {
        bail!(
            "this lets {target} remove stored bytes to which it has no object, also those of other databases. Nothing was changed\n  look \
             first:  selvedge sweep --dry-run\n  say that all stored objects are of that database:  --yes={name}"
        );
    }
    Ok(())
}

async fn adopt(config: &Config, owner: &ObjectsOwner, note: OwnersNote, logins: Logins) -> Result<()> {
    let is_folder = config.selvedge.s3.is_none();
    if is_folder {
        owner.take(config)?;
    }
    let storage = services::open_storage(config, logins, is_folder.then_some(note)).await?;
    let removed = adopt_store(&storage)
        .await
        .context("the marks in the store of objects could not be changed")?;
    anstream::println!("{GOOD}adopted{GOOD:#} all stored objects for {}", owner.name());
    for mark in removed {
        anstream::println!("  {DIM}removed the mark {mark}{DIM:#}");
    }
    Ok(())
}
