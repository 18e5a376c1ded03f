//! Keeps PostgreSQL of a production database from filling its disk: a server that cannot write its log ends at once, and cannot start either.
//!
//! When room gets short, old log files go and replication slots that hold much are given up; when there is nearly none, the database becomes
//! read-only, until there is room again. A reserve of bytes is kept in a file, which is removed where even that does not help.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_postgres::Error;
use tokio_postgres::types::ToSql;

use super::access::ClusterAccess;
use super::collected_logs::remove_oldest;
use super::disk_reserve::{LAST_BYTES, RESERVE, give_up_reserve, is_whole, make_reserve, size_for};
use super::error::ClusterError;
use super::own_file::write_private;
use super::owner::Owner;
use super::production::LOGS;
use super::settings_file::DISK_SETTINGS;
use crate::{DiskLevel, DiskRoom};

const MIB: u64 = 1024 * 1024;

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
/// A time before every transaction, used until PostgreSQL has read that the database is read-only.
const BEFORE_ALL: &str = "-infinity";
/// PostgreSQL gives up slots that are too far behind at its next checkpoint, so the guard asks for one.
const CHECKPOINT: &str = "checkpoint";
/// Ends transactions that have written and began before a time, at which the database became read-only: they would go on writing. Later ones
/// write only where they ask for it (`begin read write`), and are left alone. For superusers and `postgres` the time is `$2`, also when hardly any room is
/// left: somebody has to drop and truncate tables. Services and logins for people are neither.
pub(super) const END_WRITING_TRANSACTIONS: &str = "
    select a.usename::pg_catalog.text, a.pid, case a.state when 'active' then pg_catalog.pg_cancel_backend(a.pid) else pg_catalog.pg_terminate_backend(a.pid) end
    from pg_catalog.pg_stat_activity as a
    join pg_catalog.pg_roles as r on r.oid operator(pg_catalog.=) a.usesysid
    where a.backend_type operator(pg_catalog.=) 'client backend' and a.backend_xid is not null
      and a.pid operator(pg_catalog.<>) pg_catalog.pg_backend_pid()
      and a.xact_start operator(pg_catalog.<) case
        when r.rolsuper or r.rolname operator(pg_catalog.=) 'postgres'::pg_catalog.name then $2::pg_catalog.text
        else $1::pg_catalog.text
      end::pg_catalog.timestamptz";

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

/// Which transactions that have written are ended: those that began before a time.
#[derive(Debug, PartialEq, Eq)]
struct EndedTransactions {
    begun_before: String,
    /// The time for superusers and `postgres`.
    of_operators: String,
}

impl EndedTransactions {
    /// Which are ended with `free` bytes free in a database that is read-only since `full_since`. `None` if it is not read-only and has room.
    fn of(free: u64, full_since: Option<&str>) -> Option<Self> {
        let begun_before = match free < LAST_BYTES {
            true => AFTER_ALL,
            false => full_since?,
        };
        Some(Self {
            begun_before: begun_before.to_owned(),
            of_operators: full_since.unwrap_or(BEFORE_ALL).to_owned(),
        })
    }
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
        if give_up_reserve(&self.reserve, room.free, LAST_BYTES) || is_whole(&self.reserve) {
            return;
        }
        let size = size_for(room);
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
        let ended = EndedTransactions::of(room.free, self.full_since.as_deref());
        if let Some(ended) = ended.filter(|_| level == DiskLevel::Full) {
            self.ending
                .begin(self.target.clone().end_writing_transactions(ended));
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

    async fn end_writing_transactions(self, which: EndedTransactions) {
        let ended = async {
            let session = self.access.superuser_login().connect().await?;
            let times: [&(dyn ToSql + Sync); 2] = [&which.begun_before, &which.of_operators];
            for row in session.query(END_WRITING_TRANSACTIONS, &times).await? {
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
    fn prod_009_hardly_any_room_ends_all_that_writes_but_those_who_make_room() {
        let ended = |free, since| {
            EndedTransactions::of(free, since).map(|ended| (ended.begun_before, ended.of_operators))
        };
        let pair = |all: &str, operators: &str| Some((all.to_owned(), operators.to_owned()));

        assert_eq!(ended(LAST_BYTES, None), None);
        assert_eq!(ended(LAST_BYTES, Some("now")), pair("now", "now"));
        assert_eq!(ended(0, Some("now")), pair(AFTER_ALL, "now"));
        assert_eq!(ended(0, None), pair(AFTER_ALL, BEFORE_ALL));
    }
}
