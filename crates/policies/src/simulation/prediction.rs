//! Turns verdicts into the grid of the report, and into a prediction of the real statement's result.

use serde_json::{Map, Value};

use super::collect::{Collected, MAX_ROWS};
use super::explain::{Candidate, Column, Grid, RowPlaces, reasons};
use super::report::{Report, RowReport, StepName};
use crate::catalog::Policy;
use crate::decision::{INSUFFICIENT_PRIVILEGE, Outcome};
use crate::request::{Page, UnsavedPolicy, Verb};
use crate::truth::{Contents, Prediction};

/// Everything that is known about a request before its rows are decided about.
pub(crate) struct Explanation<'e> {
    pub(crate) collected: &'e Collected,
    pub(crate) role: &'e str,
    pub(crate) verb: Verb,
    pub(crate) page: &'e Page,
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
        let is_certain = !errors.is_empty();
        // One refused row makes the whole statement fail. Which of several errors comes first depends on the order in
        // which PostgreSQL reads the rows, so each of them is expected.
        errors.extend(outcomes.iter().filter_map(|outcome| match outcome {
            Outcome::Refused(code, _) => Some(code.clone()),
            _ => None,
        }));
        if !errors.is_empty() {
            // With a limit PostgreSQL may have enough rows before it reads the one that raises the error.
            return match !is_certain && self.verb == Verb::Select && self.page.limit.is_some() {
                true => Prediction::PossibleError(errors),
                false => Prediction::Error(errors),
            };
        }
        self.predict_rows(report, grid, outcomes)
    }

    /// Predicts what the statement returns or changes when nothing refuses it.
    fn predict_rows(&self, report: &mut Report, grid: &Grid<'_>, outcomes: &[Outcome]) -> Prediction {
        let allowed: Vec<_> = self
            .collected
            .candidates
            .iter()
            .zip(outcomes)
            .filter(|(_, outcome)| **outcome == Outcome::Allowed)
            .map(|(candidate, _)| candidate)
            .collect();
        if self.verb == Verb::Select {
            return self.predict_page(report, grid, &allowed);
        }
        // The contents of inserted rows depend on sequences and random defaults, those of updated ones on triggers.
        let are_known = match self.verb {
            Verb::Select | Verb::Delete => true,
            Verb::Update => !self.collected.table.has_row_changing_triggers,
            Verb::Insert | Verb::Upsert => false,
        };
        let contents = match self.collected.statement.returns_rows && are_known {
            true => Contents::Exactly(self.list_returned_rows(grid, &allowed)),
            false => Contents::Unknown,
        };
        Prediction::Rows {
            count: allowed.len(),
            contents,
        }
    }

    /// Predicts which of the allowed rows the order, limit and offset of a read leave.
    fn predict_page(&self, report: &mut Report, grid: &Grid<'_>, allowed: &[&Candidate]) -> Prediction {
        let (page, collected) = (self.page, self.collected);
        // With a statement on the explained rows alone, no others can take their places in the page.
        let may_have_others = collected.has_more && !collected.is_restricted;
        let is_filled = page
            .limit
            .is_some_and(|limit| allowed.len() >= page.offset.saturating_add(limit));
        if may_have_others && page.cuts(MAX_ROWS) && !is_filled {
            return Prediction::Unexplained(format!(
                "The first {MAX_ROWS} rows are explained, and the limit and offset of the request reach beyond them, so \
                 the result is not compared."
            ));
        }
        let taken = page.slice(allowed);
        let is_whole = taken.len() == allowed.len();
        if !is_whole {
            let text = describe_page(page, taken.len(), allowed.len(), may_have_others);
            report.add_step(StepName::Limit, !taken.is_empty(), text, Vec::new());
        }
        let contents = match may_have_others {
            _ if page.has_total_order(&collected.table) => {
                Contents::Exactly(self.list_returned_rows(grid, taken))
            }
            false if is_whole => Contents::Exactly(self.list_returned_rows(grid, taken)),
            false => Contents::Among(self.list_returned_rows(grid, allowed)),
            true => Contents::Unknown,
        };
        Prediction::Rows {
            count: taken.len(),
            contents,
        }
    }

    /// Returns the rows as the statement returns them.
    fn list_returned_rows(&self, grid: &Grid<'_>, candidates: &[&Candidate]) -> Vec<Map<String, Value>> {
        let rows = candidates.iter().map(|candidate| {
            let shown = candidate.new.as_ref().or(candidate.old.as_ref());
            let mut values = grid.values(shown);
            let names = self.collected.statement.columns.iter();
            names
                .filter_map(|name| values.remove(name).map(|value| (name.clone(), value)))
                .collect()
        });
        rows.collect()
    }
}

/// Says how many of the allowed rows the page holds, for example "With limit 2 and offset 4, 1 of the 5 allowed rows is
/// returned."
fn describe_page(page: &Page, taken: usize, allowed: usize, may_have_others: bool) -> String {
    let limit = page.limit.map(|limit| format!("limit {limit}"));
    let offset = (page.offset > 0).then(|| format!("offset {}", page.offset));
    let bounds = limit.into_iter().chain(offset).collect::<Vec<_>>().join(" and ");
    let of_all = match may_have_others {
        true => "of the allowed rows".to_owned(),
        false => format!("of the {allowed} allowed rows"),
    };
    match taken {
        0 => format!("With {bounds}, none {of_all} is returned."),
        1 => format!("With {bounds}, 1 {of_all} is returned."),
        _ => format!("With {bounds}, {taken} {of_all} are returned."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn console_080_the_step_about_the_limit_says_what_is_left() {
        let page = |limit, offset| Page {
            limit,
            offset,
            ..Page::default()
        };

        assert_eq!(
            describe_page(&page(Some(2), 4), 1, 5, false),
            "With limit 2 and offset 4, 1 of the 5 allowed rows is returned."
        );
        assert_eq!(
            describe_page(&page(None, 9), 0, 5, false),
            "With offset 9, none of the 5 allowed rows is returned."
        );
        assert_eq!(
            describe_page(&page(Some(3), 0), 3, 40, true),
            "With limit 3, 3 of the allowed rows are returned."
        );
    }
}
