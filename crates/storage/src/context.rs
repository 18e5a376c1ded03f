//! The context of one HTTP request: the request, its caller, and the database sessions for the roles that it may use.
//! The router makes one; operations get it as their first argument.

use std::rc::Rc;
use std::sync::Arc;

use actix_web::HttpRequest;
use actix_web::http::Method;

use crate::database::replica_reader::find_reader;
use crate::database::session::{DbSession, RequestFacts};
use crate::error::StorageError;
use crate::identity::{Identity, missing_header_as_empty_token};
use crate::request::query::Query;
use crate::state::{Storage, StorageWorker};

/// One HTTP request with everything an operation needs to serve it.
pub(crate) struct RequestContext {
    pub(crate) request: HttpRequest,
    pub(crate) query: Query,
    worker: StorageWorker,
    facts: Rc<RequestFacts>,
}

impl RequestContext {
    /// Wraps a request. `operation` is what `storage.operation()` returns to policies.
    pub(crate) fn new(worker: StorageWorker, request: HttpRequest, operation: &'static str) -> Self {
        let facts = Rc::new(RequestFacts::of_request(request.clone(), operation));
        let query = Query::parse(request.query_string());
        Self {
            request,
            query,
            worker,
            facts,
        }
    }

    /// A session under the caller's role.
    ///
    /// # Errors
    /// `Schema` without any authorization, unless the service is behind a gateway; `AccessDenied` for a bad token.
    pub(crate) fn caller(&self) -> Result<DbSession, StorageError> {
        let storage = self.storage();
        let identity = Identity::required(&self.request, storage.keys());
        Ok(self.session_as(identity.map_err(|error| storage.map_missing_token(error))?))
    }

    /// A session under the caller's role; `None` for an unauthenticated caller.
    pub(crate) fn optional_caller(&self) -> Option<DbSession> {
        let identity = Identity::optional(&self.request, self.storage().keys());
        identity.map(|identity| self.session_as(identity))
    }

    /// The caller of a route on which a missing header is reported as a bad token.
    ///
    /// Compat: the original's health and resumable routes complain about the token, not about the absent header.
    ///
    /// # Errors
    /// `AccessDenied`.
    pub(crate) fn caller_with_token(&self) -> Result<DbSession, StorageError> {
        self.caller().map_err(missing_header_as_empty_token)
    }

    /// A session as the service itself, which bypasses all policies.
    pub(crate) fn service(&self) -> DbSession {
        self.session_as(Identity::service())
    }

    /// A session of an identity that was established elsewhere, such as by an S3 signature.
    pub(crate) fn session_as(&self, identity: Identity) -> DbSession {
        DbSession::new(self.worker.clone(), Rc::clone(&self.facts), identity)
    }

    /// The state that all requests share.
    pub(crate) fn storage(&self) -> &Arc<Storage> {
        self.worker.storage()
    }

    /// Allows this request's lookups to run on a replica that has replayed everything that the caller wrote. For requests that only
    /// read.
    pub(crate) fn read_from_replicas(&self) {
        if let Some(replicas) = self.worker.replicas() {
            let reader = find_reader(&self.request, replicas.shared().node());
            self.facts.set_replica_reader(Some(reader));
        }
    }

    /// Makes further lookups run on the primary, after a replica returned an outdated row.
    pub(crate) fn read_from_primary(&self) {
        self.facts.set_replica_reader(None);
    }

    /// A request header as text; a header that is not text counts as absent.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.request
            .headers()
            .get(name)
            .and_then(|value| value.to_str().ok())
    }

    /// Whether this is a HEAD request, whose response has no body.
    pub(crate) fn is_head(&self) -> bool {
        self.request.method() == Method::HEAD
    }
}
