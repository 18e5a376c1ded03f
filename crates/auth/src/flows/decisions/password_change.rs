//! Which proofs a password change requires. Source: Auth contract §2.8.

use chrono::{DateTime, TimeDelta, Utc};

use crate::config::PasswordConfig;

/// Sessions younger than this count as a fresh proof of identity.
const FRESH_SESSION: TimeDelta = TimeDelta::hours(24);

/// Facts about the caller's session and account.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PasswordChange {
    pub(crate) session_created_at: Option<DateTime<Utc>>,
    /// The session began with a mailed link or code: the user may not know the current password.
    pub(crate) is_recovery: bool,
    pub(crate) has_password: bool,
}

/// The proofs that are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NeededProofs {
    /// The nonce of `/reauthenticate`.
    pub(crate) nonce: bool,
    /// The current password.
    pub(crate) current_password: bool,
}

/// Decides which proofs are needed.
pub(crate) fn decide_needed_proofs(
    change: PasswordChange,
    rules: &PasswordConfig,
    now: DateTime<Utc>,
) -> NeededProofs {
    let is_fresh = change
        .session_created_at
        .is_some_and(|created_at| now - created_at < FRESH_SESSION);
    NeededProofs {
        nonce: rules.require_reauthentication && !is_fresh,
        current_password: rules.require_current && change.has_password && !change.is_recovery,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_074_only_a_session_older_than_a_day_needs_a_nonce() {
        let now = DateTime::from_timestamp(1_800_000_000, 0).expect("a valid time");
        let rules = PasswordConfig {
            require_reauthentication: true,
            require_current: true,
            ..PasswordConfig::default()
        };
        let change = |hours: i64, is_recovery: bool, has_password: bool| PasswordChange {
            session_created_at: Some(now - TimeDelta::hours(hours)),
            is_recovery,
            has_password,
        };
        let needs = |change| {
            let proofs = decide_needed_proofs(change, &rules, now);
            (proofs.nonce, proofs.current_password)
        };

        assert_eq!(needs(change(1, false, true)), (false, true));
        assert_eq!(needs(change(25, true, true)), (true, false));
        assert_eq!(needs(change(1, false, false)), (false, false));
        let off = decide_needed_proofs(change(99, false, true), &PasswordConfig::default(), now);
        assert_eq!(
            off,
            NeededProofs {
                nonce: false,
                current_password: false
            }
        );
    }
}
