//! The expression that renders the rows into the response's body.

use super::builder::{SOURCE, Sql};
use crate::catalog::{Function, HandlerTarget};
use crate::plan::{Handler, QueryPlan};

impl Sql {
    /// The body's expression, by what renders it.
    pub(super) fn write_body(&mut self, plan: &QueryPlan) {
        let is_scalar = plan.function().is_some_and(Function::returns_scalar);
        match &plan.handler {
            Handler::Nothing => {
                self.push("NULL::text");
            }
            Handler::Json { stripped } => {
                self.write_json(plan.function(), *stripped);
            }
            Handler::JsonObject { stripped } => {
                let row = if is_scalar { VALUE } else { ROW_ALIAS };
                self.write_json_agg(row, *stripped, true);
            }
            Handler::Csv => self.write_csv(),
            Handler::GeoJson => {
                self.push("json_build_object('type', 'FeatureCollection', 'features', ");
                self.push("coalesce(json_agg(ST_AsGeoJSON(_postgrest_t)::json), '[]'))");
            }
            Handler::Custom { function, .. } if is_scalar => {
                self.qualified(function).push("(").push(VALUE).push(")");
            }
            Handler::Custom {
                function,
                target: HandlerTarget::AnyElement,
            } => {
                self.qualified(function).push("(").push(ROW_ALIAS).push(")");
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

    /// Rows as a JSON array. The result of a function that returns a single row or value is not put into an array,
    /// and scalars are not wrapped in objects.
    fn write_json(&mut self, function: Option<&Function>, stripped: bool) {
        let has_no_columns =
            function.is_some_and(|called| called.returns_scalar() || called.returns_set_of_scalar());
        let is_single = function.is_some_and(Function::returns_single);
        let row = if has_no_columns { VALUE } else { ROW_ALIAS };
        self.write_json_agg(row, stripped, is_single);
    }

    /// `json_agg` of the rows, or only its first element.
    fn write_json_agg(&mut self, row: &str, stripped: bool, first_only: bool) {
        self.push("coalesce(");
        if stripped {
            self.push("json_strip_nulls(");
        }
        self.push("json_agg(").push(row).push(")");
        if first_only {
            self.push("->0");
        }
        if stripped {
            self.push(")");
        }
        self.push(if first_only { ", 'null')" } else { ", '[]')" });
    }

    /// A header line of the keys, then the line of each row.
    fn write_csv(&mut self) {
        self.write_csv_header();
        self.push(" || E'\\n' || coalesce(string_agg(")
            .push(CSV_LINE)
            .push(", E'\\n'), '')");
    }

    /// The keys of the first row.
    pub(super) fn write_csv_header(&mut self) {
        self.push(
            "(SELECT coalesce(string_agg(a.k, ','), '') FROM (SELECT json_object_keys(r)::text AS k FROM ",
        );
        self.push("(SELECT row_to_json(hh) AS r FROM ")
            .push(SOURCE)
            .push(" AS hh LIMIT 1) s) a)");
    }

    /// The text of one row, as it stands in the body.
    pub(super) fn write_row_text(&mut self, plan: &QueryPlan) {
        match plan.handler {
            Handler::Csv => self.push(CSV_LINE),
            Handler::Json { stripped: true } | Handler::JsonObject { stripped: true } => self
                .push("json_strip_nulls(row_to_json(")
                .push(ROW_ALIAS)
                .push("))"),
            _ => self.push("row_to_json(").push(ROW_ALIAS).push(")"),
        };
    }
}

/// PostgreSQL's record text of a row without its parentheses.
const CSV_LINE: &str = "substring(_postgrest_t::text, 2, length(_postgrest_t::text) - 2)";

/// Alias of a row of the page.
const ROW_ALIAS: &str = "_postgrest_t";
/// The value of a row without columns: the result of a function that returns scalars.
const VALUE: &str = "_postgrest_t.pgrst_scalar";
