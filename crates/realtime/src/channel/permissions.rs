//! The permissions of a channel. Verdicts are kept until the channel ends or gets a new token; a change of the
//! policies takes effect then.

use std::time::Duration;

use tokio::time::Instant;

use crate::authorization::{CheckError, ReadVerdict};

/// The pause after a check that gave no verdict; it doubles with each one.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// A check that gave no verdict. It is repeated for the first message after a pause, so that a database in trouble is not asked for
/// every message.
#[derive(Debug, Clone, Copy)]
pub(super) struct FailedCheck {
    error: CheckError,
    until: Instant,
    pause: Duration,
}

impl FailedCheck {
    /// The failure that follows another one, if there was one.
    pub(super) fn after(before: Option<Self>, error: CheckError) -> Self {
        let pause = before.map_or(FIRST_PAUSE, |before| (before.pause * 2).min(LONGEST_PAUSE));
        Self {
            error,
            until: Instant::now() + pause,
            pause,
        }
    }

    /// The error while the pause lasts.
    pub(super) fn error(&self) -> Option<CheckError> {
        (Instant::now() < self.until).then_some(self.error)
    }
}

/// Verdicts of the policies on `realtime.messages`; `None` when the policy has not been asked yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Permissions {
    pub(super) read_broadcast: bool,
    pub(super) read_presence: Option<bool>,
    pub(super) write_broadcast: Option<bool>,
    pub(super) write_presence: Option<bool>,
}

impl Permissions {
    /// Everything is allowed: policies do not apply to public channels.
    pub(super) const PUBLIC: Self = Self {
        read_broadcast: true,
        read_presence: Some(true),
        write_broadcast: Some(true),
        write_presence: Some(true),
    };

    /// The permissions of a private channel after the SELECT policies were asked. INSERT policies are asked at the
    /// first write.
    pub(super) fn after_read(verdict: ReadVerdict) -> Self {
        Self {
            read_broadcast: verdict.broadcast,
            read_presence: verdict.presence,
            write_broadcast: None,
            write_presence: None,
        }
    }

    /// Whether a new verdict lacks a privilege to read. A privilege that the new verdict did not check is not lost.
    pub(super) fn loses(self, verdict: ReadVerdict) -> bool {
        let loses_broadcast = self.read_broadcast && !verdict.broadcast;
        let loses_presence = self.read_presence == Some(true) && verdict.presence == Some(false);
        loses_broadcast || loses_presence
    }
}

impl ReadVerdict {
    /// Whether anything is readable.
    pub(super) fn allows_anything(self) -> bool {
        self.broadcast || self.presence == Some(true)
    }
}
