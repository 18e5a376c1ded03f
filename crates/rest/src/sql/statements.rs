//! Entry of the stage: which statements a plan takes.

use std::sync::LazyLock;

use selvedge_postgres::SqlStatement;

use super::builder::{SOURCE, Sql};
use super::document::{RESPONSE_SETTINGS, write_document, write_json_texts};
use crate::catalog::Function;
use crate::plan::{Handler, QueryKind, QueryPlan, Total};

/// The statements of a plan.
pub enum Statements<'p> {
    /// The rows in columns, which become JSON on this side: cheaper for both, where rows as JSON are all that is asked
    /// for.
    Rows(RowsStatement<'p>),
    /// One row that holds the whole response, rendered by PostgreSQL.
    Document {
        document: SqlStatement,
        /// `EXPLAIN` of the count query, where the planner's estimate is wanted.
        explain_count: Option<SqlStatement>,
    },
}

/// A statement whose rows come in columns, with what replaces it where a column's type cannot be rendered here.
pub struct RowsStatement<'p> {
    pub rows: SqlStatement,
    plan: &'p QueryPlan,
}

impl RowsStatement<'_> {
    /// The statement by which PostgreSQL renders each row itself; written only when it is needed.
    pub fn json_texts(&self) -> SqlStatement {
        write_json_texts(self.plan)
    }
}

/// Writes the statements of a plan.
pub fn write_statements(plan: &QueryPlan) -> Statements<'_> {
    if let Some(rows) = write_rows(plan) {
        return Statements::Rows(RowsStatement { rows, plan });
    }
    Statements::Document {
        document: write_document(plan),
        explain_count: plan.explains_count().then(|| write_count_explain(plan)),
    }
}

/// Writes the plan's rows as plain columns, if only their JSON is needed and no second round trip depends on their number;
/// else `None`.
fn write_rows(plan: &QueryPlan) -> Option<SqlStatement> {
    let is_plain_json = matches!(
        plan.handler,
        Handler::Json { stripped: false } | Handler::JsonObject { stripped: false }
    );
    let has_no_count = matches!(plan.total, Total::Unknown | Total::OfPage);
    // An exact count could be taken in the same statement only if PostgreSQL renders the whole response.
    if !is_plain_json || !has_no_count || plan.is_explain() || plan.rows_decide_commit() {
        return None;
    }
    let mut sql = Sql::for_plan(plan);
    sql.embeds_as_jsonb = plan.read.groups_embeds();
    match &plan.kind {
        QueryKind::Read(_) => {}
        // Single values and scalars have other JSON forms, which only PostgreSQL renders.
        QueryKind::Call(call) if returns_rows(&call.function) => {
            sql.push("WITH ").push(SOURCE).push(" AS (");
            sql.write_call(call);
            sql.push(") ");
        }
        QueryKind::Call(_) | QueryKind::Mutate { .. } => return None,
    }
    sql.write_select(&plan.read, None);
    Some(sql.finish())
}

/// Whether a function returns a set of rows with columns.
fn returns_rows(function: &Function) -> bool {
    !function.returns_single() && !function.returns_scalar() && !function.returns_set_of_scalar()
}

/// `EXPLAIN` of the count query: its first line holds the planner's estimate.
fn write_count_explain(plan: &QueryPlan) -> SqlStatement {
    let mut sql = Sql::for_plan(plan);
    sql.push("EXPLAIN (FORMAT JSON) ");
    sql.write_count_query(&plan.read);
    sql.finish()
}

/// Reads `response.headers` and `response.status` after [`Statements::Rows`]; a document has them as columns.
pub fn response_settings() -> &'static SqlStatement {
    static STATEMENT: LazyLock<SqlStatement> =
        LazyLock::new(|| SqlStatement::plain(format!("SELECT {RESPONSE_SETTINGS}")));
    &STATEMENT
}
