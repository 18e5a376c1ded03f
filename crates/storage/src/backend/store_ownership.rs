//! To which database the stored objects belong. To every other database that uses the same bucket or folder they look like leftovers, so bytes are
//! removed only where this one is alone.
//!
//! A mark in the store names each database by its cluster and number. A copy of a database has the same name: a restore to an earlier point, a
//! clone of a disk, a standby that was promoted by hand. So the mark also holds a token, which is replaced from time to time, and the database
//! notes those that it has issued. A copy does not know the tokens that the other one has issued since, and whoever finds a foreign token
//! leaves a second mark, so that both stop removing until somebody says whose the objects are ([`StoreOwnership::adopt`]).
//!
//! Until the original asks again, or for as long as it is stopped, nothing tells the copy that it is one. So a process removes bytes for good only
//! when they are younger than its own first token: those nobody else can have an object for. All others go to the trash.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use deadpool_postgres::Client;
use uuid::Uuid;

use super::{Backend, BackendError, BackendResult, BlobStat, Version};
use crate::error::{StorageError, UniqueKey};

/// The number that `initdb` gave to the cluster, and that of the database in it.
const OWNER: &str = "select system_identifier::text || '-' || (select oid from pg_database where datname = current_database()) \
     from pg_control_system()";

/// False in a database that was migrated by an older version, which issued no tokens.
const HAS_TOKENS: &str = "select to_regclass('_selvedge.object_stores') is not null";

/// Locks the row, which a standby refuses: it may not have the newest token yet, and would take the primary for a copy.
const FIND_TOKEN: &str = "select $2 = any (tokens), tokens[cardinality(tokens)], renewed_at < now() - interval '30 minutes' \
     from _selvedge.object_stores where store = $1 for share";

const ADD_STORE: &str = "insert into _selvedge.object_stores (store, tokens) values ($1, array[$2::text])";

/// Several are kept: a node that was frozen may write an older one into the mark.
const ADD_TOKEN: &str = "update _selvedge.object_stores \
     set tokens = (tokens || $2::text)[greatest(cardinality(tokens) - 14, 1):], renewed_at = now() where store = $1";

/// How long an answer counts. Another database that begins to use the store is noticed that much later.
const CHECK_INTERVAL: Duration = Duration::from_secs(60);

/// What is known of the databases that have their objects in the store.
pub(crate) struct StoreOwnership {
    backend: Arc<dyn Backend>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    checked_at: Option<Instant>,
    others: Vec<String>,
    /// When this process wrote its first token, by the store's clock. A new process issues one at once, so that a copy which was just started is
    /// found soon.
    first_token_at: Option<SystemTime>,
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
            state.checked_at = Some(Instant::now());
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
        }
        Ok(None)
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
        if self.with_state(|state| state.first_token_at.is_none()) {
            let at = self.backend.date_mark(owner).await?;
            self.with_state(|state| state.first_token_at = Some(at));
        }
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

    /// Removes the bytes of an object that this database no longer has: for good if no copy of it can have the object.
    ///
    /// # Errors
    /// Errors of the store.
    pub(crate) async fn discard(&self, version: Version) -> BackendResult<()> {
        if !self.backend.has_marks() {
            return self.backend.remove(version).await;
        }
        match self.backend.stat(version).await {
            Err(BackendError::Missing) => Ok(()),
            Err(error) => Err(error),
            Ok(blob) if self.is_of_this_process(&blob) => self.backend.remove(version).await,
            Ok(_) => self.backend.trash(version).await,
        }
    }

    fn is_of_this_process(&self, blob: &BlobStat) -> bool {
        let first_token_at = self.with_state(|state| state.first_token_at);
        first_token_at.is_some_and(|at| blob.modified > at)
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

/// Describes a mark to an operator: a database that is in use renews its mark every half hour, so an old one is a leftover.
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
