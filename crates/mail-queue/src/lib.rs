//! Mails that a project queues as rows of a table: notices, digests, invitations.
//!
//! In: rows of the table that `[selvedge.jobs] mail_table` names; its columns are listed in docs/mails.md. Out: mails, by the
//! [`Mailer`] that Auth uses as well, and the outcome in the row. Every node leases rows with `for update skip locked`, so
//! that two do not send the same mail, and a mail of a node that dies is sent by another. Whom a mail is sent to, how often
//! and what it says is left to the project's SQL, within [`MailLimits`]. Recipients end mails by [`Unsubscribe`].
//!
//! [`Mailer`]: selvedge_mail::Mailer

mod delivery;
mod error;
mod limits;
mod metrics;
mod queue;
mod server_state;
mod text;
mod unsubscribe;

pub use delivery::{MailQueue, deliver_queued_mails_forever};
pub use limits::MailLimits;
pub use text::MailLinks;
pub use unsubscribe::{Unsubscribe, configure};
