//! Translates a request to `/rest/v1` into one verb on one table, so that a logged request can be explained.
//!
//! Filters on columns, `Prefer`, JSON objects, and the order and limit of reads are evaluated. Embedded tables, logic trees and
//! the header `Range` are not; the report lists them as ignored.

use std::collections::BTreeMap;

use serde_json::Value;
use url::form_urlencoded;

use super::page::{Page, parse_order};
use super::verb::{Filter, Verb, VerbRequest};
use crate::SimulationError;

/// A REST request after its translation into one verb on one table.
#[derive(Debug)]
pub(crate) struct ParsedRestRequest {
    pub(crate) table: String,
    /// The schema that `Accept-Profile` or `Content-Profile` names.
    pub(crate) schema: Option<String>,
    /// The verb with an empty field `table`, because the caller looks the oid up by name.
    pub(crate) verb: VerbRequest,
    /// The parameters that the explanation leaves out, which the report names.
    pub(crate) ignored: Vec<String>,
}

/// The parameters that shape the response and do not change which rows are allowed or returned.
const SHAPING: [&str; 3] = ["select", "columns", "apikey"];

/// The parameters that choose a page. They have no effect on writes, which change all rows that match.
const PAGING: [&str; 3] = ["order", "limit", "offset"];

/// Parses a request to `/rest/v1`.
///
/// # Errors
/// [`SimulationError::Invalid`] when it is not a request on a table.
pub(crate) fn parse_rest_request(
    method: &str,
    path: &str,
    headers: &BTreeMap<String, String>,
    body: Option<&str>,
) -> Result<ParsedRestRequest, SimulationError> {
    let (route, query) = path.split_once('?').unwrap_or((path, ""));
    let route = route.strip_prefix("/rest/v1").unwrap_or(route).trim_matches('/');
    if route.is_empty() || route.contains('/') {
        return Err(SimulationError::Invalid(
            "Only requests to tables and views can be explained, not calls of functions.".into(),
        ));
    }
    let header = |wanted: &str| {
        headers
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(wanted))
            .map_or("", |(_, value)| value.as_str())
    };
    let prefer = header("prefer");
    let verb = find_verb(method, prefer)?;
    // Reads and writes choose their schema by different headers.
    let profile = match verb {
        Verb::Select => header("accept-profile"),
        _ => header("content-profile"),
    };
    let (filters, mut ignored) = read_filters(query, verb);
    let page = match verb {
        Verb::Select => read_page(query, &mut ignored),
        _ => Page::default(),
    };
    if verb == Verb::Select && !header("range").is_empty() {
        ignored.push("the header Range".to_owned());
    }
    Ok(ParsedRestRequest {
        table: decode_segment(route),
        schema: Some(profile.to_owned()).filter(|name| !name.is_empty()),
        verb: VerbRequest {
            verb,
            table: String::new(),
            row: None,
            filters,
            values: read_values(verb, body)?,
            columns: read_columns(query),
            page,
            returning: prefer.contains("return=representation"),
        },
        ignored,
    })
}

/// Finds the verb of a method. `Prefer: resolution=…` makes an upsert of a POST.
fn find_verb(method: &str, prefer: &str) -> Result<Verb, SimulationError> {
    match method.to_ascii_uppercase().as_str() {
        "GET" | "HEAD" => Ok(Verb::Select),
        "POST" if prefer.contains("resolution=") => Ok(Verb::Upsert),
        "POST" => Ok(Verb::Insert),
        "PUT" => Ok(Verb::Upsert),
        "PATCH" => Ok(Verb::Update),
        "DELETE" => Ok(Verb::Delete),
        other => Err(SimulationError::Invalid(format!(
            "The method {other} cannot be explained."
        ))),
    }
}

fn decode_segment(segment: &str) -> String {
    // A path has no "+" for blanks, unlike a query, so they are kept by encoding them first.
    let encoded = segment.replace('+', "%2B");
    form_urlencoded::parse(encoded.as_bytes())
        .next()
        .map_or_else(String::new, |(name, _)| name.into_owned())
}

fn read_filters(query: &str, verb: Verb) -> (Vec<Filter>, Vec<String>) {
    let (mut filters, mut ignored) = (Vec::new(), Vec::new());
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let is_shaping = SHAPING.contains(&name.as_ref()) || PAGING.contains(&name.as_ref());
        if is_shaping || (verb == Verb::Upsert && name == "on_conflict") {
            continue;
        }
        match read_filter(&name, &value) {
            // An INSERT takes no filters; PostgREST ignores them, so they have no part in the explanation.
            Some(filter) if !matches!(verb, Verb::Insert | Verb::Upsert) => filters.push(filter),
            _ => ignored.push(name.into_owned()),
        }
    }
    (filters, ignored)
}

/// Reads `order`, `limit` and `offset`, and adds those that cannot be explained to `ignored`.
fn read_page(query: &str, ignored: &mut Vec<String>) -> Page {
    let mut page = Page::default();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let is_read = match name.as_ref() {
            "order" => parse_order(&value).map(|order| page.order = order).is_some(),
            "limit" => value.parse().map(|limit| page.limit = Some(limit)).is_ok(),
            "offset" => value.parse().map(|offset| page.offset = offset).is_ok(),
            _ => true,
        };
        if !is_read {
            ignored.push(name.into_owned());
        }
    }
    page
}

/// Reads the columns of `select` when all are plain names; otherwise it returns none, which means all columns.
fn read_columns(query: &str) -> Vec<String> {
    let select = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "select");
    let names: Vec<String> = select
        .map(|(_, list)| list.split(',').map(str::to_owned).collect())
        .unwrap_or_default();
    let is_plain = |name: &String| {
        !name.is_empty()
            && name
                .chars()
                .all(|char| char.is_alphanumeric() || matches!(char, '_' | ' '))
    };
    match names.iter().all(is_plain) {
        true => names,
        false => Vec::new(),
    }
}

/// Reads a filter such as `column->a->>b=not.eq.value`, and returns `None` for a parameter that does not filter a
/// column of the table itself.
fn read_filter(name: &str, value: &str) -> Option<Filter> {
    if matches!(name, "and" | "or" | "not.and" | "not.or") || name.contains('.') {
        return None;
    }
    let mut parts = name
        .split("->")
        .map(|part| part.trim_start_matches('>').to_owned());
    let column = parts.next()?;
    let (negation, rest) = match value.strip_prefix("not.") {
        Some(rest) => ("not.", rest),
        None => ("", value),
    };
    let (operator, operand) = rest.split_once('.')?;
    Some(Filter {
        column,
        operator: format!("{negation}{operator}"),
        value: operand.to_owned(),
        path: parts.collect(),
    })
}

/// Reads the columns of a written row as text.
fn read_values(verb: Verb, body: Option<&str>) -> Result<BTreeMap<String, Option<String>>, SimulationError> {
    let is_write = matches!(verb, Verb::Insert | Verb::Update | Verb::Upsert);
    let Some(body) = body.filter(|text| is_write && !text.trim().is_empty()) else {
        return Ok(BTreeMap::new());
    };
    let unreadable =
        || SimulationError::Invalid("The body must be one JSON object, or a list of one.".into());
    let parsed: Value = serde_json::from_str(body).map_err(|_| unreadable())?;
    let object = match parsed {
        Value::Object(object) => object,
        Value::Array(mut rows) if rows.len() == 1 => match rows.remove(0) {
            Value::Object(object) => object,
            _ => return Err(unreadable()),
        },
        _ => return Err(unreadable()),
    };
    Ok(object
        .into_iter()
        .map(|(name, value)| (name, json_as_text(value)))
        .collect())
}

/// Converts a JSON value into the text that the column's type reads.
fn json_as_text(value: Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text),
        other => Some(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn console_080_a_request_of_the_log_becomes_a_verb_with_filters() {
        let headers = BTreeMap::from([("Prefer".to_owned(), "return=representation".to_owned())]);

        let parsed = parse_rest_request(
            "patch",
            "/rest/v1/my%20notes?id=eq.7&meta->a->>b=not.is.null&or=(a.eq.1,b.eq.2)&select=*",
            &headers,
            Some(r#"{"title":"new","tags":["a"],"gone":null}"#),
        )
        .unwrap();

        assert_eq!(
            (parsed.table.as_str(), parsed.verb.verb),
            ("my notes", Verb::Update)
        );
        assert!(parsed.verb.returning);
        assert_eq!(parsed.ignored, ["or"]);
        assert_eq!(parsed.verb.filters[1].operator, "not.is");
        assert_eq!(parsed.verb.filters[1].path, ["a", "b"]);
        assert_eq!(parsed.verb.values["tags"].as_deref(), Some(r#"["a"]"#));
        assert_eq!(parsed.verb.values["gone"], None);
    }

    #[test]
    fn console_080_order_and_limit_of_a_read_are_kept_and_those_of_a_write_have_no_effect() {
        let parse = |method, headers: &[(&str, &str)]| {
            let headers = headers
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect();
            let path = "/notes?limit=5&offset=10&order=title.desc";
            parse_rest_request(method, path, &headers, None).unwrap()
        };

        let read = parse("GET", &[("Range", "0-4")]);
        assert_eq!((read.verb.page.limit, read.verb.page.offset), (Some(5), 10));
        assert_eq!(read.verb.page.order[0].column, "title");
        assert_eq!(read.ignored, ["the header Range"]);

        let write = parse("DELETE", &[]);
        assert_eq!((write.verb.page, write.verb.filters.len()), (Page::default(), 0));
    }

    #[test]
    fn console_080_a_call_of_a_function_is_refused() {
        let refused = parse_rest_request("POST", "/rest/v1/rpc/add", &BTreeMap::new(), None);

        assert!(matches!(refused, Err(SimulationError::Invalid(_))));
    }
}
