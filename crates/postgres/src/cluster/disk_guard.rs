//! Keeps PostgreSQL of a production database from filling its disk: a server that cannot write its log ends at once, and cannot start either.
//!
//! When room gets short, old log files go and replication slots that hold much are given up; when there is nearly none, the database becomes
//! read-only, until there is room again. A reserve of bytes is kept in a file, which is removed where even that does not help.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_postgres::Error;

use super::access::ClusterAccess;
use super::collected_logs::remove_oldest;
use super::error::ClusterError;
use super::own_file::write_private;
use super::owner::Owner;
use super::production::LOGS;
use super::settings_file::DISK_SETTINGS;
use crate::{DiskLevel, DiskRoom};

const MIB: u64 = 1024 * 1024;

/// The reserve, beside the data directory.
const RESERVE: &str = "reserve";
/// The bytes of the reserve, and those on a small disk, where it is a hundredth.
const RESERVE_BYTES: u64 = 256 * MIB;
const LEAST_RESERVE_BYTES: u64 = 32 * MIB;
/// With less room than this the reserve is given up: two files of PostgreSQL's log and what a checkpoint writes.
const LAST_BYTES: u64 = 48 * MIB;
/// With less room than this the reserve is given up before a start of PostgreSQL, which writes to its log at once.
const START_BYTES: u64 = 2 * LAST_BYTES;
/// The log files that stay when room is short.
const LEAST_LOG_BYTES: u64 = 64 * MIB;
/// The time between two looks at the disk, and the shorter one while its room is short or PostgreSQL has not read its settings.
const INTERVAL: Duration = Duration::from_secs(1);
const SHORT_INTERVAL: Duration = Duration::from_millis(100);
/// How long PostgreSQL has been running when the reserve is made, so that a first start does not wait for it.
const RESERVE_AFTER: Duration = Duration::from_secs(20);

/// Sessions that wait for their client read the settings with their next statement, so what begins in the next two seconds counts as begun before.
const RELOAD: &str = "select pg_catalog.pg_reload_conf(), (pg_catalog.clock_timestamp() operator(pg_catalog.+) '2 s'::pg_catalog.interval)::pg_catalog.text";
/// A time for [`END_WRITING_TRANSACTIONS`] after which none begins, so that it ends all of them: used when hardly any room is left.
const AFTER_ALL: &str = "infinity";
/// PostgreSQL gives up slots that are too far behind at its next checkpoint, so the guard asks for one.
const CHECKPOINT: &str = "checkpoint";
/// Ends transactions that have written and began before a time, at which the database became read-only: they would go on writing. Later ones
/// write only where they ask for it (`begin read write`), and are left alone.
const END_WRITING_TRANSACTIONS: &str = "
    select a.usename::pg_catalog.text, a.pid, case a.state when 'active' then pg_catalog.pg_cancel_backend(a.pid) else pg_catalog.pg_terminate_backend(a.pid) end
    from pg_catalog.pg_stat_activity as a
    where a.backend_type operator(pg_catalog.=) 'client backend' and a.backend_xid is not null
      and a.pid operator(pg_catalog.<>) pg_catalog.pg_backend_pid()
      and a.xact_start operator(pg_catalog.<) $1::pg_catalog.text::pg_catalog.timestamptz";

/// Watches the disk of a cluster. What waits for PostgreSQL or the disk runs in the background, so that the next look is never late.
#[derive(Debug)]
pub struct DiskGuard {
    target: Target,
    logs: PathBuf,
    reserve: PathBuf,
    level: DiskLevel,
    /// The level whose settings PostgreSQL has read; `None` before the first.
    applied: Option<DiskLevel>,
    /// When the database became read-only, as PostgreSQL writes it.
    full_since: Option<String>,
    settings: BackgroundTask<(DiskLevel, Result<Option<String>, ApplyError>)>,
    checkpoint: BackgroundTask<()>,
    ending: BackgroundTask<()>,
    reserving: BackgroundTask<()>,
}

/// The cluster whose disk is watched.
#[derive(Debug, Clone)]
struct Target {
    data_dir: PathBuf,
    owner: Owner,
    access: ClusterAccess,
}

impl DiskGuard {
    /// Prepares the watch over the disk of a data directory. `access` reaches its cluster.
    pub(super) fn new(data_dir: &Path, owner: Owner, access: ClusterAccess) -> Self {
        let home = data_dir.parent().unwrap_or(data_dir);
        Self {
            logs: home.join(LOGS),
            reserve: home.join(RESERVE),
            target: Target {
                data_dir: data_dir.to_owned(),
                owner,
                access,
            },
            level: DiskLevel::default(),
            applied: None,
            full_since: None,
            settings: BackgroundTask::default(),
            checkpoint: BackgroundTask::default(),
            ending: BackgroundTask::default(),
            reserving: BackgroundTask::default(),
        }
    }

    /// Watches until it is dropped.
    pub async fn watch(mut self) {
        let begun = tokio::time::Instant::now();
        loop {
            match DiskRoom::of(&self.target.data_dir) {
                Ok(room) => self.act_on(room, begun.elapsed() >= RESERVE_AFTER).await,
                Err(error) => tracing::warn!(%error, "the room on the disk of PostgreSQL is unknown"),
            }
            let is_calm = self.level == DiskLevel::Enough && self.applied == Some(self.level);
            tokio::time::sleep(if is_calm { INTERVAL } else { SHORT_INTERVAL }).await;
        }
    }

    async fn act_on(&mut self, room: DiskRoom, may_reserve: bool) {
        let level = room.level_after(self.level);
        if level != self.level {
            log_level(room, self.level, level);
            self.level = level;
        }
        self.update_reserve(room, may_reserve).await;
        if level >= DiskLevel::VeryLow
            && let Err(error) = remove_oldest(&self.logs, LEAST_LOG_BYTES)
            && error.kind() != ErrorKind::NotFound
        {
            tracing::warn!(%error, "old log files of PostgreSQL cannot be removed");
        }
        self.apply_level(room).await;
    }

    /// Makes the file of the reserve when the disk has room for it, and removes it when PostgreSQL would otherwise have none.
    async fn update_reserve(&mut self, room: DiskRoom, may_reserve: bool) {
        self.reserving.take_result().await;
        if give_up_reserve(&self.reserve, room.free, LAST_BYTES) || self.reserve.symlink_metadata().is_ok() {
            return;
        }
        let size = (room.total / 100).clamp(LEAST_RESERVE_BYTES, RESERVE_BYTES);
        let rest = DiskRoom {
            free: room.free.saturating_sub(size),
            ..room
        };
        let has_room =
            self.level == DiskLevel::Enough && rest.level_after(DiskLevel::Enough) == DiskLevel::Enough;
        if may_reserve && has_room {
            let path = self.reserve.clone();
            self.reserving.begin(async move {
                let made = tokio::task::spawn_blocking(move || make_reserve(&path, size)).await;
                if let Err(error) = made.map_err(io::Error::other).flatten() {
                    tracing::warn!(%error, "the reserve on the disk cannot be made");
                }
            });
        }
    }

    /// Gives PostgreSQL the settings of the level, and ends what writes while the disk is full. A PostgreSQL that starts has no session for
    /// this, and the next look tries again.
    async fn apply_level(&mut self, room: DiskRoom) {
        let level = self.level;
        match self.settings.take_result().await {
            Some((applied, Ok(since))) => {
                (self.applied, self.full_since) = (Some(applied), since);
                if applied >= DiskLevel::VeryLow {
                    self.checkpoint.take_result().await;
                    self.checkpoint.begin(self.target.clone().write_checkpoint());
                }
            }
            Some((_, Err(error))) => {
                tracing::debug!(%error, "PostgreSQL has not read its settings for the room on the disk");
            }
            None => {}
        }
        if self.applied != Some(level) {
            self.settings
                .begin(self.target.clone().apply_settings(level, self.applied.is_none()));
        }
        self.ending.take_result().await;
        let since = match room.free < LAST_BYTES {
            true => Some(AFTER_ALL.to_owned()),
            false => self.full_since.clone(),
        };
        if let Some(since) = since.filter(|_| level == DiskLevel::Full) {
            self.ending
                .begin(self.target.clone().end_writing_transactions(since));
        }
    }
}

impl Target {
    /// Makes PostgreSQL read the settings of the level. Returns since when it is read-only, if it is.
    async fn apply_settings(
        self,
        level: DiskLevel,
        is_first: bool,
    ) -> (DiskLevel, Result<Option<String>, ApplyError>) {
        let applied = async {
            if is_first && settings_of(level).is_empty() && !self.data_dir.join(DISK_SETTINGS).exists() {
                return Ok(None);
            }
            write_settings(&self.data_dir, &self.owner, level)?;
            let session = self.access.superuser_login().connect().await?;
            let row = session.query_one(RELOAD, &[]).await?;
            Ok(match level {
                DiskLevel::Full => Some(row.try_get(1)?),
                _ => None,
            })
        };
        (level, applied.await)
    }

    async fn write_checkpoint(self) {
        let written = async {
            let session = self.access.superuser_login().connect().await?;
            session.batch_execute(CHECKPOINT).await
        };
        if let Err(error) = written.await {
            tracing::debug!(%error, "no checkpoint while the disk is full");
        }
    }

    async fn end_writing_transactions(self, since: String) {
        let ended = async {
            let session = self.access.superuser_login().connect().await?;
            for row in session.query(END_WRITING_TRANSACTIONS, &[&since]).await? {
                let (login, pid): (Option<String>, i32) = (row.try_get(0)?, row.try_get(1)?);
                tracing::warn!(
                    login,
                    pid,
                    "the disk is full: a transaction that writes was ended"
                );
            }
            Ok::<_, Error>(())
        };
        if let Err(error) = ended.await {
            tracing::debug!(%error, "transactions that write cannot be ended");
        }
    }
}

/// Work in the background that is done at most once at a time, and is aborted with the guard.
#[derive(Debug)]
struct BackgroundTask<T>(Option<JoinHandle<T>>);

impl<T> Default for BackgroundTask<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: Send + 'static> BackgroundTask<T> {
    /// Begins the work, unless a former result has not been taken yet.
    fn begin(&mut self, work: impl Future<Output = T> + Send + 'static) {
        if self.0.is_none() {
            self.0 = Some(tokio::spawn(work));
        }
    }

    /// The result of work that has ended. New work may begin then.
    async fn take_result(&mut self) -> Option<T> {
        let work = self.0.take_if(|work| work.is_finished())?;
        work.await.ok()
    }
}

impl<T> Drop for BackgroundTask<T> {
    fn drop(&mut self) {
        if let Some(work) = &self.0 {
            work.abort();
        }
    }
}

/// Makes room for a start of PostgreSQL, which recovers from its log and writes to it: without this a PostgreSQL that a full disk has ended would
/// never start again. Blocks on the disk.
pub(super) fn make_room_for_start(data_dir: &Path) {
    let home = data_dir.parent().unwrap_or(data_dir);
    match DiskRoom::of(data_dir) {
        Ok(room) => {
            give_up_reserve(&home.join(RESERVE), room.free, START_BYTES);
        }
        Err(error) => tracing::warn!(%error, "the room on the disk of PostgreSQL is unknown"),
    }
}

/// Removes the reserve if less than `needed` bytes are free. Returns whether it was removed.
fn give_up_reserve(reserve: &Path, free: u64, needed: u64) -> bool {
    if free >= needed || reserve.symlink_metadata().is_err() {
        return false;
    }
    match fs::remove_file(reserve) {
        Ok(()) => {
            tracing::error!("the disk is full: the reserve was removed, so that PostgreSQL can go on");
            true
        }
        Err(error) => {
            tracing::error!(%error, "the disk is full, and the reserve cannot be removed");
            false
        }
    }
}

#[derive(Debug, thiserror::Error)]
enum ApplyError {
    #[error(transparent)]
    File(#[from] ClusterError),
    #[error(transparent)]
    Database(#[from] Error),
}

fn log_level(room: DiskRoom, before: DiskLevel, level: DiskLevel) {
    let (free_bytes, percent) = (room.free, room.percent());
    match level {
        DiskLevel::Full => tracing::error!(
            free_bytes,
            percent,
            "the disk is full: the database is read-only until 6 % are free"
        ),
        DiskLevel::VeryLow if before < level => tracing::error!(
            free_bytes,
            percent,
            "the disk is nearly full: old logs are removed, and replication slots that are far behind are given up"
        ),
        DiskLevel::Low if before < level => {
            tracing::warn!(free_bytes, percent, "the disk gets full: free some room");
        }
        _ => tracing::info!(free_bytes, percent, "the disk has more room again"),
    }
    if before == DiskLevel::Full {
        tracing::warn!("the database can be written again");
    }
}

/// The settings of a level, which win over all others but those of `alter system`.
fn settings_of(level: DiskLevel) -> &'static str {
    match level {
        DiskLevel::Enough | DiskLevel::Low => "",
        DiskLevel::VeryLow => "max_slot_wal_keep_size = '64MB'\ntemp_file_limit = '64MB'\n",
        DiskLevel::Full => {
            "max_slot_wal_keep_size = '64MB'\ntemp_file_limit = '64MB'\ndefault_transaction_read_only = 'on'\n"
        }
    }
}

fn write_settings(data_dir: &Path, owner: &Owner, level: DiskLevel) -> Result<(), ClusterError> {
    let path = data_dir.join(DISK_SETTINGS);
    let settings = settings_of(level);
    if settings.is_empty() {
        return match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(ClusterError::file(&path)(error)),
            _ => Ok(()),
        };
    }
    write_private(
        &path,
        &format!("# Written by selvedge while the disk is full.\n{settings}"),
    )?;
    owner.give_ownership_of(&path)
}

/// Fills a file with bytes that no file system makes smaller.
fn make_reserve(path: &Path, size: u64) -> io::Result<()> {
    let mut block = vec![0; 1024 * 1024];
    getrandom::fill(&mut block).map_err(|error| io::Error::other(error.to_string()))?;
    // A part of it, which an end of this process would leave, is no reserve.
    let unfinished = path.with_extension("unfinished");
    match fs::remove_file(&unfinished) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&unfinished)?;
    let written = (0..size / MIB)
        .try_for_each(|_| file.write_all(&block))
        .and_then(|()| fs::hard_link(&unfinished, path));
    fs::remove_file(&unfinished)?;
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prod_009_a_full_disk_makes_the_database_read_only_and_room_takes_it_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let owner = Owner::for_this_process().expect("a user");
        let file = folder.path().join(DISK_SETTINGS);
        let write = |level| write_settings(folder.path(), &owner, level).expect("written");

        write(DiskLevel::VeryLow);
        let very_low = fs::read_to_string(&file).expect("a file");
        write(DiskLevel::Full);
        let full = fs::read_to_string(&file).expect("a file");
        write(DiskLevel::Low);
        write(DiskLevel::Enough);

        assert!(very_low.contains("max_slot_wal_keep_size") && !very_low.contains("read_only"));
        assert!(full.contains("default_transaction_read_only = 'on'"), "{full}");
        assert!(!file.exists());
    }

    #[test]
    fn prod_009_the_reserve_is_as_large_as_it_says_and_nobody_elses_file_is_replaced() {
        use std::os::unix::fs::MetadataExt as _;

        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(RESERVE);

        make_reserve(&path, 3 * MIB).expect("made");

        let meta = path.metadata().expect("a file");
        assert_eq!(meta.len(), 3 * MIB);
        assert!(meta.blocks() * 512 >= 3 * MIB && meta.mode() & 0o777 == 0o600);
        assert!(make_reserve(&path, MIB).is_err());
        assert!(!folder.path().join("reserve.unfinished").exists());
    }

    #[test]
    fn prod_009_a_start_gets_the_reserve_where_there_is_no_other_room() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(RESERVE);
        fs::write(&path, "kept").expect("written");

        assert!(!give_up_reserve(&path, START_BYTES, START_BYTES));
        assert!(path.exists());
        assert!(give_up_reserve(&path, START_BYTES - 1, START_BYTES));
        assert!(!path.exists() && !give_up_reserve(&path, 0, START_BYTES));
    }
}
