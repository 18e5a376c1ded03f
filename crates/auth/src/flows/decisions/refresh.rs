//! What a refresh token is exchanged for: a new one, the current one again, or the end of the session. Source: Auth
//! contract §4.3.
//!
//! Invariant: a session that has not ended has an active (not revoked) token at every commit, because
//! rotation revokes the old and inserts the new one together. A session without any was revoked as a whole
//! and stays so, also within the reuse interval.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use crate::store::refresh_tokens::{PresentedRefreshToken, TokenFamily};

/// The project's rules for refresh tokens.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RefreshRules {
    pub(crate) rotation_enabled: bool,
    pub(crate) reuse_interval: Duration,
    /// Counter tokens only: an old token never ends its session.
    pub(crate) always_reuse: bool,
}

/// What happens to a stored token that was presented.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RefreshDecision {
    /// Revoke the presented token and issue its child.
    Rotate,
    /// The client did not receive the last response: return the same token again.
    ReturnActive(String),
    /// Concurrent requests within the reuse interval: issue another child.
    IssueChild,
    /// A used token was sent again, so it may be stolen: revoke all tokens of the session, commit, refuse.
    RevokeFamily,
    /// Refuse the request without any change.
    Refuse,
}

/// Decides about a stored token.
pub(crate) fn decide_refresh(
    presented: PresentedRefreshToken,
    family: TokenFamily,
    rules: RefreshRules,
    now: DateTime<Utc>,
) -> RefreshDecision {
    if !presented.revoked {
        return RefreshDecision::Rotate;
    }
    if let Some(child) = family.active_child {
        return RefreshDecision::ReturnActive(child);
    }
    // Without an active token the whole session was revoked, and no old token may bring it back.
    if !family.has_active {
        return RefreshDecision::Refuse;
    }
    let interval = TimeDelta::from_std(rules.reuse_interval).unwrap_or(TimeDelta::MAX);
    if now - presented.updated_at < interval {
        return RefreshDecision::IssueChild;
    }
    if rules.rotation_enabled {
        RefreshDecision::RevokeFamily
    } else {
        RefreshDecision::Refuse
    }
}

/// What happens to a counter token that was presented.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CounterDecision {
    /// Issue the token with the next counter.
    Advance,
    /// Return the current token again; the text lists the causes for the response header.
    ReturnCurrent(String),
    /// An old token was sent again, so it may be stolen: delete the session, commit, refuse.
    EndSession,
    /// Refuse the request without any change.
    Refuse,
    /// The counter is higher than any that was issued.
    NeverIssued,
}

/// Decides about a token whose counter is `behind` the session's current one.
pub(crate) fn decide_counter_refresh(
    behind: i64,
    last_refresh: DateTime<Utc>,
    rules: RefreshRules,
    now: DateTime<Utc>,
) -> CounterDecision {
    let interval = TimeDelta::from_std(rules.reuse_interval).unwrap_or(TimeDelta::MAX);
    let excuses = [
        // Several tabs at once.
        ("concurrent-refresh", now - last_refresh < interval),
        // The client did not receive or did not store the last response.
        ("fail-to-save", behind == 1),
        ("always-allow", rules.always_reuse),
    ];
    let causes: Vec<&str> = excuses
        .iter()
        .filter(|(_, holds)| *holds)
        .map(|(cause, _)| *cause)
        .collect();
    match behind {
        ..0 => CounterDecision::NeverIssued,
        0 => CounterDecision::Advance,
        _ if !causes.is_empty() => CounterDecision::ReturnCurrent(causes.join(",")),
        _ if rules.rotation_enabled => CounterDecision::EndSession,
        _ => CounterDecision::Refuse,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> DateTime<Utc> {
        DateTime::from_timestamp(1_800_000_000, 0).expect("a valid time")
    }

    /// A refresh token, last used `age_s` seconds ago, and the settings.
    struct Case {
        revoked: bool,
        age_s: i64,
        child: Option<&'static str>,
        has_active: bool,
        interval_s: u64,
        rotation: bool,
    }

    /// A token that was used just now, in a session that still has an active token, under rotation and a
    /// reuse interval of 10 s.
    const USED: Case = Case {
        revoked: true,
        age_s: 0,
        child: None,
        has_active: true,
        interval_s: 10,
        rotation: true,
    };

    fn decide_case(case: &Case) -> RefreshDecision {
        decide_refresh(
            PresentedRefreshToken {
                revoked: case.revoked,
                updated_at: now() - TimeDelta::seconds(case.age_s),
            },
            TokenFamily {
                active_child: case.child.map(str::to_owned),
                has_active: case.has_active,
            },
            RefreshRules {
                rotation_enabled: case.rotation,
                reuse_interval: Duration::from_secs(case.interval_s),
                always_reuse: false,
            },
            now(),
        )
    }

    #[test]
    fn auth_009_an_active_token_rotates() {
        assert_eq!(
            decide_case(&Case {
                revoked: false,
                age_s: 3600,
                interval_s: 0,
                ..USED
            }),
            RefreshDecision::Rotate
        );
    }

    #[test]
    fn auth_011_the_parent_of_the_active_token_returns_it_again_at_any_time() {
        assert_eq!(
            decide_case(&Case {
                age_s: 86_400,
                child: Some("child"),
                interval_s: 0,
                ..USED
            }),
            RefreshDecision::ReturnActive("child".to_owned())
        );
    }

    #[test]
    fn auth_012_reusing_an_older_token_revokes_the_session() {
        assert_eq!(
            decide_case(&Case {
                age_s: 1,
                interval_s: 0,
                ..USED
            }),
            RefreshDecision::RevokeFamily
        );
        assert_eq!(
            decide_case(&Case { age_s: 11, ..USED }),
            RefreshDecision::RevokeFamily
        );
        assert_eq!(
            decide_case(&Case {
                age_s: 11,
                rotation: false,
                ..USED
            }),
            RefreshDecision::Refuse
        );
    }

    #[test]
    fn auth_012_an_older_token_within_the_reuse_interval_gets_a_child() {
        assert_eq!(
            decide_case(&Case { age_s: 9, ..USED }),
            RefreshDecision::IssueChild
        );
    }

    #[test]
    fn auth_012_a_revoked_family_stays_revoked_inside_the_interval() {
        assert_eq!(
            decide_case(&Case {
                has_active: false,
                ..USED
            }),
            RefreshDecision::Refuse
        );
    }

    #[test]
    fn auth_012_reusing_an_old_counter_token_ends_the_session() {
        let rules = |interval_s, rotation_enabled| RefreshRules {
            rotation_enabled,
            reuse_interval: Duration::from_secs(interval_s),
            always_reuse: false,
        };
        let again = |causes: &str| CounterDecision::ReturnCurrent(causes.to_owned());
        let decide_after_5_s =
            |behind, rules| decide_counter_refresh(behind, now() - TimeDelta::seconds(5), rules, now());

        assert_eq!(
            decide_after_5_s(-1, rules(10, true)),
            CounterDecision::NeverIssued
        );
        assert_eq!(decide_after_5_s(0, rules(0, true)), CounterDecision::Advance);
        assert_eq!(decide_after_5_s(1, rules(0, true)), again("fail-to-save"));
        assert_eq!(
            decide_after_5_s(1, rules(10, true)),
            again("concurrent-refresh,fail-to-save")
        );
        assert_eq!(decide_after_5_s(2, rules(10, true)), again("concurrent-refresh"));
        let always = RefreshRules {
            always_reuse: true,
            ..rules(0, true)
        };
        assert_eq!(decide_after_5_s(3, always), again("always-allow"));
        assert_eq!(decide_after_5_s(2, rules(0, true)), CounterDecision::EndSession);
        assert_eq!(decide_after_5_s(2, rules(0, false)), CounterDecision::Refuse);
    }
}
