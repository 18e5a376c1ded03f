//! Parse, plan and SQL together: values never get into the text of SQL, and the text depends on the request's shape only.

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use bytes::Bytes;
use proptest::prelude::*;
use selvedge_memory::MemoryBudget;
use selvedge_postgres::{Param, SqlStatement};

use super::document::write_document;
use super::soundness::is_sound;
use crate::catalog::Catalog;
use crate::config::RestConfig;
use crate::plan::Plan;
use crate::request::ApiRequest;
use crate::request::query::encode_into;

/// Part of every value, so that the SQL can be searched for it.
const MARK: &str = "Q7z9";

fn statement(method: &str, path: &str, query: &str, body: &str) -> SqlStatement {
    let prefer = "return=representation, resolution=merge-duplicates";
    statement_preferring(prefer, method, path, query, body)
}

/// The statement of a request with a `Prefer` header.
fn statement_preferring(
    prefer: &'static str,
    method: &str,
    path: &str,
    query: &str,
    body: &str,
) -> SqlStatement {
    let config = RestConfig {
        aggregates_enabled: true,
        ..RestConfig::default()
    };
    let mut headers = HeaderMap::new();
    headers.insert(
        HeaderName::from_static("prefer"),
        HeaderValue::from_static(prefer),
    );
    let body = Bytes::copy_from_slice(body.as_bytes());
    let request =
        ApiRequest::parse(method, path, query, &headers, &body, &config, None).expect("a good request");
    let plan = Plan::new(request, &Catalog::example(), &config, &MemoryBudget::unlimited()).expect("a plan");
    match plan {
        Plan::Query(plan) => write_document(&plan),
        other => panic!("no query: {other:?}"),
    }
}

/// The statement of a request, unless it is refused.
fn try_statement(method: &str, path: &str, query: &str, body: &str) -> Option<SqlStatement> {
    let config = RestConfig {
        aggregates_enabled: true,
        ..RestConfig::default()
    };
    let mut headers = HeaderMap::new();
    let prefer = "return=representation, resolution=merge-duplicates, missing=default, count=exact";
    headers.insert(
        HeaderName::from_static("prefer"),
        HeaderValue::from_static(prefer),
    );
    let body = Bytes::copy_from_slice(body.as_bytes());
    let request = ApiRequest::parse(method, path, query, &headers, &body, &config, None).ok()?;
    match Plan::new(request, &Catalog::example(), &config, &MemoryBudget::unlimited()).ok()? {
        Plan::Query(plan) => Some(write_document(&plan)),
        _ => None,
    }
}

/// The statements of all methods with this query string.
fn try_everywhere(query: &str) -> Vec<SqlStatement> {
    [
        ("GET", "/posts", ""),
        ("HEAD", "/comments", ""),
        ("POST", "/posts", "[{\"title\":\"a\"}]"),
        ("PATCH", "/posts", "{\"title\":\"a\"}"),
        ("PUT", "/posts", "{\"id\":1}"),
        ("DELETE", "/posts", ""),
    ]
    .iter()
    .filter_map(|(method, path, body)| try_statement(method, path, query, body))
    .collect()
}

#[test]
fn hostile_query_strings_are_refused_or_become_sound_sql() {
    let lines = include_str!("corpus.txt")
        .lines()
        .filter(|line| !line.starts_with('#'));
    let mut statements = 0;
    for query in lines {
        for statement in try_everywhere(query) {
            assert!(is_sound(&statement), "{query}\n{}", statement.text);
            statements += 1;
        }
    }
    assert!(statements > 100, "only {statements} of the corpus reach SQL");
}

fn encoded(value: &str) -> String {
    let mut out = String::new();
    encode_into(&mut out, value);
    out
}

/// A value in the quotes of the query language.
fn quoted(value: &str) -> String {
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

fn holds(statement: &SqlStatement, value: &str) -> bool {
    statement.params.iter().any(|param| match param {
        Param::Text(bytes) => String::from_utf8_lossy(bytes).contains(value),
        Param::Null | Param::Binary(_) => false,
    })
}

/// Query strings that hold the value, one for each place where a value may be.
fn queries(value: &str) -> Vec<String> {
    let (raw, name) = (encoded(value), encoded(&quoted(value)));
    [
        format!("title=eq.{raw}"),
        format!("title=not.like.{raw}"),
        format!("id=in.(1,{name},{name})"),
        format!("title=fts(english).{raw}"),
        format!("tags=cs.{raw}"),
        format!("title=isdistinct.{raw}"),
        format!("title=eq(any).{raw}"),
        format!("or=(title.eq.{name},and(id.gt.{name},title.ilike.{name}))"),
        format!("select=x:data->{name}->>{name}"),
        format!("data->>{name}=eq.{raw}"),
        format!("order=data->{name}.desc"),
        format!("select=id,comments(id)&comments.body=eq.{raw}&comments.or=(id.eq.{name})"),
        format!("select=id,comments!inner(id)&comments=not.is.null&comments.body=in.({name})"),
    ]
    .to_vec()
}

proptest! {
    #[test]
    fn values_of_the_query_string_are_parameters(noise in "\\PC{0,12}") {
        let value = format!("{MARK}{noise}");

        for query in queries(&value) {
            let statement = statement("GET", "/posts", &query, "");

            prop_assert!(!statement.text.contains(MARK), "{query}\n{}", statement.text);
            prop_assert!(holds(&statement, MARK), "{query}\n{:?}", statement.params);
        }
    }

    #[test]
    fn bodies_are_parameters(noise in "[^\\\\\"\\x00-\\x1f]{0,12}") {
        let body = format!("{{\"title\":\"{MARK}{noise}\",\"id\":1}}");

        for (method, query) in [("POST", ""), ("PATCH", "id=eq.1"), ("PUT", "id=eq.1")] {
            let statement = statement(method, "/posts", query, &body);

            prop_assert!(!statement.text.contains(MARK));
            prop_assert!(holds(&statement, MARK));
        }
    }

    #[test]
    fn the_text_of_sql_depends_on_the_shape_only(first in "[a-z0-9 ,.(){}]{1,12}", second in "[a-z0-9 ,.(){}]{1,12}") {
        for (one, other) in queries(&first).iter().zip(queries(&second)) {
            // The last key of a path is the default output key, so there the text differs.
            if one.starts_with("select=x:") || !one.starts_with("select=data") {
                prop_assert_eq!(statement("GET", "/posts", one, "").text, statement("GET", "/posts", &other, "").text);
            }
        }
    }

    #[test]
    fn identifiers_from_clients_are_always_quoted(name in "\\PC{1,12}") {
        let alias = format!("{MARK}{name}");
        let query = format!("select={}:id", encoded(&quoted(&alias)));

        let statement = statement("GET", "/posts", &query, "");

        let written = format!("AS \"{}\"", alias.replace('"', "\"\"").replace('\0', ""));
        prop_assert!(statement.text.contains(&written), "{}", statement.text);
    }

    #[test]
    fn parsing_any_text_as_a_query_string_never_panics(query in "\\PC{0,200}", call in any::<bool>()) {
        let _ = crate::request::query::QueryParams::parse(&query, call, &RestConfig::default());
    }

    #[test]
    fn parsing_any_mix_of_grammar_tokens_never_panics(
        query in "((select|order|or|and|columns|on_conflict|id|a\\.b|not\\.or)=[a-z(),.:>\\-\"\\\\!*{}0-9 ]{0,40}&){0,6}"
    ) {
        let _ = crate::request::query::QueryParams::parse(&query, false, &RestConfig::default());
    }

    #[test]
    fn any_accepted_query_string_becomes_sound_sql(
        query in "((select|order|or|and|columns|on_conflict|id|title|comments\\.or|not\\.or)=\
            (id|title|data|comments|count|\\*|eq\\.|in\\.|not\\.|like\\.|is\\.null|desc|->>|->|::|:|\\.|,|\\(|\\)|\\(\\)|!inner|\\.\\.\\.|%22|%5C|%27|;|--|\\$1|[a-z0-9]){0,14}&){1,4}"
    ) {
        for statement in try_everywhere(&query) {
            prop_assert!(is_sound(&statement), "{query}\n{}", statement.text);
        }
    }

    #[test]
    fn parsing_any_header_never_panics(text in "\\PC{0,100}") {
        let _ = crate::request::media::parse_accept(Some(&text));
        let _ = crate::request::preferences::Preferences::parse([text.as_str().into()].into_iter(), true);
        let _ = crate::request::range::RowRange::from_header(&text);
    }
}

#[test]
fn the_statement_of_a_plain_read_has_no_superfluous_parts() {
    let statement = statement("GET", "/posts", "id=eq.1", "");

    assert_eq!(
        statement.text,
        "WITH pgrst_source AS (SELECT \"public\".\"posts\".* FROM \"public\".\"posts\" WHERE \"public\".\"posts\".\"id\" = $1 \
         LIMIT 1000) SELECT coalesce(json_agg(_postgrest_t), '[]') AS body, count(_postgrest_t) AS page, \
         nullif(current_setting('response.headers', true), '') AS response_headers, \
         nullif(current_setting('response.status', true), '') AS response_status FROM (SELECT * FROM pgrst_source) \
         _postgrest_t"
    );
}

#[test]
fn an_embed_is_written_as_a_lateral_join() {
    let statement = statement(
        "GET",
        "/comments",
        "select=id,posts(title)&order=posts(title)",
        "",
    );

    assert!(
        statement.text.contains(
            "SELECT \"public\".\"comments\".\"id\", row_to_json(\"comments_posts_1\".*) AS \"posts\" FROM \
             \"public\".\"comments\" LEFT JOIN LATERAL (SELECT \"posts_1\".\"title\" FROM \"public\".\"posts\" AS \"posts_1\" \
             WHERE \"posts_1\".\"id\" = \"public\".\"comments\".\"post_id\") AS \"comments_posts_1\" ON TRUE ORDER BY \
             \"comments_posts_1\".\"title\" LIMIT 1000"
        ),
        "{}",
        statement.text
    );
}

#[test]
fn the_insert_of_one_object_is_not_wrapped_in_a_source_expression() {
    let insert = |body: &str| statement_preferring("return=minimal", "POST", "/posts", "", body).text;

    assert_eq!(
        insert(r#"{"id": 1, "title": "a"}"#),
        "INSERT INTO \"public\".\"posts\"(\"id\", \"title\") SELECT \"id\", \"title\" FROM json_to_record($1::json) AS \
         _(\"id\" integer, \"title\" text) RETURNING NULL::text AS body, 1::bigint AS page, \
         nullif(current_setting('response.headers', true), '') AS response_headers, \
         nullif(current_setting('response.status', true), '') AS response_status"
    );
    for body in [r#"[{"id": 1}]"#, "{}"] {
        assert!(insert(body).starts_with("WITH pgrst_source AS (INSERT"), "{body}");
    }
}
