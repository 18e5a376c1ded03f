//! Whether a session is still within the project's limits. Source: Auth contract §4.4.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use crate::config::SessionConfig;

/// The times of a session.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SessionTimes {
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) refreshed_at: Option<DateTime<Utc>>,
    pub(crate) not_after: Option<DateTime<Utc>>,
    /// The session is at `aal1`, although the user has a verified factor.
    pub(crate) is_low_aal: bool,
}

/// The limit that a session has exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExceededLimit {
    NotAfter,
    Timebox,
    Inactivity,
    LowAal,
}

impl ExceededLimit {
    /// The suffix of the message "Session Expired".
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Self::NotAfter | Self::Timebox => "",
            Self::Inactivity => " (Inactivity)",
            Self::LowAal => " (Low AAL: User Needs MFA Verification)",
        }
    }
}

/// Checks every limit of the project.
///
/// # Errors
/// [`ExceededLimit`] with the first limit that has passed.
pub(crate) fn check_limits(
    session: SessionTimes,
    limits: &SessionConfig,
    now: DateTime<Utc>,
) -> Result<(), ExceededLimit> {
    let has_passed = |since: DateTime<Utc>, limit: Option<Duration>| {
        limit
            .and_then(|limit| TimeDelta::from_std(limit).ok())
            .is_some_and(|limit| now > since + limit)
    };
    if session.not_after.is_some_and(|end| now > end) {
        return Err(ExceededLimit::NotAfter);
    }
    if has_passed(session.created_at, limits.timebox) {
        return Err(ExceededLimit::Timebox);
    }
    if has_passed(
        session.refreshed_at.unwrap_or(session.created_at),
        limits.inactivity_timeout,
    ) {
        return Err(ExceededLimit::Inactivity);
    }
    if session.is_low_aal && has_passed(session.created_at, limits.allow_low_aal) {
        return Err(ExceededLimit::LowAal);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_087_timebox_inactivity_and_low_aal_end_a_session() {
        let now = DateTime::from_timestamp(1_800_000_000, 0).expect("a valid time");
        let hour = TimeDelta::hours(1);
        let fresh = SessionTimes {
            created_at: now,
            refreshed_at: None,
            not_after: None,
            is_low_aal: false,
        };
        let limit = |hours: u64| Some(Duration::from_secs(hours * 3600));
        let none = SessionConfig::default();
        let timebox = SessionConfig {
            timebox: limit(2),
            ..none.clone()
        };
        let inactivity = SessionConfig {
            inactivity_timeout: limit(2),
            ..none.clone()
        };
        let low_aal = SessionConfig {
            allow_low_aal: limit(2),
            ..none.clone()
        };
        let old = SessionTimes {
            created_at: now - hour * 3,
            ..fresh
        };
        let active = SessionTimes {
            refreshed_at: Some(now - hour),
            ..old
        };
        let cases = [
            (fresh, &none, Ok(())),
            (
                SessionTimes {
                    not_after: Some(now - hour),
                    ..fresh
                },
                &none,
                Err(ExceededLimit::NotAfter),
            ),
            (old, &timebox, Err(ExceededLimit::Timebox)),
            (active, &timebox, Err(ExceededLimit::Timebox)),
            (old, &inactivity, Err(ExceededLimit::Inactivity)),
            (active, &inactivity, Ok(())),
            (old, &low_aal, Ok(())),
            (
                SessionTimes {
                    is_low_aal: true,
                    ..old
                },
                &low_aal,
                Err(ExceededLimit::LowAal),
            ),
        ];
        for (session, limits, expected) in cases {
            assert_eq!(check_limits(session, limits, now), expected, "{session:?}");
        }
    }
}
