//! One request in progress: what the operations of Auth need besides their own input.

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest, web};
use chrono::{DateTime, Utc};
use deadpool_postgres::Client;

use super::RequestInfo;
use crate::config::AuthConfig;
use crate::error::AuthError;
use crate::state::AuthState;
use crate::state::rate_limits::LimitedEndpoint;

/// The service's shared state together with what this request says about itself.
///
/// Handlers extract it once and pass it on, so that a flow takes this, a transaction and its own input. Cloning is
/// cheap where the work goes on after the response: the state is shared.
#[derive(Clone)]
pub(crate) struct AuthRequest {
    pub(crate) state: web::Data<AuthState>,
    pub(crate) info: RequestInfo,
}

impl AuthRequest {
    /// The settings of the service.
    pub(crate) fn config(&self) -> &AuthConfig {
        &self.state.config
    }

    /// The current time, in the microseconds that PostgreSQL stores.
    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.state.now()
    }

    /// Takes a connection as `supabase_auth_admin` from the pool.
    ///
    /// # Errors
    /// 504 `request_timeout` when no connection becomes free in time.
    pub(crate) async fn connect(&self) -> Result<Client, AuthError> {
        self.state.connect().await
    }

    /// Counts the request against the rate limit of an endpoint.
    ///
    /// # Errors
    /// 429 `over_request_rate_limit`.
    pub(crate) fn check_rate_limit(&self, endpoint: LimitedEndpoint) -> Result<(), AuthError> {
        self.state.limits.check_client(endpoint, self.info.networks())
    }
}

impl FromRequest for AuthRequest {
    type Error = AuthError;
    type Future = Ready<Result<Self, AuthError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let state = request
            .app_data::<web::Data<AuthState>>()
            .expect("routes are mounted with their state");
        ready(RequestInfo::from_request(request).map(|info| Self {
            state: state.clone(),
            info,
        }))
    }
}
