//! Questions about a channel that only the database can answer. The socket runs them concurrently with its other work.

use std::sync::Arc;

use selvedge_token::Claims;

use crate::authorization::{Authorizer, CheckError, Extension, ReadVerdict, Subject};
use crate::token::Token;
use crate::topic::Topic;

/// A question whose answer a channel needs before it can handle a message.
#[derive(Debug, Clone)]
pub(crate) enum Check {
    /// Do the INSERT policies allow broadcasts?
    WriteBroadcast,
    /// Do the INSERT policies allow presence and, if `asks_read`, do the SELECT policies show it?
    WritePresence { asks_read: bool },
    /// Which messages may be read under this new token?
    Refresh { token: Token, with_presence: bool },
}

/// The answer to a [`Check`].
#[derive(Debug, Clone)]
pub(crate) enum CheckOutcome {
    WriteBroadcast(Result<bool, CheckError>),
    WritePresence {
        write: Result<bool, CheckError>,
        /// `None` when the SELECT policies were not asked.
        read: Result<Option<bool>, CheckError>,
    },
    Refresh {
        token: Token,
        verdict: Result<ReadVerdict, CheckError>,
    },
}

impl Check {
    /// Asks the database about this topic under these claims. A refresh uses the claims of the new token instead.
    pub(crate) async fn run(
        self,
        authorizer: Authorizer,
        topic: Topic,
        claims: Arc<Claims>,
        headers: Arc<str>,
    ) -> CheckOutcome {
        let subject = Subject {
            claims: &claims,
            topic: topic.name(),
            headers: &headers,
        };
        match self {
            Self::WriteBroadcast => {
                CheckOutcome::WriteBroadcast(authorizer.check_write(subject, Extension::Broadcast).await)
            }
            Self::WritePresence { asks_read } => {
                let read = match asks_read {
                    true => authorizer
                        .check_read(subject, true)
                        .await
                        .map(|verdict| verdict.presence),
                    false => Ok(None),
                };
                CheckOutcome::WritePresence {
                    write: authorizer.check_write(subject, Extension::Presence).await,
                    read,
                }
            }
            // The new token decides: the old one may have more rights, or may have expired.
            Self::Refresh { token, with_presence } => {
                let subject = Subject {
                    claims: &token.claims,
                    ..subject
                };
                let verdict = authorizer.check_read(subject, with_presence).await;
                CheckOutcome::Refresh { token, verdict }
            }
        }
    }
}
