//! `/graphql/v1` with a test function in place of pg_graphql's `graphql.resolve`, with the same parameters.

use serde_json::{Value, json};

use crate::support::{ANA, BLOG, TestApp};

/// The path relative to `/rest/v1`, at which the test client sends its requests.
const GRAPHQL: &str = "/../../graphql/v1";

/// Returns role, claims and arguments that the function sees; the query `fail` raises an error.
const RESOLVE: &str = r#"
    create table public.secrets (owner uuid);
    alter table public.secrets enable row level security;
    create policy own on public.secrets using (owner = auth.uid());
    insert into public.secrets values ('aaaaaaaa-0000-4000-8000-000000000001');
    grant select on public.secrets to anon, authenticated;
    create function graphql.resolve(
      query text, variables jsonb default '{}', "operationName" text default null, extensions jsonb default null
    ) returns jsonb language plpgsql as $$
    begin
      if query = 'fail' then raise exception 'no'; end if;
      if query = 'like' then
        insert into public.likes (post_id, user_id) values (2, auth.uid());
      end if;
      return jsonb_build_object('data', jsonb_build_object(
        'role', current_user, 'user', auth.uid(), 'query', query, 'variables', variables,
        'operation', "operationName", 'extensions', extensions,
        'path', current_setting('request.path'), 'secrets', (select count(*) from public.secrets)));
    end $$;
"#;

async fn start_with_resolver() -> TestApp {
    TestApp::start(&format!("{BLOG}{RESOLVE}")).await
}

async fn query(app: &TestApp, user: Option<&str>, body: Value) -> Value {
    let client = user.map_or_else(|| app.anon(), |id| app.user(id));
    let response = client.post(GRAPHQL, &body).await;
    assert_eq!(response.status, 200, "{response:?}");
    let content_type = response.header("content-type").expect("a type");
    assert_eq!(content_type, "application/json; charset=utf-8");
    response.json()
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_001_graphql_runs_the_query_with_role_and_claims_of_the_caller() {
    let app = start_with_resolver().await;

    let ana = query(&app, Some(ANA), json!({ "query": "{ a }" })).await;
    let anon = query(&app, None, json!({ "query": "{ a }" })).await;

    let data = &ana["data"];
    assert_eq!(
        (&data["role"], &data["user"]),
        (&json!("authenticated"), &json!(ANA))
    );
    assert_eq!(
        (&data["variables"], &data["path"]),
        (&json!({}), &json!("/rpc/graphql"))
    );
    assert_eq!(
        (&anon["data"]["role"], &anon["data"]["user"]),
        (&json!("anon"), &Value::Null)
    );
    assert_eq!(
        (&data["secrets"], &anon["data"]["secrets"]),
        (&json!(1), &json!(0))
    );
    let body =
        json!({ "query": "q", "variables": { "x": 1 }, "operationName": "Op", "extensions": { "e": 2 } });
    let all = query(&app, None, body).await;
    let data = &all["data"];
    assert_eq!(
        json!([
            data["query"],
            data["variables"],
            data["operation"],
            data["extensions"]
        ]),
        json!(["q", { "x": 1 }, "Op", { "e": 2 }])
    );
    // A mutation is not read-only.
    let like = query(&app, Some(ANA), json!({ "query": "like" })).await;
    assert_eq!(like["data"]["query"], "like");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_001_graphql_errors_have_the_shape_of_function_errors() {
    let app = start_with_resolver().await;

    let failed = app.anon().post(GRAPHQL, &json!({ "query": "fail" })).await;
    assert_eq!((failed.status, failed.code()), (400, "P0001".to_owned()));
    let malformed = app.anon().send("POST", GRAPHQL, &[], Some("{".to_owned())).await;
    assert_eq!((malformed.status, malformed.code()), (400, "PGRST102".to_owned()));
    let unknown = app.anon().post(GRAPHQL, &json!({ "queries": 1 })).await;
    assert_eq!((unknown.status, unknown.code()), (404, "PGRST202".to_owned()));
    let below = app.anon().post(&format!("{GRAPHQL}/x"), &json!({})).await;
    assert_eq!(below.status, 404, "{below:?}");
    // Compat: the gateway sets the schema for writing methods only, so a GET looks for the function in `public`.
    let read = app.anon().get(&format!("{GRAPHQL}?query=x")).await;
    assert_eq!((read.status, read.code()), (404, "PGRST202".to_owned()));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_001_graphql_without_the_extension_responds_as_supabase_does() {
    let app = TestApp::blog().await;

    let answer = query(&app, None, json!({ "query": "{ a }" })).await;

    assert_eq!(
        answer,
        json!({ "errors": [{ "message": "pg_graphql extension is not enabled." }] })
    );
}
