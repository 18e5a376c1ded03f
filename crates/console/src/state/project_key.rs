//! Names the database that the console serves. All local projects have the same address, so a page that was opened on another
//! project's console sends the name of its own, and is refused before it reads or changes anything here.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::database::ConsoleDatabase;
use crate::error::ConsoleError;

/// How long a key is used before the database is asked again: an external one can be replaced while the console runs.
const MAX_AGE: Duration = Duration::from_secs(5);

const SYSTEM: &str = "select system_identifier::pg_catalog.text from pg_catalog.pg_control_system()";
/// Where the server listens: for clusters whose identifier must not be read. It changes with a failover, after which open pages have
/// to be loaded anew.
const SERVER: &str = "select pg_catalog.concat_ws(' ', pg_catalog.inet_server_addr(),
       coalesce(pg_catalog.inet_server_port()::pg_catalog.text, pg_catalog.current_setting('port')))";
const DATABASE: &str =
    "select oid::pg_catalog.text from pg_catalog.pg_database where datname = pg_catalog.current_database()";

/// The key of the project's database: a digest of the cluster's system identifier and the database's oid. It is the same on all nodes
/// and after a restart, and another one after `selvedge reset`.
#[derive(Default)]
pub(crate) struct ProjectKey {
    read: Mutex<Option<(Instant, Arc<str>)>>,
}

impl ProjectKey {
    /// The key as it was read last; `None` before the database has responded once.
    pub(crate) fn last_known(&self) -> Option<Arc<str>> {
        let known = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().map(|(_, key)| Arc::clone(key))
    }

    /// Returns the key, which is read again when it is older than five seconds.
    ///
    /// # Errors
    /// When the database does not respond and the key has not been read lately.
    pub(crate) async fn current(&self, database: &ConsoleDatabase) -> Result<Arc<str>, ConsoleError> {
        let known = self.read.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((at, key)) = known
            && at.elapsed() < MAX_AGE
        {
            return Ok(key);
        }
        let client = database.service().await?;
        let key: Arc<str> = read_key(&client).await?.into();
        *self.read.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), Arc::clone(&key)));
        Ok(key)
    }
}

async fn read_key(client: &Client) -> Result<String, ConsoleError> {
    let system: String = match client.query_one(SYSTEM, &[]).await {
        Ok(row) => row.get(0),
        // Some services take this function away from everybody. The oid alone is the same in most clusters.
        Err(error) if error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
            client.query_one(SERVER, &[]).await?.get(0)
        }
        Err(error) => return Err(error.into()),
    };
    let database: String = client.query_one(DATABASE, &[]).await?.get(0);
    let digest = Sha256::digest(format!("{system}/{database}"));
    // Half of the digest is enough to tell the projects of one machine apart.
    Ok(hex::encode(&digest[..16]))
}
