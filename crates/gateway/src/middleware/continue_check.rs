//! Decides about clients that wait for `100 Continue` before they send a body (`Expect: 100-continue`, RFC 9110 §10.1.1).
//!
//! Without a decision a client with a wrong key would send its whole body, perhaps gigabytes, and only then be refused.

use std::fmt;
use std::sync::Arc;

use actix_http::{Request, Response};
use actix_web::HttpResponse;
use actix_web::body::BoxBody;
use actix_web::dev::RequestHead;
use actix_web::http::header;

use super::caller::Credentials;
use super::keys::Keys;
use crate::{RequestId, Service, cors, routed_path};

/// A service's own check of requests whose body has not been sent yet.
pub trait BodyCheck: Send + Sync {
    /// The response that the client gets instead of `100 Continue`; `None` if the service will read the body. What needs
    /// the database, such as permissions, is checked after the body was asked for.
    fn refuse_body(&self, head: &RequestHead, credentials: &Credentials) -> Option<HttpResponse>;
}

/// Checks a request's key as the gateway does, and then calls the service's check.
#[derive(Clone)]
pub struct ContinueCheck {
    keys: Keys,
    storage: Option<Arc<dyn BodyCheck>>,
}

impl ContinueCheck {
    /// A check by the gateway's keys, and by storage where that service is on.
    pub fn new(keys: Keys, storage: Option<Arc<dyn BodyCheck>>) -> Self {
        Self { keys, storage }
    }

    /// The response instead of `100 Continue`; `None` if the body may come.
    pub(crate) fn refuse_body(&self, request: &Request) -> Option<Response<BoxBody>> {
        let path = routed_path(request.uri());
        let service = Service::from_path(&path);
        let mut response = self.find_refusal(request.head(), service, &path)?;
        let headers = response.headers_mut();
        // The client may send the body nevertheless, and it must not be taken for the next request.
        headers.insert(header::CONNECTION, header::HeaderValue::from_static("close"));
        let id = RequestId::from_headers(&request.head().headers);
        cors::apply_platform_headers(headers, service, &id);
        Some(response.into())
    }

    fn find_refusal(&self, head: &RequestHead, service: Service, path: &str) -> Option<HttpResponse> {
        let query = head.uri.query().unwrap_or_default();
        let credentials = match self.keys.check(service, path, &head.headers, query) {
            Ok(credentials) => credentials,
            Err(refusal) => return Some(refusal.response()),
        };
        match (service, &self.storage) {
            (Service::Storage, Some(storage)) => storage.refuse_body(head, &credentials),
            _ => None,
        }
    }
}

impl fmt::Debug for ContinueCheck {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ContinueCheck")
            .field("keys", &self.keys)
            .finish_non_exhaustive()
    }
}
