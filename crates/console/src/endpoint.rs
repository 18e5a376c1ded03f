//! An endpoint of `/api`, with the check of its callers.

use actix_web::http::Method;
use actix_web::middleware::from_fn;
use actix_web::{FromRequest, Handler, Responder, Route, web};

use crate::access::Access;
use crate::guards;

/// An endpoint: method, path, level, and the handler behind the check of that level.
pub(crate) struct ApiRoute {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) access: Access,
    pub(crate) route: Route,
}

impl ApiRoute {
    /// An endpoint. `path` is the whole path below the origin, such as `/api/rows/read`.
    ///
    /// The check of the caller is part of the route. So it runs for every spelling of an address that the router takes for
    /// this path, encoded letters included.
    pub(crate) fn new<F, Args>(method: Method, path: &'static str, access: Access, handler: F) -> Self
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        Self {
            route: web::method(method.clone())
                .to(handler)
                .wrap(from_fn(move |request, next| guards::admit(access, request, next))),
            method,
            path,
            access,
        }
    }
}
