//! `selvedge reset`: deletes the project's database and objects, and makes them again from migrations and seeds.

use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, Result, bail};
use selvedge_postgres::cluster::{Cluster, ClusterError, ProjectLock};
use selvedge_storage::SeedReport;

use super::consent::agree_to_delete_project;
use super::summary;
use crate::config::Config;
use crate::database::embedded::{self, Embedded};
use crate::database::objects_owner::{forget_own, list_other_owners};
use crate::keys::KeySet;
use crate::output::{self, GOOD};
use crate::services::{BackgroundRuntime, Mode, Services, objects_folder};

/// Resets a project that does not run. Without `seed` neither seeds nor buckets are filled.
pub(super) async fn run(mut config: Config, is_confirmed: bool, seed: bool) -> Result<()> {
    config.db.seed.enabled &= seed;
    if let Some(holder) = Cluster::find_running(&config.selvedge.data_dir)? {
        bail!(
            "{}",
            describe_holder(&ClusterError::AlreadyRunning(Box::new(holder)))
        );
    }
    embedded::check_before_reset(&config)?;
    agree_to_delete_project(&config, is_confirmed)?;
    // Held until the new database is complete, so that nobody starts the project on half of it.
    let lock = lock_project(&config)?;
    delete_project_data(&config, &lock)?;
    let embedded = Embedded::start_locked(&config, lock).await?;
    let buckets = if seed {
        fill_buckets(&config, &embedded).await?
    } else {
        SeedReport::default()
    };
    embedded.mark_initialized(&config)?;
    let done = summary::describe_first_start(&embedded.report, &buckets);
    anstream::println!("{GOOD}reset{GOOD:#} {}: {done}", config.project.id);
    embedded.cluster.stop().await?;
    Ok(())
}

/// Takes the project's lock for a command.
///
/// # Errors
/// While the project runs, or another command has it.
pub(super) fn lock_project(config: &Config) -> Result<ProjectLock> {
    let purpose = &config.flags.purpose;
    ProjectLock::acquire(&config.selvedge.data_dir, purpose, &[])
        .map_err(|error| anyhow::anyhow!(describe_holder(&error)))
}

/// What to do about the process that has the project.
pub(super) fn describe_holder(error: &ClusterError) -> String {
    match error {
        ClusterError::AlreadyRunning(holder) if holder.is_server() => {
            format!("{holder}\n  stop it first:  selvedge stop")
        }
        other => other.to_string(),
    }
}

async fn fill_buckets(config: &Config, embedded: &Embedded) -> Result<SeedReport> {
    let keys = KeySet::for_development(config)?;
    let background = BackgroundRuntime::new()?;
    // Both are dropped at the end, so that PostgreSQL's fast shutdown does not cut their connections off.
    let services =
        Services::connect(&background, config, embedded.logins(), &keys, Mode::Development).await?;
    services.seed_buckets(config).await
}

/// Deletes the database and the objects of a project that does not run. The caller holds its lock.
pub(super) fn delete_project_data(config: &Config, lock: &ProjectLock) -> Result<()> {
    // Only files: objects in a bucket of an S3 backend stay.
    let objects = objects_folder(config);
    let others = list_other_owners(config, &objects)?;
    if !others.is_empty() {
        output::print_note(&format!(
            "{} holds objects of {} as well, so all of them stay",
            objects.display(),
            others.join(" and ")
        ));
        Cluster::delete_data(lock)?;
        return forget_own(config, &objects);
    }
    // Under another name first: a process that is killed meanwhile leaves no half of the objects in their place.
    let deleted = objects.with_extension("deleted");
    remove_folder(&deleted)?;
    // What says that the database is complete goes with it: if the reset fails half-way, the next start runs the seeds again.
    Cluster::delete_data(lock)?;
    match std::fs::rename(&objects, &deleted) {
        // A volume that is mounted there has no other name.
        Err(error) if matches!(error.kind(), ErrorKind::ResourceBusy | ErrorKind::CrossesDevices) => {
            empty_folder(&objects)?;
        }
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("cannot delete {}", objects.display()));
        }
        _ => {}
    }
    forget_own(config, &objects)?;
    remove_folder(&deleted)
}

/// Deletes what is in a folder.
fn empty_folder(folder: &Path) -> Result<()> {
    let fail = || format!("cannot delete what is in {}", folder.display());
    for entry in std::fs::read_dir(folder).with_context(fail)? {
        let entry = entry.with_context(fail)?;
        let deleted = match entry.file_type().with_context(fail)?.is_dir() {
            true => std::fs::remove_dir_all(entry.path()),
            false => std::fs::remove_file(entry.path()),
        };
        deleted.with_context(fail)?;
    }
    Ok(())
}

fn remove_folder(folder: &Path) -> Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot delete {}", folder.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_025_a_mounted_folder_is_emptied_and_links_in_it_are_not_followed() {
        let [mounted, outside] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        std::fs::create_dir_all(mounted.path().join("tenant/photos")).unwrap();
        std::fs::write(mounted.path().join("tenant/photos/cat.png"), "cat").unwrap();
        std::fs::write(outside.path().join("mine"), "mine").unwrap();
        std::os::unix::fs::symlink(outside.path(), mounted.path().join("link")).unwrap();

        empty_folder(mounted.path()).unwrap();

        assert_eq!(std::fs::read_dir(mounted.path()).unwrap().count(), 0);
        assert!(outside.path().join("mine").exists());
    }
}
