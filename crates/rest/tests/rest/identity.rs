//! The role that runs a request, its claims and settings.

use selvedge_rest::RestConfig;
use serde_json::json;

use crate::support::{ANA, TestApp};

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_001_requests_run_as_anon_or_the_role_of_their_token() {
    let app = TestApp::blog().await;

    for (client, role) in [
        (app.anon(), "anon"),
        (app.user(ANA), "authenticated"),
        (app.service_role(), "service_role"),
    ] {
        assert_eq!(client.post("/rpc/whoami", &json!({})).await.json()["role"], role);
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_002_sql_can_read_the_claims_which_always_have_a_role() {
    let app = TestApp::blog().await;

    let ana = app.user(ANA).get("/rpc/whoami").await.json();
    let nobody = app.anon().get("/rpc/whoami").await.json();

    assert_eq!(ana["sub"], ANA);
    assert_eq!(nobody["claims"], json!({ "role": "anon" }));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_003_settings_of_one_request_do_not_leak_into_the_next() {
    let app = TestApp::blog().await;
    let (ana, anon) = (app.user(ANA), app.anon());

    for _ in 0..20 {
        let (mine, theirs) = futures_util::join!(ana.get("/rpc/whoami"), anon.get("/rpc/whoami"));

        assert_eq!(mine.json()["sub"], ANA);
        assert_eq!(
            (&theirs.json()["role"], &theirs.json()["sub"]),
            (&json!("anon"), &json!(null))
        );
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_006_tokens_are_refused_thirty_seconds_after_they_expire() {
    let app = TestApp::blog().await;
    let now = selvedge_token::unix_now();
    let with_exp = |exp: i64| app.with_claims(&json!({ "role": "authenticated", "exp": exp }));

    let late = with_exp(now - 60).get("/posts").await;
    let just_late = with_exp(now - 10).get("/posts").await;

    assert_eq!((late.status, late.code().as_str()), (401, "PGRST303"));
    assert_eq!(
        late.header("www-authenticate"),
        Some("Bearer error=\"invalid_token\", error_description=\"JWT expired\"")
    );
    assert_eq!(just_late.status, 200);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_007_a_bad_signature_is_refused() {
    let app = TestApp::blog().await;
    let mut client = app.user(ANA);
    client.token = client
        .token
        .map(|token| format!("{}AAAA", &token[..token.len() - 4]));

    let response = client.get("/posts").await;

    assert_eq!((response.status, response.code().as_str()), (401, "PGRST301"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_008_missing_privileges_are_401_for_anon_and_403_for_others() {
    let app = TestApp::start(&format!(
        "{}; create table public.secret (id int)",
        crate::support::BLOG
    ))
    .await;
    let superuser = app.database.superuser().await;
    superuser
        .batch_execute("revoke all on public.secret from anon, authenticated")
        .await
        .unwrap();

    let anon = app.anon().get("/secret").await;
    let ana = app.user(ANA).get("/secret").await;

    assert_eq!((anon.status, anon.code().as_str()), (401, "42501"));
    assert_eq!(anon.header("www-authenticate"), Some("Bearer"));
    assert_eq!((ana.status, ana.code().as_str()), (403, "42501"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_072_settings_of_a_role_apply_and_change_without_a_restart() {
    let app = TestApp::blog().await;
    let superuser = app.database.superuser().await;
    let before = app.anon().get("/rpc/settings").await.json();

    superuser
        .batch_execute(
            "alter role anon in database current_test set statement_timeout = '1234ms'"
                .replace("current_test", app.database.name())
                .as_str(),
        )
        .await
        .unwrap();
    superuser
        .batch_execute("notify pgrst, 'reload config'")
        .await
        .unwrap();

    assert_eq!(before["timeout"], "3s");
    app.anon()
        .until("/rpc/settings", |response| response.json()["timeout"] == "1234ms")
        .await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_073_a_statement_timeout_answers_57014() {
    let schema = format!(
        "{}; alter function public.nap(double precision) set statement_timeout = '50ms'",
        crate::support::BLOG
    );
    let app = TestApp::start(&schema).await;

    let response = app.anon().post("/rpc/nap", &json!({ "s": 5 })).await;

    assert_eq!((response.status, response.code().as_str()), (500, "57014"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_115_the_pre_request_function_sees_the_headers_and_may_refuse() {
    let schema = format!(
        "{}; create function public.guard() returns void language plpgsql as $$ begin
           if current_setting('request.headers')::json ->> 'x-block' = 'yes' then
             raise sqlstate 'PT403' using message = 'blocked';
           end if; end $$;
         grant execute on function public.guard() to anon",
        crate::support::BLOG
    );
    let config = RestConfig {
        pre_request: Some("public.guard".to_owned()),
        ..RestConfig::default()
    };
    let app = TestApp::start_with(&schema, config).await;

    let blocked = app.anon().get_with("/posts", &[("x-block", "yes")]).await;
    let passed = app.anon().get("/posts").await;

    assert_eq!((blocked.status, blocked.code().as_str()), (403, "PT403"));
    assert_eq!(passed.status, 200);
}
