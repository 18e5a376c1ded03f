//! Runs statements in the form for Citus on plain PostgreSQL: the responses must equal those of the ordinary form.

use selvedge_rest::RestConfig;
use selvedge_testing::TestDatabase;
use serde_json::{Value, json};

use crate::support::{ANA, BLOG, Client, TestApp, TestResponse};

/// Functions by which posts embed comments.
const COMPUTED_RELATIONSHIPS: &str = "
    create function public.comments_of(public.posts) returns setof public.comments language sql stable
      as $$ select * from public.comments where post_id = $1.id $$;
    create function public.first_comment(public.posts) returns setof public.comments rows 1 language sql stable
      as $$ select * from public.comments where post_id = $1.id order by id limit 1 $$;
    create function public.headline(public.posts) returns text language sql stable as $$ select upper($1.title) $$;
    create function public.greeting(public.profiles) returns text language sql stable as $$ select 'hi ' || $1.username $$;
    grant execute on all functions in schema public to anon, authenticated, service_role;";

fn config() -> RestConfig {
    RestConfig {
        max_rows: None,
        plan_enabled: true,
        aggregates_enabled: true,
        ..RestConfig::default()
    }
}

async fn start_blog() -> TestApp {
    TestApp::start_with(&format!("{BLOG}{COMPUTED_RELATIONSHIPS}"), config()).await
}

/// Starts a blog whose system catalog says that Citus distributes it: profiles and tags are reference tables, likes
/// a local table that Citus manages, the others sharded.
async fn start_distributed_blog() -> TestApp {
    let database = TestDatabase::create().await;
    let superuser = database.superuser().await;
    let schema = format!("{BLOG}{COMPUTED_RELATIONSHIPS}");
    superuser.batch_execute(&schema).await.expect("the blog");
    database.pretend_citus().await;
    database.distribute("public").await;
    superuser
        .batch_execute(
            "update pg_catalog.pg_dist_partition set partmethod = 'n', repmodel = 't', colocationid = 2
             where logicalrelid in ('public.profiles'::regclass, 'public.tags'::regclass);
             update pg_catalog.pg_dist_partition set partmethod = 'n', repmodel = 's', colocationid = 0
             where logicalrelid = 'public.likes'::regclass",
        )
        .await
        .expect("a changed catalog");
    TestApp::serve(database, config()).await
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
        (
            "GET",
            "/posts?select=id,comments_of(id,body),first_comment(body)&order=id&comments_of.order=id",
            "",
            None,
        ),
        (
            "GET",
            "/posts?select=id,comments_of!inner(id)&comments_of.body=neq.hm&order=id",
            "count=exact",
            None,
        ),
        ("POST", "/rpc/add", "", Some(json!({ "a": 1 }))),
        // Totals of sharded rows for each row of a reference table, also where there are none.
        (
            "GET",
            "/profiles?select=username,posts!author_id(count)&order=username",
            "",
            None,
        ),
        (
            "GET",
            "/profiles?select=username,n:posts!author_id(count(),id.max())&n.status=eq.nothing&order=username",
            "",
            None,
        ),
        (
            "GET",
            "/profiles?select=username,posts!author_id!inner(total:id.sum()::text,id.count())&posts.id=gt.1&posts=not.is.null&order=username",
            "",
            None,
        ),
        // Embeds in embeds, and through a junction table.
        (
            "GET",
            "/tags?select=name,posts(id,title)&order=name&posts.order=id.desc&posts.limit=1",
            "",
            None,
        ),
        (
            "GET",
            "/tags?select=name,posts!inner(id)&posts.status=eq.published&order=name&posts.order=id",
            "",
            None,
        ),
        ("GET", "/tags?select=name,posts(count)&order=name", "", None),
        (
            "GET",
            "/tags?select=name,post_tags(posts(title,comments(count)))&order=name",
            "",
            None,
        ),
        (
            "GET",
            "/profiles?select=username,posts!author_id!inner(id,comments!inner(id))&order=username&posts.order=id",
            "count=exact",
            None,
        ),
        (
            "GET",
            "/tags?select=name,posts!inner(id)&posts.status=eq.published&limit=1&order=name",
            "count=exact",
            None,
        ),
        // Counts of rows with and without an embed.
        (
            "GET",
            "/posts?select=id,comments(id)&comments=is.null&order=id",
            "count=exact",
            None,
        ),
        (
            "GET",
            "/profiles?select=username,posts!author_id(id)&posts=not.is.null&order=username&posts.order=id&limit=1",
            "count=exact",
            None,
        ),
        (
            "GET",
            "/posts?select=id,profiles!editor_id(username)&profiles=is.null&limit=1&order=id",
            "count=exact",
            None,
        ),
        (
            "GET",
            "/comments?select=id,comments!parent_id(id)&comments=is.null&limit=1&order=id",
            "count=exact",
            None,
        ),
        // Embeds in results, of which only a part of the table is read.
        (
            "GET",
            "/rpc/posts_of?writer=ana&select=id,profiles!author_id(username),comments(body)&order=id&comments.order=id",
            "",
            None,
        ),
        (
            "GET",
            "/rpc/posts_of?writer=ana&select=id,comments!inner(count),tags(name)&order=id&tags.order=name",
            "",
            None,
        ),
        (
            "PATCH",
            "/comments?id=lte.2&select=id,posts(title,profiles!author_id(username),tags(name))&order=id&posts.tags.order=name",
            "return=representation",
            Some(json!({ "body": "with its post" })),
        ),
        (
            "POST",
            "/comments?select=body,posts!inner(id,comments(count))",
            "return=representation",
            Some(json!([{ "id": 60, "post_id": 1, "body": "x" }, { "id": 61, "post_id": 2, "body": "y" }])),
        ),
        // Computed columns.
        (
            "GET",
            "/posts?select=id,headline&headline=neq.x&order=headline",
            "count=exact",
            None,
        ),
        (
            "GET",
            "/profiles?select=greeting,posts!author_id(headline)&order=greeting.desc&posts.order=headline",
            "",
            None,
        ),
        (
            "GET",
            "/rpc/posts_of?writer=ana&select=id,headline&order=id",
            "",
            None,
        ),
        (
            "GET",
            "/rpc/posts_of?writer=ana&select=id&headline=neq.x&order=id",
            "",
            None,
        ),
        // Only columns of the result that the response needs can be sorted by.
        (
            "GET",
            "/rpc/posts_of?writer=ana&select=headline&order=title",
            "",
            None,
        ),
        // Of several columns with one name, readers of JSON use the last.
        ("GET", "/posts?select=id,id&order=id", "count=exact", None),
        ("GET", "/posts?select=title,*,id:status&order=id", "", None),
        (
            "GET",
            "/posts?select=id,title,...profiles!author_id(*),title:status&order=id",
            "",
            None,
        ),
        (
            "GET",
            "/posts?select=comments:id,comments(id,id:body),tags(name,*)&order=id&comments.order=id&tags.order=name",
            "",
            None,
        ),
        (
            "GET",
            "/posts?select=status,id.sum(),author_id.count(),id.count(),sum:id.max()&order=status",
            "",
            None,
        ),
        (
            "GET",
            "/rpc/posts_of?writer=ana&select=id,headline,id:headline&order=id",
            "",
            None,
        ),
        (
            "POST",
            "/tags?select=id,*,name:id",
            "return=representation",
            Some(json!({ "id": 7, "name": "seven" })),
        ),
        (
            "PATCH",
            "/posts?id=eq.2&select=id,headline&order=id",
            "return=representation",
            Some(json!({ "title": "again" })),
        ),
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

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn requests_on_distributed_tables_get_the_same_responses_as_on_local_ones() {
    let plain = start_blog().await;
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

/// Whether PostgreSQL has put the body of the called function in the place of its call, and so reads `table` itself.
async fn is_inlined(client: &Client, method: &str, path: &str, body: Option<Value>, table: &str) -> bool {
    let headers = [("accept", "application/vnd.pgrst.plan+json")];
    let body = body.map(|body| body.to_string());
    let response = client.send(method, path, &headers, body).await;
    assert_eq!(response.status, 200, "{path}: {}", response.text);
    let scans = format!("\"Relation Name\": \"{table}\"");
    response.text.contains(&scans)
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn with_citus_the_body_of_a_function_is_never_read_behind_its_back() {
    let plain = start_blog().await;
    let distributed = start_distributed_blog().await;

    for (method, path, body, table) in [
        ("GET", "/rpc/posts_of?writer=ana&select=id", None, "posts"),
        ("POST", "/rpc/posts_of", Some(json!({ "writer": "ben" })), "posts"),
        ("GET", "/posts?select=id,comments_of(body)", None, "comments"),
        (
            "GET",
            "/posts?select=id,comments_of!inner(body)",
            None,
            "comments",
        ),
        ("GET", "/posts?select=id,first_comment(body)", None, "comments"),
        ("GET", "/posts?select=id,...first_comment(body)", None, "comments"),
    ] {
        // Citus would not know of such a read, which finds the empty table of this node: an empty 200.
        assert!(
            !is_inlined(&distributed.service_role(), method, path, body.clone(), table).await,
            "{method} {path}"
        );
        // Else the test could not fail.
        assert!(
            is_inlined(&plain.service_role(), method, path, body, table).await,
            "{method} {path} without Citus"
        );
    }
    plain.stop().await;
    distributed.stop().await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn with_citus_a_planned_count_of_distributed_rows_is_refused_with_a_hint() {
    let app = start_distributed_blog().await;
    let client = app.service_role();

    for path in ["/posts", "/profiles", "/posts?select=id,comments(id)&limit=1"] {
        let refused = client.get_with(path, &[("prefer", "count=planned")]).await;
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (400, "0A000"),
            "{path}"
        );
        assert_eq!(refused.json()["hint"], "Use count=exact.");
        let estimated = client.get_with(path, &[("prefer", "count=estimated")]).await;
        let total = estimated
            .header("content-range")
            .and_then(|range| range.split('/').nth(1));
        let expected = if path == "/profiles" { "2" } else { "3" };
        assert_eq!(total, Some(expected), "{path}");
    }
    app.stop().await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn with_citus_two_columns_of_one_name_are_refused_unless_readers_of_json_see_the_last() {
    let plain = start_blog().await;
    let distributed = start_distributed_blog().await;

    for (path, accept) in [
        ("/posts?select=id,id", "text/csv"),
        ("/posts?select=title,*", "text/csv"),
        (
            "/posts?select=title,title:data",
            "application/vnd.pgrst.array+json;nulls=stripped",
        ),
        // Rows are grouped by one of the columns, so it cannot be left out, and the request is refused.
        ("/posts?select=count:title,id.count()", "*/*"),
        ("/posts?select=id.count(),...profiles!author_id(count:id)", "*/*"),
    ] {
        let headers = [("accept", accept)];
        let refused = distributed.service_role().get_with(path, &headers).await;
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (400, "0A000"),
            "{path}: Citus would give the second another name"
        );
        assert!(refused.json()["hint"].is_string(), "{path}");
        let accepted = plain.service_role().get_with(path, &headers).await;
        assert!(!accepted.text.contains("0A000"), "{path} without Citus");
    }
    // A view may read tables that Citus distributes, which its row in the catalog does not say.
    let headers = [("accept", "text/csv")];
    let refused = distributed
        .service_role()
        .get_with("/published?select=title,title", &headers)
        .await;
    assert_eq!((refused.status, refused.code().as_str()), (400, "0A000"));
    for path in [
        "/posts?select=id,again:id&limit=1",
        "/posts?select=id,*&limit=1",
        "/published?select=id:post_id,*,id:post_id&limit=1",
        // A local table that Citus manages.
        "/likes?select=id:post_id,*,id:post_id&limit=1",
    ] {
        let shown = distributed.service_role().get(path).await;
        assert_eq!(shown.status, 200, "{}", shown.text);
        assert_eq!(shown.text.matches("\"id\":").count(), 1, "{}", shown.text);
    }
    plain.stop().await;
    distributed.stop().await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn with_citus_computed_columns_of_a_result_are_rendered_as_csv_and_those_of_written_rows_are_refused() {
    let plain = start_blog().await;
    let distributed = start_distributed_blog().await;
    let csv = [("accept", "text/csv"), ("prefer", "return=representation")];
    let path = "/rpc/posts_of?writer=ana&select=headline,id&title=neq.x&order=id";

    let expected = plain.service_role().get_with(path, &csv).await;
    let found = distributed.service_role().get_with(path, &csv).await;
    let written = distributed
        .service_role()
        .send(
            "PATCH",
            "/posts?id=eq.1&select=id,headline",
            &csv,
            Some(json!({ "title": "a" }).to_string()),
        )
        .await;

    assert_eq!((found.status, &found.text), (200, &expected.text));
    assert_eq!((written.status, written.code().as_str()), (400, "0A000"));
    assert!(written.json()["hint"].is_string(), "{}", written.text);
    plain.stop().await;
    distributed.stop().await;
}
