//! `selvedge sweep`: removes stored bytes that no object refers to, and lists objects whose bytes are lost. It may run
//! while the project does.

use anyhow::{Context, Result, bail};
use selvedge_storage::{SweepOptions, SweepReport};

use crate::cli::SweepArgs;
use crate::config::Config;
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
    check_that_files_are_its_own(config, args, &database)?;
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

/// Refuses to remove files for an external database when the project's own cluster may be the one that knows them: to the other
/// database each of them is a file without an object.
fn check_that_files_are_its_own(config: &Config, args: &SweepArgs, database: &TargetDatabase) -> Result<()> {
    let TargetDatabase::External(external) = database else {
        return Ok(());
    };
    let has_files = config.selvedge.s3.is_none() && embedded::has_cluster(config);
    let host = external.name_to_type();
    if args.dry_run || !has_files || args.yes.as_ref() == Some(&host) {
        return Ok(());
    }
    bail!(
        "{} may hold the objects of the project's own database, which this would remove, as {} does not know them. Nothing was \
         changed\n  look first:  --dry-run\n  or say that they are of that database:  --yes={host}",
        services::objects_folder(config).display(),
        external.describe()
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
