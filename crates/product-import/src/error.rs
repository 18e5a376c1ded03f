//! Everything that an import can fail with. The messages are shown to administrators.

use selvedge_http_client::CallError;

/// Why a product could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The URL is not that of a product page, or its host is not on the list.
    #[error("Please enter a valid Farfetch product URL")]
    NotAProduct,
    /// A redirect, or the picture, is at a host that is not on the list, or is not fetched by https.
    #[error("The page leads to {0}, which is not a host of this retailer")]
    ForbiddenHost(String),
    #[error("The page redirects too often")]
    TooManyRedirects,
    /// The name leads to this machine or a private network.
    #[error("{0} is not a public address")]
    PrivateAddress(String),
    #[error("{0} cannot be reached")]
    Unreachable(String),
    #[error("{0} did not respond in time")]
    Timeout(String),
    #[error("The response of {0} is too large")]
    TooLarge(String),
    #[error("{host} responded with status {status}")]
    Status { host: String, status: u16 },
    /// The page has no name or no picture.
    #[error("Missing essential product data (name or image)")]
    MissingData,
    /// The file is not a PNG, JPEG, WebP or GIF, is damaged, or has too many pixels.
    #[error("The picture of the product cannot be read")]
    BadPicture,
}

impl From<CallError> for ImportError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::BadUrl => Self::NotAProduct,
            CallError::Private { host } => Self::PrivateAddress(host),
            CallError::Timeout { host } => Self::Timeout(host),
            CallError::TooLarge { host } => Self::TooLarge(host),
            CallError::Status { host, status } => Self::Status { host, status },
            CallError::Unreachable { host, .. }
            | CallError::RefusedPort { host }
            | CallError::BadBody { host }
            | CallError::NotJson { host } => Self::Unreachable(host),
        }
    }
}
