//! The whole statement: source, page, total, and the one row that comes out.
//!
//! Columns of that row, by position: [`BODY`], [`PAGE`], [`HEADERS`], [`STATUS`] and, where the plan has one,
//! [`EXTRA`] (total of a read or call, inserted rows of an upsert, or the key for `Location`).

use super::{SOURCE, Sql};
use crate::catalog::{Function, HandlerTarget};
use crate::plan::{Handler, MutatePlan, QueryKind, QueryPlan, Total};
use crate::request::media::{MediaType, PlanFormat};
use crate::request::preferences::Resolution;
use selvedge_postgres::SqlStatement;
use std::sync::LazyLock;

/// The rendered body.
pub const BODY: usize = 0;
/// Rows in the page.
pub const PAGE: usize = 1;
/// `response.headers`, as the request's SQL left it.
pub const HEADERS: usize = 2;
/// `response.status`.
pub const STATUS: usize = 3;
/// What else the plan needs to know.
pub const EXTRA: usize = 4;

/// Where [`HEADERS`] and [`STATUS`] come from.
const RESPONSE: &str = "nullif(current_setting('response.headers', true), '') AS response_headers, \
                        nullif(current_setting('response.status', true), '') AS response_status";

/// The statement of a plan.
pub fn main_statement(plan: &QueryPlan) -> SqlStatement {
    let mut sql = Sql::new();
    sql.embeds_as_jsonb =
        matches!(plan.handler, Handler::Csv | Handler::Custom { .. }) || plan.read.groups_embeds();
    if let MediaType::Plan { format, options, .. } = &plan.media {
        sql.push(if *format == PlanFormat::Json {
            "EXPLAIN (FORMAT JSON"
        } else {
            "EXPLAIN (FORMAT TEXT"
        });
        for option in options.names() {
            sql.push(", ").push(option);
        }
        sql.push(") ");
    }
    if sql.lone_insert(plan) {
        return sql.finish();
    }
    sql.push("WITH ").push(SOURCE).push(" AS (");
    match &plan.kind {
        QueryKind::Read(_) => sql.read_query(&plan.read, None),
        QueryKind::Mutate { relation, plan, .. } => sql.mutation(&relation.name, plan),
        QueryKind::Call { plan, .. } => sql.call(plan),
    }
    sql.push(")");
    if matches!(plan.total, Total::Counted | Total::Estimated) {
        sql.push(", pgrst_source_count AS (");
        sql.count_query(&plan.read);
        if let (Total::Estimated, Some(max_rows)) = (plan.total, plan.max_rows) {
            sql.push(" LIMIT ")
                .integer(i64::try_from(max_rows).unwrap_or(i64::MAX - 1).saturating_add(1));
        }
        sql.push(")");
    }
    sql.push(" SELECT ");
    sql.body(plan);
    sql.push(" AS body, ");
    if plan.function().is_some_and(Function::returns_single) {
        sql.push("1::bigint");
    } else {
        sql.push("count(_postgrest_t)");
    }
    sql.push(" AS page, ").push(RESPONSE);
    sql.extra(plan);
    sql.push(" FROM (");
    match &plan.kind {
        QueryKind::Read(_) => {
            sql.push("SELECT * FROM ").push(SOURCE);
        }
        // what nobody sees must not be selected: the role may lack the right
        QueryKind::Mutate { .. } if plan.handler == Handler::Nothing => {
            sql.push("SELECT * FROM ").push(SOURCE);
        }
        _ => sql.read_query(&plan.read, None),
    }
    sql.push(") _postgrest_t");
    sql.finish()
}

/// The rows of a plan in columns, where JSON of its rows is all that it answers.
pub fn rows_statement(plan: &QueryPlan) -> Option<SqlStatement> {
    let is_list = matches!(
        plan.handler,
        Handler::Json { stripped: false } | Handler::JsonObject { stripped: false }
    ) && matches!(plan.total, Total::Unknown | Total::OfPage)
        && !matches!(plan.media, MediaType::Plan { .. });
    if !is_list {
        return None;
    }
    let mut sql = Sql::new();
    match &plan.kind {
        QueryKind::Read(_) => {}
        QueryKind::Call { plan, .. } if returns_rows(&plan.function) => {
            sql.push("WITH ").push(SOURCE).push(" AS (");
            sql.call(plan);
            sql.push(") ");
        }
        QueryKind::Call { .. } | QueryKind::Mutate { .. } => return None,
    }
    sql.read_query(&plan.read, None);
    Some(sql.finish())
}

fn returns_rows(function: &Function) -> bool {
    !function.returns_single() && !function.returns_scalar() && !function.returns_set_of_scalar()
}

/// What [`main_statement`] tells beside its rows, for after [`rows_statement`]: [`HEADERS`] and [`STATUS`].
pub fn after_rows() -> &'static SqlStatement {
    static AFTER: LazyLock<SqlStatement> =
        LazyLock::new(|| SqlStatement::plain(format!("SELECT {RESPONSE}")));
    &AFTER
}

/// `EXPLAIN` of the count query: the planner's estimate.
pub fn count_explain(plan: &QueryPlan) -> SqlStatement {
    let mut sql = Sql::new();
    sql.push("EXPLAIN (FORMAT JSON) ");
    sql.count_query(&plan.read);
    sql.finish()
}

impl Sql {
    /// One row inserted of which nothing is to be shown: the most frequent write, and PostgreSQL is a tenth faster without
    /// the source expression around it.
    fn lone_insert(&mut self, plan: &QueryPlan) -> bool {
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
        let is_lone = relation.inserts_plainly
            && body.is_object
            && !columns.is_empty()
            && plan.handler == Handler::Nothing
            && !matches!(plan.media, MediaType::Plan { .. });
        if is_lone {
            self.insert_object(&relation.name, columns, body);
            self.push(" RETURNING NULL::text AS body, 1::bigint AS page, ")
                .push(RESPONSE);
        }
        is_lone
    }

    fn extra(&mut self, plan: &QueryPlan) {
        match (&plan.kind, plan.total) {
            (
                QueryKind::Mutate {
                    plan:
                        MutatePlan::Insert {
                            conflict, location, ..
                        },
                    ..
                },
                _,
            ) => {
                if let Some(primary_key) = location {
                    self.push(", ");
                    self.location(primary_key);
                    self.push(" AS location");
                }
                let counted = conflict
                    .as_ref()
                    .is_some_and(|c| c.resolution == Resolution::MergeDuplicates);
                if counted {
                    self.push(", nullif(current_setting('pgrst.inserted', true), '')::bigint AS inserted");
                }
            }
            (_, Total::Counted | Total::Estimated) => {
                self.push(", (SELECT count(*) FROM pgrst_source_count) AS total");
            }
            _ => {}
        }
    }

    /// `key=eq.value` for each part of the one written row's primary key, as text in JSON.
    fn location(&mut self, primary_key: &[String]) {
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

    /// What renders the page.
    fn body(&mut self, plan: &QueryPlan) {
        let function = plan.function();
        let scalar = function.is_some_and(|f| f.returns_scalar());
        let set_of_scalar = function.is_some_and(|f| f.returns_set_of_scalar());
        let single = function.is_some_and(Function::returns_single);
        let row = if scalar || set_of_scalar {
            "_postgrest_t.pgrst_scalar"
        } else {
            "_postgrest_t"
        };
        match &plan.handler {
            Handler::Nothing => {
                self.push("NULL::text");
            }
            Handler::Json { stripped } => {
                self.push("coalesce(")
                    .push(if *stripped { "json_strip_nulls(" } else { "" });
                self.push("json_agg(").push(row).push(")");
                if single {
                    self.push("->0");
                }
                self.push(if *stripped { ")" } else { "" });
                self.push(if single { ", 'null')" } else { ", '[]')" });
            }
            Handler::JsonObject { stripped } => {
                let row = if scalar { row } else { "_postgrest_t" };
                self.push("coalesce(")
                    .push(if *stripped { "json_strip_nulls(" } else { "" });
                self.push("json_agg(").push(row).push(")->0");
                self.push(if *stripped { ")" } else { "" }).push(", 'null')");
            }
            Handler::Csv => {
                self.push("(SELECT coalesce(string_agg(a.k, ','), '') FROM (SELECT json_object_keys(r)::text AS k FROM ");
                self.push("(SELECT row_to_json(hh) AS r FROM ")
                    .push(SOURCE)
                    .push(" AS hh LIMIT 1) s) a) || E'\\n' || ");
                self.push("coalesce(string_agg(substring(_postgrest_t::text, 2, length(_postgrest_t::text) - 2), E'\\n'), '')");
            }
            Handler::GeoJson => {
                self.push("json_build_object('type', 'FeatureCollection', 'features', ");
                self.push("coalesce(json_agg(ST_AsGeoJSON(_postgrest_t)::json), '[]'))");
            }
            Handler::Custom { function, .. } if scalar => {
                self.qualified(function).push("(_postgrest_t.pgrst_scalar)");
            }
            Handler::Custom {
                function,
                target: HandlerTarget::AnyElement,
            } => {
                self.qualified(function).push("(_postgrest_t)");
            }
            Handler::Custom {
                function,
                target: HandlerTarget::Object(relation),
            } => {
                self.qualified(function)
                    .push("(_postgrest_t::")
                    .qualified(relation)
                    .push(")");
            }
        }
    }
}
