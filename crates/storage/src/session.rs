//! The only door to PostgreSQL: statements under a caller's role, with everything a policy may ask for.
//!
//! Single statements go through the worker's request pool in one round trip; [`Session::probe`] does the same and rolls
//! back, which is how a permission is asked for before bytes arrive. Only replacing an object needs several statements in
//! one transaction ([`Session::transaction`]).

use std::cell::OnceCell;
use std::rc::Rc;
use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::http::header;
use bytes::Bytes;
use deadpool_postgres::{Client, Transaction};
use selvedge_postgres::{
    Access, Database, End, Param, RequestContext, RequestError, RequestTransaction, Row, SqlStatement,
    begin_as,
};
use serde_json::{Map, Value};

use crate::backend::Version;
use crate::error::{StorageError, Taken};
use crate::identity::Identity;
use crate::serve::StorageWorker;

/// Names are found here, whatever the database's own setting says. Quoted and fixed.
const SEARCH_PATH: &str = "storage, public, extensions";

/// What policies can read of the request itself. Headers are rendered only when a statement needs them.
pub(crate) struct RequestFacts {
    operation: &'static str,
    /// None for work that no request asked for.
    request: Option<HttpRequest>,
    headers: OnceCell<String>,
}

impl RequestFacts {
    /// The facts of an HTTP request. `operation` is what `storage.operation()` returns.
    pub(crate) fn of(request: HttpRequest, operation: &'static str) -> Self {
        Self {
            operation,
            request: Some(request),
            headers: OnceCell::new(),
        }
    }

    /// The facts of work that no request asked for.
    pub(crate) fn internal(operation: &'static str) -> Self {
        Self {
            operation,
            request: None,
            headers: OnceCell::new(),
        }
    }

    fn headers(&self) -> &str {
        self.headers.get_or_init(|| {
            let mut headers = Map::new();
            for (name, value) in self.request.iter().flat_map(|request| request.headers()) {
                let text = String::from_utf8_lossy(value.as_bytes());
                // NUL cannot be stored in a setting; such a header is none a policy could want.
                if *name != header::COOKIE && !text.contains('\0') {
                    headers.insert(name.as_str().to_owned(), Value::String(text.into_owned()));
                }
            }
            Value::Object(headers).to_string()
        })
    }
}

/// One identity in one request. Owned and cheap to clone, so that a commit can outlive its client.
#[derive(Clone)]
pub(crate) struct Session {
    worker: StorageWorker,
    facts: Rc<RequestFacts>,
    identity: Identity,
}

impl Session {
    pub(crate) fn new(worker: StorageWorker, facts: Rc<RequestFacts>, identity: Identity) -> Self {
        Self {
            worker,
            facts,
            identity,
        }
    }

    /// Who acts.
    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The worker whose connections are used.
    pub(crate) fn worker(&self) -> &StorageWorker {
        &self.worker
    }

    /// Runs a statement that only reads.
    ///
    /// # Errors
    /// What PostgreSQL says, in our words.
    pub(crate) async fn read(&self, statement: Statement) -> Result<Vec<Row>, StorageError> {
        self.run(statement, Access::ReadOnly, End::Commit).await
    }

    /// Runs a statement that writes, and commits.
    ///
    /// # Errors
    /// What PostgreSQL says, in our words.
    pub(crate) async fn write(&self, statement: Statement) -> Result<Vec<Row>, StorageError> {
        self.run(statement, Access::ReadWrite, End::Commit).await
    }

    /// Runs a statement that writes, and rolls back: asks the policies without leaving a trace.
    ///
    /// # Errors
    /// What PostgreSQL says, in our words.
    pub(crate) async fn probe(&self, statement: Statement) -> Result<Vec<Row>, StorageError> {
        self.run(statement, Access::ReadWrite, End::Rollback).await
    }

    async fn run(&self, statement: Statement, access: Access, end: End) -> Result<Vec<Row>, StorageError> {
        let taken = statement.taken;
        let extra = extra_settings(self.facts.operation, &self.identity);
        let sql = SqlStatement {
            text: statement.text.to_owned(),
            params: statement.params,
            force_custom_plan: false,
        };
        let transaction = RequestTransaction {
            access,
            isolation: None,
            context: self.context(access, &extra),
            pre_request: None,
            statement: &sql,
            explain: None,
            end,
        };
        match self.worker.requests().run(transaction).await {
            Ok(answer) => Ok(answer.rows),
            Err(error) => Err(request_error(error, taken)),
        }
    }

    /// Runs a deletion of objects that returns their `version`, and discards their blobs: to the end, even when the
    /// client goes away meanwhile.
    ///
    /// # Errors
    /// What PostgreSQL says, in our words.
    pub(crate) async fn delete_objects(&self, statement: Statement) -> Result<Vec<Row>, StorageError> {
        let session = self.clone();
        let deletion = actix_web::rt::spawn(async move {
            let rows = session.write(statement).await?;
            for row in &rows {
                let version: Option<String> = row.try_get("version").map_err(StorageError::internal)?;
                if let Some(version) = version.as_deref().and_then(Version::parse) {
                    session.worker.storage().discard(version);
                }
            }
            Ok(rows)
        });
        deletion.await.map_err(StorageError::internal)?
    }

    /// Begins a transaction of several statements on a connection of its own.
    ///
    /// # Errors
    /// When no connection becomes free, or PostgreSQL refuses the role.
    pub(crate) async fn transaction<'c>(
        &self,
        client: &'c mut Client,
    ) -> Result<Transaction<'c>, StorageError> {
        let extra = extra_settings(self.facts.operation, &self.identity);
        let context = self.context(Access::ReadWrite, &extra);
        begin(self.worker.storage().database(), client, &context).await
    }

    fn context<'a>(&'a self, access: Access, extra: &'a [(&'a str, &'a str)]) -> RequestContext<'a> {
        if access == Access::ReadOnly && self.identity.is_service() {
            // Nothing looks at the request: no policy applies, and a read fires no trigger.
            return RequestContext {
                extra: &[],
                ..bare_context(&self.identity)
            };
        }
        RequestContext {
            method: self
                .facts
                .request
                .as_ref()
                .map_or("", |request| request.method().as_str()),
            path: self.facts.request.as_ref().map_or("", |request| request.path()),
            headers: self.facts.headers(),
            extra,
            ..bare_context(&self.identity)
        }
    }
}

/// Begins a transaction as the service itself, for work that no request asked for.
///
/// # Errors
/// When PostgreSQL refuses the role.
pub(crate) async fn begin_internal<'c>(
    database: &Database,
    client: &'c mut Client,
    operation: &'static str,
) -> Result<Transaction<'c>, StorageError> {
    let identity = Identity::service();
    let extra = extra_settings(operation, &identity);
    begin(
        database,
        client,
        &RequestContext {
            extra: &extra,
            ..bare_context(&identity)
        },
    )
    .await
}

async fn begin<'c>(
    database: &Database,
    client: &'c mut Client,
    context: &RequestContext<'_>,
) -> Result<Transaction<'c>, StorageError> {
    begin_as(client, context, &database.role_settings(), Access::ReadWrite)
        .await
        .map_err(|error| StorageError::from_tokio_postgres(error, Taken::Resource))
}

/// `storage.*` and the older one-claim settings that policies of early projects read.
fn extra_settings<'a>(operation: &'a str, identity: &'a Identity) -> [(&'a str, &'a str); 5] {
    [
        ("storage.operation", operation),
        ("storage.allow_delete_query", "true"),
        ("request.jwt", identity.token()),
        ("request.jwt.claim.role", identity.role()),
        ("request.jwt.claim.sub", identity.subject().unwrap_or("")),
    ]
}

/// A context that says who acts, and nothing of a request.
fn bare_context(identity: &Identity) -> RequestContext<'_> {
    RequestContext {
        search_path: SEARCH_PATH,
        role: identity.role(),
        claims: identity.claims_json(),
        method: "",
        path: "",
        headers: "{}",
        cookies: "{}",
        extra: &[],
    }
}

fn request_error(error: RequestError, taken: Taken) -> StorageError {
    match error {
        RequestError::Database(database) => {
            StorageError::from_postgres(&database.code, &database.message, taken)
        }
        RequestError::Timeout => StorageError::DatabaseTimeout,
        other => StorageError::internal(other),
    }
}

/// A statement and its parameters. PostgreSQL infers their types; all travel as text.
pub(crate) struct Statement {
    text: &'static str,
    params: Vec<Param>,
    taken: Taken,
}

impl Statement {
    /// A statement about objects.
    pub(crate) fn new(text: &'static str) -> Self {
        Self {
            text,
            params: Vec::new(),
            taken: Taken::Resource,
        }
    }

    /// Says what a unique violation of this statement means.
    pub(crate) fn taken_means(mut self, taken: Taken) -> Self {
        self.taken = taken;
        self
    }

    /// The next parameter.
    pub(crate) fn bind(mut self, value: impl Into<String>) -> Self {
        self.params.push(Param::Text(Bytes::from(value.into())));
        self
    }

    /// The next parameter, null when absent.
    pub(crate) fn bind_optional(mut self, value: Option<impl Into<String>>) -> Self {
        self.params
            .push(value.map_or(Param::Null, |value| Param::Text(Bytes::from(value.into()))));
        self
    }
}

/// Waits at most this long for `pg_advisory_xact_lock`, in PostgreSQL's spelling.
pub(crate) fn lock_timeout(duration: Duration) -> String {
    format!("{}ms", duration.as_millis())
}
