//! Mail: templates, delivery, and the development inbox.
//!
//! In: a [`MailKind`] with its [`MailFields`], or any [`Mail`]. Out: a message by SMTP ([`Mailer::Smtp`]), or an entry of
//! the bounded [`Inbox`] that `selvedge start` shows on its own port. When a mail is sent, and to whom, is left to the
//! callers; users, tokens and rate limits are theirs.

mod authorized;
mod error;
pub mod inbox;
mod mailer;
mod message;
mod smtp;
mod template;
mod templates;

pub use authorized::is_authorized_address;
pub use error::MailError;
pub use inbox::Inbox;
pub use mailer::Mailer;
pub use message::{Mail, Sender};
pub use smtp::{SmtpConfig, SmtpMailer, SmtpTls};
pub use template::{Escape, Template, TemplateError};
pub use templates::{MailFields, MailKind, MailTemplates, RenderedMail};
