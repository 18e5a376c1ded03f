//! The `auth` functions that SQL of projects uses, CORS, and the schema's own constraints.

use reqwest::Method;

use crate::app::TestApp;

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_019_cors_allows_the_headers_of_the_stock_client() {
    let app = TestApp::start().await;

    let response = app
        .call(Method::OPTIONS, "/token?grant_type=password")
        .header("origin", "https://site.example")
        .header("access-control-request-method", "POST")
        .header(
            "access-control-request-headers",
            "apikey,authorization,content-type,x-client-info,x-supabase-api-version",
        )
        .send()
        .await;

    assert!(matches!(response.status, 200 | 204), "{}", response.status);
    let allowed = response.header("access-control-allow-headers").to_lowercase();
    for name in [
        "apikey",
        "authorization",
        "content-type",
        "x-client-info",
        "x-supabase-api-version",
    ] {
        assert!(
            allowed == "*" || allowed.split(',').any(|one| one.trim() == name),
            "{name} in {allowed}"
        );
    }
    assert_eq!(response.header("access-control-allow-origin"), "*");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_051_rows_that_refer_to_a_user_are_visible_to_that_user_and_deleted_with_it() {
    let app = TestApp::start().await;
    let ana = app.user("ana@example.com").await;
    app.user("ben@example.com").await;
    app.migrate(
        "create table public.notes (owner uuid references auth.users (id) on delete cascade, text text);
         alter table public.notes enable row level security;
         create policy own on public.notes for select using ((select auth.uid()) = owner);
         grant select on public.notes to anon, authenticated;
         insert into public.notes select id, email from auth.users;",
    )
    .await;
    let claims = app.keys.verify(&ana.access_token).unwrap();
    let seen = async |role: &str, claims: &str| {
        let sql = "select set_config('role', $1, true), set_config('request.jwt.claims', $2, true)";
        let mut client = app.superuser().await;
        let transaction = client.transaction().await.unwrap();
        transaction.query(sql, &[&role, &claims]).await.unwrap();
        let rows = transaction
            .query("select text from public.notes", &[])
            .await
            .unwrap();
        rows.iter().map(|row| row.get::<_, String>(0)).collect::<Vec<_>>()
    };

    assert_eq!(seen("authenticated", claims.json()).await, ["ana@example.com"]);
    assert!(seen("anon", r#"{"role": "anon"}"#).await.is_empty());
    app.sql("delete from auth.users where email = 'ana@example.com'", &[])
        .await;
    assert_eq!(app.count("select count(*) from public.notes").await, 1);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_052_auth_functions_return_null_without_claims() {
    let app = TestApp::start().await;
    for claims in [None, Some("")] {
        let mut client = app.superuser().await;
        let transaction = client.transaction().await.unwrap();
        if let Some(claims) = claims {
            transaction
                .query("select set_config('request.jwt.claims', $1, true)", &[&claims])
                .await
                .unwrap();
        }
        let sql = "select auth.uid() is null, auth.role() is null, auth.email() is null, auth.jwt() is null";
        let row = transaction.query_one(sql, &[]).await.unwrap();
        assert!((0..4).all(|column| row.get::<_, bool>(column)), "{claims:?}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_090_gotrues_migrations_are_recorded_and_a_dump_may_insert_them_again() {
    let app = TestApp::start().await;

    let known = "select count(*) from auth.schema_migrations where version in ('00', '20171026211738', '20260625000000')";
    assert_eq!(app.count(known).await, 3);
    let all = app.count("select count(*) from auth.schema_migrations").await;
    app.superuser()
        .await
        .batch_execute("insert into auth.schema_migrations (version) values ('00'), ('20990101000000')")
        .await
        .unwrap();
    assert_eq!(
        app.count("select count(*) from auth.schema_migrations").await,
        all + 1,
        "a dump's register fits in"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn table_constraints_reject_unsafe_custom_providers() {
    let app = TestApp::start().await;
    let client = app.superuser().await;
    let insert = |kind: &str, identifier: &str, name: &str, issuer: &str| {
        format!(
            "insert into auth.custom_oauth_providers (provider_type, identifier, name, client_id, client_secret, issuer) \
             values ('{kind}', '{identifier}', '{name}', 'id', 'secret', {issuer})"
        )
    };

    for (sql, constraint) in [
        (insert("oidc", "custom:a", "A", "null"), "oidc_requires_issuer"),
        (
            insert("oidc", "custom:a", "A", "'http://issuer.example'"),
            "oidc_issuer_https",
        ),
        (
            insert("oauth2", "custom:a", "A", "null"),
            "oauth2_requires_endpoints",
        ),
        (
            insert("oidc", "Custom:a", "A", "'https://issuer.example'"),
            "identifier_format",
        ),
        (
            insert("oidc", "custom:a", "", "'https://issuer.example'"),
            "name_length",
        ),
    ] {
        let error = client.batch_execute(&sql).await.unwrap_err();
        let named = error
            .as_db_error()
            .and_then(|error| error.constraint())
            .unwrap_or_default();
        assert_eq!(named, format!("custom_oauth_providers_{constraint}"));
    }
    let fine = insert("oidc", "custom:a", "A", "'https://issuer.example'");
    client.batch_execute(&fine).await.unwrap();
}
