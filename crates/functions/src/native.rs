//! Functions written in Rust, which answer below the same paths and under the same rules as those in TypeScript.

use actix_web::HttpResponse;
use actix_web::http::Method;
use actix_web::http::header::HeaderMap;
use actix_web::web::Payload;
use futures_util::future::LocalBoxFuture;
use selvedge_gateway::Caller;

/// A call of a native function.
pub struct NativeRequest {
    pub method: Method,
    /// `/<slug>[/<rest>]`, as functions see it.
    pub path: String,
    pub query: String,
    /// The request's headers. `Authorization` contains the JWT of a key's role in place of the key, as functions see it.
    pub headers: HeaderMap,
    pub body: Payload,
    /// The caller's verified token, API key and address.
    pub caller: Caller,
}

/// A function written in Rust. It wins over a function of the project that has the same name.
pub trait NativeFunction: Send + Sync {
    /// The name in the URL.
    fn slug(&self) -> &str;

    /// Whether a call needs a valid JWT.
    fn verify_jwt(&self) -> bool {
        true
    }

    /// Answers a call, on the thread of its connection.
    fn call(&self, request: NativeRequest) -> LocalBoxFuture<'static, HttpResponse>;
}
