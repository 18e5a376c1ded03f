//! Reads: select, filters, order, pages and counts.

use serde_json::{Value, json};

use crate::support::TestApp;

fn ids(rows: &Value) -> Vec<i64> {
    rows.as_array()
        .expect("an array")
        .iter()
        .filter_map(|row| row["id"].as_i64())
        .collect()
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_009_columns_come_in_the_order_of_select() {
    let app = TestApp::blog().await;

    let response = app.anon().get("/posts?select=title,id&id=eq.1").await;

    assert_eq!(response.status, 200);
    assert_eq!(response.text, r#"[{"title":"First","id":1}]"#);
    assert_eq!(
        response.header("content-type"),
        Some("application/json; charset=utf-8")
    );
    assert_eq!(response.header("content-range"), Some("0-0/*"));
    assert_eq!(
        response.header("content-location"),
        Some("/posts?id=eq.1&select=title%2Cid")
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_009_a_location_that_clients_would_refuse_is_left_out() {
    let app = TestApp::blog().await;
    let ids: Vec<String> = (1..=600)
        .map(|id| format!("{id:08}-0000-4000-8000-000000000000"))
        .collect();

    let response = app
        .anon()
        .get(&format!("/posts?select=id&title=in.({})", ids.join(",")))
        .await;

    assert_eq!((response.status, response.text.as_str()), (200, "[]"));
    assert_eq!(response.header("content-location"), None);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_011_to_016_each_operator_selects_the_right_rows() {
    let app = TestApp::blog().await;
    let anon = app.anon();

    for (query, expected) in [
        ("id=gt.1", vec![2, 3]),
        ("id=gte.2&id=lte.2", vec![2]),
        ("id=neq.2", vec![1, 3]),
        ("editor_id=is.null", vec![2, 3]),
        ("editor_id=not.is.null", vec![1]),
        ("editor_id=IS.NULL", vec![]),
        ("id=in.(1,3)", vec![1, 3]),
        ("title=in.(\"Second, with \\\"quotes\\\"\",Third)", vec![2, 3]),
        ("id=in.()", vec![]),
        ("id=not.in.()", vec![1, 2, 3]),
        ("title=like.*ir*", vec![1, 3]),
        ("title=ilike.f*", vec![1]),
        ("title=match.^T", vec![3]),
        ("or=(id.eq.1,title.eq.Third)", vec![1, 3]),
        (
            "or=(id.eq.1,and(id.gt.1,not.or(title.eq.Third,id.eq.9)))",
            vec![1, 2],
        ),
        ("title=eq.Second, with \"quotes\"", vec![2]),
        ("data->>n=eq.2", vec![2]),
        ("data->tags->>0=eq.a", vec![1]),
        ("data=cs.{\"n\":1}", vec![1]),
        ("title=fts.third", vec![3]),
        ("id=eq(any).{1,2}", vec![1, 2]),
        ("title_upper=eq.FIRST", vec![1]),
    ] {
        let response = anon.get(&format!("/posts?select=id&order=id&{query}")).await;

        if query.starts_with("editor_id=IS") {
            // Operators are lower case; only the keywords of `is` may be written in any case.
            assert_eq!(response.code(), "PGRST100");
        } else {
            assert_eq!(response.status, 200, "{query}: {}", response.text);
            assert_eq!(ids(&response.json()), expected, "{query}");
        }
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_011_a_value_of_the_wrong_type_answers_22p02() {
    let app = TestApp::blog().await;

    let response = app.anon().get("/posts?id=eq.abc").await;

    assert_eq!((response.status, response.code().as_str()), (400, "22P02"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_019_order_sorts_and_wrong_orders_are_refused() {
    let app = TestApp::blog().await;
    let anon = app.anon();

    assert_eq!(
        ids(&anon
            .get("/posts?select=id&order=status.desc,id.desc")
            .await
            .json()),
        [3, 1, 2]
    );
    assert_eq!(
        ids(&anon
            .get("/posts?select=id&order=editor_id.nullslast,id")
            .await
            .json()),
        [1, 2, 3]
    );
    let unknown = anon.get("/posts?order=nope").await;
    assert_eq!((unknown.status, unknown.code().as_str()), (400, "42703"));
    let bad = anon.get("/posts?order=id.sideways").await;
    assert_eq!((bad.status, bad.code().as_str()), (400, "PGRST100"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_020_and_056_to_058_pages_have_content_range_and_206() {
    let app = TestApp::blog().await;
    let exact = [("prefer", "count=exact")];

    for (query, prefer, status, range) in [
        ("limit=2", &[][..], 200, "0-1/*"),
        ("limit=2", &exact[..], 206, "0-1/3"),
        ("limit=2&offset=2", &exact[..], 206, "2-2/3"),
        ("offset=3", &exact[..], 206, "*/3"),
        ("offset=4", &exact[..], 416, "*/3"),
        ("offset=9", &[][..], 200, "*/*"),
        ("limit=0", &[][..], 200, "*/*"),
        ("id=gt.99", &exact[..], 200, "*/0"),
        ("limit=x", &exact[..], 200, "0-2/3"),
        (
            "limit=1&tags=not.is.null&select=id,tags()",
            &exact[..],
            206,
            "0-0/2",
        ),
        (
            "limit=1&select=id,comments!inner(id)&comments.body=eq.hm",
            &exact[..],
            200,
            "0-0/1",
        ),
    ] {
        let response = app
            .anon()
            .get_with(&format!("/posts?order=id&{query}"), prefer)
            .await;

        assert_eq!(
            (response.status, response.header("content-range")),
            (status, Some(range)),
            "{query}"
        );
    }
    let negative = app.anon().get("/posts?limit=-1").await;
    assert_eq!((negative.status, negative.code().as_str()), (416, "PGRST103"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_021_no_list_is_longer_than_max_rows() {
    let config = selvedge_rest::RestConfig {
        max_rows: Some(1),
        ..Default::default()
    };
    let app = TestApp::start_with(crate::support::BLOG, config).await;

    let rows = app
        .anon()
        .get("/posts?select=id,comments(id)&order=id&limit=50")
        .await
        .json();

    assert_eq!(rows, json!([{ "id": 1, "comments": [{ "id": 1 }] }]));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_022_an_unknown_relation_gets_a_hint_at_a_similar_one() {
    let app = TestApp::blog().await;

    let response = app.anon().get("/post").await;

    assert_eq!((response.status, response.code().as_str()), (404, "PGRST205"));
    assert_eq!(
        response.json()["message"],
        "Could not find the table 'public.post' in the schema cache"
    );
    assert_eq!(
        response.json()["hint"],
        "Perhaps you meant the table 'public.posts'"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_034_alias_cast_and_json_path_in_select() {
    let app = TestApp::blog().await;

    let rows = app
        .anon()
        .get("/posts?select=x:id::text,data->n,second:data->tags->>1,title_upper&id=eq.1")
        .await;

    assert_eq!(
        rows.text,
        r#"[{"x":"1","n":1,"second":"b","title_upper":"FIRST"}]"#
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_059_head_has_the_headers_of_get_and_no_body() {
    let app = TestApp::blog().await;

    let response = app
        .anon()
        .send("HEAD", "/posts?limit=1", &[("prefer", "count=exact")], None)
        .await;

    assert_eq!(
        (response.status, response.header("content-range")),
        (206, Some("0-0/3"))
    );
    assert_eq!(
        response.header("content-type"),
        Some("application/json; charset=utf-8")
    );
    assert_eq!(
        (response.header("content-length"), response.text.as_str()),
        (None, "")
    );
}
