//! `selvedge reset`: deletes the project's database and objects, and makes them again from migrations and seeds.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use selvedge_config::{Config, Mode};
use selvedge_database::consent::agree_to_delete_project;
use selvedge_database::embedded::{self, Embedded};
use selvedge_database::initialized::mark_initialized;
use selvedge_database::instance::describe_holder;
use selvedge_database::objects_owner::{
    forget_own, list_other_owners, list_other_owners_of_unbound, objects_folder,
};
use selvedge_keys::KeySet;
use selvedge_postgres::cluster::{Cluster, ClusterError, ProjectLock};
use selvedge_storage::SeedReport;
use selvedge_terminal::{GOOD, print_note};

use super::summary;
use crate::services::{BackgroundRuntime, Services};

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
    mark_initialized(&config)?;
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

async fn fill_buckets(config: &Config, embedded: &Embedded) -> Result<SeedReport> {
    let keys = KeySet::for_development(config)?;
    let background = BackgroundRuntime::new()?;
    // Both are dropped at the end, so that PostgreSQL's fast shutdown does not cut their connections off.
    let services =
        Services::connect(&background, config, embedded.logins(), &keys, Mode::Development).await?;
    services.seed_buckets(config).await
}

/// Refuses to delete a data folder that is not bound to this user, and in which another database may have its objects.
///
/// # Errors
/// When one may. Nothing was deleted.
pub(super) fn refuse_objects_of_others(config: &Config) -> Result<()> {
    let folder = objects_folder(config);
    let others = list_other_owners_of_unbound(config, &folder)?;
    if others.is_empty() {
        return Ok(());
    }
    bail!(
        "{} may hold objects of {}, and {} is not bound to you. Nothing was deleted\n  if you have made it:  selvedge trust\n  else delete it \
         by hand",
        folder.display(),
        others.join(" and "),
        config.selvedge.data_dir.display()
    )
}

/// What has become of the objects of a project whose database was deleted.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LeftObjects {
    /// None are left.
    None,
    /// They are deleted, and the folder, in whose place something is mounted, is empty.
    Folder(PathBuf),
    /// They may be of another database as well, so all stay in this folder.
    Files(PathBuf),
    /// They stay in this bucket.
    Bucket(String),
}

impl LeftObjects {
    /// What was deleted, of the project `id`.
    pub(super) fn describe(&self, id: &str) -> String {
        match self {
            Self::None => format!("the database and the objects of {id}"),
            Self::Folder(folder) => format!(
                "the database and the objects of {id}; {} is a mounted folder and stays, empty",
                folder.display()
            ),
            Self::Files(folder) => {
                format!("the database of {id}; the objects in {} stay", folder.display())
            }
            Self::Bucket(bucket) => format!("the database of {id}; its objects in the bucket {bucket} stay"),
        }
    }
}

/// Deletes the database and the objects of a project that does not run. The caller holds its lock.
pub(super) fn delete_project_data(config: &Config, lock: &ProjectLock) -> Result<LeftObjects> {
    // Only files: objects in a bucket of an S3 backend stay.
    let objects = objects_folder(config);
    let others = list_other_owners(config, &objects)?;
    if !others.is_empty() {
        print_note(&format!(
            "{} holds objects of {} as well, so all of them stay\n  if all are of the project's own database, say so before:  selvedge sweep \
             --yes={}",
            objects.display(),
            others.join(" and "),
            config.project.id
        ));
        Cluster::delete_data(lock)?;
        forget_own(config, &objects)?;
        return Ok(LeftObjects::Files(objects));
    }
    // Under another name first: a process that is killed meanwhile leaves no half of the objects in their place.
    let deleted = objects.with_extension("deleted");
    remove_folder(&deleted)?;
    // What says that the database is complete goes with it: if the reset fails half-way, the next start runs the seeds again.
    Cluster::delete_data(lock)?;
    let mut left = match &config.selvedge.s3 {
        Some(s3) => LeftObjects::Bucket(s3.bucket.clone()),
        None => LeftObjects::None,
    };
    match std::fs::rename(&objects, &deleted) {
        // A volume that is mounted there has no other name.
        Err(error) if matches!(error.kind(), ErrorKind::ResourceBusy | ErrorKind::CrossesDevices) => {
            empty_folder(&objects)?;
            left = LeftObjects::Folder(objects.clone());
        }
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("cannot delete {}", objects.display()));
        }
        _ => {}
    }
    forget_own(config, &objects)?;
    remove_folder(&deleted)?;
    remind_of_mark(config);
    Ok(left)
}

/// Says that the bucket, where objects are in one, keeps the mark of the database that was deleted: no bytes are removed there by the next one.
fn remind_of_mark(config: &Config) {
    if let Some(s3) = &config.selvedge.s3 {
        print_note(&format!(
            "the bucket {} has the mark of the former database, so no bytes are removed from it
  when no other database has objects there, \
             say so while the project runs:  selvedge storage adopt --yes={}",
            s3.bucket, config.project.id
        ));
    }
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

    #[test]
    fn gw_031_what_stays_of_a_deleted_project_is_said() {
        let described = [
            LeftObjects::None,
            LeftObjects::Folder("/p/storage".into()),
            LeftObjects::Files("/p/storage".into()),
            LeftObjects::Bucket("photos".to_owned()),
        ]
        .map(|left| left.describe("shop"));

        assert_eq!(
            described,
            [
                "the database and the objects of shop",
                "the database and the objects of shop; /p/storage is a mounted folder and stays, empty",
                "the database of shop; the objects in /p/storage stay",
                "the database of shop; its objects in the bucket photos stay",
            ]
        );
    }
}
