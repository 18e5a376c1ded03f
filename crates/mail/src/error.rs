//! Why a finished mail could not be delivered.

/// Why a mail was not accepted for delivery.
#[derive(Debug, thiserror::Error)]
pub enum MailError {
    /// The text is not a valid mail address.
    #[error("invalid mail address: {0}")]
    Address(#[from] lettre::address::AddressError),
    /// The message could not be built.
    #[error("message could not be built: {0}")]
    Message(#[from] lettre::error::Error),
    /// The SMTP server is unreachable, or refused the message.
    #[error("SMTP delivery failed: {0}")]
    Smtp(#[from] lettre::transport::smtp::Error),
    /// No SMTP server is configured.
    #[error("no SMTP server is configured")]
    NoServer,
    /// The SMTP server took too long.
    #[error("SMTP delivery timed out")]
    Timeout,
    /// A configured extra header has an invalid name, or a value with a line break.
    #[error("invalid mail header {0:?}")]
    Header(String),
}

impl MailError {
    /// Whether another attempt cannot help: the address is malformed, or the server refuses it for good.
    #[must_use]
    pub fn is_permanent(&self) -> bool {
        match self {
            Self::Address(_) | Self::Message(_) => true,
            // Only 550 to 553, which are about the mailbox. Other 5xx replies, such as 535 for a wrong password, stop once an
            // administrator corrects the settings.
            Self::Smtp(error) => error
                .status()
                .is_some_and(|code| matches!(u16::from(code), 550..=553)),
            Self::NoServer | Self::Timeout | Self::Header(_) => false,
        }
    }

    /// Whether the failure is not about this mail: the server is away, busy or refuses the login, so it would not accept
    /// another mail either.
    #[must_use]
    pub fn is_of_server(&self) -> bool {
        match self {
            Self::Address(_) | Self::Message(_) | Self::Header(_) => false,
            // An error of the client is that of an address which this server does not take. Without a status there was no
            // answer. 421 closes the connection; 454, 530, 534, 535 and 538 are about TLS and the login.
            Self::Smtp(error) => {
                !error.is_client()
                    && error
                        .status()
                        .is_none_or(|code| matches!(u16::from(code), 421 | 454 | 530 | 534 | 535 | 538))
            }
            Self::NoServer | Self::Timeout => true,
        }
    }
}
