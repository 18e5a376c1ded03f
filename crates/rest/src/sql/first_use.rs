//! Whether the rows of a statement of which PostgreSQL has described nothing yet are asked for in columns.
//!
//! Columns are cheaper than rows that PostgreSQL writes as JSON. If a column turns out to have a type whose JSON only PostgreSQL writes, the statement
//! runs once more: that must not be noticed, and it should not be necessary.

use selvedge_postgres::JsonType;

use crate::catalog::{Cardinality, Catalog, Column, Relation, Volatility};
use crate::plan::{
    ChildOutput, ColumnRef, Condition, QueryKind, QueryPlan, ReadNode, SelectColumn, SortTarget,
};

/// Types by which clients cast, and whose JSON is written here.
const CAST_TYPES: [&str; 18] = [
    "text", "varchar", "int", "int2", "int4", "int8", "smallint", "integer", "bigint", "numeric", "float4",
    "float8", "bool", "boolean", "json", "jsonb", "uuid", "date",
];

/// Whether a plan reads tables and views only, or the result of a function that promises to do nothing else, and all columns that it selects are known
/// to have types whose JSON is written here. False in doubt.
pub(crate) fn may_run_twice(plan: &QueryPlan, catalog: &Catalog) -> bool {
    let is_read = match &plan.kind {
        QueryKind::Read(_) => true,
        QueryKind::Call(call) => {
            call.function.volatility != Volatility::Volatile && call.function.returns.name == plan.read.table
        }
        QueryKind::Mutate { .. } => false,
    };
    is_read && calls_no_function(&plan.read, catalog) && selects_known_types(&plan.read, catalog)
}

/// Whether a node and its embeds mention stored columns only: a computed column or relationship is a function of the project.
fn calls_no_function(node: &ReadNode, catalog: &Catalog) -> bool {
    let Some(relation) = catalog.find_relation(&node.table) else {
        return false;
    };
    let is_computed = node
        .join
        .as_ref()
        .is_some_and(|join| matches!(join.relationship.cardinality, Cardinality::Computed { .. }));
    let sorts_by_stored = |target: &SortTarget| match target {
        SortTarget::Own(column) => is_stored(column, relation),
        SortTarget::Related { child, column } => node
            .children
            .get(*child)
            .and_then(|child| catalog.find_relation(&child.table))
            .is_some_and(|of_child| is_stored(column, of_child)),
    };
    !is_computed
        && node
            .select
            .iter()
            .all(|selected| is_stored(&selected.column, relation))
        && node
            .filters
            .iter()
            .all(|condition| compares_stored(condition, relation))
        && node.order.iter().all(|key| sorts_by_stored(&key.target))
        && node
            .children
            .iter()
            .all(|child| calls_no_function(child, catalog))
}

fn is_stored(column: &ColumnRef, relation: &Relation) -> bool {
    let is_known = column.counts_rows || column.name == "*" || relation.columns.contains_key(&column.name);
    is_known && !column.full_row && column.transform.is_none() && column.computed.is_none()
}

fn compares_stored(condition: &Condition, relation: &Relation) -> bool {
    match condition {
        Condition::Filter { column, .. } => is_stored(column, relation),
        Condition::Embed { .. } => true,
        Condition::Group { children, .. } => children.iter().all(|child| compares_stored(child, relation)),
    }
}

/// Whether all columns of a node's rows have types whose JSON is written here. Embeds are JSON, but for the columns of spread ones.
fn selects_known_types(node: &ReadNode, catalog: &Catalog) -> bool {
    let Some(relation) = catalog.find_relation(&node.table) else {
        return false;
    };
    let is_spread = |output: &ChildOutput| matches!(output, ChildOutput::Spread { .. });
    !node.outputs.iter().any(is_spread)
        && node
            .select
            .iter()
            .all(|selected| has_known_type(selected, relation))
}

fn has_known_type(selected: &SelectColumn, relation: &Relation) -> bool {
    let is_written_here = |column: &Column| JsonType::from_type_oid(column.base_type_oid).is_some();
    let column = &selected.column;
    let is_known = if column.name == "*" {
        relation.columns.values().all(is_written_here)
    } else {
        // What a path leads to is JSON or text.
        column.counts_rows
            || !column.path.is_empty()
            || relation.columns.get(&column.name).is_some_and(is_written_here)
    };
    let mut casts = selected.cast.iter().chain(&selected.aggregate_cast);
    is_known && casts.all(|cast| CAST_TYPES.contains(&cast.as_str()))
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderMap;
    use bytes::Bytes;
    use selvedge_memory::MemoryBudget;

    use super::*;
    use crate::config::RestConfig;
    use crate::plan::Plan;
    use crate::request::ApiRequest;

    fn may_run_twice_by(query: &str) -> bool {
        let (config, catalog) = (RestConfig::default(), Catalog::example());
        let headers = HeaderMap::new();
        let request = ApiRequest::parse("GET", "/posts", query, &headers, &Bytes::new(), &config, None);
        let request = request.expect("a good request");
        match Plan::new(request, &catalog, &config, &MemoryBudget::unlimited()).expect("a plan") {
            Plan::Query(plan) => may_run_twice(&plan, &catalog),
            other => panic!("no query: {other:?}"),
        }
    }

    #[test]
    fn rest_004_only_stored_columns_of_known_types_are_asked_for_before_they_are_described() {
        for query in [
            "",
            "select=id,title,tags",
            "id=eq.1&order=title",
            "or=(id.eq.1,title.is.null)",
            "select=id,comments(id,body)&comments.order=id&comments.body=eq.x",
            "select=n:data->a,id::text",
        ] {
            assert!(may_run_twice_by(query), "{query}");
        }
        for query in [
            "select=id,computed",
            "computed=eq.1",
            "or=(id.eq.1,computed.is.null)",
            "order=computed",
            "select=id,comments(computed)",
            "select=id,...comments(body)",
            "select=title::mood",
        ] {
            assert!(!may_run_twice_by(query), "{query}");
        }
    }
}
