//! The configuration of generated pictures, which the server fills in.

use std::time::Duration;

use selvedge_http_client::WebhookKey;
use selvedge_postgres::TableName;

/// Configuration of the generator.
#[derive(Debug, Clone)]
pub struct GeneratorConfig {
    /// The project's table of jobs.
    pub table: TableName,
    /// The HTTP endpoint that makes pictures; `None` means the built-in preview.
    pub endpoint: Option<EndpointConfig>,
    /// Scheme and host by which a generator reaches this server, without a slash at the end.
    pub public_url: String,
    /// How many jobs this node works on at the same time.
    pub parallel: usize,
    /// How long one attempt may take; with an endpoint, how long its answer to the request may take.
    pub attempt_timeout: Duration,
    /// How long a generator may take from its answer until the picture arrives.
    pub result_timeout: Duration,
    /// Pause before the second attempt. Each further pause is four times as long.
    pub retry_pause: Duration,
    /// Largest picture that a generator may send, in bytes.
    pub max_picture_bytes: usize,
}

impl GeneratorConfig {
    /// The lease of an attempt: a little longer than the attempt, which must end before its job is taken over.
    pub(crate) fn lease(&self) -> Duration {
        self.attempt_timeout + Duration::from_secs(5)
    }
}

/// The HTTP endpoint of a generator.
#[derive(Debug, Clone)]
pub struct EndpointConfig {
    /// URL of the generator to which requests are sent.
    pub url: String,
    /// Keys that sign each request.
    pub keys: Vec<WebhookKey>,
    /// Whether the address may be one of a private network.
    pub calls_private: bool,
}
