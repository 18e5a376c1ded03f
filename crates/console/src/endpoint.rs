//! An endpoint of `/api`, and the lowest level that may call it.

use actix_web::http::Method;
use actix_web::{FromRequest, Handler, Responder, Route, web};

use crate::access::Access;

/// An endpoint: method, path, level, handler. The route table puts the check of the caller before the handler.
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
