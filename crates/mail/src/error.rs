//! What can go wrong between a finished mail and its delivery.

/// Why a mail was not handed over.
#[derive(Debug, thiserror::Error)]
pub enum MailError {
    /// An address is not one that a mail can carry.
    #[error("invalid mail address: {0}")]
    Address(#[from] lettre::address::AddressError),
    /// The message could not be put together.
    #[error("message could not be built: {0}")]
    Message(#[from] lettre::error::Error),
    /// The SMTP server is unreachable, or refused the message.
    #[error("SMTP delivery failed: {0}")]
    Smtp(#[from] lettre::transport::smtp::Error),
    /// The SMTP server took too long.
    #[error("SMTP delivery timed out")]
    Timeout,
    /// The configured header is not a header.
    #[error("invalid mail header {0:?}")]
    Header(String),
}

impl MailError {
    /// Whether trying again cannot help: the address is none, or its server refuses it.
    #[must_use]
    pub fn is_permanent(&self) -> bool {
        match self {
            Self::Address(_) | Self::Message(_) => true,
            // Not every 5xx: a wrong password of ours is one, too, and an administrator can mend it.
            Self::Smtp(error) => error
                .status()
                .is_some_and(|code| matches!(u16::from(code), 550..=553)),
            Self::Timeout | Self::Header(_) => false,
        }
    }
}
