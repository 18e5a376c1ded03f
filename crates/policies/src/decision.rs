//! Combines the verdicts of policies as PostgreSQL does, without a database.
//!
//! PostgreSQL enforces policies at several points of a statement. A filter (USING) hides rows; a check (WITH CHECK, and
//! USING for rows in conflict with an upsert) refuses the whole statement. At each point one permissive policy and all
//! restrictive policies must pass.

use serde::Serialize;

use crate::catalog::{Command, Policy};
use crate::request::Verb;

/// The version of a row to which policies are applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RowVersion {
    /// The row as it is stored before the statement.
    Old,
    /// The row as an insert or update would store it.
    New,
    /// The row as an upsert would store it after its update of a row that exists.
    Merged,
}

/// One of the two expressions that a policy can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PolicyClause {
    Using,
    Check,
}

/// A point of a statement at which PostgreSQL enforces policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EnforcementPoint {
    pub(crate) command: Command,
    pub(crate) row: RowVersion,
    /// Whether a row that fails disappears silently; at the other points it makes the statement fail.
    pub(crate) filters: bool,
    clause: PolicyClause,
}

impl EnforcementPoint {
    const fn filter(command: Command, row: RowVersion) -> Self {
        Self {
            command,
            row,
            filters: true,
            clause: PolicyClause::Using,
        }
    }

    const fn check(command: Command, row: RowVersion) -> Self {
        Self {
            command,
            row,
            filters: false,
            clause: PolicyClause::Check,
        }
    }

    /// Makes a point at which a row that the USING expressions hide refuses the whole statement.
    const fn visible(command: Command, row: RowVersion) -> Self {
        Self {
            command,
            row,
            filters: false,
            clause: PolicyClause::Using,
        }
    }

    /// Returns the expression with which a policy takes part at this point. A policy without one neither denies nor
    /// grants anything here.
    pub(crate) fn expression<'p>(&self, policy: &'p Policy) -> Option<(PolicyClause, &'p str)> {
        let using = policy.using.as_deref().map(|text| (PolicyClause::Using, text));
        match self.clause {
            PolicyClause::Using => using,
            PolicyClause::Check => policy
                .check
                .as_deref()
                .map(|text| (PolicyClause::Check, text))
                .or(using),
        }
    }

    /// Whether a policy takes part at this point for the subject's role.
    pub(crate) fn includes(&self, policy: &Policy) -> bool {
        policy.applies
            && (policy.command == Command::All || policy.command == self.command)
            && self.expression(policy).is_some()
    }

    /// Whether no row can pass this filter, because no permissive policy can be true or a restrictive one is the constant
    /// false. PostgreSQL detects that before it reads any row, so no expression is evaluated and none raises an error.
    pub(crate) fn is_never_passed(&self, policies: &[Policy], counts: impl Fn(usize) -> bool) -> bool {
        let mut constants = self.constants(policies, counts);
        self.filters
            && (constants
                .clone()
                .all(|(permissive, value)| !permissive || value == Some(false))
                || constants.any(|(permissive, value)| !permissive && value == Some(false)))
    }

    /// Whether a permissive policy is the constant true. Then PostgreSQL does not evaluate the other permissive ones.
    pub(crate) fn has_true_policy(&self, policies: &[Policy], counts: impl Fn(usize) -> bool) -> bool {
        self.constants(policies, counts)
            .any(|(permissive, value)| permissive && value == Some(true))
    }

    /// Returns for each policy of the point whether it is permissive, and its value if that is a constant.
    fn constants(
        &self,
        policies: &[Policy],
        counts: impl Fn(usize) -> bool,
    ) -> impl Iterator<Item = (bool, Option<bool>)> + Clone {
        let included: Vec<_> = policies
            .iter()
            .enumerate()
            .filter(|(index, policy)| counts(*index) && self.includes(policy))
            .filter_map(|(_, policy)| Some((policy.permissive, constant_value(self.expression(policy)?.1))))
            .collect();
        included.into_iter()
    }

    /// Describes the point, for the sentence that explains why a row is denied.
    pub(crate) fn describe(&self) -> String {
        let row = match self.row {
            RowVersion::Old => "the stored row",
            RowVersion::New => "the new row",
            RowVersion::Merged => "the updated row",
        };
        format!("{} on {row}", self.command.name().to_uppercase())
    }
}

/// Returns the points of a statement at which policies are enforced, in PostgreSQL's order.
///
/// `reads` says whether the statement needs SELECT (for a condition, `returning`, or a conflict target), and `conflicts`
/// whether an upsert conflicts with an existing row.
pub(crate) fn enforcement_points(verb: Verb, reads: bool, conflicts: bool) -> Vec<EnforcementPoint> {
    use Command::{Delete, Insert, Select, Update};
    use RowVersion::{Merged, New, Old};

    let mut points = match verb {
        Verb::Select => return vec![EnforcementPoint::filter(Select, Old)],
        Verb::Insert | Verb::Upsert => vec![EnforcementPoint::check(Insert, New)],
        Verb::Update => vec![EnforcementPoint::filter(Update, Old)],
        Verb::Delete => vec![EnforcementPoint::filter(Delete, Old)],
    };
    // A write that reads rows must be allowed to see them, before and after it.
    match verb {
        Verb::Insert | Verb::Upsert if reads => points.push(EnforcementPoint::visible(Select, New)),
        Verb::Update | Verb::Delete if reads => points.push(EnforcementPoint::filter(Select, Old)),
        _ => {}
    }
    if verb == Verb::Update {
        points.push(EnforcementPoint::check(Update, New));
        if reads {
            points.push(EnforcementPoint::visible(Select, New));
        }
    }
    if verb == Verb::Upsert && conflicts {
        points.extend([
            EnforcementPoint::visible(Update, Old),
            EnforcementPoint::visible(Select, Old),
            EnforcementPoint::check(Update, Merged),
            EnforcementPoint::visible(Select, Merged),
        ]);
    }
    points
}

/// Returns the value of a constant expression; null counts as false, as it does in a policy.
fn constant_value(expression: &str) -> Option<bool> {
    match expression.trim().to_ascii_lowercase().as_str() {
        "true" => Some(true),
        "false" | "null::boolean" => Some(false),
        _ => None,
    }
}

/// The result of a policy's expression for one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Pass,
    Fail,
    Null,
    /// The expression raised an error with this SQLSTATE and message.
    Error(String, String),
}

/// The outcome for a row at one point, or of the whole statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Allowed,
    /// The row is left out silently, for these reasons.
    Filtered(Vec<String>),
    /// The whole statement fails with this SQLSTATE, for these reasons.
    Refused(String, Vec<String>),
}

/// Combines the verdicts of the policies that take part at a point. `verdict` returns that of the policy with the given
/// index.
pub(crate) fn decide_at_point<'v>(
    point: &EnforcementPoint,
    policies: &[Policy],
    role: &str,
    verdict: impl Fn(usize) -> Option<&'v Verdict>,
) -> Outcome {
    let included = |permissive: bool| {
        policies
            .iter()
            .enumerate()
            .filter(move |(_, policy)| policy.permissive == permissive && point.includes(policy))
            .filter_map(|(index, policy)| Some((policy, verdict(index)?)))
    };
    let mut permissive: Vec<_> = included(true).collect();
    let is_true = |policy: &Policy| {
        point
            .expression(policy)
            .is_some_and(|(_, sql)| constant_value(sql) == Some(true))
    };
    if permissive.iter().any(|(policy, _)| is_true(policy)) {
        permissive.retain(|(policy, _)| is_true(policy));
    }
    if permissive.is_empty() {
        return deny(
            point,
            vec![format!(
                "no permissive policy for {} applies to {role}",
                point.command.name().to_uppercase()
            )],
        );
    }
    let any = || decide_any(point, &permissive);
    let all = || {
        included(false)
            .map(|one| decide_one(point, one.0, one.1))
            .find(is_denied)
    };
    // PostgreSQL adds the restrictive conditions of a filter first, and those of a check last. The order matters when
    // an expression raises an error.
    let denied = match point.filters {
        true => all().or_else(any),
        false => any().or_else(all),
    };
    denied.unwrap_or(Outcome::Allowed)
}

fn is_denied(outcome: &Outcome) -> bool {
    *outcome != Outcome::Allowed
}

/// Asks the permissive policies until one passes, and returns `None` if one does. PostgreSQL keeps them in the reverse
/// order of their names, which matters when an expression raises an error.
fn decide_any(point: &EnforcementPoint, policies: &[(&Policy, &Verdict)]) -> Option<Outcome> {
    let mut reasons = Vec::new();
    for (policy, verdict) in policies.iter().rev() {
        match decide_one(point, policy, verdict) {
            Outcome::Allowed => return None,
            Outcome::Refused(code, why) if matches!(verdict, Verdict::Error(..)) => {
                return Some(Outcome::Refused(code, why));
            }
            Outcome::Filtered(why) | Outcome::Refused(_, why) => reasons.extend(why),
        }
    }
    reasons.reverse();
    Some(deny(point, reasons))
}

fn decide_one(point: &EnforcementPoint, policy: &Policy, verdict: &Verdict) -> Outcome {
    let kind = if policy.permissive {
        "permissive"
    } else {
        "restrictive"
    };
    let about = format!("{kind} policy \"{}\" for {}", policy.name, point.describe());
    match verdict {
        Verdict::Pass => Outcome::Allowed,
        Verdict::Fail => deny(point, vec![format!("{about} is false")]),
        Verdict::Null => deny(point, vec![format!("{about} is null")]),
        Verdict::Error(code, message) => {
            Outcome::Refused(code.clone(), vec![format!("{about} raises an error: {message}")])
        }
    }
}

/// The SQLSTATE of a row that violates row-level security, and of a missing privilege.
pub(crate) const INSUFFICIENT_PRIVILEGE: &str = "42501";

fn deny(point: &EnforcementPoint, reasons: Vec<String>) -> Outcome {
    match point.filters {
        true => Outcome::Filtered(reasons),
        false => Outcome::Refused(INSUFFICIENT_PRIVILEGE.to_owned(), reasons),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(name: &str, command: Command, permissive: bool) -> Policy {
        Policy {
            name: name.into(),
            command,
            permissive,
            roles: vec!["public".into()],
            applies: true,
            using: Some("true".into()),
            check: None,
            unsaved: false,
            facts: Default::default(),
        }
    }

    fn decide(point: EnforcementPoint, policies: &[Policy], verdicts: &[Verdict]) -> Outcome {
        decide_at_point(&point, policies, "anon", |index| verdicts.get(index))
    }

    #[test]
    fn console_080_permissive_policies_are_joined_by_or_and_restrictive_by_and() {
        let point = enforcement_points(Verb::Select, true, false)[0];
        let policies = [
            policy("a", Command::Select, true),
            policy("b", Command::All, true),
            policy("c", Command::All, false),
        ];
        let error = Verdict::Error("22012".into(), "division by zero".into());

        assert_eq!(
            decide(point, &policies, &[Verdict::Fail, Verdict::Pass, Verdict::Pass]),
            Outcome::Allowed
        );
        assert!(matches!(
            decide(point, &policies, &[Verdict::Fail, Verdict::Pass, Verdict::Null]),
            Outcome::Filtered(reasons) if reasons == ["restrictive policy \"c\" for SELECT on the stored row is null"]
        ));
        // The policy with the first name is not asked, because the other one has let the row pass.
        assert_eq!(
            decide(point, &policies, &[error.clone(), Verdict::Pass, Verdict::Pass]),
            Outcome::Allowed
        );
        assert!(matches!(
            decide(point, &policies, &[Verdict::Pass, error, Verdict::Pass]),
            Outcome::Refused(code, _) if code == "22012"
        ));
        assert!(matches!(
            decide(point, &policies[2..], &[Verdict::Pass]),
            Outcome::Filtered(_)
        ));
    }

    #[test]
    fn console_081_each_verb_enforces_policies_at_the_points_of_postgresql() {
        let describe = |verb, reads, conflicts| -> Vec<String> {
            enforcement_points(verb, reads, conflicts)
                .iter()
                .map(|point| {
                    format!(
                        "{}{}",
                        point.describe(),
                        if point.filters { " filters" } else { "" }
                    )
                })
                .collect()
        };

        assert_eq!(describe(Verb::Insert, false, false), ["INSERT on the new row"]);
        assert_eq!(
            describe(Verb::Insert, true, false),
            ["INSERT on the new row", "SELECT on the new row"]
        );
        assert_eq!(
            describe(Verb::Update, true, false),
            [
                "UPDATE on the stored row filters",
                "SELECT on the stored row filters",
                "UPDATE on the new row",
                "SELECT on the new row"
            ]
        );
        assert_eq!(
            describe(Verb::Delete, false, false),
            ["DELETE on the stored row filters"]
        );
        assert_eq!(describe(Verb::Upsert, true, true).len(), 6);
    }
}
