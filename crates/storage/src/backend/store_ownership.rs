//! To which database the stored objects belong. To every other database that uses the same bucket or folder they look like leftovers, so bytes are
//! removed only where this one is alone.
//!
//! A mark in the store names each database by its cluster and number. A copy of a database has the same name: a restore to an earlier point, a
//! clone of a disk, a standby that was promoted by hand. So the mark also holds a token, which is replaced from time to time, and the database
//! notes those that it has issued. A copy does not know the tokens that the other one has issued since, and whoever finds a foreign token
//! leaves a second mark, so that both stop removing until somebody says whose the objects are ([`StoreOwnership::adopt`]).
//!
//! Until the original asks again, or for as long as it is stopped, nothing tells the copy that it is one. So a process removes bytes for good only
//! when they are younger than its own first token, and than two minutes, because a clone of a running machine has the process's memory as well.
//! All others go to the trash.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use deadpool_postgres::Client;
use selvedge_postgres::Moment;
use uuid::Uuid;

use super::{Backend, BackendError, BackendResult, BlobStat, Version};
use crate::error::{StorageError, UniqueKey};

/// The number that `initdb` gave to the cluster, and that of the database in it.
const OWNER: &str = "select system_identifier::text || '-' || (select oid from pg_database where datname = current_database()) \
     from pg_control_system()";

/// False in a database that was migrated by an older version, which issued no tokens.
const HAS_TOKENS: &str = "select to_regclass('_selvedge.selvedge_object_stores') is not null";

/// Locks the row, which a standby refuses: it may not have the newest token yet, and would take the primary for a copy.
const FIND_TOKEN: &str = "select $2 = any (tokens), tokens[cardinality(tokens)], renewed_at < now() - interval '4 minutes' \
     from _selvedge.selvedge_object_stores where store = $1 for share";

const ADD_STORE: &str =
    "insert into _selvedge.selvedge_object_stores (store, tokens) values ($1, array[$2::text])";

/// Several are kept: a node that was frozen may write an older one into the mark.
const ADD_TOKEN: &str = "update _selvedge.selvedge_object_stores \
     set tokens = (tokens || $2::text)[greatest(cardinality(tokens) - 99, 1):], renewed_at = now() where store = $1";

/// How long an answer counts. Another database that begins to use the store is noticed that much later.
const CHECK_INTERVAL: Duration = Duration::from_secs(60);

/// How long what the store's clock has said counts: it is asked again whenever a token would be renewed.
const DATE_COUNTS_FOR: Duration = Duration::from_secs(240);

/// How young bytes must be to be removed for good: those of uploads that have failed or were replaced at once.
const MAX_AGE_FOR_GOOD: Duration = Duration::from_secs(120);

/// How far clocks may be apart without that being said.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(60);

/// What the bytes of a version are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// Those of an object.
    Object,
    /// A part of an upload, which nobody needs after it: a copy that has the same unfinished upload begins it anew.
    Piece,
}

/// What is known of the databases that have their objects in the store.
pub(crate) struct StoreOwnership {
    backend: Arc<dyn Backend>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    checked_at: Option<Moment>,
    others: Vec<String>,
    /// When this process wrote its first token, by the store's clock. A new process issues one at once, so that a copy which was just started is
    /// found soon.
    first_token_at: Option<SystemTime>,
    /// What the store's clock has said last.
    date: Option<StoreDate>,
}

/// What the store's clock said at a moment.
#[derive(Clone, Copy)]
struct StoreDate {
    date: SystemTime,
    noted: Moment,
}

impl StoreDate {
    /// What it says now, or more if the machine was paused or somebody has set its clock.
    fn now(&self) -> SystemTime {
        self.date + self.noted.elapsed()
    }

    /// How far a clock of this machine, which says `now`, is ahead of it. Dates of the store may be in seconds, and a pause of the machine since the
    /// moment counts as well.
    fn measure_lead(&self, now: SystemTime) -> Duration {
        let store = self.date + self.noted.elapsed_awake();
        let lead = now.duration_since(store).unwrap_or_default();
        if lead > CLOCK_TOLERANCE {
            lead
        } else {
            Duration::ZERO
        }
    }
}

/// Whether nobody else can have an object for bytes of this date. All dates are by the store's clock.
fn is_private(modified: SystemTime, first_token_at: SystemTime, now: SystemTime) -> bool {
    modified > first_token_at && modified + MAX_AGE_FOR_GOOD >= now
}

impl StoreOwnership {
    /// Nothing has been asked yet.
    pub(crate) fn new(backend: Arc<dyn Backend>) -> Self {
        Self {
            backend,
            state: Mutex::default(),
        }
    }

    /// The other databases that have objects in the store, as of at most a minute ago.
    ///
    /// # Errors
    /// Errors of the store and the database.
    pub(crate) async fn list_recent_others(&self, client: &Client) -> Result<Vec<String>, StorageError> {
        let recent = self.with_state(|state| {
            let is_recent = state.checked_at.is_some_and(|at| at.elapsed() < CHECK_INTERVAL);
            is_recent.then(|| state.others.clone())
        });
        match recent {
            Some(others) => Ok(others),
            None => self.list_others(client).await,
        }
    }

    /// The other databases that have objects in the store. Leaves this one's mark, so that they learn of it.
    ///
    /// # Errors
    /// Errors of the store and the database.
    pub(crate) async fn list_others(&self, client: &Client) -> Result<Vec<String>, StorageError> {
        let owner = read_owner(client).await?;
        let mut others = self.backend.list_other_owners(&owner).await?;
        if self.backend.has_marks() {
            others.extend(self.find_copy(client, &owner).await?);
        }
        self.with_state(|state| {
            state.checked_at = Some(Moment::now());
            state.others.clone_from(&others);
        });
        Ok(others)
    }

    /// The other databases that have left a mark, without leaving one.
    ///
    /// # Errors
    /// Errors of the store and the database.
    pub(crate) async fn look_for_others(&self, client: &Client) -> Result<Vec<String>, StorageError> {
        let owner = read_owner(client).await?;
        Ok(self.backend.list_other_owners(&owner).await?)
    }

    /// The mark of a copy of this database, when one has written its token into this database's mark.
    async fn find_copy(&self, client: &Client, owner: &str) -> Result<Option<String>, StorageError> {
        let mark = self.backend.read_mark(owner).await?;
        if !has_tokens(client).await? {
            if mark.is_none() {
                self.backend.write_mark(owner, "").await?;
            }
            return Ok(None);
        }
        // An older version has left an empty mark.
        let Some(mark) = mark.as_deref().and_then(Mark::parse) else {
            self.begin_mark(client, owner).await?;
            return Ok(None);
        };
        let found = client.query_opt(FIND_TOKEN, &[&mark.store, &mark.token]).await;
        let Some(row) = found.map_err(map_error)? else {
            return self.note_copy(owner, "unknown").await.map(Some);
        };
        let (is_issued, newest, is_old): (bool, String, bool) =
            read((|| Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?)))())?;
        if !is_issued {
            return self.note_copy(owner, &newest).await.map(Some);
        }
        if newest != mark.token {
            // The process that issued it ended before it could write it to the store.
            self.write_mark(owner, &mark.store, &newest).await?;
        } else if is_old || self.with_state(|state| state.first_token_at.is_none()) {
            self.renew(client, owner, &mark.store).await?;
        } else {
            self.keep_date(owner, &mark).await?;
        }
        Ok(None)
    }

    /// Writes the mark as it is where another node renews the token, so that this one learns the store's date as well: else all pauses of its machine
    /// since its start would add up. The date of a mark that another one has written is minutes old, and would not do.
    ///
    /// If another node has issued a token meanwhile, its own, older one is in the mark until somebody looks again: it is one of those that this database
    /// has issued, so nobody takes it for a copy's. That of a copy is written by it again.
    async fn keep_date(&self, owner: &str, mark: &Mark) -> Result<(), StorageError> {
        let is_old = self.with_state(|state| {
            state
                .date
                .is_none_or(|date| date.noted.elapsed() > DATE_COUNTS_FOR)
        });
        match is_old {
            true => self.write_mark(owner, &mark.store, &mark.token).await,
            false => Ok(()),
        }
    }

    /// Leaves the mark of a store that has no token yet. The token is in the database before it is in the store: a crash between them leaves one
    /// that nobody looks for.
    async fn begin_mark(&self, client: &Client, owner: &str) -> Result<(), StorageError> {
        let (store, token) = (Uuid::new_v4().to_string(), Uuid::new_v4().to_string());
        client
            .execute(ADD_STORE, &[&store, &token])
            .await
            .map_err(map_error)?;
        self.write_mark(owner, &store, &token).await
    }

    /// Issues a new token. It is in the database before it is in the store, so that no node takes it for one of a copy.
    async fn renew(&self, client: &Client, owner: &str, store: &str) -> Result<(), StorageError> {
        let token = Uuid::new_v4().to_string();
        client
            .execute(ADD_TOKEN, &[&store, &token])
            .await
            .map_err(map_error)?;
        self.write_mark(owner, store, &token).await
    }

    async fn write_mark(&self, owner: &str, store: &str, token: &str) -> Result<(), StorageError> {
        self.backend
            .write_mark(owner, &format!("{store} {token}\n"))
            .await?;
        // Before the question: the store's clock is not behind what it will answer.
        let noted = Moment::now();
        let date = self.backend.date_mark(owner).await?;
        self.with_state(|state| {
            state.first_token_at.get_or_insert(date);
            state.date = Some(StoreDate { date, noted });
        });
        Ok(())
    }

    /// Leaves a mark that stops the copy as well, named by this database's newest token.
    async fn note_copy(&self, owner: &str, newest: &str) -> Result<String, StorageError> {
        let short: String = newest.chars().take(8).collect();
        let name = format!("{owner}-copy-{short}");
        self.backend.write_mark(&name, "").await?;
        Ok(format!(
            "{name} (a copy of this database, or this one before it was restored or reset)"
        ))
    }

    /// Says that all stored objects are of this database: removes the marks of all others. Returns their names.
    ///
    /// # Errors
    /// Errors of the store and the database.
    pub(crate) async fn adopt(&self, client: &Client) -> Result<Vec<String>, StorageError> {
        let owner = read_owner(client).await?;
        if self.backend.has_marks() && !has_tokens(client).await? {
            return Err(StorageError::internal(
                "the platform schema of the database is older, and nothing was changed: bring it up to date first",
            ));
        }
        let removed = self.backend.remove_other_marks(&owner).await?;
        if self.backend.has_marks() {
            // Its own mark may hold the token of a copy.
            self.begin_mark(client, &owner).await?;
        }
        self.with_state(|state| state.checked_at = None);
        Ok(removed)
    }

    /// Removes bytes that this database no longer has: for good if no copy of it can have the object. Pieces are removed for good if this process
    /// has written them, because a large upload takes longer than [`MAX_AGE_FOR_GOOD`], and the trash would get all of it once more.
    ///
    /// # Errors
    /// Errors of the store.
    pub(crate) async fn discard(&self, version: Version, content: Content) -> BackendResult<()> {
        if !self.backend.has_marks() {
            return self.backend.remove(version).await;
        }
        match self.backend.stat(version).await {
            Err(BackendError::Missing) => Ok(()),
            Err(error) => Err(error),
            Ok(blob) if self.is_private(&blob, content) => self.backend.remove(version).await,
            Ok(_) => self.backend.trash(version).await,
        }
    }

    /// How far the clock of this machine is known to be ahead of the store's. By a clock that was set wrong everything would be old enough to be
    /// removed for good.
    pub(crate) fn measure_clock_lead(&self) -> Duration {
        let date = self.with_state(|state| state.date);
        date.map_or(Duration::ZERO, |date| date.measure_lead(SystemTime::now()))
    }

    fn is_private(&self, blob: &BlobStat, content: Content) -> bool {
        let (first_token_at, date) = self.with_state(|state| (state.first_token_at, state.date));
        let Some((first_token_at, date)) = first_token_at.zip(date) else {
            return false;
        };
        match content {
            Content::Object => is_private(blob.modified, first_token_at, date.now()),
            Content::Piece => blob.modified > first_token_at,
        }
    }

    fn with_state<T>(&self, use_state: impl FnOnce(&mut State) -> T) -> T {
        use_state(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The text of a mark: an id of the store, and the newest token.
struct Mark {
    store: String,
    token: String,
}

impl Mark {
    fn parse(text: &str) -> Option<Self> {
        let (store, token) = text.trim().split_once(' ')?;
        Some(Self {
            store: store.to_owned(),
            token: token.to_owned(),
        })
    }
}

/// Describes a mark to an operator: a database that is in use renews its mark every five minutes, so an old one is a leftover.
pub(super) fn describe_mark(name: &str, written: SystemTime) -> String {
    let minutes = SystemTime::now()
        .duration_since(written)
        .unwrap_or_default()
        .as_secs()
        / 60;
    let (count, unit) = match minutes {
        0..120 => (minutes, "minutes"),
        120..2880 => (minutes / 60, "hours"),
        _ => (minutes / 1440, "days"),
    };
    format!("{name} (renewed {count} {unit} ago)")
}

/// What tells this database from all others, its replicas and copies excepted.
async fn read_owner(client: &Client) -> Result<String, StorageError> {
    let row = client.query_one(OWNER, &[]).await.map_err(map_error)?;
    read(row.try_get(0))
}

/// Whether the database can note tokens.
async fn has_tokens(client: &Client) -> Result<bool, StorageError> {
    let row = client.query_one(HAS_TOKENS, &[]).await.map_err(map_error)?;
    read(row.try_get(0))
}

fn read<T>(value: Result<T, tokio_postgres::Error>) -> Result<T, StorageError> {
    value.map_err(StorageError::internal)
}

fn map_error(error: tokio_postgres::Error) -> StorageError {
    StorageError::from_tokio_postgres(error, UniqueKey::Other)
}

#[cfg(test)]
mod tests {
    use super::super::FileBackend;
    use super::*;

    #[actix_web::test]
    async fn a_node_that_renews_no_token_asks_the_stores_clock_as_often() {
        let folder = tempfile::tempdir().expect("a folder");
        let backend = Arc::new(FileBackend::open(folder.path()).expect("a store"));
        let ownership = StoreOwnership::new(backend.clone());
        ownership
            .write_mark("one", "store", "token")
            .await
            .expect("a mark");
        let before = Moment::now();
        let age_date = |age: Duration| {
            ownership.with_state(|state| {
                let date = state.date.as_mut().expect("a date");
                date.noted = Moment::now().with_pause(age);
            });
        };
        let is_new = || {
            ownership.with_state(|state| state.date.is_some_and(|date| date.noted.wall() >= before.wall()))
        };
        let mark = Mark {
            store: "store".to_owned(),
            token: "token".to_owned(),
        };

        age_date(Duration::from_secs(60));
        ownership.keep_date("one", &mark).await.expect("nothing");
        assert!(!is_new());

        age_date(Duration::from_secs(300));
        ownership.keep_date("one", &mark).await.expect("a mark");
        assert!(is_new());
        let written = backend.read_mark("one").await.expect("a mark");
        assert_eq!(written.as_deref(), Some("store token\n"));
    }

    #[test]
    fn bytes_are_private_that_were_written_by_this_process_and_just_now() {
        let first_token = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let after = |seconds| first_token + Duration::from_secs(seconds);

        assert!(is_private(after(1), first_token, after(60)));
        assert!(is_private(after(3_600), first_token, after(3_700)));
        // Dates of the store are in seconds, so this one may be older than the token.
        assert!(!is_private(first_token, first_token, after(1)));
        assert!(!is_private(
            first_token - Duration::from_secs(60),
            first_token,
            after(1)
        ));
        // A clone of the running machine may have been made meanwhile.
        assert!(!is_private(after(1), first_token, after(130)));
        assert!(!is_private(after(3_600), first_token, after(90_000)));
    }

    #[test]
    fn a_clock_that_is_set_forward_is_ahead_of_the_store() {
        let noted = Moment::now();
        let week = Duration::from_secs(7 * 86_400);
        let date = StoreDate {
            date: noted.wall(),
            noted,
        };

        let lead = date.measure_lead(noted.wall() + week);
        assert!(lead > week - CLOCK_TOLERANCE && lead <= week, "{lead:?}");
        assert_eq!(
            date.measure_lead(noted.wall() + Duration::from_secs(30)),
            Duration::ZERO
        );
        assert_eq!(date.measure_lead(noted.wall() - week), Duration::ZERO);
    }
}
