//! The report of a simulation as it is sent to the browser.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::catalog::{Command, Policy};
use crate::decision::{PolicyClause, RowVersion};
use crate::evaluate::Operand;
use crate::request::{RowId, Subject};
use crate::truth::Truth;

/// The answer of a simulation, in the order in which PostgreSQL decides.
#[derive(Debug, Serialize)]
pub struct Report {
    pub(crate) subject: Subject,
    pub(crate) table: Option<TableName>,
    pub(crate) steps: Vec<Step>,
    pub(crate) policies: Vec<PolicyReport>,
    pub(crate) rows: Vec<RowReport>,
    /// PostgreSQL's real response; `None` when the real statement was not run.
    pub(crate) truth: Option<Truth>,
    /// Whether explanation and truth say the same; `None` when they cannot be compared.
    pub(crate) agrees: Option<bool>,
    /// Sentences about where the explanation may differ from PostgreSQL, or does.
    pub(crate) banners: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct TableName {
    pub(crate) oid: String,
    pub(crate) schema: String,
    pub(crate) name: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum StepName {
    Exposed,
    Privilege,
    Rls,
    Policies,
    /// The part of the allowed rows that the request's limit and offset leave.
    Limit,
    Result,
}

/// One of the decisions that lead to the result, in the order in which PostgreSQL makes them.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Step {
    pub(crate) step: StepName,
    pub(crate) ok: bool,
    pub(crate) text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) details: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct PolicyReport {
    #[serde(flatten)]
    pub(crate) policy: Policy,
    /// Whether the policy is replaced by an unsaved one of its name.
    pub(crate) replaced: bool,
}

/// One row, and what every policy said about it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RowReport {
    pub(crate) id: Option<RowId>,
    /// The values of the stored row, or of the proposed one where none is stored.
    pub(crate) values: Map<String, Value>,
    /// The row as it would be stored by an update or an upsert.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) new_values: Option<Map<String, Value>>,
    pub(crate) verdicts: Vec<VerdictReport>,
    pub(crate) allowed: bool,
    pub(crate) denied_by: Vec<String>,
    /// Whether the row would be allowed with the unsaved policies; the field is absent without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) allowed_unsaved: Option<bool>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) denied_by_unsaved: Vec<String>,
}

/// The value of a policy's expression for one version of a row.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct VerdictReport {
    /// The policy as an index into the report's list of policies.
    pub(crate) policy: usize,
    #[serde(rename = "part")]
    pub(crate) clause: PolicyClause,
    pub(crate) command: Command,
    pub(crate) row: RowVersion,
    /// The verdict, which is `pass`, `fail`, `null` or `error`.
    pub(crate) verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    pub(crate) operands: Vec<Operand>,
}

impl Report {
    pub(crate) fn new(subject: Subject) -> Self {
        Self {
            subject,
            table: None,
            steps: Vec::new(),
            policies: Vec::new(),
            rows: Vec::new(),
            truth: None,
            agrees: None,
            banners: Vec::new(),
        }
    }

    pub(crate) fn add_step(&mut self, step: StepName, ok: bool, text: String, details: Vec<String>) {
        self.steps.push(Step {
            step,
            ok,
            text,
            details,
        });
    }

    /// Adds a banner unless the report has it already.
    pub(crate) fn add_banner(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !self.banners.contains(&text) {
            self.banners.push(text);
        }
    }

    /// Whether explanation and truth say the same; `None` when they cannot be compared.
    pub fn agrees(&self) -> Option<bool> {
        self.agrees
    }
}
