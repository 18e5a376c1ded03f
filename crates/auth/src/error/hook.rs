//! Errors of hooks: a hook refuses the request, or calling it fails. Source: Auth contract §4.5.

/// Why a hook stops a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HookError {
    /// The hook did not respond in time: two seconds for a database function, five for HTTP.
    #[error("Failed to reach hook within maximum time of {seconds} seconds")]
    Timeout { seconds: u64 },
    /// No connection to the HTTP hook in any of the attempts.
    #[error("Failed to reach hook after maximum retries")]
    TimeoutAfterRetry,
    #[error("Payload size exceeded size limit of {limit_bytes} bytes")]
    ResponseTooLarge { limit_bytes: usize },
    #[error("Invalid Content-Type: Missing Content-Type header")]
    MissingContentType,
    #[error("Invalid JSON response. Received content-type: {0}")]
    NotJson(String),
    /// The hook responded 429 or 503 to the last attempt.
    #[error("Service currently unavailable due to hook")]
    Unavailable,
    /// The hook's output is not a JSON object.
    #[error("Error unmarshaling JSON output.")]
    MalformedOutput,
    /// The hook responded 400.
    #[error("Invalid payload sent to hook")]
    InvalidPayload,
    /// The hook responded 401.
    #[error("Hook requires authorization token")]
    NeedsAuthorization,
    #[error("Unexpected status code returned from hook: {0}")]
    UnexpectedStatus(u16),
    /// The hook `custom_access_token` returned no claims.
    #[error("output claims field is missing")]
    NoClaims,
    #[error(
        "output claims do not conform to the expected schema: a required claim is missing or of another type"
    )]
    InvalidClaims,
    /// The message of the hook `password_verification_attempt`.
    #[error("{0}")]
    PasswordRejected(String),
    /// The error object that the hook returned; the status is 400 to 599.
    #[error("{message}")]
    Refused { status: u16, message: String },
}

impl HookError {
    /// HTTP status and error code of each variant.
    pub(super) fn status_and_code(&self) -> (u16, &'static str) {
        match self {
            Self::Timeout { .. } => (422, "hook_timeout"),
            Self::TimeoutAfterRetry => (422, "hook_timeout_after_retry"),
            Self::ResponseTooLarge { .. } => (422, "hook_payload_over_size_limit"),
            Self::MissingContentType | Self::NotJson(_) => (400, "hook_payload_invalid_content_type"),
            Self::Unavailable
            | Self::MalformedOutput
            | Self::InvalidPayload
            | Self::NeedsAuthorization
            | Self::UnexpectedStatus(_)
            | Self::NoClaims
            | Self::InvalidClaims
            | Self::Refused { status: 500, .. } => (500, "unexpected_failure"),
            Self::PasswordRejected(_) => (400, "invalid_credentials"),
            Self::Refused { status, .. } => (*status, "unknown"),
        }
    }
}
