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
    /// Where the recipient ends mails of this kind with one request and without signing in (RFC 8058); `None` for a mail that
    /// cannot be switched off.
    pub unsubscribe_url: Option<String>,
}

impl Mail {
    /// The headers that let mail programs show a button for [`Mail::unsubscribe_url`]: none without one, or where it is no
    /// plain address.
    pub(crate) fn unsubscribe_headers(&self) -> Vec<(&'static str, String)> {
        // Anything else would end the header, or begin another.
        let is_plain = |url: &&String| {
            url.bytes()
                .all(|byte| byte.is_ascii_graphic() && !b"<>,\"".contains(&byte))
        };
        let Some(url) = self.unsubscribe_url.as_ref().filter(is_plain) else {
            return Vec::new();
        };
        vec![
            ("List-Unsubscribe", format!("<{url}>")),
            ("List-Unsubscribe-Post", "List-Unsubscribe=One-Click".to_owned()),
        ]
    }
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
