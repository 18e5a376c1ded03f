//! Why a call has no usable response.

/// How far a call came that got no response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailedStep {
    /// DNS found no address for the host name.
    Resolve,
    /// The connection was refused, or its TLS check failed.
    Connect,
    /// The connection ended before there was a response.
    Exchange,
}

/// Why a call has no usable response. `host` is the host that was called.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    #[error("the address is not an http(s) URL")]
    BadUrl,
    /// There was no response; `step` says how far the connection came.
    #[error("{host} cannot be reached")]
    Unreachable { host: String, step: FailedStep },
    #[error("{host} did not respond in time")]
    Timeout { host: String },
    /// The host is an address of a private network, which this client does not call.
    #[error("{host} is in a private network")]
    Private { host: String },
    /// The port is one of those that this client refuses.
    #[error("{host} is not called at this port")]
    RefusedPort { host: String },
    /// The connection ended before the body was complete.
    #[error("{host} closed the connection before the response was complete")]
    BadBody { host: String },
    /// The body is longer than the call allows.
    #[error("the response of {host} is too large")]
    TooLarge { host: String },
    /// [`CallResponse::json`]: the status is not 2xx.
    #[error("{host} responded with status {status}")]
    Status { host: String, status: u16 },
    #[error("the response of {host} is not JSON")]
    NotJson { host: String },
}
