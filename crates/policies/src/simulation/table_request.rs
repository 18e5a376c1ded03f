//! Simulates one verb on one table: collects the facts, explains each row, runs the statement and compares.

use deadpool_postgres::Client as CallerClient;
use selvedge_postgres::{AccessMode, RequestContext, RoleSettings, begin_as_caller};
use tokio_postgres::Client;

use super::collect::{Collected, MAX_ROWS, collect};
use super::explain::{Column, needed_expressions, version_literals};
use super::facts::{report_exposure, report_policies, report_privileges, report_row_security};
use super::options::Options;
use super::prediction::{Explanation, is_replaced};
use super::report::{PolicyReport, Report, StepName, TableName};
use crate::SimulationError;
use crate::catalog::Table;
use crate::decision::{INSUFFICIENT_PRIVILEGE, RowVersion, enforcement_points};
use crate::evaluate::{
    Evaluated, Expression, build_new_row, describe_error, evaluate_as_parsed_by_owner, evaluate_expressions,
};
use crate::request::{Subject, UnsavedPolicy, Verb, VerbRequest};
use crate::truth::{Truth, compare_with_truth, run_statement};

/// The simulation of one verb, which can be repeated if a row has changed in between.
pub(crate) struct Simulation<'s> {
    pub(crate) owner: &'s mut Client,
    pub(crate) caller: &'s mut CallerClient,
    pub(crate) roles: &'s RoleSettings,
    pub(crate) options: &'s Options,
    pub(crate) subject: &'s Subject,
    pub(crate) context: RequestContext<'s>,
    pub(crate) request: &'s VerbRequest,
    pub(crate) unsaved: &'s [UnsavedPolicy],
}

impl Simulation<'_> {
    pub(crate) async fn run(&mut self) -> Result<Report, SimulationError> {
        // Everything is read anew in each run, so that a second run sees what has changed since the first.
        let mut collected = collect(self.owner, self.request, self.unsaved, &self.subject.role).await?;
        let mut report = Report::new(self.subject.clone());
        let privileged = self.report_facts(&mut report, &collected);
        let row_error = self.add_new_rows(&mut collected).await?;
        let columns = self.evaluate(&collected, &mut report).await?;
        let explanation = Explanation {
            collected: &collected,
            role: &self.subject.role,
            verb: self.request.verb,
            page: &self.request.page,
            unsaved: self.unsaved,
            privileged,
            row_error,
        };
        let prediction = explanation.explain(&mut report, columns);
        if self.may_run_for_real(&mut report, &collected.table) {
            let truth = run_statement(self.caller, &self.context, self.roles, &collected.statement).await?;
            let verb = self.request.verb;
            let triggers = collected.table.has_row_changing_triggers && verb != Verb::Select;
            let comparison = compare_with_truth(&prediction, &truth, verb, triggers);
            report_result(&mut report, &truth);
            report.agrees = comparison.agrees.filter(|_| !collected.is_cut);
            if let Some(banner) = comparison.banner {
                report.add_banner(banner);
            }
            report.truth = Some(truth);
        }
        if report.agrees == Some(false) {
            report.add_banner(
                "The explanation and PostgreSQL's answer differ. PostgreSQL's answer is what clients get.",
            );
        }
        Ok(report)
    }

    /// Adds exposure, privileges, row security and policies to the report. Returns whether the role has the privileges that
    /// the statement needs.
    fn report_facts(&self, report: &mut Report, collected: &Collected) -> bool {
        let (table, role) = (&collected.table, self.subject.role.as_str());
        report.table = Some(TableName {
            oid: table.oid.to_string(),
            schema: table.schema.clone(),
            name: table.name.clone(),
        });
        report_exposure(report, table, &self.options.exposed_schemas);
        let privileged = report_privileges(report, table, &collected.statement, role);
        report_row_security(report, table, role);
        if table.is_row_security_active() || !self.unsaved.is_empty() {
            report_policies(report, table, &collected.policies, self.subject);
        }
        if !table.rls_enabled && !self.unsaved.is_empty() {
            report.add_banner(
                "Row-level security is off on this table. The unsaved policies are shown as if it were on.",
            );
        }
        let verb = self.request.verb;
        if table.has_row_changing_triggers && !matches!(verb, Verb::Select | Verb::Delete) {
            report.add_banner(
                "A trigger runs before the row is written and may change it before policies see it.",
            );
        }
        if collected.is_restricted {
            report.add_banner(format!(
                "More rows match than are explained. The real statement ran on the first {MAX_ROWS} alone."
            ));
        }
        if collected.is_cut {
            report.add_banner(format!(
                "Only {MAX_ROWS} of the rows are explained, and {role} cannot choose them by a primary key, so they are \
                 not compared."
            ));
        }
        report.policies = collected
            .policies
            .iter()
            .map(|policy| PolicyReport {
                policy: policy.clone(),
                replaced: is_replaced(self.unsaved, policy),
            })
            .collect();
        privileged
    }

    /// Whether policies decide for this subject, with the unsaved ones or without.
    fn has_verdicts(&self, table: &Table) -> bool {
        let would_be_active =
            !self.unsaved.is_empty() && !table.bypasses_rls && (!table.is_owner || table.rls_forced);
        table.can_have_policies() && (table.is_row_security_active() || would_be_active)
    }

    /// Puts together the rows as they would be written. Returns the error of a value or default that PostgreSQL refuses.
    async fn add_new_rows(
        &mut self,
        collected: &mut Collected,
    ) -> Result<Option<(String, String)>, SimulationError> {
        if matches!(self.request.verb, Verb::Select | Verb::Delete) || !collected.table.may_use_schema {
            return Ok(None);
        }
        let transaction =
            begin_as_caller(self.caller, &self.context, self.roles, AccessMode::ReadOnly).await?;
        let (owner, caller): (&Client, &tokio_postgres::Transaction<'_>) = (self.owner, &transaction);
        caller.batch_execute("set local statement_timeout = '2s'").await?;
        let (table, values) = (&collected.table, &self.request.values);
        for candidate in &mut collected.candidates {
            let built = match self.request.verb {
                Verb::Update => build_new_row(owner, caller, table, candidate.old.as_deref(), values).await,
                _ => build_new_row(owner, caller, table, None, values).await,
            };
            // An upsert's policies see the proposed row first, and the stored row with the new values after that.
            let merged = match (&candidate.old, self.request.verb) {
                (Some(old), Verb::Upsert) if built.is_ok() => {
                    Some(build_new_row(owner, caller, table, Some(old), values).await?)
                }
                _ => None,
            };
            match built {
                Ok(row) => candidate.new = Some(row),
                Err(SimulationError::Database(error)) if error.as_db_error().is_some() => {
                    return Ok(Some(describe_error(&error)));
                }
                Err(error) => return Err(error),
            }
            candidate.merged = merged;
        }
        transaction.rollback().await?;
        Ok(None)
    }

    /// Evaluates the policies' expressions for all versions of all rows.
    async fn evaluate(
        &mut self,
        collected: &Collected,
        report: &mut Report,
    ) -> Result<Vec<Column>, SimulationError> {
        let table = &collected.table;
        if !self.has_verdicts(table) || !table.may_use_schema {
            return Ok(Vec::new());
        }
        // The stored row of an upsert is its only candidate, so one answer counts for all.
        let conflicts = collected
            .candidates
            .iter()
            .any(|candidate| candidate.old.is_some());
        let points = enforcement_points(self.request.verb, collected.statement.reads, conflicts);
        let mut columns = Vec::new();
        for row in [RowVersion::Old, RowVersion::New, RowVersion::Merged] {
            let needed = needed_expressions(&points, &collected.policies, row);
            if needed.is_empty() {
                continue;
            }
            let expressions: Vec<_> = needed.iter().map(|(_, _, sql)| Expression::new(sql)).collect();
            let rows = version_literals(&collected.candidates, row);
            let evaluated = self.evaluate_version(table, &expressions, &rows, report).await?;
            columns.extend(
                needed
                    .into_iter()
                    .zip(evaluated)
                    .map(|((policy, clause, _), evaluated)| Column {
                        policy,
                        clause,
                        row,
                        evaluated,
                    }),
            );
        }
        Ok(columns)
    }

    async fn evaluate_version(
        &mut self,
        table: &Table,
        expressions: &[Expression],
        rows: &[String],
        report: &mut Report,
    ) -> Result<Vec<Evaluated>, SimulationError> {
        let transaction =
            begin_as_caller(self.caller, &self.context, self.roles, AccessMode::ReadOnly).await?;
        transaction
            .batch_execute("set local statement_timeout = '2s'")
            .await?;
        let mut evaluated = evaluate_expressions(&*transaction, table, expressions, rows).await?;
        transaction.rollback().await?;
        for (expression, result) in expressions.iter().zip(&mut evaluated) {
            // A missing right may be one to a schema, which PostgreSQL does not ask for in a saved policy.
            let is_denied = matches!(&result.fixed_error, Some((code, _)) if code == INSUFFICIENT_PRIVILEGE);
            if !is_denied {
                continue;
            }
            let (owner, context) = (&mut *self.owner, &self.context);
            let again =
                evaluate_as_parsed_by_owner(owner, context, self.roles, table, expression, rows).await;
            match again {
                Ok(parsed) => {
                    *result = parsed;
                    report.add_banner(
                        "A policy calls a function in a schema that the role may not use. PostgreSQL allows that in \
                         a saved policy; here session_user differs from a real request.",
                    );
                }
                Err(error) => {
                    report_unevaluated(report, &error);
                }
            }
        }
        Ok(evaluated)
    }

    /// Whether the real statement may be run. Adds a banner that says what its effects are, or why it is not run.
    fn may_run_for_real(&self, report: &mut Report, table: &Table) -> bool {
        if !self.options.run_for_real {
            report.add_banner("The real statement was not run, because viewers see the explanation alone.");
            return false;
        }
        if self.request.verb == Verb::Select {
            return true;
        }
        if table.has_triggers && !self.options.fire_triggers {
            report.add_banner(
                "The real statement was not run, because the table has triggers. Ask for it to let them run.",
            );
            return false;
        }
        report.add_banner(
            "The write was rolled back. Numbers taken from sequences and calls to the outside stay.",
        );
        true
    }
}

fn report_unevaluated(report: &mut Report, error: &tokio_postgres::Error) {
    let (_, message) = describe_error(error);
    report.add_banner(format!("A policy cannot be evaluated for this role: {message}."));
}

/// Adds the step about the real result.
pub(crate) fn report_result(report: &mut Report, truth: &Truth) {
    let (ok, text) = match &truth.error {
        Some(error) => (
            false,
            format!(
                "PostgreSQL refuses the statement: {} ({}).",
                error.message, error.code
            ),
        ),
        None if truth.count == 1 => (true, "PostgreSQL's answer has one row.".to_owned()),
        None => (
            truth.count > 0,
            format!("PostgreSQL's answer has {} rows.", truth.count),
        ),
    };
    report.add_step(StepName::Result, ok, text, Vec::new());
}
