//! Runs statements in PostgreSQL under a caller's role, with every setting that a policy may read. All SQL of a request
//! passes here.
//!
//! Single statements go through the worker's request pool in one round trip. [`DbSession::dry_run`] rolls back, which
//! is how a permission is checked before bytes arrive. Work that needs several statements in one transaction, such as
//! replacing an object, uses [`DbSession::transaction`].

use std::cell::{Cell, OnceCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::http::header;
use deadpool_postgres::{Client, Transaction};
use selvedge_gateway::{Caller, sent_path};
use selvedge_limits::ClientId;
use selvedge_postgres::{
    AccessMode, Reader, RequestError, RequestTransaction, Row, SqlStatement, TransactionEnd, become_caller,
};
use serde_json::{Map, Value};

use super::deadlock::repeat_after_deadlock;
use super::service_transaction::{bare_context, begin, extra_settings, refuse_distributed_objects};
use super::statement::Statement;
use crate::backend::Version;
use crate::error::{StorageError, UniqueKey};
use crate::identity::Identity;
use crate::state::{Storage, StorageWorker};

pub(crate) use super::service_transaction::begin_service_transaction;

/// The data about the HTTP request that policies can read: method, path, headers and operation. Headers are rendered as JSON
/// only when a statement needs them.
pub(crate) struct RequestFacts {
    operation: &'static str,
    /// `None` for background work.
    request: Option<HttpRequest>,
    /// Who has sent it.
    client: Option<ClientId>,
    headers: OnceCell<String>,
    /// The caller whose lookups may run on a replica; `None` when they must run on the primary.
    replica_reader: Cell<Option<Reader>>,
}

impl RequestFacts {
    /// The facts of an HTTP request. `operation` is what `storage.operation()` returns.
    pub(crate) fn of_request(request: HttpRequest, operation: &'static str) -> Self {
        Self {
            operation,
            client: Some(Caller::client_of(&request)),
            request: Some(request),
            headers: OnceCell::new(),
            replica_reader: Cell::new(None),
        }
    }

    /// The facts of background work, which has no request.
    pub(crate) fn of_background_work(operation: &'static str) -> Self {
        Self {
            operation,
            request: None,
            client: None,
            headers: OnceCell::new(),
            replica_reader: Cell::new(None),
        }
    }

    /// Sets the caller whose lookups may run on a replica.
    pub(crate) fn set_replica_reader(&self, reader: Option<Reader>) {
        self.replica_reader.set(reader);
    }

    fn headers(&self) -> &str {
        self.headers.get_or_init(|| {
            let mut headers = Map::new();
            for (name, value) in self.request.iter().flat_map(|request| request.headers()) {
                let text = String::from_utf8_lossy(value.as_bytes());
                // PostgreSQL refuses NUL in a setting, so such a header is left out. Cookies are withheld from
                // policies: in this service `request.cookies` is always empty.
                if *name != header::COOKIE && !text.contains('\0') {
                    headers.insert(name.as_str().to_owned(), Value::String(text.into_owned()));
                }
            }
            Value::Object(headers).to_string()
        })
    }
}

/// The database with the identity of one request. Owned and cheap to clone, so that a commit can continue after the client
/// has disconnected.
#[derive(Clone)]
pub(crate) struct DbSession {
    worker: StorageWorker,
    facts: Rc<RequestFacts>,
    identity: Identity,
    sees_versions: bool,
}

impl DbSession {
    pub(crate) fn new(worker: StorageWorker, facts: Rc<RequestFacts>, identity: Identity) -> Self {
        Self {
            worker,
            facts,
            identity,
            sees_versions: false,
        }
    }

    /// The same session for statements about old versions and markers, which policies hide otherwise.
    pub(crate) fn with_versions(&self) -> Self {
        Self {
            sees_versions: true,
            ..self.clone()
        }
    }

    /// Leaves out the last setting, which is that of versions, for statements about current objects.
    fn choose_settings<'e>(&self, extra: &'e [(&'e str, &'e str)]) -> &'e [(&'e str, &'e str)] {
        let without = extra.len() - usize::from(!self.sees_versions);
        &extra[..without]
    }

    /// The identity whose role statements run under.
    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The state that all requests share.
    pub(crate) fn storage(&self) -> &Arc<Storage> {
        self.worker.storage()
    }

    /// Runs a statement that only reads.
    ///
    /// # Errors
    /// PostgreSQL's error, mapped to a [`StorageError`].
    pub(crate) async fn read(&self, statement: Statement) -> Result<Vec<Row>, StorageError> {
        self.run(statement, AccessMode::ReadOnly, TransactionEnd::Commit)
            .await
    }

    /// Runs a statement that looks a row up by its name: on a replica if the request allows it, and again on the primary if the
    /// replica has no such row, because the row may be new.
    ///
    /// # Errors
    /// PostgreSQL's error, mapped to a [`StorageError`].
    pub(crate) async fn look_up(
        &self,
        statement: Statement,
        is_found: impl Fn(&[Row]) -> bool,
    ) -> Result<Vec<Row>, StorageError> {
        refuse_distributed_objects(self.worker.storage().database())?;
        let unique_key = statement.unique_key;
        let extra = extra_settings(self.facts.operation, &self.identity);
        let extra = self.choose_settings(&extra);
        let sql = statement.into_sql();
        let lookup = self.request_transaction(&sql, AccessMode::ReadOnly, TransactionEnd::Commit, extra);
        // After any error of a replica, the statement runs on the primary.
        if let (Some(reader), Some(replicas)) = (self.facts.replica_reader.get(), self.worker.replicas())
            && let Some(Ok(result)) = replicas.run(&reader, lookup).await
            && is_found(&result.rows)
        {
            return Ok(result.rows);
        }
        self.run_on_primary(lookup, unique_key).await
    }

    /// Runs a statement that writes, and commits.
    ///
    /// # Errors
    /// PostgreSQL's error, mapped to a [`StorageError`].
    pub(crate) async fn write(&self, statement: Statement) -> Result<Vec<Row>, StorageError> {
        self.run(statement, AccessMode::ReadWrite, TransactionEnd::Commit)
            .await
    }

    /// Runs a statement that writes, and rolls back: the policies decide about it and nothing changes.
    ///
    /// # Errors
    /// PostgreSQL's error, mapped to a [`StorageError`].
    pub(crate) async fn dry_run(&self, statement: Statement) -> Result<Vec<Row>, StorageError> {
        self.run(statement, AccessMode::ReadWrite, TransactionEnd::Rollback)
            .await
    }

    async fn run(
        &self,
        statement: Statement,
        access: AccessMode,
        end: TransactionEnd,
    ) -> Result<Vec<Row>, StorageError> {
        refuse_distributed_objects(self.worker.storage().database())?;
        let unique_key = statement.unique_key;
        let extra = extra_settings(self.facts.operation, &self.identity);
        let extra = self.choose_settings(&extra);
        let sql = statement.into_sql();
        let transaction = self.request_transaction(&sql, access, end, extra);
        self.run_on_primary(transaction, unique_key).await
    }

    async fn run_on_primary(
        &self,
        transaction: RequestTransaction<'_>,
        unique_key: UniqueKey,
    ) -> Result<Vec<Row>, StorageError> {
        match self.worker.request_pool().run(transaction).await {
            Ok(result) => Ok(result.rows),
            Err(error) => Err(map_request_error(error, unique_key)),
        }
    }

    fn request_transaction<'a>(
        &'a self,
        statement: &'a SqlStatement,
        access: AccessMode,
        end: TransactionEnd,
        extra: &'a [(&'a str, &'a str)],
    ) -> RequestTransaction<'a> {
        RequestTransaction {
            access,
            isolation: None,
            context: self.context(access, extra),
            pre_request: None,
            statement,
            calls_function: false,
            replayed_to: None,
            client: self.facts.client.as_ref(),
            turn: None,
            explain: None,
            end,
        }
    }

    /// Runs a deletion of objects that returns their `version`, and removes their blobs. It runs as a separate task, so that
    /// a disconnected client cannot leave blobs whose rows were deleted. It is repeated after a deadlock, because a statement locks several
    /// objects in the order of its plan, and another request may lock them in another order.
    ///
    /// # Errors
    /// PostgreSQL's error, mapped to a [`StorageError`].
    pub(crate) async fn delete_objects(&self, statement: Statement) -> Result<Vec<Row>, StorageError> {
        // The task owns a clone of the session, because it may outlive the request.
        let session = self.clone();
        let deletion = actix_web::rt::spawn(async move {
            let rows = repeat_after_deadlock(async || session.write(statement.clone()).await).await?;
            for row in &rows {
                let version: Option<String> = row.try_get("version").map_err(StorageError::internal)?;
                if let Some(version) = version.as_deref().and_then(Version::parse) {
                    session.storage().discard_blob(version);
                }
            }
            Ok(rows)
        });
        deletion.await.map_err(StorageError::internal)?
    }

    /// Begins a transaction of several statements on `client`, a connection that nothing else uses until the end.
    ///
    /// # Errors
    /// When no connection becomes free, or PostgreSQL refuses the role.
    pub(crate) async fn transaction<'c>(
        &self,
        client: &'c mut Client,
    ) -> Result<Transaction<'c>, StorageError> {
        let extra = extra_settings(self.facts.operation, &self.identity);
        let extra = self.choose_settings(&extra);
        let context = self.context(AccessMode::ReadWrite, extra);
        begin(self.worker.storage().database(), client, &context).await
    }

    /// Goes on with an open transaction under the role and settings of this session.
    ///
    /// # Errors
    /// When PostgreSQL refuses the role.
    pub(crate) async fn become_caller(
        &self,
        transaction: &tokio_postgres::Transaction<'_>,
    ) -> Result<(), StorageError> {
        let extra = extra_settings(self.facts.operation, &self.identity);
        let extra = self.choose_settings(&extra);
        let context = self.context(AccessMode::ReadWrite, extra);
        let roles = self.worker.storage().database().role_settings();
        become_caller(transaction, &context, &roles, AccessMode::ReadWrite)
            .await
            .map_err(|error| StorageError::from_tokio_postgres(error, UniqueKey::Other))
    }

    fn context<'a>(
        &'a self,
        access: AccessMode,
        extra: &'a [(&'a str, &'a str)],
    ) -> selvedge_postgres::RequestContext<'a> {
        if access == AccessMode::ReadOnly && self.identity.is_service() {
            // The service role bypasses policies and a read fires no trigger, so nothing reads the request's settings;
            // leaving them out spares PostgreSQL and us their cost.
            return selvedge_postgres::RequestContext {
                extra: &[],
                ..bare_context(&self.identity)
            };
        }
        selvedge_postgres::RequestContext {
            method: self
                .facts
                .request
                .as_ref()
                .map_or("", |request| request.method().as_str()),
            path: self
                .facts
                .request
                .as_ref()
                .map_or("", |request| sent_path(request.uri())),
            headers: self.facts.headers(),
            extra,
            ..bare_context(&self.identity)
        }
    }
}

fn map_request_error(error: RequestError, unique_key: UniqueKey) -> StorageError {
    match error {
        RequestError::Database(database) => {
            StorageError::from_postgres(&database.code, &database.message, unique_key)
        }
        RequestError::Timeout => StorageError::DatabaseTimeout,
        RequestError::Unavailable(cause) => StorageError::DatabaseUnavailable(cause),
        RequestError::Lost(cause) => StorageError::ConnectionLost(cause),
        error @ RequestError::OutOfMemory { .. } => StorageError::ConnectionLost(error.to_string()),
    }
}

/// A duration as PostgreSQL's setting `lock_timeout` spells it, such as `5000ms`.
pub(crate) fn format_lock_timeout(duration: Duration) -> String {
    format!("{}ms", duration.as_millis())
}
