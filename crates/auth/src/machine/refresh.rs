//! What a presented refresh token gets: a new one, the current one again, or the end of the session. Source: Auth contract §4.3.
//!
//! Invariant: a living session has an active (not revoked) token at every commit, because rotation revokes the old and inserts
//! the new one together. A session without any has been revoked as a family, and stays so: no reuse interval revives it.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

/// The presented token as stored, read under the session's lock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Presented {
    pub(crate) revoked: bool,
    pub(crate) updated_at: DateTime<Utc>,
}

/// What else the session holds.
#[derive(Debug, Clone)]
pub(crate) struct Family {
    /// An active token whose parent is the presented one.
    pub(crate) active_child: Option<String>,
    /// Whether any token is active.
    pub(crate) has_active: bool,
}

/// The project's rules.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RefreshRules {
    pub(crate) rotation_enabled: bool,
    pub(crate) reuse_interval: Duration,
    /// Counter tokens only: an old token never ends its session.
    pub(crate) always_reuse: bool,
}

/// What follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Revoke the presented token and issue its child.
    Rotate,
    /// The client lost our last answer: give it again.
    ReturnActive(String),
    /// A race inside the reuse interval: issue another child.
    IssueChild,
    /// A used token came back: somebody else has it. Revoke all tokens of the session, commit, refuse.
    RevokeFamily,
    /// Refuse, change nothing.
    Refuse,
}

/// Decides what the presented token gets.
pub(crate) fn decide(
    presented: Presented,
    family: Family,
    rules: RefreshRules,
    now: DateTime<Utc>,
) -> Decision {
    if !presented.revoked {
        return Decision::Rotate;
    }
    if let Some(child) = family.active_child {
        return Decision::ReturnActive(child);
    }
    if !family.has_active {
        return Decision::Refuse;
    }
    let interval = TimeDelta::from_std(rules.reuse_interval).unwrap_or(TimeDelta::MAX);
    if now - presented.updated_at < interval {
        return Decision::IssueChild;
    }
    if rules.rotation_enabled {
        Decision::RevokeFamily
    } else {
        Decision::Refuse
    }
}

/// What a presented counter token gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CounterDecision {
    /// The next token.
    Advance,
    /// The current one again, for these reasons, in the words of the wire.
    ReturnCurrent(String),
    /// Two hold this session: end it, commit, refuse.
    EndSession,
    /// Refuse, change nothing.
    Refuse,
    /// The token is newer than any we gave out.
    NotOurs,
}

/// Decides what a token gets that is `behind` counts older than the session's newest.
pub(crate) fn decide_counter(
    behind: i64,
    last_refresh: DateTime<Utc>,
    rules: RefreshRules,
    now: DateTime<Utc>,
) -> CounterDecision {
    let interval = TimeDelta::from_std(rules.reuse_interval).unwrap_or(TimeDelta::MAX);
    let excuses = [
        // Several tabs at once.
        ("concurrent-refresh", now - last_refresh < interval),
        // The client never got, or never kept, our last answer.
        ("fail-to-save", behind == 1),
        ("always-allow", rules.always_reuse),
    ];
    let causes: Vec<&str> = excuses
        .iter()
        .filter(|(_, holds)| *holds)
        .map(|(cause, _)| *cause)
        .collect();
    match behind {
        ..0 => CounterDecision::NotOurs,
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

    fn run(
        revoked: bool,
        age_s: i64,
        child: Option<&str>,
        has_active: bool,
        interval_s: u64,
        rotation: bool,
    ) -> Decision {
        decide(
            Presented {
                revoked,
                updated_at: now() - TimeDelta::seconds(age_s),
            },
            Family {
                active_child: child.map(str::to_owned),
                has_active,
            },
            RefreshRules {
                rotation_enabled: rotation,
                reuse_interval: Duration::from_secs(interval_s),
                always_reuse: false,
            },
            now(),
        )
    }

    #[test]
    fn auth_009_an_active_token_rotates() {
        assert_eq!(run(false, 3600, None, true, 0, true), Decision::Rotate);
    }

    #[test]
    fn auth_011_the_parent_of_the_active_token_gets_it_again_at_any_time() {
        assert_eq!(
            run(true, 86_400, Some("child"), true, 0, true),
            Decision::ReturnActive("child".to_owned())
        );
    }

    #[test]
    fn auth_012_an_older_token_ends_the_family() {
        assert_eq!(run(true, 1, None, true, 0, true), Decision::RevokeFamily);
        assert_eq!(run(true, 11, None, true, 10, true), Decision::RevokeFamily);
        assert_eq!(run(true, 11, None, true, 10, false), Decision::Refuse);
    }

    #[test]
    fn an_older_token_inside_the_interval_gets_a_child() {
        assert_eq!(run(true, 9, None, true, 10, true), Decision::IssueChild);
    }

    #[test]
    fn auth_012_a_revoked_family_stays_revoked_inside_the_interval() {
        assert_eq!(run(true, 0, None, false, 10, true), Decision::Refuse);
    }

    #[test]
    fn auth_012_old_counters_end_the_session() {
        let rules = |interval_s, rotation_enabled| RefreshRules {
            rotation_enabled,
            reuse_interval: Duration::from_secs(interval_s),
            always_reuse: false,
        };
        let again = |causes: &str| CounterDecision::ReturnCurrent(causes.to_owned());
        let decide = |behind, rules| decide_counter(behind, now() - TimeDelta::seconds(5), rules, now());

        assert_eq!(decide(-1, rules(10, true)), CounterDecision::NotOurs);
        assert_eq!(decide(0, rules(0, true)), CounterDecision::Advance);
        assert_eq!(decide(1, rules(0, true)), again("fail-to-save"));
        assert_eq!(
            decide(1, rules(10, true)),
            again("concurrent-refresh,fail-to-save")
        );
        assert_eq!(decide(2, rules(10, true)), again("concurrent-refresh"));
        let always = RefreshRules {
            always_reuse: true,
            ..rules(0, true)
        };
        assert_eq!(decide(3, always), again("always-allow"));
        assert_eq!(decide(2, rules(0, true)), CounterDecision::EndSession);
        assert_eq!(decide(2, rules(0, false)), CounterDecision::Refuse);
    }
}
