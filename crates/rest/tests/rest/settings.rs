//! Settings of the database, and their reload.

use crate::alone::{Alone, SECRET, Start};
use crate::support::TestApp;
use selvedge_rest::RestConfig;
use selvedge_token::KeyRing;
use serde_json::json;

const TWO_SCHEMAS: &str = "
    create schema other;
    create table public.here (id int); insert into public.here values (1), (2), (3);
    create table other.there (id int);
    grant usage on schema public, other to anon, authenticated;
    grant select on public.here, other.there to anon, authenticated;
    alter role $login set pgrst.db_schemas = 'public';
    alter role $login set pgrst.db_max_rows = '2';";

#[actix_web::test]
async fn rest_095_settings_of_the_role_expose_schemas_and_those_of_the_database_win() {
    let app = Start::on(TWO_SCHEMAS).run().await;
    let anon = app.anon();
    let schemas =
        |answer: &crate::support::Answer| answer.json()["hint"].as_str().unwrap_or_default().to_owned();
    let refused = anon.get_with("/there", &[("accept-profile", "other")]).await;
    assert_eq!(
        (refused.status, schemas(&refused).as_str()),
        (406, "Only the following schemas are exposed: public")
    );
    assert_eq!(anon.get("/here").await.json().as_array().map(Vec::len), Some(2));

    app.sql(
        "alter role $login set pgrst.db_schemas = 'public, other, nowhere';
         alter role $login in database $database set pgrst.db_schemas = 'other';
         alter role $login in database $database set pgrst.db_max_rows = '';
         notify pgrst, 'reload config'",
    )
    .await;

    // the first schema is the default one now
    anon.until("/there", |answer| answer.status == 200).await;
    let refused = anon.get_with("/here", &[("accept-profile", "public")]).await;
    assert_eq!(schemas(&refused), "Only the following schemas are exposed: other");
}

#[actix_web::test]
async fn rest_095_the_database_switches_aggregates_plans_and_the_transactions_end() {
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
        .until("/posts?select=id.count()", |answer| answer.status == 200)
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

#[actix_web::test]
async fn rest_095_a_function_may_make_settings_and_wrong_ones_are_left_out() {
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

    let answer = app.anon().get_with("/items", &[("x-trace", "abc")]).await;

    assert_eq!((answer.status, answer.text.as_str()), (200, r#"[{"id":1}]"#));
    assert_eq!(answer.header("x-trace"), Some("abc"));
}

#[actix_web::test]
async fn rest_095_settings_of_the_database_can_be_switched_off() {
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

#[actix_web::test]
async fn rest_007_keys_of_the_database_replace_the_old_ones_with_their_cache() {
    let app =
        Start::on("create function public.me() returns text language sql as $$ select current_user::text $$")
            .run()
            .await;
    let claims = json!({"role": "authenticated"});
    let old = app.with_claims(&claims);
    assert_eq!(old.get("/rpc/me").await.text, r#""authenticated""#);
    let other = "another-secret-of-at-least-32-characters";
    assert_ne!(SECRET, other);

    app.sql(&format!(
        "alter role $login set pgrst.jwt_secret = '{other}'; notify pgrst, 'reload config'"
    ))
    .await;

    let refused = old.until("/rpc/me", |answer| answer.status == 401).await;
    assert_eq!(refused.code(), "PGRST301");
    let ring = KeyRing::new(other.as_bytes(), &[]).unwrap();
    let token = format!("Bearer {}", ring.sign_hs256(&claims).unwrap());
    let answer = app.anon().get_with("/rpc/me", &[("authorization", &token)]).await;
    assert_eq!(answer.text, r#""authenticated""#);
}

#[actix_web::test]
async fn rest_095_what_the_process_is_told_later_takes_effect_below_the_database() {
    let app = Start::on(TWO_SCHEMAS).run().await;
    let told = RestConfig {
        max_rows: Some(1),
        server_timing_enabled: true,
        ..app.state.config()
    };

    app.state.replace_config(told);

    let answer = app
        .anon()
        .until("/here", |answer| answer.header("server-timing").is_some())
        .await;
    // the role's setting still wins over the process's
    assert_eq!(answer.json().as_array().map(Vec::len), Some(2));
}

#[actix_web::test]
async fn rest_091_other_payloads_are_left_alone() {
    let app: Alone = Start::on("create table public.a (id int); grant select on public.a to anon")
        .run()
        .await;
    crate::alone::until("listening", || {
        app.state.health().listening && app.state.health().loads >= 2
    })
    .await;
    let before = app.state.health().loads;

    app.sql("notify pgrst, 'something else'; notify pgrst, 'reload schema'")
        .await;

    crate::alone::until("one more load", || app.state.health().loads > before).await;
    assert_eq!(app.state.health().loads, before + 1);
}
