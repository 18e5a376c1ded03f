//! Runs statements in the form for Citus on plain PostgreSQL: the responses must equal those of the ordinary form.

use selvedge_postgres::testing::TestDatabase;
use selvedge_rest::RestConfig;
use serde_json::{Value, json};

use crate::support::{ANA, BLOG, Client, TestApp, TestResponse};

/// Starts a blog whose system catalog says that Citus distributes it: profiles and tags are reference tables, the others sharded.
async fn start_distributed_blog() -> TestApp {
    let database = TestDatabase::create().await;
    let superuser = database.superuser().await;
    superuser.batch_execute(BLOG).await.expect("the blog");
    database.pretend_citus().await;
    database.distribute("public").await;
    superuser
        .batch_execute(
            "update pg_catalog.pg_dist_partition set partmethod = 'n', repmodel = 't', colocationid = 2
             where logicalrelid in ('public.profiles'::regclass, 'public.tags'::regclass)",
        )
        .await
        .expect("a changed catalog");
    TestApp::serve(
        database,
        RestConfig {
            max_rows: None,
            ..RestConfig::default()
        },
    )
    .await
}

/// Returns status, body and the header `Content-Range`.
fn outline(response: &TestResponse) -> (u16, String, Option<String>) {
    let range = response.header("content-range").map(str::to_owned);
    (response.status, response.text.clone(), range)
}

/// Method, path, `Prefer` and body of a request.
type Request = (&'static str, &'static str, &'static str, Option<Value>);

/// Returns requests for every form of statement, in the order in which they are sent.
fn requests() -> Vec<Request> {
    let merge = "resolution=merge-duplicates,return=representation";
    vec![
        ("GET", "/posts?select=id,title&order=id", "count=exact", None),
        ("GET", "/comments?select=id,posts!inner(title)&order=id", "", None),
        (
            "GET",
            "/comments?select=id,posts!inner(*)&posts.status=eq.published&order=id",
            "",
            None,
        ),
        (
            "GET",
            "/profiles?select=username,posts!author_id(title,status)&order=username&posts.order=id",
            "",
            None,
        ),
        (
            "GET",
            "/profiles?select=username,posts!author_id!inner(id,comments(id))&order=username&posts.order=id.desc&posts.limit=1&posts.offset=1",
            "",
            None,
        ),
        (
            "GET",
            "/profiles?select=username,posts!author_id(title)&posts.status=eq.nothing&order=username",
            "",
            None,
        ),
        (
            "GET",
            "/rpc/posts_of?writer=ana&select=id,profiles!author_id(username)&order=id",
            "count=exact",
            None,
        ),
        ("POST", "/rpc/posts_of", "", Some(json!({ "writer": "ben" }))),
        ("POST", "/rpc/add", "", Some(json!({ "a": 1 }))),
        (
            "PATCH",
            "/posts?id=gt.1&select=id,title,status&order=id",
            "return=representation",
            Some(json!({ "status": "x", "title": "new" })),
        ),
        (
            "PATCH",
            "/posts?id=eq.1",
            "",
            Some(json!({ "data": { "a": [1] } })),
        ),
        (
            "PATCH",
            "/posts?id=eq.77",
            "return=representation",
            Some(json!({ "status": "x" })),
        ),
        (
            "POST",
            "/comments?select=id,body",
            merge,
            Some(json!([{ "id": 1, "post_id": 1, "body": "a" }])),
        ),
        (
            "POST",
            "/comments?columns=id,post_id,body",
            merge,
            Some(json!([
            { "id": 1, "post_id": 1, "body": "b" }, { "id": 50, "post_id": 1, "body": "c" }])),
        ),
        (
            "POST",
            "/comments",
            merge,
            Some(json!({ "id": 51, "post_id": 1, "body": "d" })),
        ),
        (
            "POST",
            "/comments",
            "resolution=merge-duplicates",
            Some(json!({ "id": 51, "post_id": 1, "body": "e" })),
        ),
        (
            "POST",
            "/tags?on_conflict=id",
            "resolution=ignore-duplicates,return=representation",
            Some(json!({ "id": 1, "name": "z" })),
        ),
        (
            "PUT",
            "/tags?id=eq.1",
            "return=representation",
            Some(json!({ "id": 1, "name": "put" })),
        ),
        (
            "PUT",
            "/tags?id=eq.9",
            "return=representation",
            Some(json!({ "id": 9, "name": "nine" })),
        ),
        (
            "PUT",
            "/tags?id=eq.9",
            "",
            Some(json!({ "id": 8, "name": "other" })),
        ),
        (
            "DELETE",
            "/post_tags?post_id=eq.1&select=tag_id&order=tag_id",
            "return=representation",
            None,
        ),
    ]
}

async fn send_all(client: &Client) -> Vec<(Request, (u16, String, Option<String>))> {
    let mut responses = Vec::new();
    for request in requests() {
        let (method, path, prefer, body) = &request;
        let body = body.as_ref().map(Value::to_string);
        // From the third time on, this process renders the JSON of a read, instead of PostgreSQL.
        let times = if *method == "GET" { 3 } else { 1 };
        for _ in 0..times {
            let response = client
                .send(method, path, &[("prefer", prefer)], body.clone())
                .await;
            responses.push((request.clone(), outline(&response)));
        }
    }
    responses
}

#[actix_web::test]
async fn requests_on_distributed_tables_get_the_same_responses_as_on_local_ones() {
    let plain = TestApp::start_with(
        BLOG,
        RestConfig {
            max_rows: None,
            ..RestConfig::default()
        },
    )
    .await;
    let distributed = start_distributed_blog().await;

    let expected = send_all(&plain.service_role()).await;
    let found = send_all(&distributed.service_role()).await;

    for ((request, expected), (_, found)) in expected.iter().zip(&found) {
        assert!(expected.0 < 500, "{request:?} {expected:?}");
        let same_rows = |text: &str| serde_json::from_str::<Value>(text).ok();
        assert_eq!(
            (found.0, same_rows(&found.1), &found.2),
            (expected.0, same_rows(&expected.1), &expected.2),
            "{request:?}"
        );
    }
    // Row-level security applies in both forms.
    let likes = |client: Client| async move {
        let response = client
            .send(
                "PATCH",
                "/likes?post_id=gt.0",
                &[("prefer", "return=representation")],
                Some(json!({ "post_id": 2 }).to_string()),
            )
            .await;
        (response.status, response.text)
    };
    assert_eq!(likes(plain.user(ANA)).await, likes(distributed.user(ANA)).await);
    assert_eq!(likes(plain.anon()).await, likes(distributed.anon()).await);
    plain.stop().await;
    distributed.stop().await;
}
