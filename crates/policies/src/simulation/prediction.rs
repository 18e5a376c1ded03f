//! Turns verdicts into the grid of the report, and into a prediction of the real statement's result.

use super::collect::Collected;
use super::explain::{Column, Grid, RowPlaces, reasons};
use super::report::{Report, RowReport};
use crate::catalog::Policy;
use crate::decision::{INSUFFICIENT_PRIVILEGE, Outcome};
use crate::request::{UnsavedPolicy, Verb};
use crate::truth::Prediction;

/// Everything that is known about a request before its rows are decided about.
pub(crate) struct Explanation<'e> {
    pub(crate) collected: &'e Collected,
    pub(crate) role: &'e str,
    pub(crate) verb: Verb,
    pub(crate) unsaved: &'e [UnsavedPolicy],
    /// Whether the role has the privileges that the statement needs.
    pub(crate) privileged: bool,
    /// SQLSTATE and message of a value that PostgreSQL refuses before it evaluates policies.
    pub(crate) row_error: Option<(String, String)>,
}

/// Whether an unsaved policy has the name of a saved one.
pub(crate) fn is_replaced(unsaved: &[UnsavedPolicy], policy: &Policy) -> bool {
    !policy.unsaved && unsaved.iter().any(|proposed| proposed.name == policy.name)
}

impl Explanation<'_> {
    /// Decides about each row, adds the table of rows and policies to the report, and predicts the statement's result.
    pub(crate) fn explain(&self, report: &mut Report, columns: Vec<Column>) -> Prediction {
        let collected = self.collected;
        let table = &collected.table;
        let grid = Grid {
            table,
            policies: &collected.policies,
            role: self.role,
            verb: self.verb,
            reads: collected.statement.reads,
            columns,
        };
        let is_saved = |index: usize| !collected.policies[index].unsaved;
        let active = table.can_have_policies() && table.is_row_security_active();
        let mut outcomes = Vec::with_capacity(collected.candidates.len());
        let places = RowPlaces::of_all(&collected.candidates);
        for (candidate, place) in collected.candidates.iter().zip(places) {
            // Only saved policies decide about the real statement, so only they are compared with its result.
            let outcome = match active {
                true => grid.decide(candidate, place, is_saved),
                false => Outcome::Allowed,
            };
            let mut row = grid.report_row(candidate, place, &outcome);
            // Without evaluated expressions row-level security would not be active even with the unsaved policies.
            if !self.unsaved.is_empty() && !grid.columns.is_empty() {
                let proposed = grid.decide(candidate, place, |index| {
                    !is_replaced(self.unsaved, &collected.policies[index])
                });
                row.allowed_unsaved = Some(proposed == Outcome::Allowed);
                row.denied_by_unsaved = reasons(&proposed);
            }
            self.deny_without_privilege(&mut row);
            report.rows.push(row);
            outcomes.push(outcome);
        }
        let conflicts = collected.candidates.iter().any(|row| row.old.is_some());
        // Where no policy decides, an error in one of them is never met.
        let errors = match active {
            true => grid.fixed_errors(conflicts, is_saved),
            false => Vec::new(),
        };
        self.predict(report, &grid, &outcomes, errors)
    }

    fn deny_without_privilege(&self, row: &mut RowReport) {
        // A missing privilege comes before all policies, so it is named first.
        if !self.privileged {
            row.allowed = false;
            row.denied_by
                .insert(0, format!("{} lacks a privilege", self.role));
        }
    }

    fn predict(
        &self,
        report: &mut Report,
        grid: &Grid<'_>,
        outcomes: &[Outcome],
        mut errors: Vec<String>,
    ) -> Prediction {
        if !self.privileged {
            errors.push(INSUFFICIENT_PRIVILEGE.into());
        }
        if let Some((code, message)) = &self.row_error {
            report.add_banner(format!("The row cannot be put together: {message}."));
            errors.push(code.clone());
        }
        // One refused row makes the whole statement fail. Which of several errors comes first depends on the order in
        // which PostgreSQL reads the rows, so each of them is expected.
        errors.extend(outcomes.iter().filter_map(|outcome| match outcome {
            Outcome::Refused(code, _) => Some(code.clone()),
            _ => None,
        }));
        if !errors.is_empty() {
            return Prediction::Error(errors);
        }
        self.predict_rows(grid, outcomes)
    }

    /// Predicts what the statement returns or changes when nothing refuses it.
    fn predict_rows(&self, grid: &Grid<'_>, outcomes: &[Outcome]) -> Prediction {
        let statement = &self.collected.statement;
        let allowed: Vec<_> = self
            .collected
            .candidates
            .iter()
            .zip(outcomes)
            .filter(|(_, outcome)| **outcome == Outcome::Allowed)
            .map(|(candidate, _)| candidate)
            .collect();
        // The contents of inserted rows depend on sequences and random defaults, those of updated ones on triggers.
        let are_known = match self.verb {
            Verb::Select | Verb::Delete => true,
            Verb::Update => !self.collected.table.has_row_changing_triggers,
            Verb::Insert | Verb::Upsert => false,
        };
        let contents = (statement.returns_rows && are_known).then(|| {
            let rows = allowed.iter().map(|candidate| {
                let shown = candidate.new.as_ref().or(candidate.old.as_ref());
                let mut values = grid.values(shown);
                let shown = statement.columns.iter();
                shown
                    .filter_map(|name| values.remove(name).map(|value| (name.clone(), value)))
                    .collect()
            });
            rows.collect()
        });
        Prediction::Rows {
            count: allowed.len(),
            contents,
        }
    }
}
