//! Entry of the stage: which statements a plan takes.

use std::sync::LazyLock;

use selvedge_postgres::SqlStatement;

use super::builder::{SOURCE, Sql};
use super::document::{RESPONSE_SETTINGS, write_counted_rows, write_document, write_texts};
use crate::catalog::Function;
use crate::plan::{Conflict, Handler, MutatePlan, QueryKind, QueryPlan, Total};
use crate::request::preferences::Resolution;

/// The statements of a plan.
pub enum Statements<'p> {
    /// The rows one by one, of which this side makes the response.
    Rows(RowsStatement<'p>),
    /// One row that holds the whole response, rendered by PostgreSQL.
    Document {
        document: SqlStatement,
        /// `EXPLAIN` of the count query, where the planner's estimate is wanted.
        explain_count: Option<SqlStatement>,
    },
}

/// A statement whose rows come in columns, which become JSON on this side: that is cheaper for both. Where a column's type cannot be rendered here,
/// and for responses that are no plain JSON, the rows come as texts.
pub struct RowsStatement<'p> {
    pub rows: SqlStatement,
    /// Whether `rows` are texts already.
    pub are_texts: bool,
    /// Whether each row has the total before it.
    pub has_total: bool,
    plan: &'p QueryPlan,
}

impl RowsStatement<'_> {
    /// The statement by which PostgreSQL renders each row itself; written only when it is needed.
    pub fn texts(&self) -> SqlStatement {
        match self.are_texts {
            true => self.rows.clone(),
            false => write_texts(self.plan),
        }
    }
}

/// Writes the statements of a plan.
pub fn write_statements(plan: &QueryPlan) -> Statements<'_> {
    let columns = write_columns(plan).map(|columns| (columns, false));
    let rows = columns.or_else(|| write_row_texts(plan).map(|texts| (texts, true)));
    if let Some((rows, are_texts)) = rows {
        return Statements::Rows(RowsStatement {
            rows,
            are_texts,
            has_total: plan.total == Total::Counted,
            plan,
        });
    }
    Statements::Document {
        document: write_document(plan),
        explain_count: plan.explains_count().then(|| write_count_explain(plan)),
    }
}

/// Whether rows can come one by one: no second round trip depends on their number, and their total is not asked for, or is counted in the same
/// statement. A single row that PostgreSQL renders whole is cheaper than one with a total.
fn can_come_one_by_one(plan: &QueryPlan) -> bool {
    let has_total = match plan.total {
        Total::Unknown | Total::OfPage => true,
        Total::Counted => !plan.for_citus && !plan.has_one_row(),
        Total::Planned | Total::Estimated => false,
    };
    has_total && !plan.is_explain() && !plan.rows_decide_commit()
}

/// Writes the plan's rows as plain columns, if only their JSON is needed; else `None`.
fn write_columns(plan: &QueryPlan) -> Option<SqlStatement> {
    let is_plain_json = matches!(
        plan.handler,
        Handler::Json { stripped: false } | Handler::JsonObject { stripped: false }
    );
    if !is_plain_json || !can_come_one_by_one(plan) {
        return None;
    }
    let has_rows = match &plan.kind {
        QueryKind::Read(_) => true,
        // Single values and scalars have other JSON forms, which only PostgreSQL renders.
        QueryKind::Call(call) => returns_rows(&call.function),
        QueryKind::Mutate { .. } => false,
    };
    if !has_rows {
        return None;
    }
    if plan.total == Total::Counted {
        return Some(write_counted_rows(plan));
    }
    let mut sql = Sql::for_plan(plan);
    sql.embeds_as_jsonb = plan.read.groups_embeds();
    if let QueryKind::Call(call) = &plan.kind {
        sql.push("WITH ").push(SOURCE).push(" AS (");
        sql.write_call(call);
        sql.push(") ");
    }
    sql.write_select(&plan.read, None);
    Some(sql.finish())
}

/// Writes the plan's rows as texts, where PostgreSQL renders them in any case: CSV, JSON without nulls, and rows that were written, of which a
/// repetition for another form is out of the question. `None` where the response is one row or value, or needs more than its rows.
fn write_row_texts(plan: &QueryPlan) -> Option<SqlStatement> {
    let is_list = matches!(plan.handler, Handler::Json { .. } | Handler::Csv);
    let has_rows = match &plan.kind {
        QueryKind::Read(_) => true,
        // The header of a CSV is that of the first row of the source, of which the page may have none.
        _ if plan.handler == Handler::Csv => false,
        // PostgreSQL separates values in another way than rows.
        QueryKind::Call(call) => returns_rows(&call.function),
        QueryKind::Mutate { plan: written, .. } => !has_extra_columns(written),
    };
    let comes = is_list && has_rows && !plan.for_citus && !plan.has_one_row() && can_come_one_by_one(plan);
    comes.then(|| write_texts(plan))
}

/// Whether an INSERT states more than its rows.
fn has_extra_columns(written: &MutatePlan) -> bool {
    let MutatePlan::Insert {
        conflict, location, ..
    } = written
    else {
        return false;
    };
    let counts_inserted = |conflict: &Conflict| conflict.resolution == Resolution::MergeDuplicates;
    location.is_some() || conflict.as_ref().is_some_and(counts_inserted)
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

#[cfg(test)]
mod tests {
    use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
    use bytes::Bytes;
    use selvedge_memory::MemoryBudget;

    use super::*;
    use crate::catalog::Catalog;
    use crate::config::RestConfig;
    use crate::plan::Plan;
    use crate::request::ApiRequest;

    /// Whether the rows of a request come one by one, and whether as texts and with a total; `None` for a document.
    fn form_of(
        method: &str,
        query: &str,
        headers: &[(&'static str, &'static str)],
        body: &str,
    ) -> Option<(bool, bool)> {
        let (config, mut map) = (RestConfig::default(), HeaderMap::new());
        for (name, value) in headers {
            map.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        let body = Bytes::copy_from_slice(body.as_bytes());
        let request = ApiRequest::parse(method, "/posts", query, &map, &body, &config, None);
        let request = request.expect("a good request");
        let plan = match Plan::new(request, &Catalog::example(), &config, &MemoryBudget::unlimited()) {
            Ok(Plan::Query(plan)) => plan,
            other => panic!("no query: {other:?}"),
        };
        match write_statements(&plan) {
            Statements::Rows(rows) => Some((rows.are_texts, rows.has_total)),
            Statements::Document { .. } => None,
        }
    }

    #[test]
    fn gw_049_no_list_of_rows_is_one_value_of_postgresql() {
        const COUNT: (&str, &str) = ("prefer", "count=exact");
        const CSV: (&str, &str) = ("accept", "text/csv");
        const STRIPPED: (&str, &str) = ("accept", "application/vnd.pgrst.array+json;nulls=stripped");
        const ROWS: (&str, &str) = ("prefer", "return=representation");
        let many = r#"[{"title":"a"},{"title":"b"}]"#;

        for (method, query, headers, body, form) in [
            ("GET", "", &[][..], "", (false, false)),
            ("GET", "limit=5", &[COUNT][..], "", (false, true)),
            ("GET", "limit=5", &[CSV][..], "", (true, false)),
            ("GET", "limit=5", &[CSV, COUNT][..], "", (true, true)),
            ("GET", "", &[STRIPPED][..], "", (true, false)),
            ("POST", "", &[ROWS][..], many, (true, false)),
            (
                "PATCH",
                "title=eq.a",
                &[ROWS][..],
                r#"{"title":"b"}"#,
                (true, false),
            ),
            ("DELETE", "title=eq.a", &[ROWS][..], "", (true, false)),
        ] {
            let found = form_of(method, query, headers, body);
            assert_eq!(found, Some(form), "{method} {query} {headers:?}");
        }
        // One row, nothing at all, and what is known only when all rows are.
        let planned = ("prefer", "count=planned");
        let merged = ("prefer", "return=representation, resolution=merge-duplicates");
        for (method, query, headers, body) in [
            ("GET", "id=eq.1", &[COUNT][..], ""),
            ("HEAD", "", &[COUNT][..], ""),
            ("GET", "limit=5", &[planned][..], ""),
            ("POST", "", &[ROWS][..], r#"{"title":"a"}"#),
            ("POST", "", &[][..], many),
            ("POST", "", &[merged][..], many),
            ("POST", "", &[ROWS, CSV][..], many),
            ("PATCH", "id=eq.1", &[ROWS][..], r#"{"title":"b"}"#),
        ] {
            assert_eq!(
                form_of(method, query, headers, body),
                None,
                "{method} {query} {headers:?}"
            );
        }
    }
}
