//! What a plan says of the size of its response, before PostgreSQL has written it.

use super::mutate::MutatePlan;
use super::negotiate::Handler;
use super::query_plan::{QueryKind, QueryPlan};
use super::tree::{ChildOutput, Condition, ReadNode, SelectColumn};
use crate::catalog::Relation;
use crate::request::ast::{Operation, QuantOperator};

/// More columns of one row are not taken for a part of it.
const MOST_COLUMNS: usize = 32;

impl QueryPlan {
    /// Whether the response has no body, or a single short value.
    pub fn has_small_result(&self) -> bool {
        match (&self.handler, self.function()) {
            (Handler::Nothing, _) => true,
            (Handler::Custom { .. }, _) | (_, None) => false,
            (_, Some(function)) => function.returns_short_value(),
        }
    }

    /// Whether the response is at most one row of a table or result, with each of its columns at most once.
    pub fn has_one_row(&self) -> bool {
        let is_one = match &self.kind {
            QueryKind::Read(relation) => name_one_row(&self.read.filters, relation),
            QueryKind::Mutate { relation, plan, .. } => match plan {
                MutatePlan::Insert { body, .. } => body.is_object,
                MutatePlan::Update { filters, .. } | MutatePlan::Delete { filters, .. } => {
                    name_one_row(filters, relation)
                }
            },
            QueryKind::Call(call) => call.function.returns_single() && call.function.returns.is_composite,
        };
        is_one && self.read.children.is_empty() && have_no_repeated_columns(&self.read.select)
    }

    /// Whether a row has lists in lists. PostgreSQL writes a row in one piece, and the lengths of such lists multiply.
    pub fn has_lists_in_lists(&self) -> bool {
        count_nested_lists(&self.read) > 1
    }
}

/// How deep lists are nested below a node.
fn count_nested_lists(node: &ReadNode) -> usize {
    let below = node.children.iter().zip(&node.outputs);
    let depths = below.map(|(child, output)| {
        let is_list = matches!(output, ChildOutput::Array { .. });
        usize::from(is_list) + count_nested_lists(child)
    });
    depths.max().unwrap_or_default()
}

/// Whether filters name one row of a table by its primary key.
fn name_one_row(filters: &[Condition], relation: &Relation) -> bool {
    let names = |key: &String| {
        filters.iter().any(|condition| match condition {
            Condition::Filter {
                column,
                negated: false,
                operation: Operation::Quant(QuantOperator::Equal, None, _),
            } => column.name == *key && column.path.is_empty(),
            _ => false,
        })
    };
    !relation.is_view && !relation.primary_key.is_empty() && relation.primary_key.iter().all(names)
}

fn have_no_repeated_columns(select: &[SelectColumn]) -> bool {
    let is_first = |(index, selected): (usize, &SelectColumn)| {
        let mut before = select.iter().take(index);
        before.all(|before| before.column.name != selected.column.name)
    };
    select.len() <= MOST_COLUMNS && select.iter().enumerate().all(is_first)
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

    fn plan(method: &str, query: &str, body: &str) -> Box<QueryPlan> {
        let (config, mut headers) = (RestConfig::default(), HeaderMap::new());
        headers.insert(
            HeaderName::from_static("prefer"),
            HeaderValue::from_static("return=representation, count=exact"),
        );
        let body = Bytes::copy_from_slice(body.as_bytes());
        let request = ApiRequest::parse(method, "/posts", query, &headers, &body, &config, None);
        let request = request.expect("a good request");
        match Plan::new(request, &Catalog::example(), &config, &MemoryBudget::unlimited()).expect("a plan") {
            Plan::Query(plan) => plan,
            other => panic!("no query: {other:?}"),
        }
    }

    #[test]
    fn gw_049_one_row_is_known_by_its_key_or_as_the_one_that_is_inserted() {
        for (method, query, body) in [
            ("GET", "id=eq.1&select=id,title", ""),
            ("POST", "", r#"{"title":"a"}"#),
            ("PATCH", "id=eq.1", r#"{"title":"a"}"#),
            ("DELETE", "id=eq.1&title=like.a*", ""),
        ] {
            assert!(plan(method, query, body).has_one_row(), "{method} {query}");
        }
        for (method, query, body) in [
            ("GET", "", ""),
            ("GET", "id=lt.2", ""),
            ("GET", "id=in.(1,2)", ""),
            ("GET", "id=not.eq.1", ""),
            ("GET", "or=(id.eq.1,id.eq.2)", ""),
            ("GET", "id=eq.1&select=a:title,b:title", ""),
            ("GET", "id=eq.1&select=id,comments(*)", ""),
            ("POST", "", r#"[{"title":"a"},{"title":"b"}]"#),
            ("PATCH", "title=eq.a", r#"{"title":"a"}"#),
        ] {
            assert!(!plan(method, query, body).has_one_row(), "{method} {query}");
        }
    }

    #[test]
    fn gw_049_lists_in_lists_of_a_row_are_found_at_any_depth() {
        let has_lists = |select: &str| plan("GET", &format!("select={select}"), "").has_lists_in_lists();

        assert!(has_lists("id,comments(id,posts(comments(id)))"));
        for small in [
            "id",
            "id,comments(*)",
            "id,comments(*,posts(*))",
            "a:comments(id),b:comments(id)",
        ] {
            assert!(!has_lists(small), "{small}");
        }
    }
}
