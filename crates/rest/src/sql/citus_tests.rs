//! Tests of the SQL text that is written for Citus, and of the text for plain PostgreSQL, which must not change.

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use bytes::Bytes;
use selvedge_memory::MemoryBudget;

use super::document::write_document;
use crate::catalog::Catalog;
use crate::config::RestConfig;
use crate::error::RestError;
use crate::plan::Plan;
use crate::request::ApiRequest;

/// Returns the statement for a request on the example catalog with Citus, without a limit of rows.
fn statement(method: &str, path: &str, query: &str, prefer: &'static str, body: &str) -> String {
    statement_on(&Catalog::example_with_citus(), method, path, query, prefer, body)
}

/// Returns the statement for a request, without a limit of rows.
fn statement_on(
    catalog: &Catalog,
    method: &str,
    path: &str,
    query: &str,
    prefer: &'static str,
    body: &str,
) -> String {
    match plan_with_catalog(catalog, method, path, query, prefer, body).expect("a plan") {
        Plan::Query(plan) => write_document(&plan).text,
        other => panic!("no query: {other:?}"),
    }
}

fn plan_with_catalog(
    catalog: &Catalog,
    method: &str,
    path: &str,
    query: &str,
    prefer: &'static str,
    body: &str,
) -> Result<Plan, RestError> {
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
    let request =
        ApiRequest::parse(method, path, query, &headers, &body, &config, None).expect("a good request");
    Plan::new(request, catalog, &config, &MemoryBudget::unlimited())
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
        r#"UPDATE "public"."comments" SET ("body", "id") = (SELECT "pgrst_body"."body", "pgrst_body"."id" FROM (SELECT $1::json AS json_data) pgrst_payload, LATERAL json_to_record(pgrst_payload.json_data) AS pgrst_body("body" text, "id" integer)) WHERE "#,
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

#[test]
fn totals_of_rows_in_shards_are_computed_for_all_parents_and_are_0_for_those_without_rows() {
    let query = "select=title,comments(count)&comments.body=eq.a";
    let statement = statement("GET", "/posts", query, "", "");

    assert_contains(
        &statement,
        r#"COALESCE("posts_comments_1"."posts_comments_1", (SELECT json_agg(row_to_json(pgrst_row.*)) FROM (SELECT 0 AS "count") AS pgrst_row)) AS "comments""#,
    );
    assert_contains(
        &statement,
        r#" LEFT JOIN (SELECT "posts_comments_1"."pgrst_key_0", (SELECT json_agg(row_to_json(pgrst_row.*)) FROM (SELECT "posts_comments_1"."count") AS pgrst_row) AS "posts_comments_1" FROM (SELECT "comments_1"."post_id" AS "pgrst_key_0", count(*) FROM "public"."comments" AS "comments_1" WHERE "comments_1"."body" = $1 GROUP BY "comments_1"."post_id") AS "posts_comments_1") AS "posts_comments_1" ON "posts_comments_1"."pgrst_key_0" = "public"."posts"."id""#,
    );
}

#[test]
fn rows_in_shards_are_embedded_in_written_rows_by_one_subquery_of_their_keys() {
    let query = "select=id,posts(title)";
    let prefer = "return=representation";
    let mut catalog = Catalog::example_with_citus();
    catalog.shard("posts");
    let statement = statement_on(&catalog, "PATCH", "/comments", query, prefer, r#"{"body":"a"}"#);

    assert_contains(
        &statement,
        r#"SELECT "comments"."id", "comments_posts_1"."comments_posts_1" AS "posts" FROM "pgrst_source" AS "comments" LEFT JOIN (SELECT "posts_1"."id" AS "pgrst_key_0", (SELECT row_to_json(pgrst_row.*) FROM (SELECT "posts_1"."title") AS pgrst_row) AS "comments_posts_1" FROM "public"."posts" AS "posts_1" WHERE ("posts_1"."id") IN (SELECT "post_id" FROM pgrst_source)) AS "comments_posts_1" ON "comments_posts_1"."pgrst_key_0" = "comments"."post_id""#,
    );
}

#[test]
fn computed_columns_take_a_row_of_the_tables_own_type() {
    let mut catalog = Catalog::example_with_citus();
    catalog.compute_column("posts", "headline");

    let statement = statement_on(
        &catalog,
        "GET",
        "/posts",
        "select=headline&headline->a=eq.1",
        "",
        "",
    );

    assert_contains(
        &statement,
        r#"SELECT "public"."headline"(ROW("public"."posts".*)::"public"."posts") FROM "public"."posts" WHERE to_jsonb("public"."headline"(ROW("public"."posts".*)::"public"."posts"))->$1 = $2"#,
    );
}

#[test]
fn of_several_columns_with_one_name_the_last_is_left() {
    let statement = statement(
        "GET",
        "/comments",
        "select=id,*,body:post_id,...posts(id,title)",
        "",
        "",
    );

    assert_contains(
        &statement,
        r#"SELECT "public"."comments"."post_id", "public"."comments"."post_id" AS "body", "comments_posts_1"."id", "comments_posts_1"."title" FROM "public"."comments""#,
    );
}

#[test]
fn a_planned_count_of_rows_on_other_nodes_is_refused_with_a_hint() {
    let plan = |catalog: &Catalog, path| plan_with_catalog(catalog, "GET", path, "", "count=planned", "");

    for path in ["/posts", "/comments"] {
        let refused = plan(&Catalog::example_with_citus(), path)
            .expect_err("a refusal")
            .wire();

        assert_eq!((refused.status, refused.code.as_str()), (400, "0A000"), "{path}");
        assert_eq!(refused.hint.as_deref(), Some("Use count=exact."));
        assert!(plan(&Catalog::example(), path).is_ok(), "{path}");
    }
}

/// Requests that Citus gets in other forms, and their statements without it, up to what renders the response.
const PLAIN: [(&str, &str, &str, &str, &str, &str); 4] = [
    (
        "GET",
        "/comments",
        "select=id,posts!inner(title)&limit=1000",
        "count=exact",
        "",
        r#"WITH pgrst_source AS (SELECT "public"."comments"."id", row_to_json("comments_posts_1".*) AS "posts" FROM "public"."comments" INNER JOIN LATERAL (SELECT "posts_1"."title" FROM "public"."posts" AS "posts_1" WHERE "posts_1"."id" = "public"."comments"."post_id") AS "comments_posts_1" ON TRUE LIMIT 1000), pgrst_source_count AS (SELECT 1 FROM "public"."comments" WHERE EXISTS (SELECT 1 FROM "public"."posts" AS "posts_1" WHERE "posts_1"."id" = "public"."comments"."post_id"))"#,
    ),
    (
        "GET",
        "/posts",
        "select=title,comments(body)&comments.limit=2&limit=5",
        "count=exact",
        "",
        r#"WITH pgrst_source AS (SELECT "public"."posts"."title", COALESCE("posts_comments_1"."posts_comments_1", '[]') AS "comments" FROM "public"."posts" LEFT JOIN LATERAL (SELECT json_agg("posts_comments_1") AS "posts_comments_1" FROM (SELECT "comments_1"."body" FROM "public"."comments" AS "comments_1" WHERE "comments_1"."post_id" = "public"."posts"."id" LIMIT 2) AS "posts_comments_1") AS "posts_comments_1" ON TRUE LIMIT 5), pgrst_source_count AS (SELECT 1 FROM "public"."posts")"#,
    ),
    (
        "PATCH",
        "/comments",
        "post_id=eq.1",
        "return=representation",
        r#"{"body":"a","id":1}"#,
        r#"WITH pgrst_source AS (UPDATE "public"."comments" SET "body" = "pgrst_body"."body", "id" = "pgrst_body"."id" FROM (SELECT $1::json AS json_data) pgrst_payload, LATERAL (SELECT "body", "id" FROM json_to_record(pgrst_payload.json_data) AS _("body" text, "id" integer)) pgrst_body WHERE "public"."comments"."post_id" = $2 RETURNING "public"."comments".*)"#,
    ),
    (
        "POST",
        "/comments",
        "select=id",
        "resolution=merge-duplicates, return=representation",
        r#"[{"id":1,"body":"a"}]"#,
        r#"WITH pgrst_source AS (INSERT INTO "public"."comments"("body", "id") SELECT "pgrst_body"."body", "pgrst_body"."id" FROM (SELECT $1::json AS json_data) pgrst_payload, LATERAL (SELECT "body", "id" FROM json_to_recordset(pgrst_payload.json_data) AS _("body" text, "id" integer)) pgrst_body WHERE set_config('pgrst.inserted', (coalesce(nullif(current_setting('pgrst.inserted', true), '')::int, 0) + 1)::text, true) <> '0' ON CONFLICT("id") DO UPDATE SET "body" = EXCLUDED."body", "id" = EXCLUDED."id" WHERE set_config('pgrst.inserted', (coalesce(nullif(current_setting('pgrst.inserted', true), '')::int, 0) - 1)::text, true) <> '-1' RETURNING "public"."comments"."id")"#,
    ),
];

/// What follows in each of them.
const RENDERING: &str = " SELECT coalesce(json_agg(_postgrest_t), '[]') AS body, ";

#[test]
fn without_citus_the_texts_of_statements_stay_as_they_are() {
    for (method, path, query, prefer, body, expected) in PLAIN {
        let text = statement_on(&Catalog::example(), method, path, query, prefer, body);

        assert_eq!(text.split(RENDERING).next(), Some(expected), "{method} {path}");
    }
}

#[test]
fn with_citus_only_subqueries_without_a_limit_and_counts_differ_on_local_tables() {
    let catalog = Catalog::example_beside_citus();
    let counts_with_citus =
        r#"(("public"."comments"."post_id") IN (SELECT "posts_1"."id" FROM "public"."posts" AS "posts_1"))"#;
    let counts = r#"EXISTS (SELECT 1 FROM "public"."posts" AS "posts_1" WHERE "posts_1"."id" = "public"."comments"."post_id")"#;
    for (method, path, query, prefer, body, expected) in PLAIN {
        let text = statement_on(&catalog, method, path, query, prefer, body);

        let text = text.replace(" OFFSET 0", "").replace(counts_with_citus, counts);
        assert_eq!(text.split(RENDERING).next(), Some(expected), "{method} {path}");
    }
}
