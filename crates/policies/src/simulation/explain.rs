//! The grid of rows and policies: the value of each expression for each version of a row, and the resulting verdict.

use serde_json::{Map, Value};

use super::report::{RowReport, VerdictReport};
use crate::catalog::{Policy, Table};
use crate::decision::{
    EnforcementPoint, Outcome, PolicyClause, RowVersion, Verdict, decide_at_point, enforcement_points,
};
use crate::evaluate::{Evaluated, StoredRow, row_literal};
use crate::request::{RowId, Verb};

/// A row that the statement is about, with each version that the statement reads or writes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Candidate {
    pub(crate) id: Option<RowId>,
    pub(crate) old: Option<Vec<Option<String>>>,
    pub(crate) new: Option<Vec<Option<String>>>,
    /// The row as an upsert would store it after its update of a row that exists.
    pub(crate) merged: Option<Vec<Option<String>>>,
}

/// An expression of a policy, evaluated for one version of all rows that have it.
#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) policy: usize,
    pub(crate) clause: PolicyClause,
    pub(crate) row: RowVersion,
    pub(crate) evaluated: Evaluated,
}

/// All verdicts about the rows of one statement, by policy and row.
#[derive(Debug)]
pub(crate) struct Grid<'g> {
    pub(crate) table: &'g Table,
    pub(crate) policies: &'g [Policy],
    pub(crate) role: &'g str,
    pub(crate) verb: Verb,
    /// Whether the statement needs the privilege SELECT, which brings the SELECT policies in.
    pub(crate) reads: bool,
    pub(crate) columns: Vec<Column>,
}

impl Candidate {
    pub(crate) fn stored(row: StoredRow) -> Self {
        Self {
            id: row.id,
            old: Some(row.values),
            ..Self::default()
        }
    }

    pub(crate) fn version(&self, version: RowVersion) -> Option<&Vec<Option<String>>> {
        match version {
            RowVersion::Old => self.old.as_ref(),
            RowVersion::New => self.new.as_ref(),
            RowVersion::Merged => self.merged.as_ref(),
        }
    }
}

/// Returns the literals of all rows that have this version, in the order of the rows.
pub(crate) fn version_literals(candidates: &[Candidate], version: RowVersion) -> Vec<String> {
    candidates
        .iter()
        .filter_map(|candidate| candidate.version(version))
        .map(|values| row_literal(values))
        .collect()
}

/// Lists the expressions that must be evaluated for a version of the rows, each with the index of its policy.
pub(crate) fn needed_expressions(
    points: &[EnforcementPoint],
    policies: &[Policy],
    version: RowVersion,
) -> Vec<(usize, PolicyClause, String)> {
    let mut needed: Vec<(usize, PolicyClause, String)> = Vec::new();
    for point in points.iter().filter(|point| point.row == version) {
        for (index, policy) in policies.iter().enumerate() {
            if !point.includes(policy) {
                continue;
            }
            let Some((clause, sql)) = point.expression(policy) else {
                continue;
            };
            if !needed
                .iter()
                .any(|(known, of, _)| (*known, *of) == (index, clause))
            {
                needed.push((index, clause, sql.to_owned()));
            }
        }
    }
    needed
}

impl Grid<'_> {
    /// Decides about a row by the policies that `counts` accepts. `place` contains the columns of the evaluated values of
    /// its versions.
    pub(crate) fn decide(
        &self,
        candidate: &Candidate,
        place: RowPlaces,
        counts: impl Fn(usize) -> bool,
    ) -> Outcome {
        let points = self.points(candidate);
        // If no row can pass a filter, PostgreSQL evaluates no expression.
        let hopeless = points
            .iter()
            .find(|point| point.is_never_passed(self.policies, &counts));
        for point in hopeless.into_iter().chain(points.iter()) {
            let outcome = decide_at_point(point, self.policies, self.role, |index| {
                let (clause, _) = point.expression(self.policies.get(index)?)?;
                self.verdict(index, clause, point.row, place)
                    .filter(|_| counts(index))
            });
            if outcome != Outcome::Allowed {
                return match hopeless {
                    Some(_) => Outcome::Filtered(reasons(&outcome)),
                    None => outcome,
                };
            }
        }
        Outcome::Allowed
    }

    fn points(&self, candidate: &Candidate) -> Vec<EnforcementPoint> {
        enforcement_points(self.verb, self.reads, candidate.old.is_some())
    }

    fn verdict(
        &self,
        policy: usize,
        clause: PolicyClause,
        row: RowVersion,
        place: RowPlaces,
    ) -> Option<&Verdict> {
        self.column(policy, clause, row)?
            .evaluated
            .verdicts
            .get(place.index_of(row)?)
    }

    fn column(&self, policy: usize, clause: PolicyClause, row: RowVersion) -> Option<&Column> {
        self.columns
            .iter()
            .find(|column| (column.policy, column.clause, column.row) == (policy, clause, row))
    }

    /// Returns the SQLSTATEs of errors that PostgreSQL raises before it looks at any row, for the policies that
    /// `counts` accepts.
    pub(crate) fn fixed_errors(&self, conflicts: bool, counts: impl Fn(usize) -> bool) -> Vec<String> {
        let points = enforcement_points(self.verb, self.reads, conflicts);
        if points
            .iter()
            .any(|point| point.is_never_passed(self.policies, &counts))
        {
            return Vec::new();
        }
        let mut codes = Vec::new();
        for point in &points {
            let has_true_policy = point.has_true_policy(self.policies, &counts);
            for (index, policy) in self.policies.iter().enumerate() {
                if !counts(index) || !point.includes(policy) || (policy.permissive && has_true_policy) {
                    continue;
                }
                let column = point
                    .expression(policy)
                    .and_then(|(clause, _)| self.column(index, clause, point.row));
                if let Some((code, _)) = column.and_then(|column| column.evaluated.fixed_error.as_ref()) {
                    codes.push(code.clone());
                }
            }
        }
        codes
    }

    /// Reports a row with its values and all verdicts, in the order in which the statement enforces policies.
    pub(crate) fn report_row(&self, candidate: &Candidate, place: RowPlaces, outcome: &Outcome) -> RowReport {
        let mut verdicts = Vec::new();
        for point in self.points(candidate) {
            for (index, policy) in self.policies.iter().enumerate() {
                let Some((clause, _)) = point.expression(policy).filter(|_| point.includes(policy)) else {
                    continue;
                };
                let (Some(column), Some(at)) =
                    (self.column(index, clause, point.row), place.index_of(point.row))
                else {
                    continue;
                };
                let Some(verdict) = column.evaluated.verdicts.get(at) else {
                    continue;
                };
                verdicts.push(VerdictReport {
                    policy: index,
                    clause,
                    command: point.command,
                    row: point.row,
                    verdict: verdict_name(verdict),
                    error: match verdict {
                        Verdict::Error(_, message) => Some(message.clone()),
                        _ => None,
                    },
                    operands: column.evaluated.operands.get(at).cloned().unwrap_or_default(),
                });
            }
        }
        // An inserted row has no stored version, so its proposed one is shown in its place.
        let stored = candidate.old.as_ref();
        let written = candidate.merged.as_ref().or(candidate.new.as_ref());
        RowReport {
            id: candidate.id.clone(),
            values: self.values(stored.or(written)),
            new_values: stored.and(written).map(|row| self.values(Some(row))),
            verdicts,
            allowed: *outcome == Outcome::Allowed,
            denied_by: reasons(outcome),
            allowed_unsaved: None,
            denied_by_unsaved: Vec::new(),
        }
    }

    pub(crate) fn values(&self, row: Option<&Vec<Option<String>>>) -> Map<String, Value> {
        let names = self.table.columns.iter().map(|column| column.name.clone());
        let values = row.into_iter().flatten().map(|value| match value {
            Some(text) => Value::String(text.clone()),
            None => Value::Null,
        });
        names.zip(values).collect()
    }
}

/// The positions of a row's versions in the evaluated columns.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RowPlaces {
    old: Option<usize>,
    new: Option<usize>,
    merged: Option<usize>,
}

impl RowPlaces {
    fn index_of(self, version: RowVersion) -> Option<usize> {
        match version {
            RowVersion::Old => self.old,
            RowVersion::New => self.new,
            RowVersion::Merged => self.merged,
        }
    }

    /// Returns the positions of all rows. A version that a row lacks takes no position.
    pub(crate) fn of_all(candidates: &[Candidate]) -> Vec<Self> {
        let (mut old, mut new, mut merged) = (0.., 0.., 0..);
        candidates
            .iter()
            .map(|candidate| Self {
                old: candidate.old.as_ref().and_then(|_| old.next()),
                new: candidate.new.as_ref().and_then(|_| new.next()),
                merged: candidate.merged.as_ref().and_then(|_| merged.next()),
            })
            .collect()
    }
}

pub(crate) fn reasons(outcome: &Outcome) -> Vec<String> {
    match outcome {
        Outcome::Allowed => Vec::new(),
        Outcome::Filtered(reasons) | Outcome::Refused(_, reasons) => reasons.clone(),
    }
}

fn verdict_name(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "pass",
        Verdict::Fail => "fail",
        Verdict::Null => "null",
        Verdict::Error(..) => "error",
    }
}
