//! Where a mail is delivered: to an SMTP server, or to the development inbox.

use crate::{Inbox, Mail, MailError, Sender, SmtpMailer};

/// Where mails go. Cheap to clone; every clone delivers to the same place.
#[derive(Debug, Clone)]
pub enum Mailer {
    /// Mails are sent by an SMTP server.
    Smtp(SmtpMailer),
    /// The development inbox, with the sender that it shows.
    Inbox(Inbox, Sender),
    /// Nothing is configured that could deliver mails, so each is refused.
    Missing,
}

impl Mailer {
    /// Delivers the mail; returns once the receiving side has accepted it.
    ///
    /// # Errors
    /// [`MailError`] when an address is malformed, there is no SMTP server, or it is unreachable or refuses the mail.
    pub async fn send(&self, mail: Mail) -> Result<(), MailError> {
        match self {
            Self::Smtp(smtp) => smtp.send(mail).await,
            Self::Inbox(inbox, sender) => {
                inbox.deliver(sender, mail);
                Ok(())
            }
            Self::Missing => Err(MailError::NoServer),
        }
    }
}
