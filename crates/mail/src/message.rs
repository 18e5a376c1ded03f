//! A finished mail, and the sender that its `From` names.

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
    /// Replaces `$messageType` in a header that the project configures; see [`crate::MailKind::message_type`].
    pub message_type: String,
}

/// Name and address in the header `From`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sender {
    /// E-mail address in the header `From`.
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
