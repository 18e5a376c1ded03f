//! `selvedge backup FILE`: writes the backup beside its final name, and renames it when it is complete.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions, Permissions};
use std::io::BufWriter;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt, PermissionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use nix::fcntl::{Flock, FlockArg};
use nix::unistd::geteuid;
use selvedge_config::Config;
use selvedge_database::embedded;
use selvedge_database::initialized::{is_initialized, may_be_initialized, settle_emptying};
use selvedge_database::objects_owner::objects_folder;
use selvedge_keys::find_home_keys;
use selvedge_postgres::PrivilegedLogin;
use selvedge_postgres::cluster::{Cluster, RunningCluster};
use selvedge_storage::FileBackend;
use selvedge_terminal::{GOOD, WARN, print_note};
use tokio_postgres::Config as Login;

use super::archive::manifest::{DATABASE, MANIFEST, Manifest, OBJECTS};
use super::archive::verify::verify_archive;
use super::archive::{ArchiveWriter, CHUNK};
use super::database::BaseBackup;
use super::objects::{FinalState, ObjectsCopy, STORAGE_LOGIN, lock_objects, read_all_rows};
use super::progress::Progress;
use super::supported::check_project;

/// The number of lost objects that the summary names.
const MAX_LOST_NAMES: usize = 20;

/// Runs `selvedge backup`.
///
/// # Errors
/// When the database or the objects cannot be copied, or the file cannot be written.
pub async fn create_backup(config: &Config, target: &Path) -> Result<()> {
    check_project(config)?;
    if !may_be_initialized(config) {
        return refuse_incomplete(config);
    }
    let file = UnfinishedFile::create(target)?;
    let explain = || format!("{} is not made", target.display());
    let (manifest, required) = match RunningCluster::find(&config.selvedge.data_dir).await? {
        Some(running) => {
            let storage = read_all_rows(embedded::login_to_running(&running, STORAGE_LOGIN));
            write_archive(config, &running.superuser_login(), &storage, &file)
                .await
                .with_context(explain)?
        }
        None => {
            let cluster = Cluster::start(embedded::cluster_config(config)?).await?;
            let superuser = cluster.superuser_login();
            let storage = read_all_rows(embedded::service_login(&cluster, STORAGE_LOGIN));
            let written = write_archive(config, &superuser, &storage, &file).await;
            // The cluster is stopped before an error is returned, so that no PostgreSQL is left running.
            cluster.stop().await?;
            written.with_context(explain)?
        }
    };
    prove(&file, &manifest, required)?;
    file.publish()?;
    print_done(config, target, &manifest);
    Ok(())
}

fn refuse_incomplete<T>(config: &Config) -> Result<T> {
    bail!(
        "{} has no complete database yet\n  make it with:  selvedge start",
        config.project.id
    )
}

/// Writes the archive. The superuser begins and ends the copy of the database, and reads no table: the tables of Storage may have
/// indexes and rules of the project.
async fn write_archive(
    config: &Config,
    superuser: &PrivilegedLogin,
    storage: &Login,
    file: &UnfinishedFile,
) -> Result<(Manifest, BTreeSet<String>)> {
    let home = Cluster::data_home(&config.selvedge.data_dir)?;
    let data_dir = home.join("pgdata");
    // One connection holds the locks on objects while the other ends the backup.
    let client = embedded::connect_privileged(superuser).await?;
    // A reset may have been cut off while it committed, also beside a server that goes on.
    settle_emptying(config, &client).await?;
    if !is_initialized(config) {
        return refuse_incomplete(config);
    }
    let objects_client = embedded::connect(storage).await?;
    let mut archive = ArchiveWriter::new(BufWriter::with_capacity(CHUNK, file.clone_file()?));
    let mut progress = Progress::new("copied");
    let mut objects = ObjectsCopy::new(FileBackend::open(&objects_folder(config))?);

    // Most objects are copied before the database, so that PostgreSQL need not keep the WAL meanwhile.
    objects.copy(&objects_client, &mut archive, &mut progress).await?;
    let backup = BaseBackup::begin(&client).await?;
    backup.copy_files(&data_dir, &mut archive, &mut progress)?;
    lock_objects(&objects_client).await?;
    let FinalState {
        lost_objects,
        deleted_blobs,
    } = objects.copy(&objects_client, &mut archive, &mut progress).await?;
    let required = backup.finish(&data_dir, &mut archive, &mut progress).await?;
    objects_client.batch_execute("commit").await?;

    let major = std::fs::read_to_string(data_dir.join("PG_VERSION"))?;
    let manifest = Manifest {
        database: archive.summary(DATABASE),
        objects: archive.summary(OBJECTS),
        lost_objects,
        deleted_blobs,
        home_keys_sha256: find_home_keys(config).map(|(_, hash)| hash),
        ..Manifest::new(&config.project.id, major.trim().parse()?, &home)
    };
    let text = serde_json::to_vec_pretty(&manifest)?;
    archive.add_file(MANIFEST, text.len() as u64, &text[..])?;
    archive.finish()?;
    Ok((manifest, required))
}

/// Reads the written file back from its disk and compares it with what was copied: a backup that cannot be restored is none.
fn prove(file: &UnfinishedFile, manifest: &Manifest, mut required: BTreeSet<String>) -> Result<()> {
    file.sync()?;
    let read = verify_archive(&file.path, |name| {
        required.remove(name);
    })
    .with_context(|| format!("{} was written, and cannot be read back", file.path.display()))?;
    if read.database != manifest.database || read.objects != manifest.objects {
        bail!(
            "{} holds something else than was written to it",
            file.path.display()
        );
    }
    if !required.is_empty() {
        let names: Vec<&str> = required.iter().take(MAX_LOST_NAMES).map(String::as_str).collect();
        bail!(
            "{} files of the database are not in the backup, which could not be restored: {}",
            required.len(),
            names.join(", ")
        );
    }
    Ok(())
}

fn print_done(config: &Config, file: &Path, manifest: &Manifest) {
    anstream::println!(
        "{GOOD}backed up{GOOD:#} {} to {}: a database of {} MB, {} objects of {} MB",
        config.project.id,
        file.display(),
        manifest.database.bytes / 1_000_000,
        manifest.objects.files,
        manifest.objects.bytes / 1_000_000
    );
    // Whoever gets a copy of the file for a test must not get the right to sign everybody's tokens with it.
    if let Some((keys, _)) = find_home_keys(config) {
        let vault_key = Cluster::data_home(&config.selvedge.data_dir).map(|home| home.join("vault.key"));
        let vault_key = vault_key.map(|path| format!(" and {}", path.display()));
        print_note(&format!(
            "the keys are not in it, and without them everybody is signed out, and the vault's secrets are lost: keep copies of {}{} elsewhere",
            keys.display(),
            vault_key.unwrap_or_default()
        ));
    }
    let lost = &manifest.lost_objects;
    if !lost.is_empty() {
        anstream::eprintln!(
            "{WARN}{} objects have lost their bytes, and are in the backup without them{WARN:#}",
            lost.len()
        );
        for name in lost.iter().take(MAX_LOST_NAMES) {
            anstream::eprintln!("  {name}");
        }
    }
}

/// The file `FILE.partial`, which gets its final name when it is complete and on disk.
struct UnfinishedFile {
    path: PathBuf,
    target: PathBuf,
    /// Locked, so that two backups do not write to the same file.
    file: Flock<File>,
}

impl UnfinishedFile {
    fn create(target: &Path) -> Result<Self> {
        if target.exists() {
            bail!("{} exists: choose another name, or delete it", target.display());
        }
        let mut path = target.as_os_str().to_owned();
        path.push(".partial");
        let path = PathBuf::from(path);
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            // An existing file is emptied only after it is locked, because another backup may be writing it.
            .truncate(false)
            .mode(0o600)
            // A link, or a file of somebody else, at this name must not become the one with all data.
            .custom_flags(nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK)
            .open(&path)
            .with_context(|| format!("cannot write {}", path.display()))?;
        let meta = file.metadata()?;
        if !meta.is_file() || meta.uid() != geteuid().as_raw() || meta.nlink() != 1 {
            bail!(
                "{} is not a file of yours: delete it, or choose another name",
                path.display()
            );
        }
        file.set_permissions(Permissions::from_mode(0o600))?;
        let Ok(file) = Flock::lock(file, FlockArg::LockExclusiveNonblock) else {
            bail!("another backup is writing {}", path.display());
        };
        if file.metadata()?.len() > 0 {
            print_note(&format!(
                "{} is of a backup that was cut off, and is written anew",
                path.display()
            ));
            file.set_len(0)?;
        }
        let target = target.to_owned();
        Ok(Self { path, target, file })
    }

    fn clone_file(&self) -> Result<File> {
        Ok(self.file.try_clone()?)
    }

    /// Waits until the content is on disk.
    fn sync(&self) -> Result<()> {
        self.file
            .sync_all()
            .with_context(|| format!("cannot write {}", self.path.display()))
    }

    /// Gives the file its final name.
    fn publish(&self) -> Result<()> {
        // A file that has appeared under the final name meanwhile is not replaced.
        std::fs::hard_link(&self.path, &self.target)
            .or_else(|error| match error.kind() {
                std::io::ErrorKind::AlreadyExists => Err(error),
                // Some file systems have no hard links.
                _ => std::fs::rename(&self.path, &self.target),
            })
            .with_context(|| format!("cannot create {}", self.target.display()))?;
        match self.target.parent() {
            Some(folder) if folder.as_os_str().is_empty() => File::open(".")?.sync_all()?,
            Some(folder) => File::open(folder)?.sync_all()?,
            None => {}
        }
        Ok(())
    }
}

impl Drop for UnfinishedFile {
    fn drop(&mut self) {
        // After a failure the file is useless, and after a success it has its final name.
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt as _;

    use super::*;

    #[test]
    fn a_file_that_lacks_a_file_of_the_database_or_holds_other_bytes_is_no_backup() {
        let folder = tempfile::tempdir().unwrap();
        let file = UnfinishedFile::create(&folder.path().join("saved.tar")).unwrap();
        let mut archive = ArchiveWriter::new(file.clone_file().unwrap());
        archive.add_file("database/PG_VERSION", 3, &b"15\n"[..]).unwrap();
        let manifest = Manifest {
            database: archive.summary(DATABASE),
            objects: archive.summary(OBJECTS),
            ..Manifest::new("shop", 15, folder.path())
        };
        let text = serde_json::to_vec(&manifest).unwrap();
        archive.add_file(MANIFEST, text.len() as u64, &text[..]).unwrap();
        archive.finish().unwrap();
        let required = |names: &[&str]| names.iter().map(|name| format!("database/{name}")).collect();
        let prove = |names| prove(&file, &manifest, required(names)).map_err(|error| format!("{error:#}"));

        let whole = prove(&["PG_VERSION"]);
        let lacking = prove(&["PG_VERSION", "base/5/1259"]);
        // A byte of the first file's content, after its header.
        file.file.write_all_at(b"6", 513).unwrap();
        let damaged = prove(&["PG_VERSION"]);

        assert_eq!(whole, Ok(()));
        assert!(lacking.unwrap_err().contains("database/base/5/1259"));
        assert!(damaged.unwrap_err().contains("damaged"));
    }
}
