//! Mail: templates, delivery, and the inbox of development.
//!
//! Comes in: a [`MailKind`] with its [`MailFields`], or any [`Mail`]. Goes out: a message by SMTP ([`Mailer::Smtp`]), or an entry
//! of the bounded [`Inbox`] that `selvedge start` shows on its own port. This crate knows nothing about users, tokens or rate
//! limits: whoever sends decides when and to whom.

mod error;
pub mod inbox;
mod mailer;
mod smtp;
mod template;
mod templates;

pub use error::MailError;
pub use inbox::Inbox;
pub use mailer::{Mail, Mailer, Sender};
pub use smtp::{SmtpConfig, SmtpMailer, SmtpTls};
pub use template::{Escape, Template, TemplateError};
pub use templates::{MailFields, MailKind, MailTemplates, RenderedMail};
