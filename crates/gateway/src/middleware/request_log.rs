//! Hands each answered request to a listener of the server, which keeps the latest ones for people to look at.
//!
//! Without a listener a request pays nothing but the look at an `Option`.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use selvedge_token::Claims;

/// A request that was answered. It has neither query nor headers, which hold keys, codes and filters with personal data.
#[derive(Debug)]
pub struct RequestRecord<'a> {
    /// The id in logs and in the response.
    pub id: &'a str,
    /// The service: `rest`, `auth`, …
    pub service: &'static str,
    /// HTTP method.
    pub method: &'a str,
    /// Path of the URL without the query.
    pub path: &'a str,
    /// HTTP status of the response.
    pub status: u16,
    /// From the request's head to the response's.
    pub elapsed: Duration,
    /// Claims of the verified token. `None` for requests that were refused before, and for those without a token.
    pub claims: Option<&'a Arc<Claims>>,
    /// The client's address; `None` for requests that were refused before it was determined.
    pub address: Option<IpAddr>,
}

/// Receives requests when they have been answered, on the thread that has served them: it must not block.
pub trait RequestListener: Send + Sync {
    /// Records one finished request.
    fn note_request(&self, record: &RequestRecord<'_>);
}

/// A listener in the configuration, which is printed for debugging.
#[derive(Clone)]
pub struct SharedRequestListener(pub Arc<dyn RequestListener>);

impl fmt::Debug for SharedRequestListener {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SharedRequestListener")
    }
}
