//! Tests of the SQL text that is written for Citus.

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use bytes::Bytes;

use super::document::write_document;
use crate::catalog::Catalog;
use crate::config::RestConfig;
use crate::plan::Plan;
use crate::request::ApiRequest;

/// Returns the statement for a request on the example catalog with Citus, without a limit of rows.
fn statement(method: &str, path: &str, query: &str, prefer: &'static str, body: &str) -> String {
    let config = RestConfig {
        max_rows: None,
        ..RestConfig::default()
    };
    let mut headers = HeaderMap::new();
    headers.insert(
        HeaderName::from_static("prefer"),
        HeaderValue::from_static(prefer),
    );
    let body = Bytes::copy_from_slice(body.as_bytes());
    let request = ApiRequest::parse(method, path, query, &headers, &body, &config).expect("a good request");
    match Plan::new(request, &Catalog::example_with_citus(), &config).expect("a plan") {
        Plan::Query(plan) => write_document(&plan).text,
        other => panic!("no query: {other:?}"),
    }
}

/// Panics unless the statement contains the text.
#[track_caller]
fn assert_contains(statement: &str, piece: &str) {
    assert!(statement.contains(piece), "{piece}\n{statement}");
}

#[test]
fn subqueries_without_a_limit_get_an_offset_so_that_keys_keep_their_names() {
    let statement = statement("GET", "/comments", "select=id,posts!inner(title)", "", "");

    assert_contains(
        &statement,
        r#"INNER JOIN LATERAL (SELECT "posts_1"."title" FROM "public"."posts" AS "posts_1" WHERE "posts_1"."id" = "public"."comments"."post_id" OFFSET 0)"#,
    );
    assert_contains(&statement, r#"ON TRUE OFFSET 0) SELECT "#);
}

#[test]
fn rows_in_shards_are_updated_without_a_join() {
    let statement = statement("PATCH", "/comments", "post_id=eq.1", "", r#"{"body":"a","id":1}"#);

    assert_contains(
        &statement,
        r#"UPDATE "public"."comments" SET ("body", "id") = (SELECT "body", "id" FROM json_to_record($1::json) AS _("body" text, "id" integer)) WHERE "#,
    );
}

#[test]
fn upserts_are_counted_by_the_versions_of_their_rows() {
    let prefer = "resolution=merge-duplicates, return=representation";
    let statement = statement(
        "POST",
        "/comments",
        "select=id",
        prefer,
        r#"[{"id":1,"body":"a"}]"#,
    );

    assert!(!statement.contains("set_config"), "{statement}");
    assert_contains(&statement, "WITH pgrst_written AS (INSERT INTO ");
    assert_contains(
        &statement,
        r#"pgrst_body ON CONFLICT("id") DO UPDATE SET "body" = EXCLUDED."body", "id" = EXCLUDED."id" RETURNING "public"."comments"."id", (xmax = 0) AS pgrst_inserted), pgrst_source AS (SELECT "id" FROM pgrst_written)"#,
    );
    assert_contains(
        &statement,
        "(SELECT count(*) FILTER (WHERE pgrst_inserted) FROM pgrst_written) AS inserted",
    );
}

#[test]
fn rows_in_shards_are_embedded_in_reference_tables_by_groups() {
    let query = "select=title,comments(body)&comments.order=id.desc&comments.limit=2&comments.offset=1";
    let statement = statement("GET", "/posts", query, "", "");

    assert_contains(
        &statement,
        r#" LEFT JOIN (SELECT "posts_comments_1"."pgrst_key_0", json_agg("posts_comments_1".pgrst_row ORDER BY "posts_comments_1".pgrst_place) AS "posts_comments_1" FROM (SELECT "comments_1"."post_id" AS "pgrst_key_0", row_number() OVER (PARTITION BY "comments_1"."post_id" ORDER BY "comments_1"."id" DESC) AS pgrst_place, (SELECT row_to_json(pgrst_row.*) FROM (SELECT "comments_1"."body") AS pgrst_row) AS pgrst_row FROM "public"."comments" AS "comments_1") AS "posts_comments_1" WHERE "posts_comments_1".pgrst_place > 1 AND "posts_comments_1".pgrst_place <= 3 GROUP BY "posts_comments_1"."pgrst_key_0") AS "posts_comments_1" ON "posts_comments_1"."pgrst_key_0" = "public"."posts"."id""#,
    );
}
