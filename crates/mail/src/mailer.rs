//! One mail, and the two places that it can go: an SMTP server, or the inbox of development.

use crate::{Inbox, MailError, SmtpMailer};

/// A finished mail to one recipient.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mail {
    /// Address of the recipient.
    pub to: String,
    /// Subject in plain text, on one line.
    pub subject: String,
    /// The message as HTML.
    pub html: String,
    /// The same message as plain text.
    pub text: String,
    /// What `$messageType` in a header of the project's stands for; see [`crate::MailKind::message_type`].
    pub message_type: String,
}

/// Who the mails come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sender {
    /// Address in `From`.
    pub address: String,
    /// Display name in `From`; empty for none.
    pub name: String,
}

impl Default for Sender {
    /// The sender of the Supabase CLI's development mails.
    fn default() -> Self {
        Self {
            address: "admin@email.com".to_owned(),
            name: "Admin".to_owned(),
        }
    }
}

/// Where mails go. Cheap to clone; every clone delivers to the same place.
#[derive(Debug, Clone)]
pub enum Mailer {
    /// A real SMTP server.
    Smtp(SmtpMailer),
    /// The inbox of development, with the sender that it shows.
    Inbox(Inbox, Sender),
}

impl Mailer {
    /// Hands the mail over; returns once the receiving side has accepted it.
    ///
    /// # Errors
    /// [`MailError`] when an address is malformed, or the SMTP server is unreachable or refuses.
    pub async fn send(&self, mail: Mail) -> Result<(), MailError> {
        match self {
            Self::Smtp(smtp) => smtp.send(mail).await,
            Self::Inbox(inbox, sender) => {
                inbox.deliver(sender, mail);
                Ok(())
            }
        }
    }
}
