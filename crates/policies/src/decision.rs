//! How PostgreSQL combines the policies of a statement, without a database.
//!
//! A statement passes in phases. A phase that filters (USING) lets rows disappear; a phase that checks (WITH CHECK, and
//! what ON CONFLICT meets) refuses the whole statement. In each phase one permissive policy must pass, and all
//! restrictive ones.

use serde::Serialize;

use crate::catalog::{Command, Policy};
use crate::request::Verb;

/// Which version of a row a phase looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RowVersion {
    /// The row as it is stored.
    Old,
    /// The row as it would be stored.
    New,
    /// An upsert's row after its update.
    Merged,
}

/// Which expression of a policy is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Part {
    Using,
    Check,
}

/// One step of a statement at which policies decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Phase {
    pub(crate) command: Command,
    pub(crate) row: RowVersion,
    /// Whether a row that fails disappears silently; otherwise the statement fails.
    pub(crate) filters: bool,
    part: Part,
}

impl Phase {
    const fn filter(command: Command, row: RowVersion) -> Self {
        Self {
            command,
            row,
            filters: true,
            part: Part::Using,
        }
    }

    const fn check(command: Command, row: RowVersion) -> Self {
        Self {
            command,
            row,
            filters: false,
            part: Part::Check,
        }
    }

    /// A phase that refuses the statement by USING expressions: the row must be visible, too.
    const fn visible(command: Command, row: RowVersion) -> Self {
        Self {
            command,
            row,
            filters: false,
            part: Part::Using,
        }
    }

    /// The expression with which a policy takes part in this phase. Without one it has no say, and does not grant either.
    pub(crate) fn expression<'p>(&self, policy: &'p Policy) -> Option<(Part, &'p str)> {
        let using = policy.using.as_deref().map(|text| (Part::Using, text));
        match self.part {
            Part::Using => using,
            Part::Check => policy.check.as_deref().map(|text| (Part::Check, text)).or(using),
        }
    }

    /// Whether a policy belongs to this phase for the subject's role.
    pub(crate) fn includes(&self, policy: &Policy) -> bool {
        policy.applies
            && (policy.command == Command::All || policy.command == self.command)
            && self.expression(policy).is_some()
    }

    /// Whether no row can pass this filter, which PostgreSQL knows before it reads any: no permissive policy that could
    /// be true, or a restrictive one that is the constant false. Then no expression is evaluated, and none raises an
    /// error.
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

    /// For each policy of the phase whether it is permissive, and its value if that is a constant.
    fn constants(
        &self,
        policies: &[Policy],
        counts: impl Fn(usize) -> bool,
    ) -> impl Iterator<Item = (bool, Option<bool>)> + Clone {
        let included: Vec<_> = policies
            .iter()
            .enumerate()
            .filter(|(index, policy)| counts(*index) && self.includes(policy))
            .filter_map(|(_, policy)| Some((policy.permissive, constant(self.expression(policy)?.1))))
            .collect();
        included.into_iter()
    }

    /// What the phase does, for the sentence that names why a row is denied.
    pub(crate) fn describe(&self) -> String {
        let row = match self.row {
            RowVersion::Old => "the stored row",
            RowVersion::New => "the new row",
            RowVersion::Merged => "the updated row",
        };
        format!("{} on {row}", self.command.name().to_uppercase())
    }
}

/// The phases of a statement in PostgreSQL's order.
///
/// `reads` says whether it needs SELECT (a condition, `returning`, or a conflict target); `conflicts` whether an
/// upsert meets a row that exists.
pub(crate) fn statement_phases(verb: Verb, reads: bool, conflicts: bool) -> Vec<Phase> {
    use Command::{Delete, Insert, Select, Update};
    use RowVersion::{Merged, New, Old};

    let mut phases = match verb {
        Verb::Select => return vec![Phase::filter(Select, Old)],
        Verb::Insert | Verb::Upsert => vec![Phase::check(Insert, New)],
        Verb::Update => vec![Phase::filter(Update, Old)],
        Verb::Delete => vec![Phase::filter(Delete, Old)],
    };
    // Whoever reads rows with a write must be allowed to see them, before and after it.
    match verb {
        Verb::Insert | Verb::Upsert if reads => phases.push(Phase::visible(Select, New)),
        Verb::Update | Verb::Delete if reads => phases.push(Phase::filter(Select, Old)),
        _ => {}
    }
    if verb == Verb::Update {
        phases.push(Phase::check(Update, New));
        if reads {
            phases.push(Phase::visible(Select, New));
        }
    }
    if verb == Verb::Upsert && conflicts {
        phases.extend([
            Phase::visible(Update, Old),
            Phase::visible(Select, Old),
            Phase::check(Update, Merged),
            Phase::visible(Select, Merged),
        ]);
    }
    phases
}

/// The value of an expression that is a constant; null counts as false, as it does in a policy.
fn constant(expression: &str) -> Option<bool> {
    match expression.trim().to_ascii_lowercase().as_str() {
        "true" => Some(true),
        "false" | "null::boolean" => Some(false),
        _ => None,
    }
}

/// What an expression said about a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Pass,
    Fail,
    Null,
    /// SQLSTATE and message.
    Error(String, String),
}

/// What a phase or a statement does with a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Allowed,
    /// The row is left out, for these reasons.
    Filtered(Vec<String>),
    /// The whole statement fails: SQLSTATE and reasons.
    Refused(String, Vec<String>),
}

/// Combines the verdicts of a phase's policies. `verdict` gives that of the policy with the given index.
pub(crate) fn decide_phase<'v>(
    phase: &Phase,
    policies: &[Policy],
    role: &str,
    verdict: impl Fn(usize) -> Option<&'v Verdict>,
) -> Outcome {
    let included = |permissive: bool| {
        policies
            .iter()
            .enumerate()
            .filter(move |(_, policy)| policy.permissive == permissive && phase.includes(policy))
            .filter_map(|(index, policy)| Some((policy, verdict(index)?)))
    };
    let mut permissive: Vec<_> = included(true).collect();
    let is_true = |policy: &Policy| {
        phase
            .expression(policy)
            .is_some_and(|(_, sql)| constant(sql) == Some(true))
    };
    if permissive.iter().any(|(policy, _)| is_true(policy)) {
        permissive.retain(|(policy, _)| is_true(policy));
    }
    if permissive.is_empty() {
        return deny(
            phase,
            vec![format!(
                "no permissive policy for {} applies to {role}",
                phase.command.name().to_uppercase()
            )],
        );
    }
    let any = || decide_any(phase, &permissive);
    let all = || {
        included(false)
            .map(|one| decide_one(phase, one.0, one.1))
            .find(is_denied)
    };
    // PostgreSQL adds the restrictive conditions of a filter first, and those of a check last. The order matters when
    // an expression raises an error.
    let denied = match phase.filters {
        true => all().or_else(any),
        false => any().or_else(all),
    };
    denied.unwrap_or(Outcome::Allowed)
}

fn is_denied(outcome: &Outcome) -> bool {
    *outcome != Outcome::Allowed
}

/// The permissive policies, until one passes. `None` when one does. PostgreSQL keeps them in the reverse order of their
/// names, which matters when an expression raises an error.
fn decide_any(phase: &Phase, policies: &[(&Policy, &Verdict)]) -> Option<Outcome> {
    let mut reasons = Vec::new();
    for (policy, verdict) in policies.iter().rev() {
        match decide_one(phase, policy, verdict) {
            Outcome::Allowed => return None,
            Outcome::Refused(code, why) if matches!(verdict, Verdict::Error(..)) => {
                return Some(Outcome::Refused(code, why));
            }
            Outcome::Filtered(why) | Outcome::Refused(_, why) => reasons.extend(why),
        }
    }
    reasons.reverse();
    Some(deny(phase, reasons))
}

fn decide_one(phase: &Phase, policy: &Policy, verdict: &Verdict) -> Outcome {
    let kind = if policy.permissive {
        "permissive"
    } else {
        "restrictive"
    };
    let about = format!("{kind} policy \"{}\" for {}", policy.name, phase.describe());
    match verdict {
        Verdict::Pass => Outcome::Allowed,
        Verdict::Fail => deny(phase, vec![format!("{about} is false")]),
        Verdict::Null => deny(phase, vec![format!("{about} is null")]),
        Verdict::Error(code, message) => {
            Outcome::Refused(code.clone(), vec![format!("{about} raises an error: {message}")])
        }
    }
}

/// SQLSTATE of a row that violates row-level security, and of a missing privilege.
pub(crate) const INSUFFICIENT_PRIVILEGE: &str = "42501";

fn deny(phase: &Phase, reasons: Vec<String>) -> Outcome {
    match phase.filters {
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

    fn decide(phase: Phase, policies: &[Policy], verdicts: &[Verdict]) -> Outcome {
        decide_phase(&phase, policies, "anon", |index| verdicts.get(index))
    }

    #[test]
    fn console_080_permissive_policies_are_joined_by_or_and_restrictive_by_and() {
        let phase = statement_phases(Verb::Select, true, false)[0];
        let policies = [
            policy("a", Command::Select, true),
            policy("b", Command::All, true),
            policy("c", Command::All, false),
        ];
        let error = Verdict::Error("22012".into(), "division by zero".into());

        assert_eq!(
            decide(phase, &policies, &[Verdict::Fail, Verdict::Pass, Verdict::Pass]),
            Outcome::Allowed
        );
        assert!(matches!(
            decide(phase, &policies, &[Verdict::Fail, Verdict::Pass, Verdict::Null]),
            Outcome::Filtered(reasons) if reasons == ["restrictive policy \"c\" for SELECT on the stored row is null"]
        ));
        // The policy with the first name is not asked, because the other one has let the row pass.
        assert_eq!(
            decide(phase, &policies, &[error.clone(), Verdict::Pass, Verdict::Pass]),
            Outcome::Allowed
        );
        assert!(matches!(
            decide(phase, &policies, &[Verdict::Pass, error, Verdict::Pass]),
            Outcome::Refused(code, _) if code == "22012"
        ));
        assert!(matches!(
            decide(phase, &policies[2..], &[Verdict::Pass]),
            Outcome::Filtered(_)
        ));
    }

    #[test]
    fn console_081_the_phases_of_each_verb_are_those_of_postgresql() {
        let describe = |verb, reads, conflicts| -> Vec<String> {
            statement_phases(verb, reads, conflicts)
                .iter()
                .map(|phase| {
                    format!(
                        "{}{}",
                        phase.describe(),
                        if phase.filters { " filters" } else { "" }
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
