//! A consistent copy of a data directory while PostgreSQL runs, as PostgreSQL documents it for base backups: its files may
//! change while they are copied, and the WAL between the start and the end of the copy repairs them at the first start.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Write};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio_postgres::Client;
use walkdir::WalkDir;

use super::archive::ArchiveWriter;
use super::archive::manifest::DATABASE;
use super::progress::Progress;

/// Folders whose content belongs to the running server only; the folders themselves must exist.
const EMPTIED_FOLDERS: [&str; 8] = [
    "pg_dynshmem",
    "pg_notify",
    "pg_replslot",
    "pg_serial",
    "pg_snapshots",
    "pg_stat_tmp",
    "pg_subtrans",
    "pg_wal",
];

/// Segments of 16 MB, the size that initdb chooses, in one of the numbers that name a segment.
const SEGMENTS_PER_LOG: u64 = 256;

/// Makes PostgreSQL keep the WAL of the backup until the connection ends, however it ends.
const RESERVE_WAL: &str = "select pg_catalog.pg_create_physical_replication_slot( \
     pg_catalog.concat('selvedge_backup_', pg_catalog.pg_backend_pid())::pg_catalog.name, true, true)";

/// The files that every data directory has, and without which it does not start.
const ESSENTIAL_FILES: [&str; 4] = [
    "PG_VERSION",
    "backup_label",
    "global/pg_control",
    "global/pg_filenode.map",
];

/// The files of the tables and indexes of the project's database, and one of every other database.
const FILES: &str = "
    select pg_catalog.pg_relation_filepath(c.oid) as path from pg_catalog.pg_class as c
    where c.relpersistence operator(pg_catalog.<>) 't' and pg_catalog.pg_relation_filepath(c.oid) is not null
    union all
    select pg_catalog.concat('base/', d.oid, '/PG_VERSION') from pg_catalog.pg_database as d";

/// A base backup that has begun. When its connection ends before [`BaseBackup::finish`], PostgreSQL forgets it.
pub(super) struct BaseBackup<'c> {
    client: &'c Client,
    first_segment: String,
    /// The files that the database needs at the begin.
    files: BTreeSet<String>,
}

impl<'c> BaseBackup<'c> {
    /// Begins the backup on a connection of the superuser.
    pub(super) async fn begin(client: &'c Client) -> Result<Self> {
        client
            .execute(RESERVE_WAL, &[])
            .await
            .context("the WAL of the backup cannot be kept: a free replication slot is needed")?;
        let row = client
            .query_one(
                "select pg_catalog.pg_walfile_name(pg_catalog.pg_backup_start('selvedge backup'::pg_catalog.text, true))",
                &[],
            )
            .await?;
        Ok(Self {
            client,
            first_segment: row.try_get(0)?,
            files: list_files(client).await?,
        })
    }

    /// Copies the files of the data directory, without the WAL.
    pub(super) fn copy_files<W: Write>(
        &self,
        data_dir: &Path,
        archive: &mut ArchiveWriter<W>,
        progress: &mut Progress,
    ) -> Result<()> {
        archive.add_folder(DATABASE)?;
        let owner = data_dir.metadata()?.uid();
        for entry in WalkDir::new(data_dir).min_depth(1).sort_by_file_name() {
            let entry = match entry {
                // PostgreSQL deletes files while it runs; the WAL contains the deletions.
                Err(error) if error.io_error().is_some_and(is_missing) => continue,
                entry => entry.context("the data directory cannot be read")?,
            };
            let path = entry.path().strip_prefix(data_dir)?;
            let name = path
                .to_str()
                .context("a name in the data directory is not text")?;
            if path.starts_with("pg_tblspc") && path.components().count() > 1 {
                bail!(
                    "the database has tablespaces, which are outside of its data directory: use pg_basebackup"
                );
            }
            if is_left_out(name) {
                continue;
            }
            let stored = format!("{DATABASE}/{name}");
            if entry.file_type().is_dir() {
                archive.add_folder(&stored)?;
            } else if entry.file_type().is_file() {
                progress.add(copy_file(archive, &stored, entry.path(), owner)?);
            } else if name == "pg_wal" {
                // A link to a folder on another disk. Its segments are copied at the end, by their names.
                archive.add_folder(&stored)?;
            } else if !entry.file_type().is_socket() {
                bail!(
                    "{} is a link or no file, and a backup does not follow it: use pg_basebackup, or put the data in its place",
                    entry.path().display()
                );
            }
        }
        if !data_dir.join("pg_wal").is_dir() {
            bail!(
                "{} is not there, so the backup would be without its WAL",
                data_dir.join("pg_wal").display()
            );
        }
        archive.add_folder(&format!("{DATABASE}/pg_wal/archive_status"))?;
        add_control_file(data_dir, archive)
    }

    /// Ends the backup and copies its WAL. What was committed before this call is in the backup. Returns the names that the archive must
    /// have: of what the database needed at the begin and still needs, and of the WAL. The WAL itself brings what was made meanwhile.
    pub(super) async fn finish<W: Write>(
        self,
        data_dir: &Path,
        archive: &mut ArchiveWriter<W>,
        progress: &mut Progress,
    ) -> Result<BTreeSet<String>> {
        let now = list_files(self.client).await?;
        let mut required: BTreeSet<String> = self
            .files
            .intersection(&now)
            .map(String::as_str)
            .chain(ESSENTIAL_FILES)
            .map(|name| format!("{DATABASE}/{name}"))
            .collect();
        let row = self
            .client
            .query_one(
                // The last byte of the backup is before its end, which may be the first byte of the next segment.
                "select pg_catalog.pg_walfile_name(stopped.lsn operator(pg_catalog.-) 1::pg_catalog.numeric), \
                   stopped.labelfile, stopped.spcmapfile \
                 from pg_catalog.pg_backup_stop(false) as stopped",
                &[],
            )
            .await?;
        let (last_segment, label, spaces): (String, String, String) =
            (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
        // With this file PostgreSQL begins at the start of the backup, and not at a later checkpoint.
        let name = format!("{DATABASE}/backup_label");
        archive.add_file(&name, label.len() as u64, label.as_bytes())?;
        if !spaces.is_empty() {
            bail!("a tablespace was created during the backup: use pg_basebackup");
        }
        let owner = data_dir.metadata()?.uid();
        for segment in list_segments(&self.first_segment, &last_segment)? {
            let path = data_dir.join("pg_wal").join(&segment);
            let name = format!("{DATABASE}/pg_wal/{segment}");
            let size = copy_file(archive, &name, &path, owner)?;
            if size == 0 {
                bail!(
                    "the database wrote more during the backup than PostgreSQL keeps\n  raise max_slot_wal_keep_size in \
                     [db.settings], or repeat the backup at a quieter time"
                );
            }
            progress.add(size);
            required.insert(name);
        }
        Ok(required)
    }
}

/// Lists files by their paths in the data directory.
async fn list_files(client: &Client) -> Result<BTreeSet<String>> {
    let rows = client.query(FILES, &[]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// Lists the WAL segments from `first` to `last`. A name has 8 hexadecimal digits of the timeline, 8 of the log and 8
/// of the segment.
fn list_segments(first: &str, last: &str) -> Result<BTreeSet<String>> {
    let number = |name: &str| -> Option<(String, u64)> {
        let log = u64::from_str_radix(name.get(8..16)?, 16).ok()?;
        let segment = u64::from_str_radix(name.get(16..24)?, 16).ok()?;
        Some((name.get(..8)?.to_owned(), log * SEGMENTS_PER_LOG + segment))
    };
    let (Some((timeline, first)), Some((_, last))) = (number(first), number(last)) else {
        bail!("{first} or {last} is not the name of a WAL segment");
    };
    let name = |number| {
        let (log, segment) = (number / SEGMENTS_PER_LOG, number % SEGMENTS_PER_LOG);
        format!("{timeline}{log:08X}{segment:08X}")
    };
    Ok((first..=last).map(name).collect())
}

fn is_left_out(name: &str) -> bool {
    let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
    EMPTIED_FOLDERS.contains(&folder.split('/').next().unwrap_or_default())
        || ["postmaster.pid", "postmaster.opts", "backup_label"].contains(&name)
        || ["backup_label.old", "tablespace_map", "selvedge.conf.unfinished"].contains(&name)
        // `add_control_file` adds this file at the end.
        || name == "global/pg_control"
        || file.starts_with("pg_internal.init")
        || name.split('/').any(|part| part.starts_with("pgsql_tmp"))
}

fn is_missing(error: &io::Error) -> bool {
    error.kind() == ErrorKind::NotFound
}

/// Opens a file of the data directory. What is read belongs to `owner`, the owner of the data: this process may be root, and whoever
/// runs programs as the cluster's user could put a link to a file of root at any path.
fn open_file(path: &Path, owner: u32) -> io::Result<File> {
    let file = File::options()
        .read(true)
        .custom_flags(nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK)
        .open(path)?;
    let meta = file.metadata()?;
    if !meta.is_file() || meta.uid() != owner {
        return Err(io::Error::other("it is no file of the owner of the data"));
    }
    Ok(file)
}

/// Copies a file and returns its size; a file that PostgreSQL has deleted meanwhile is left out.
fn copy_file<W: Write>(archive: &mut ArchiveWriter<W>, name: &str, path: &Path, owner: u32) -> Result<u64> {
    let file = match open_file(path, owner) {
        Err(error) if is_missing(&error) => return Ok(0),
        file => file.with_context(|| format!("cannot read {}", path.display()))?,
    };
    let size = file.metadata()?.len();
    archive.add_file(name, size, file)?;
    Ok(size)
}

/// Adds `pg_control`. It has a checksum but no protection by the WAL, so it is read until two reads agree, because a read
/// during a write may return half of each state.
fn add_control_file<W: Write>(data_dir: &Path, archive: &mut ArchiveWriter<W>) -> Result<()> {
    let path = data_dir.join("global/pg_control");
    let owner = data_dir.metadata()?.uid();
    let read = || -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        open_file(&path, owner)?.read_to_end(&mut content)?;
        Ok(content)
    };
    let mut content = read().context("cannot read pg_control")?;
    loop {
        std::thread::sleep(Duration::from_millis(5));
        let again = read().context("cannot read pg_control")?;
        if again == content {
            break;
        }
        content = again;
    }
    let name = format!("{DATABASE}/global/pg_control");
    archive.add_file(&name, content.len() as u64, &content[..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_running_server_are_left_out_of_a_backup() {
        for name in [
            "postmaster.pid",
            "pg_wal/000000010000000000000001",
            "pg_replslot/realtime/state",
            "base/pgsql_tmp/pgsql_tmp12.0",
            "base/5/pg_internal.init",
        ] {
            assert!(is_left_out(name), "{name}");
        }
        for name in ["pg_wal", "base/5/1259", "PG_VERSION", "pg_xact/0000"] {
            assert!(!is_left_out(name), "{name}");
        }
    }

    #[test]
    fn segments_are_counted_over_the_end_of_a_log() {
        let segments = list_segments("0000000100000001000000FE", "000000010000000200000001").unwrap();

        assert_eq!(segments.len(), 4);
        assert!(segments.contains("000000010000000200000000"));
    }
}
