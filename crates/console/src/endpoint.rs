//! An endpoint of `/api`, and the lowest level that may call it.

use actix_web::http::Method;
use actix_web::{FromRequest, Handler, Responder, Route, web};

use crate::state::Level;

/// The callers that the guards admit to an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Accepts everybody who passes the guards, signed in or not.
    Open,
    /// A download that the browser starts by navigation, so that the page cannot add a header. It accepts a session by its
    /// cookie alone, and the handler requires a ticket that was issued to the session.
    Ticket,
    /// The endpoint is open to accounts of this level and above.
    From(Level),
}

/// An endpoint: method, path, level, handler.
pub(crate) struct ApiRoute {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) access: Access,
    pub(crate) route: Route,
}

impl ApiRoute {
    /// An endpoint. `path` is the whole path below the origin, such as `/api/rows/read`.
    pub(crate) fn new<F, Args>(method: Method, path: &'static str, access: Access, handler: F) -> Self
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        Self {
            route: web::method(method.clone()).to(handler),
            method,
            path,
            access,
        }
    }
}
