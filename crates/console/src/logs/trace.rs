//! The middleware of the API that collects the statements of each request for the log.

use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage as _};
use selvedge_gateway::Caller;
use selvedge_postgres::trace_statements;

use super::log::ConsoleLog;

/// Collects the statements of requests where a console serves beside the API.
#[derive(Clone)]
pub struct StatementTracing {
    log: Option<Arc<ConsoleLog>>,
    slow_request: Duration,
}

impl StatementTracing {
    /// Creates the layer. It stores statements in `log`, if there is one, of requests that fail, take longer than
    /// `slow_request`, or arrive while the log is followed.
    pub fn new(log: Option<Arc<ConsoleLog>>, slow_request: Duration) -> Self {
        Self { log, slow_request }
    }

    /// Whether there is a log; without one the middleware should not be mounted.
    pub fn is_on(&self) -> bool {
        self.log.is_some()
    }

    /// Passes a request on and collects its statements. It must run inside of the gateway, which gives the request its id.
    ///
    /// # Errors
    /// The error of the service, of which no statements are kept.
    pub async fn call<B: MessageBody>(
        self,
        request: ServiceRequest,
        next: Next<B>,
    ) -> Result<ServiceResponse<B>, Error> {
        let caller = request.extensions().get::<Caller>().cloned();
        let (Some(log), Some(caller)) = (self.log, caller) else {
            return next.call(request).await;
        };
        let started = Instant::now();
        let (outcome, statements) = trace_statements(next.call(request)).await;
        let response = outcome?;
        let is_slow = started.elapsed() > self.slow_request;
        let (id, status) = (caller.request_id().as_str(), response.status().as_u16());
        log.statements.note(id, status, is_slow, statements);
        Ok(response)
    }
}
