//! The project's API, called in process: through the same gateway and routes as a request of a client, without a socket.

use std::rc::Rc;
use std::sync::Arc;

use actix_web::{Error, HttpResponse};
use futures_util::future::LocalBoxFuture;
use secrecy::SecretString;
use serde_json::Value;

/// The API's request handler of one thread.
pub type ApiService = Rc<dyn Fn(actix_http::Request) -> LocalBoxFuture<'static, Result<HttpResponse, Error>>>;

/// Makes the API for the thread on which it is called. Its database connections belong to that thread.
pub type MakeApiService = Arc<dyn Fn() -> LocalBoxFuture<'static, Option<ApiService>> + Send + Sync>;

/// Signs the claims of an access token.
pub type SignToken = Arc<dyn Fn(&Value) -> Result<String, String> + Send + Sync>;

/// The project's API and what its callers need.
#[derive(Clone)]
pub struct ProjectApi {
    /// Makes the API's request handler for the thread that calls it.
    pub make_service: MakeApiService,
    /// The key of `service_role`, which no answer of the console contains.
    pub service_key: SecretString,
    /// Signs access tokens.
    pub sign_token: SignToken,
}
