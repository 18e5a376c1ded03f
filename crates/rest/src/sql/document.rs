//! The statement whose one row holds the whole response: source, page, total, body.
//!
//! ```sql
//! WITH pgrst_source AS (…read, write or call…), pgrst_source_count AS (…)
//! SELECT … AS body, count(_postgrest_t) AS page, … FROM (…) _postgrest_t
//! ```

use selvedge_postgres::SqlStatement;

use super::builder::{SOURCE, Sql};
use super::mutate::counts_by_row_version;
use crate::catalog::Function;
use crate::plan::{Handler, MutatePlan, QueryKind, QueryPlan, Total};
use crate::request::media::{MediaType, PlanFormat};
use crate::request::preferences::Resolution;

/// Column of the result: the rendered body.
pub const BODY_COLUMN: usize = 0;
/// Column of the result: rows in the page.
pub const ROW_COUNT_COLUMN: usize = 1;
/// Column of the result: `response.headers`, as the request's SQL left it.
pub const HEADERS_COLUMN: usize = 2;
/// Column of the result: `response.status`.
pub const STATUS_COLUMN: usize = 3;
/// The first of the optional columns of the result: the total of a read or call; for an INSERT the key for `Location`, and
/// the number of rows that an upsert inserted. Each exists only if the plan requests it.
pub const EXTRA_COLUMN: usize = 4;

/// Where [`HEADERS_COLUMN`] and [`STATUS_COLUMN`] come from; a setting that was never made is an empty string at times.
pub(super) const RESPONSE_SETTINGS: &str = "nullif(current_setting('response.headers', true), '') AS response_headers, \
                                            nullif(current_setting('response.status', true), '') AS response_status";

/// Writes the statement of a plan whose response PostgreSQL renders.
pub(super) fn write_document(plan: &QueryPlan) -> SqlStatement {
    let mut sql = Sql::for_plan(plan);
    // Decided for the whole statement: embeds are written in several places.
    sql.embeds_as_jsonb =
        matches!(plan.handler, Handler::Csv | Handler::Custom { .. }) || plan.read.groups_embeds();
    sql.write_explain(&plan.media);
    if sql.write_single_row_insert(plan) {
        return sql.finish();
    }
    sql.write_source(plan);
    sql.write_count_source(plan);
    sql.push(" SELECT ");
    sql.write_body(plan);
    sql.push(" AS body, ");
    // A function that returns a single value has one row even where its columns are all null, which `count` would not see.
    if plan.function().is_some_and(Function::returns_single) {
        sql.push("1::bigint");
    } else {
        sql.push("count(_postgrest_t)");
    }
    sql.push(" AS page, ").push(RESPONSE_SETTINGS);
    sql.write_extra_columns(plan);
    sql.push(" FROM (");
    sql.write_page(plan);
    sql.push(") _postgrest_t");
    sql.finish()
}

/// Writes the statement of a plan whose rows PostgreSQL renders one by one. It holds one of them at a time, where a document would take four to nine
/// times as much memory as the response has bytes.
pub(super) fn write_texts(plan: &QueryPlan) -> SqlStatement {
    let mut sql = Sql::for_plan(plan);
    sql.embeds_as_jsonb = plan.handler == Handler::Csv || plan.read.groups_embeds();
    sql.write_source(plan);
    sql.write_count_source(plan);
    sql.push(" SELECT ");
    let has_total = plan.total == Total::Counted;
    if has_total {
        sql.push(TOTAL_BEFORE);
        sql.push("SELECT ").push(IS_ROW).push(", ");
    }
    if plan.handler == Handler::Csv {
        // Only before the first line: it may be longer than the lines.
        sql.push("CASE WHEN row_number() OVER () = 1 THEN ");
        sql.write_csv_header();
        sql.push(" END AS header, ");
    }
    sql.write_row_text(plan);
    sql.push(" AS body FROM (");
    sql.write_page(plan);
    sql.push(") _postgrest_t");
    if has_total {
        sql.push(TOTAL_BEHIND);
    }
    sql.finish()
}

/// Writes the rows of a plan in columns, behind the total number of rows. They come from one statement, so that both are of one moment.
pub(super) fn write_counted_rows(plan: &QueryPlan) -> SqlStatement {
    let mut sql = Sql::for_plan(plan);
    sql.embeds_as_jsonb = plan.read.groups_embeds();
    sql.write_source(plan);
    sql.write_count_source(plan);
    sql.push(" SELECT ").push(TOTAL_BEFORE);
    sql.push("SELECT ").push(IS_ROW).push(", _postgrest_t.* FROM (");
    sql.write_page(plan);
    sql.push(") _postgrest_t").push(TOTAL_BEHIND);
    sql.finish()
}

/// What stands around a page, so that each of its rows begins with the total, and one row does when it is empty.
const TOTAL_BEFORE: &str = "pgrst_count.total, pgrst_page.* FROM \
    (SELECT (SELECT count(*) FROM pgrst_source_count)::text AS total) pgrst_count LEFT JOIN (";
const TOTAL_BEHIND: &str = ") pgrst_page ON true";
/// Is null in a row that is there for its total alone.
const IS_ROW: &str = "'t'::text AS pgrst_is_row";

impl Sql {
    /// Writes `EXPLAIN (…)` in front of the statement, if the media type requests the plan instead of the rows.
    fn write_explain(&mut self, media: &MediaType) {
        let MediaType::Plan { format, options, .. } = media else {
            return;
        };
        self.push(match format {
            PlanFormat::Json => "EXPLAIN (FORMAT JSON",
            PlanFormat::Text => "EXPLAIN (FORMAT TEXT",
        });
        for option in options.names() {
            self.push(", ").push(option);
        }
        self.push(") ");
    }

    /// One row inserted of which nothing is shown: the most frequent write, and PostgreSQL is a tenth faster without the
    /// source expression around it. Returns whether the plan is such an insert, and thus written.
    fn write_single_row_insert(&mut self, plan: &QueryPlan) -> bool {
        let QueryKind::Mutate {
            relation,
            plan:
                MutatePlan::Insert {
                    columns,
                    body,
                    conflict: None,
                    location: None,
                    apply_defaults: false,
                    ..
                },
            ..
        } = &plan.kind
        else {
            return false;
        };
        let is_single_row = relation.inserts_plainly
            && body.is_object
            && !columns.is_empty()
            && plan.handler == Handler::Nothing
            && !plan.is_explain();
        if is_single_row {
            self.write_object_insert(&relation.name, columns, body);
            self.push(" RETURNING NULL::text AS body, 1::bigint AS page, ")
                .push(RESPONSE_SETTINGS);
        }
        is_single_row
    }

    /// `WITH pgrst_source AS (…)`: what is read, written or called.
    fn write_source(&mut self, plan: &QueryPlan) {
        self.push("WITH ");
        if let QueryKind::Mutate { relation, plan, .. } = &plan.kind
            && counts_by_row_version(relation, plan)
        {
            self.push("pgrst_written AS (");
            self.write_counted_upsert(&relation.name, plan);
            self.push("), ").push(SOURCE).push(" AS (");
            self.write_written_columns(relation, plan);
            self.push(")");
            return;
        }
        self.push(SOURCE).push(" AS (");
        match &plan.kind {
            QueryKind::Read(_) => self.write_select(&plan.read, None),
            QueryKind::Mutate { relation, plan, .. } => self.write_mutation(relation, plan),
            QueryKind::Call(call) => self.write_call(call),
        }
        self.push(")");
    }

    /// Writes `, pgrst_source_count AS (…)`: a row for each row of the total. An estimated count stops after `max_rows`;
    /// above that the planner's estimate is used.
    fn write_count_source(&mut self, plan: &QueryPlan) {
        if !matches!(plan.total, Total::Counted | Total::Estimated) {
            return;
        }
        self.push(", pgrst_source_count AS (");
        self.write_count_query(&plan.read);
        if let (Total::Estimated, Some(max_rows)) = (plan.total, plan.max_rows) {
            // One more than the limit, so that reaching it and exceeding it can be told apart.
            let limit = i64::try_from(max_rows).unwrap_or(i64::MAX - 1).saturating_add(1);
            self.push(" LIMIT ").integer(limit);
        }
        self.push(")");
    }

    /// The rows that the body is made of.
    fn write_page(&mut self, plan: &QueryPlan) {
        let is_source_itself = match &plan.kind {
            QueryKind::Read(_) => true,
            // Columns that are not returned must not be selected: the role may lack the privilege to read them.
            QueryKind::Mutate { .. } => plan.handler == Handler::Nothing,
            QueryKind::Call(_) => false,
        };
        if is_source_itself {
            self.push("SELECT * FROM ").push(SOURCE);
        } else {
            self.write_select(&plan.read, None);
        }
    }

    /// The columns from [`EXTRA_COLUMN`] on.
    fn write_extra_columns(&mut self, plan: &QueryPlan) {
        if let QueryKind::Mutate {
            relation,
            plan: written @ MutatePlan::Insert {
                conflict, location, ..
            },
            ..
        } = &plan.kind
        {
            if let Some(primary_key) = location {
                self.push(", ");
                self.write_location_key(primary_key);
                self.push(" AS location");
            }
            let counts_inserted = conflict
                .as_ref()
                .is_some_and(|conflict| conflict.resolution == Resolution::MergeDuplicates);
            if counts_by_row_version(relation, written) {
                self.push(", (SELECT count(*) FILTER (WHERE pgrst_inserted) FROM pgrst_written) AS inserted");
            } else if counts_inserted {
                self.push(", nullif(current_setting('pgrst.inserted', true), '')::bigint AS inserted");
            }
        } else if matches!(plan.total, Total::Counted | Total::Estimated) {
            self.push(", (SELECT count(*) FROM pgrst_source_count) AS total");
        }
    }

    /// `[["key", "value"], …]` of the primary key, if exactly one row was written.
    fn write_location_key(&mut self, primary_key: &[String]) {
        if primary_key.is_empty() {
            self.push("NULL::json");
            return;
        }
        self.push("CASE WHEN count(_postgrest_t) = 1 THEN (SELECT json_agg(json_build_array(part.key, part.value)) ");
        self.push("FROM (SELECT row_to_json(_) AS row FROM ")
            .push(SOURCE)
            .push(" AS _ LIMIT 1) data, ");
        self.push("json_each_text(data.row) AS part WHERE part.key IN (");
        self.list(primary_key, ", ", |sql, column| {
            sql.name_literal(column);
        });
        self.push(")) END");
    }
}
