//! `selvedge sweep`: removes stored bytes that no object refers to, and lists objects whose bytes are lost. It may run
//! while the project does.

use anyhow::{Context, Result, bail};
use selvedge_config::Config;
use selvedge_database::external::ExternalDatabase;
use selvedge_database::objects_owner::{ObjectsOwner, list_owners, list_possible_owners, objects_folder};
use selvedge_database::target::TargetDatabase;
use selvedge_database::{embedded, service_logins, unfinished_import};
use selvedge_postgres::cluster::Cluster;
use selvedge_postgres::migrate::is_platform_older;
use selvedge_postgres::{Logins, PrivilegedSession};
use selvedge_storage::{OwnersNote, SweepOptions, SweepReport};
use selvedge_terminal::{DIM, GOOD, WARN};

use crate::cli::SweepArgs;
use crate::services;

/// Runs `selvedge sweep`. A project that does not run is started for that, and stopped afterwards.
///
/// # Errors
/// When the project has no database, or the database or the store cannot be read.
pub(super) async fn run(config: &Config, args: &SweepArgs) -> Result<()> {
    let Some(database) = TargetDatabase::find(config).await? else {
        return sweep_stopped(config, args).await;
    };
    let owners = match &database {
        TargetDatabase::External(external) => check_files_of_other(config, args, external).await?,
        TargetDatabase::Running(_) => check_own_files(config, args).await?,
    };
    // Whoever agrees to the name gives up the marks of other databases as well; in a folder only databases on other servers leave any.
    let adopts = matches!(&database, TargetDatabase::External(external) if args.yes.as_ref() == Some(&external.name_to_type()))
        && !leaves_files(config, args);
    let logins = match &database {
        TargetDatabase::External(database) => database.logins(config.console.schema_changes),
        TargetDatabase::Running(running) => service_logins(|role| embedded::login_to_running(running, role)),
    };
    sweep(config, args, logins, (owners, adopts)).await
}

/// Sweeps in a cluster that runs for this command alone.
async fn sweep_stopped(config: &Config, args: &SweepArgs) -> Result<()> {
    if !embedded::has_cluster(config) {
        bail!(
            "{} has no database that would know its objects\n  start it with:  selvedge start\n  or name another database with \
             --database-url",
            config.project.id
        );
    }
    let owners = check_own_files(config, args).await?;
    let cluster = embedded::start_cluster(config).await?;
    let outcome = async {
        let superuser = match args.dry_run {
            true => connect_unchanged(config, &cluster).await?,
            false => embedded::apply_platform_to(config, &cluster).await?,
        };
        if unfinished_import::find(&superuser).await?.is_some() {
            bail!(
                "an import into {} was cut off: go on with it, or discard it, before a sweep",
                config.project.id
            );
        }
        drop(superuser);
        let logins = service_logins(|role| embedded::service_login(&cluster, role));
        // The project's own cluster leaves no mark.
        sweep(config, args, logins, (owners, false)).await
    }
    .await;
    // The cluster is stopped before an error is returned, so that no PostgreSQL is left running.
    cluster.stop().await?;
    outcome
}

/// The superuser's connection to a database that is only looked at.
///
/// # Errors
/// When an older version of this program has made its platform schema: nothing but a change of it would let this version look.
async fn connect_unchanged(config: &Config, cluster: &Cluster) -> Result<PrivilegedSession> {
    let superuser = embedded::connect_privileged(&cluster.superuser_login()).await?;
    if is_platform_older(&superuser).await? {
        bail!(
            "the database of {} was last run by an older version, and --dry-run changes nothing\n  bring it up to date with:  selvedge start",
            config.project.id
        );
    }
    Ok(superuser)
}

async fn sweep(
    config: &Config,
    args: &SweepArgs,
    logins: Logins,
    (owners, adopts): (Option<OwnersNote>, bool),
) -> Result<()> {
    let storage = services::open_storage(config, logins, owners).await?;
    if adopts {
        selvedge_storage::adopt_store(&storage)
            .await
            .context("the marks in the store of objects could not be changed")?;
    }
    let options = SweepOptions {
        older_than: args.older_than,
        remove_blobs: !args.dry_run,
        remove_rows: args.remove_objects && !args.dry_run,
        remove_many: args.remove_many,
        keep_trash_for: match args.empty_trash {
            true => std::time::Duration::ZERO,
            false => SweepOptions::default().keep_trash_for,
        },
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

/// Whether no file is removed from the project's folder.
fn leaves_files(config: &Config, args: &SweepArgs) -> bool {
    args.dry_run || config.selvedge.s3.is_some()
}

/// Refuses to remove files that may be the objects of another database than the project's own: to this one each of them is a file without an
/// object. Who says that all are this one's by the project's name, makes it their owner. Returns what is asked again when the sweep begins.
async fn check_own_files(config: &Config, args: &SweepArgs) -> Result<Option<OwnersNote>> {
    let own = ObjectsOwner::Own;
    let name = &config.project.id;
    if leaves_files(config, args) {
        return Ok(None);
    }
    if args.yes.as_ref() == Some(name) {
        own.take(config)?;
    } else if !own.is_alone(config, &objects_folder(config))? {
        return refuse(config, own.name(), name);
    }
    Ok(Some(own.note_for_storage(config, None).await?))
}

/// As [`check_own_files`], for a database on another server and its host.
async fn check_files_of_other(
    config: &Config,
    args: &SweepArgs,
    external: &ExternalDatabase,
) -> Result<Option<OwnersNote>> {
    if leaves_files(config, args) {
        return Ok(None);
    }
    let (target, name) = (external.describe(), external.name_to_type());
    let is_agreed = args.yes.as_ref() == Some(&name);
    let has_note = list_owners(config)?.is_some();
    if !has_note && embedded::has_cluster(config) && !is_agreed {
        return refuse(config, &target, &name);
    }
    let session = external.connect().await?;
    let session: &tokio_postgres::Client = &session;
    let owner = ObjectsOwner::of_session(config, session, &target).await?;
    if is_agreed {
        owner.take(config)?;
    } else if !owner.is_alone(config, &objects_folder(config))? {
        return refuse(config, &target, &name);
    }
    Ok(Some(owner.note_for_storage(config, Some(session)).await?))
}

/// Says whose the files may be, and by which name somebody says that they are `target`'s.
fn refuse<T>(config: &Config, target: &str, name: &str) -> Result<T> {
    let folder = objects_folder(config);
    let mut others = list_possible_owners(config, &folder)?;
    others.retain(|other| other != target);
    bail!(
        "{} may hold the objects of {}, which this would remove, as {target} does not know them. Nothing was changed\n  look first:  \
         --dry-run\n  or say that all of them are of that database:  --yes={name}",
        folder.display(),
        match others.is_empty() {
            true => ObjectsOwner::Own.name().to_owned(),
            false => others.join(" and "),
        }
    )
}

/// Says what became of the bytes without an object, or what a sweep that removes them would refuse.
fn print_removal(report: &SweepReport, options: &SweepOptions) {
    let days = options.keep_trash_for.as_secs() / (24 * 3600);
    match (options.remove_blobs, days) {
        (false, _) => {
            if !report.others.is_empty() {
                anstream::println!(
                    "  {WARN}a sweep would be refused: the store is used by {} as well, see selvedge storage adopt{WARN:#}",
                    report.others.join(" and ")
                );
            }
            if report.has_many_orphans && !options.remove_many {
                anstream::println!(
                    "  {WARN}a sweep would be refused without --remove-many: more than a tenth of all have no object{WARN:#}"
                );
            }
        }
        (true, 0) => anstream::println!("  removed {}", report.removed),
        (true, days) => anstream::println!(
            "  moved {} to the trash {DIM}(their bytes are free in {days} days, or by --empty-trash){DIM:#}",
            report.removed
        ),
    }
}

fn print_report(report: &SweepReport, options: &SweepOptions) {
    anstream::println!("{GOOD}swept{GOOD:#} {} stored objects", report.blobs);
    anstream::println!(
        "  found {} without an object {DIM}({} bytes){DIM:#}, {} unfinished writes",
        report.orphans,
        report.orphan_bytes,
        report.unfinished
    );
    print_removal(report, options);
    if report.recovered > 0 {
        anstream::println!(
            "  {} objects have their bytes back, which were in the trash",
            report.recovered
        );
    }
    if report.trash_removed > 0 {
        anstream::println!("  deleted {} from the trash", report.trash_removed);
    }
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
