//! The caller of an endpoint, as an extractor.

use std::future::{Ready, ready};
use std::sync::Arc;

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpMessage, HttpRequest};

use super::secret::Digest;
use crate::error::ConsoleError;
use crate::state::Level;

/// The caller of an endpoint with its level; handlers that need a session take it as an extractor.
#[derive(Debug, Clone)]
pub struct Session {
    /// The account's name; `None` if the console has no sign-in.
    pub account: Option<Arc<str>>,
    /// The caller's level, which determines the database login.
    pub level: Level,
    /// The id under which the request is found in logs and in the audit.
    pub request_id: Arc<str>,
    /// The client's IP address.
    pub address: Arc<str>,
    /// The digest that identifies the session's row; `None` if the console has no sign-in.
    pub(super) digest: Option<Digest>,
}

impl Session {
    /// The account's name for texts; `local` if the console has no sign-in.
    pub fn account_name(&self) -> &str {
        self.account.as_deref().unwrap_or("local")
    }

    /// Whether both are requests of the same session. Without sign-in, callers are distinguished by their IP address.
    pub(crate) fn is_same_as(&self, other: &Self) -> bool {
        self.digest == other.digest && self.account == other.account && self.address == other.address
    }

    /// Returns the caller who started a background job, for the audit entry at the job's end.
    pub(crate) fn of_background(
        account: Option<String>,
        level: Level,
        address: &str,
        request_id: &str,
    ) -> Self {
        Self {
            account: account.map(Arc::from),
            level,
            request_id: request_id.into(),
            address: address.into(),
            digest: None,
        }
    }

    /// Returns a session for unit tests.
    #[cfg(test)]
    pub(crate) fn for_test(account: &str, level: Level, digest: Digest) -> Self {
        Self {
            account: Some(account.into()),
            level,
            request_id: "test".into(),
            address: "127.0.0.1".into(),
            digest: Some(digest),
        }
    }

    /// Refuses callers below a level. The route table has done it for the endpoint; this is for parts of one.
    ///
    /// # Errors
    /// 403 with the level that is needed.
    pub fn require(&self, level: Level) -> Result<(), ConsoleError> {
        if self.level >= level {
            return Ok(());
        }
        Err(ConsoleError::forbidden(format!(
            "This needs the level {level}, and your account is a {}",
            self.level
        )))
    }
}

impl FromRequest for Session {
    type Error = ConsoleError;
    type Future = Ready<Result<Self, ConsoleError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        // The guards have attached it; an open endpoint has none, and finds the session itself.
        let session = request.extensions().get::<Self>().cloned();
        ready(session.ok_or_else(ConsoleError::unauthenticated))
    }
}
