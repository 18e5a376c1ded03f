//! Settings that the database holds, and their reload.

use selvedge_rest::RestConfig;
use selvedge_token::KeyRing;
use serde_json::json;

use crate::standalone_app::{SECRET, StandaloneApp, Start};
use crate::support::TestApp;

const TWO_SCHEMAS: &str = "
    create schema other;
    create table public.here (id int); insert into public.here values (1), (2), (3);
    create table other.there (id int);
    grant usage on schema public, other to anon, authenticated;
    grant select on public.here, other.there to anon, authenticated;
    alter role $login set pgrst.db_schemas = 'public';
    alter role $login set pgrst.db_max_rows = '2';";

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_095_role_settings_of_the_database_override_those_of_the_role() {
    let app = Start::on(TWO_SCHEMAS).run().await;
    let anon = app.anon();
    let schemas = |response: &crate::support::TestResponse| {
        response.json()["hint"].as_str().unwrap_or_default().to_owned()
    };
    let refused = anon.get_with("/there", &[("accept-profile", "other")]).await;
    assert_eq!(
        (refused.status, schemas(&refused).as_str()),
        (406, "Only the following schemas are exposed: public")
    );
    assert_eq!(anon.get("/here").await.json().as_array().map(Vec::len), Some(2));

    app.run_sql(
        "alter role $login set pgrst.db_schemas = 'public, other, nowhere';
         alter role $login in database $database set pgrst.db_schemas = 'other';
         alter role $login in database $database set pgrst.db_max_rows = '';
         notify pgrst, 'reload config'",
    )
    .await;

    // Now `other` is the first schema, hence the default one.
    anon.until("/there", |response| response.status == 200).await;
    let refused = anon.get_with("/here", &[("accept-profile", "public")]).await;
    assert_eq!(schemas(&refused), "Only the following schemas are exposed: other");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_095_settings_in_the_database_switch_aggregates_plans_and_tx_end() {
    let app = TestApp::blog().await;
    let ana = app.user(crate::support::ANA);
    let plan = [("accept", "application/vnd.pgrst.plan+json")];
    assert_eq!(ana.get("/posts?select=id.count()").await.code(), "PGRST123");
    assert_eq!(ana.get_with("/posts", &plan).await.code(), "PGRST107");

    let superuser = app.database.superuser().await;
    let database = app.database.name();
    superuser
        .batch_execute(&format!(
            "alter role authenticator in database {database} set pgrst.db_aggregates_enabled = 'true';
             alter role authenticator in database {database} set pgrst.db_plan_enabled = 'true';
             alter role authenticator in database {database} set pgrst.db_tx_end = 'commit-allow-override';
             notify pgrst, 'reload config'"
        ))
        .await
        .unwrap();

    let counted = ana
        .until("/posts?select=id.count()", |response| response.status == 200)
        .await;
    assert!(counted.json()[0]["count"].as_i64().is_some());
    assert_eq!(ana.get_with("/posts", &plan).await.status, 200);
    let dry_run = ana
        .post_with(
            "/tags",
            &[("prefer", "tx=rollback, return=representation")],
            &json!({"id": 99, "name": "gone"}),
        )
        .await;
    assert_eq!(
        (dry_run.status, dry_run.header("preference-applied")),
        (201, Some("return=representation, tx=rollback"))
    );
    assert_eq!(ana.get("/tags?id=eq.99").await.text, "[]");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_095_pre_config_sets_settings_and_wrong_ones_are_ignored() {
    let start = Start::on(
        "create schema api; create table api.items (id int); insert into api.items values (1);
         grant usage on schema api to anon; grant select on api.items to anon;
         create schema config; grant usage on schema config to $login;
         create function config.pre_config() returns void language sql as $$
           select set_config('pgrst.db_schemas', 'api', true), set_config('pgrst.db_tx_end', 'nonsense', true),
             set_config('pgrst.server_trace_header', 'X-Trace', true) $$",
    );
    let config = RestConfig {
        pre_config: Some("config.pre_config".to_owned()),
        ..start.config
    };
    let app = Start { config, ..start }.run().await;

    let response = app.anon().get_with("/items", &[("x-trace", "abc")]).await;

    assert_eq!((response.status, response.text.as_str()), (200, r#"[{"id":1}]"#));
    assert_eq!(response.header("x-trace"), Some("abc"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_095_settings_that_cannot_be_read_at_the_start_serve_nobody() {
    let start = Start::on(
        "create table public.items (id int); grant select on public.items to anon;
         create schema config; grant usage on schema config to $login;
         create function config.pre_config() returns void language plpgsql as
           $$ begin raise exception 'not yet'; end $$",
    );
    let config = RestConfig {
        pre_config: Some("config.pre_config".to_owned()),
        ..start.config
    };
    let app = Start { config, ..start }.run().await;

    let refused = app.anon().get("/items").await;
    assert_eq!((refused.status, refused.code().as_str()), (503, "PGRST002"));
    assert_eq!(app.admin().get("/ready").await.status, 503);

    app.run_sql(
        "create or replace function config.pre_config() returns void language sql as 'select'; notify pgrst",
    )
    .await;

    app.anon()
        .until("/items", |response| response.status == 200)
        .await;
    app.admin()
        .until("/ready", |response| response.status == 200)
        .await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_095_a_wrong_setting_in_the_database_shows_in_ready_and_never_makes_a_user_anonymous() {
    let app = Start::on(
        "create function public.me() returns text language sql as $$ select current_user::text $$;
         alter role $login set pgrst.jwt_role_claim_key = '$.app.role'",
    )
    .run()
    .await;
    let user = app.with_claims(&json!({ "app": { "role": "authenticated" } }));
    app.admin()
        .until("/ready", |response| response.status == 200)
        .await;
    assert_eq!(user.get("/rpc/me").await.text, r#""authenticated""#);

    app.run_sql("alter role $login set pgrst.jwt_role_claim_key = '$.app['; notify pgrst, 'reload config'")
        .await;

    app.admin()
        .until("/ready", |response| response.status == 503)
        .await;
    let failure = app.cache.health().failure.unwrap_or_default();
    assert!(failure.contains("pgrst.jwt_role_claim_key"), "{failure}");
    assert_eq!(user.get("/rpc/me").await.text, r#""authenticated""#);

    app.run_sql(
        "alter role $login set pgrst.jwt_role_claim_key = '$.app.role'; notify pgrst, 'reload config'",
    )
    .await;
    app.admin()
        .until("/ready", |response| response.status == 200)
        .await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_095_db_config_false_ignores_settings_in_the_database() {
    let start = Start::on(TWO_SCHEMAS);
    let config = RestConfig {
        db_config: false,
        ..start.config
    };
    let app = Start { config, ..start }.run().await;

    assert_eq!(
        app.anon().get("/here").await.json().as_array().map(Vec::len),
        Some(3)
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_007_a_new_jwt_secret_invalidates_cached_tokens() {
    let app =
        Start::on("create function public.me() returns text language sql as $$ select current_user::text $$")
            .run()
            .await;
    let claims = json!({"role": "authenticated"});
    let old = app.with_claims(&claims);
    assert_eq!(old.get("/rpc/me").await.text, r#""authenticated""#);
    let other = "another-secret-of-at-least-32-characters";
    assert_ne!(SECRET, other);

    app.run_sql(&format!(
        "alter role $login set pgrst.jwt_secret = '{other}'; notify pgrst, 'reload config'"
    ))
    .await;

    let refused = old.until("/rpc/me", |response| response.status == 401).await;
    assert_eq!(refused.code(), "PGRST301");
    let ring = KeyRing::new(other.as_bytes(), &[]).unwrap();
    let token = format!("Bearer {}", ring.sign_hs256(&claims).unwrap());
    let response = app.anon().get_with("/rpc/me", &[("authorization", &token)]).await;
    assert_eq!(response.text, r#""authenticated""#);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_095_a_replaced_configuration_stays_below_the_databases_settings() {
    let app = Start::on(TWO_SCHEMAS).run().await;
    let replacement = RestConfig {
        max_rows: Some(1),
        server_timing_enabled: true,
        ..app.cache.config()
    };

    app.cache.replace_config(replacement);

    let response = app
        .anon()
        .until("/here", |response| response.header("server-timing").is_some())
        .await;
    // The role's `db_max_rows = 2` still overrides the process's 1.
    assert_eq!(response.json().as_array().map(Vec::len), Some(2));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_091_unknown_notification_payloads_cause_no_reload() {
    let app: StandaloneApp = Start::on("create table public.a (id int); grant select on public.a to anon")
        .run()
        .await;
    crate::standalone_app::until("listening", || {
        app.cache.health().listening && app.cache.health().loads >= 2
    })
    .await;
    let before = app.cache.health().loads;

    app.run_sql("notify pgrst, 'something else'; notify pgrst, 'reload schema'")
        .await;

    crate::standalone_app::until("one more load", || app.cache.health().loads > before).await;
    assert_eq!(app.cache.health().loads, before + 1);
}
