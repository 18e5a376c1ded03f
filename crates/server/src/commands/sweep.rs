//! `selvedge sweep`: removes stored bytes that no object refers to, and lists objects whose bytes are lost. It may run
//! while the project does.

use anyhow::{Context, Result, bail};
use selvedge_storage::{SweepOptions, SweepReport};

use crate::cli::SweepArgs;
use crate::config::Config;
use crate::database::objects_owner::{ObjectsOwner, list_owners};
use crate::database::target::TargetDatabase;
use crate::database::{embedded, service_logins};
use crate::output::{DIM, GOOD, WARN};
use crate::services;

/// Runs `selvedge sweep`.
///
/// # Errors
/// When the project does not run, or the database or the store cannot be read.
pub(super) async fn run(config: &Config, args: &SweepArgs) -> Result<()> {
    let database = TargetDatabase::find_required(config).await?;
    check_that_files_are_its_own(config, args, &database).await?;
    let logins = match &database {
        TargetDatabase::External(database) => database.logins(config.console.schema_changes),
        TargetDatabase::Running(running) => service_logins(|role| embedded::login_to_running(running, role)),
    };
    let storage = services::open_storage(config, logins).await?;
    let options = SweepOptions {
        older_than: args.older_than,
        remove_blobs: !args.dry_run,
        remove_rows: args.remove_objects && !args.dry_run,
    };
    let report = selvedge_storage::sweep(&storage, &options)
        .await
        .context("the store of objects could not be swept")?;
    match report {
        Some(report) => print_report(&report, &options),
        None => anstream::println!("another sweep is running"),
    }
    Ok(())
}

/// Refuses to remove files that may be the objects of another database: to this one each of them is a file without an object. Who says that they
/// are this one's by its name, becomes their owner.
async fn check_that_files_are_its_own(
    config: &Config,
    args: &SweepArgs,
    database: &TargetDatabase,
) -> Result<()> {
    if args.dry_run || config.selvedge.s3.is_some() {
        return Ok(());
    }
    let folder = services::objects_folder(config);
    let noted = list_owners(config)?;
    let (target, name) = match database {
        TargetDatabase::Running(_) => ("the project's own database".to_owned(), config.project.id.clone()),
        TargetDatabase::External(external) => (external.describe(), external.name_to_type()),
    };
    let is_agreed = args.yes.as_ref() == Some(&name);
    let owner = match database {
        TargetDatabase::Running(_) => Some(ObjectsOwner::Own),
        TargetDatabase::External(_) if noted.is_none() && embedded::has_cluster(config) && !is_agreed => None,
        TargetDatabase::External(external) => {
            Some(ObjectsOwner::of_session(&*external.connect().await?, &target).await?)
        }
    };
    match &owner {
        Some(owner) if is_agreed => return owner.take(config),
        Some(owner) if owner.is_alone(config, &folder)? => return Ok(()),
        _ => {}
    }
    let others: Vec<&str> = noted
        .iter()
        .flatten()
        .filter(|other| owner.as_ref() != Some(*other))
        .map(ObjectsOwner::name)
        .collect();
    bail!(
        "{} may hold the objects of {}, which this would remove, as {target} does not know them. Nothing was changed\n  look first:  \
         --dry-run\n  or say that all of them are of that database:  --yes={name}",
        folder.display(),
        match others.is_empty() {
            true => "the project's own database".to_owned(),
            false => others.join(" and "),
        }
    )
}

fn print_report(report: &SweepReport, options: &SweepOptions) {
    let removed = if options.remove_blobs { "removed" } else { "found" };
    anstream::println!("{GOOD}swept{GOOD:#} {} stored objects", report.blobs);
    anstream::println!(
        "  {removed} {} without an object {DIM}({} bytes){DIM:#}, {} unfinished writes",
        report.orphans,
        report.orphan_bytes,
        report.unfinished
    );
    if report.without_version > 0 {
        anstream::println!(
            "  {} objects were made by SQL and never had bytes",
            report.without_version
        );
    }
    if report.lost > 0 {
        let removed = if options.remove_rows { ", removed" } else { "" };
        anstream::println!(
            "  {WARN}{} objects have lost their bytes{removed}{WARN:#}",
            report.lost
        );
        for name in &report.lost_names {
            anstream::println!("    {name}");
        }
    }
}
