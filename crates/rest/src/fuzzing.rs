//! Entry point of the fuzz target `rest_request` (folder `fuzz/`): a request through parse, plan and sql.
//!
//! It is compiled only when cargo-fuzz sets `--cfg fuzzing`, because it runs on the example catalog of the tests.

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use bytes::Bytes;
use selvedge_memory::MemoryBudget;

use crate::catalog::Catalog;
use crate::config::RestConfig;
use crate::plan::Plan;
use crate::request::ApiRequest;
use crate::request::headers::{cookies_json, headers_json};
use crate::sql::soundness::is_sound;
use crate::sql::{Statements, write_statements};

/// Takes a request in the form of HTTP: `METHOD /path?query`, then lines of headers, then an empty line and the body.
///
/// # Panics
/// When something of the request left its quotes in SQL, or when the JSON of the headers is not valid.
pub fn check_request(input: &[u8]) {
    let Some((method, path, query, headers, body)) = split_request(input) else {
        return;
    };
    for texts in [headers_json(&headers), cookies_json(&headers)] {
        serde_json::from_str::<serde_json::Value>(&texts).expect("SQL parses these settings as JSON");
    }
    let config = RestConfig {
        aggregates_enabled: true,
        ..RestConfig::default()
    };
    let Ok(request) = ApiRequest::parse(method, path, query, &headers, &body, &config, None) else {
        return;
    };
    let Ok(Plan::Query(plan)) = Plan::new(request, &Catalog::example(), &config, &MemoryBudget::unlimited())
    else {
        return;
    };
    let statements = match write_statements(&plan) {
        Statements::Rows(rows) => vec![rows.texts(), rows.rows],
        Statements::Document {
            document,
            explain_count,
        } => explain_count.into_iter().chain([document]).collect(),
    };
    for statement in statements {
        assert!(is_sound(&statement), "{}", statement.text);
    }
}

type Parts<'a> = (&'a str, &'a str, &'a str, HeaderMap, Bytes);

fn split_request(input: &[u8]) -> Option<Parts<'_>> {
    let end = input.windows(2).position(|pair| pair == b"\n\n")?;
    let mut lines = str::from_utf8(&input[..end]).ok()?.split('\n');
    let (method, target) = lines.next()?.split_once(' ')?;
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut headers = HeaderMap::new();
    for line in lines {
        let (name, value) = line.split_once(':')?;
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        headers.append(name, HeaderValue::from_str(value.trim()).ok()?);
    }
    Some((
        method,
        path,
        query,
        headers,
        Bytes::copy_from_slice(&input[end + 2..]),
    ))
}
