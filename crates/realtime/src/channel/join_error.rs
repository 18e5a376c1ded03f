//! Why a join is refused: the code and the text of each error (realtime contract §5.3).

use std::time::Duration;

use crate::authorization::CheckError;
use crate::token::TokenRefusal;

/// Most subscriptions to database changes of one channel. Each is compared with every change.
pub(super) const MAX_BINDINGS: usize = 100;

/// A refused join.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum JoinError {
    TopicNameRequired,
    ShuttingDown,
    PrivateOnly,
    TooManyJoins,
    TooManyChannels,
    /// The payload, or the key for presence, is too long.
    PayloadTooLong,
    /// More subscriptions to database changes than one channel may have.
    TooManyBindings,
    /// The socket or its client has all the subscriptions to database changes that it may have.
    TooManyBindingsOfClient,
    /// The subscriptions that the join waits for were refused, with this text.
    ChangesRefused(String),
    /// They did not begin within this time.
    ChangesTimeout(Duration),
    Token(TokenRefusal),
    /// The policies let the caller read neither broadcasts nor presence; holds the topic's name for the text.
    Unauthorized(String),
    /// The policy check failed without a verdict.
    Check(CheckError),
    ReplayFailed,
    ReplayParameters,
    ReplayOnPublicChannel,
}

impl JoinError {
    /// The error code, also used in logs and as a label of the metric `refused_joins`.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::TopicNameRequired => "TopicNameRequired",
            Self::ShuttingDown => "RealtimeRestarting",
            Self::PrivateOnly => "PrivateOnly",
            Self::TooManyJoins => "ClientJoinRateLimitReached",
            Self::TooManyChannels => "ChannelRateLimitReached",
            Self::PayloadTooLong => "JoinPayloadTooLarge",
            Self::TooManyBindings | Self::TooManyBindingsOfClient => "PostgresChangesLimitReached",
            Self::ChangesRefused(_) => "PostgresChangesRefused",
            Self::ChangesTimeout(_) => "PostgresChangesSubscribeTimeout",
            Self::Token(refusal) => refusal.code(),
            Self::Unauthorized(_) | Self::Check(CheckError::Policy) => "Unauthorized",
            Self::Check(CheckError::Canceled) => "QueryCanceled",
            Self::Check(CheckError::MissingPartition) => "MissingPartition",
            Self::Check(CheckError::PoolExhausted) => "IncreaseConnectionPool",
            Self::Check(CheckError::Unavailable) => "UnableToConnectToProject",
            Self::ReplayFailed | Self::ReplayParameters | Self::ReplayOnPublicChannel => {
                "UnableToReplayMessages"
            }
        }
    }

    /// `<Code>: <message>`, the `reason` in the reply; about refused subscriptions the text that a `system` event would have.
    pub(crate) fn reason(&self) -> String {
        if let Self::ChangesRefused(text) = self {
            return text.clone();
        }
        format!("{}: {}", self.code(), self.message())
    }

    fn message(&self) -> String {
        match self {
            Self::TopicNameRequired => "You must provide a topic name".to_owned(),
            Self::ShuttingDown => "Realtime is restarting, please standby".to_owned(),
            Self::PrivateOnly => "This project only allows private channels".to_owned(),
            Self::TooManyJoins => "Too many joins per second".to_owned(),
            Self::TooManyChannels => "Too many channels".to_owned(),
            Self::PayloadTooLong => "The join is too long".to_owned(),
            Self::TooManyBindings => {
                format!("A channel can have at most {MAX_BINDINGS} subscriptions to postgres_changes")
            }
            Self::TooManyBindingsOfClient => "Too many subscriptions to postgres_changes".to_owned(),
            Self::ChangesRefused(text) => text.clone(),
            Self::ChangesTimeout(limit) => format!(
                "Timed out after {}ms waiting for the postgres_changes subscription",
                limit.as_millis()
            ),
            Self::Token(refusal) => refusal.channel_text(),
            Self::Unauthorized(topic) => unreadable(topic),
            Self::Check(error) => check_text(*error).to_owned(),
            Self::ReplayFailed => "Realtime was unable to replay messages".to_owned(),
            Self::ReplayParameters => "Replay params are not valid".to_owned(),
            Self::ReplayOnPublicChannel => "Replay is not allowed for public channels".to_owned(),
        }
    }
}

/// The text for a caller who may read neither broadcasts nor presence of a topic.
pub(super) fn unreadable(topic: &str) -> String {
    format!("You do not have permissions to read from this Channel topic: {topic}")
}

/// The text for a failed check. It never contains PostgreSQL's own message, which could reveal what a policy looks at.
pub(super) fn check_text(error: CheckError) -> &'static str {
    match error {
        CheckError::Policy => "Unable to check policies",
        CheckError::Canceled => "Query was cancelled, please try again",
        CheckError::MissingPartition => "Realtime was unable to find the expected messages partition",
        CheckError::PoolExhausted => "Please increase your connection pool size",
        CheckError::Unavailable => "Realtime was unable to connect to the project database",
    }
}

/// The reply to a message that was dropped because its check failed.
pub(super) fn failure_reply(error: CheckError) -> String {
    serde_json::json!({ "status": "error", "response": { "reason": check_text(error) } }).to_string()
}
