//! What row-level security policies see of a caller, and CORS preflights.

use reqwest::Method;
use serde_json::json;

use crate::app::{PASSWORD, TestApp};

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_051_a_policy_with_auth_uid_shows_only_the_callers_rows() {
    let app = TestApp::autoconfirm().await;
    let session = app.sign_up("ana@example.com", PASSWORD).await.session();
    app.migrate(
        "create table public.notes (owner uuid, text text); alter table public.notes enable row level security; \
         create policy own on public.notes for select to authenticated using (owner = auth.uid());",
    )
    .await;
    app.sql(
        "insert into public.notes values ($1, 'mine'), (gen_random_uuid(), 'theirs')",
        &[&session.user_id()],
    )
    .await;
    let claims = app.keys.verify(&session.access_token).unwrap();

    let seen = app
        .sql_as("authenticated", claims.json(), "select text from public.notes")
        .await;
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].get::<_, String>(0), "mine");
    let email = app
        .sql_as("authenticated", claims.json(), "select auth.email()")
        .await;
    assert_eq!(email[0].get::<_, String>(0), "ana@example.com");
    let anonymous = app
        .sql_as(
            "anon",
            r#"{"role": "anon"}"#,
            "select auth.uid()::text, auth.role()",
        )
        .await;
    assert_eq!(anonymous[0].get::<_, Option<String>>(0), None);
    assert_eq!(anonymous[0].get::<_, String>(1), "anon");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_052_auth_uid_is_null_without_claims_and_raises_no_error() {
    let app = TestApp::start().await;
    const SELECT_CALLER: &str = "select auth.uid()::text, auth.role(), auth.email(), auth.jwt()::text";

    let empty = app.sql_as("anon", "", SELECT_CALLER).await;
    let unset = app.sql(SELECT_CALLER, &[]).await;

    for row in [&empty[0], &unset[0]] {
        for column in 0..4 {
            assert_eq!(row.get::<_, Option<String>>(column), None, "column {column}");
        }
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_019_preflight_allows_the_clients_headers_and_errors_expose_the_api_version() {
    let app = TestApp::start().await;
    let names = "apikey, authorization, content-type, x-client-info, x-supabase-api-version";

    let preflight = app
        .call(Method::OPTIONS, "/token?grant_type=password")
        .header("origin", "https://elsewhere.example")
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", names)
        .send()
        .await;

    assert!(preflight.status < 300, "{}", preflight.status);
    let allowed = preflight
        .header("access-control-allow-headers")
        .to_ascii_lowercase();
    for name in names.split(", ") {
        assert!(
            allowed.contains(name) || allowed == "*",
            "{name} is not in {allowed}"
        );
    }
    assert!(preflight.header("access-control-allow-methods").contains("POST"));
    let response = app
        .post(
            "/token?grant_type=password",
            json!({"email": "a@b.c", "password": "x"}),
        )
        .header("origin", "https://elsewhere.example")
        .send()
        .await;
    let exposed = response
        .header("access-control-expose-headers")
        .to_ascii_lowercase();
    assert!(
        exposed.contains("x-supabase-api-version") || exposed == "*",
        "{exposed}"
    );
}
