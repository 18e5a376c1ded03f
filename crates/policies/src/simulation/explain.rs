//! The grid of rows and policies: what each expression says about each version of a row, and what follows from it.

use serde_json::{Map, Value};

use super::report::{RowReport, VerdictReport};
use crate::catalog::{Policy, Table};
use crate::decision::{Outcome, Part, Phase, RowVersion, Verdict, decide_phase, statement_phases};
use crate::evaluate::{Evaluated, StoredRow, row_literal};
use crate::request::{RowId, Verb};

/// A row that the statement is about, in its versions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Candidate {
    pub(crate) id: Option<RowId>,
    pub(crate) old: Option<Vec<Option<String>>>,
    pub(crate) new: Option<Vec<Option<String>>>,
    /// An upsert's row after its update.
    pub(crate) merged: Option<Vec<Option<String>>>,
}

/// An expression of a policy, evaluated for one version of all rows that have it.
#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) policy: usize,
    pub(crate) part: Part,
    pub(crate) row: RowVersion,
    pub(crate) evaluated: Evaluated,
}

/// What decides about the rows of one statement.
#[derive(Debug)]
pub(crate) struct Grid<'g> {
    pub(crate) table: &'g Table,
    pub(crate) policies: &'g [Policy],
    pub(crate) role: &'g str,
    pub(crate) verb: Verb,
    /// Whether the statement needs SELECT.
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

/// The literals of all rows that have the version, in order.
pub(crate) fn version_literals(candidates: &[Candidate], version: RowVersion) -> Vec<String> {
    candidates
        .iter()
        .filter_map(|candidate| candidate.version(version))
        .map(|values| row_literal(values))
        .collect()
}

/// The expressions to evaluate for each version: index of the policy, and its part.
pub(crate) fn needed_expressions(
    phases: &[Phase],
    policies: &[Policy],
    version: RowVersion,
) -> Vec<(usize, Part, String)> {
    let mut needed: Vec<(usize, Part, String)> = Vec::new();
    for phase in phases.iter().filter(|phase| phase.row == version) {
        for (index, policy) in policies.iter().enumerate() {
            if !phase.includes(policy) {
                continue;
            }
            let Some((part, sql)) = phase.expression(policy) else {
                continue;
            };
            if !needed.iter().any(|(known, of, _)| (*known, *of) == (index, part)) {
                needed.push((index, part, sql.to_owned()));
            }
        }
    }
    needed
}

impl Grid<'_> {
    /// Decides about a row with the policies that `counts` accepts. `place` tells where its versions are in the
    /// evaluated columns.
    pub(crate) fn decide(
        &self,
        candidate: &Candidate,
        place: RowPlaces,
        counts: impl Fn(usize) -> bool,
    ) -> Outcome {
        let phases = self.phases(candidate);
        // PostgreSQL knows a filter that nothing passes before it evaluates any expression.
        let hopeless = phases
            .iter()
            .find(|phase| phase.is_never_passed(self.policies, &counts));
        for phase in hopeless.into_iter().chain(phases.iter()) {
            let outcome = decide_phase(phase, self.policies, self.role, |index| {
                let (part, _) = phase.expression(self.policies.get(index)?)?;
                self.verdict(index, part, phase.row, place)
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

    fn phases(&self, candidate: &Candidate) -> Vec<Phase> {
        statement_phases(self.verb, self.reads, candidate.old.is_some())
    }

    fn verdict(&self, policy: usize, part: Part, row: RowVersion, place: RowPlaces) -> Option<&Verdict> {
        self.column(policy, part, row)?
            .evaluated
            .verdicts
            .get(place.of(row)?)
    }

    fn column(&self, policy: usize, part: Part, row: RowVersion) -> Option<&Column> {
        self.columns
            .iter()
            .find(|column| (column.policy, column.part, column.row) == (policy, part, row))
    }

    /// SQLSTATEs of errors that PostgreSQL raises before it looks at any row, of the policies that `counts` accepts.
    pub(crate) fn fixed_errors(&self, conflicts: bool, counts: impl Fn(usize) -> bool) -> Vec<String> {
        let phases = statement_phases(self.verb, self.reads, conflicts);
        if phases
            .iter()
            .any(|phase| phase.is_never_passed(self.policies, &counts))
        {
            return Vec::new();
        }
        let mut codes = Vec::new();
        for phase in &phases {
            let has_true_policy = phase.has_true_policy(self.policies, &counts);
            for (index, policy) in self.policies.iter().enumerate() {
                if !counts(index) || !phase.includes(policy) || (policy.permissive && has_true_policy) {
                    continue;
                }
                let column = phase
                    .expression(policy)
                    .and_then(|(part, _)| self.column(index, part, phase.row));
                if let Some((code, _)) = column.and_then(|column| column.evaluated.fixed_error.as_ref()) {
                    codes.push(code.clone());
                }
            }
        }
        codes
    }

    /// The report of a row: its values and all verdicts, in the order of the statement's phases.
    pub(crate) fn report_row(&self, candidate: &Candidate, place: RowPlaces, outcome: &Outcome) -> RowReport {
        let mut verdicts = Vec::new();
        for phase in self.phases(candidate) {
            for (index, policy) in self.policies.iter().enumerate() {
                let Some((part, _)) = phase.expression(policy).filter(|_| phase.includes(policy)) else {
                    continue;
                };
                let (Some(column), Some(at)) = (self.column(index, part, phase.row), place.of(phase.row))
                else {
                    continue;
                };
                let Some(verdict) = column.evaluated.verdicts.get(at) else {
                    continue;
                };
                verdicts.push(VerdictReport {
                    policy: index,
                    part,
                    command: phase.command,
                    row: phase.row,
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

/// Where the versions of a row are in the evaluated columns.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RowPlaces {
    old: Option<usize>,
    new: Option<usize>,
    merged: Option<usize>,
}

impl RowPlaces {
    fn of(self, version: RowVersion) -> Option<usize> {
        match version {
            RowVersion::Old => self.old,
            RowVersion::New => self.new,
            RowVersion::Merged => self.merged,
        }
    }

    /// The places of all rows. A version that a row lacks takes no place.
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
