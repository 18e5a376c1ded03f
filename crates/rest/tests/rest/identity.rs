//! Who runs the request: role, claims, settings.

use crate::support::{ANA, TestApp};
use selvedge_rest::RestConfig;
use serde_json::json;

#[actix_web::test]
async fn rest_001_the_role_is_anon_the_tokens_or_service_role() {
    let app = TestApp::blog().await;

    for (client, role) in [
        (app.anon(), "anon"),
        (app.user(ANA), "authenticated"),
        (app.service_role(), "service_role"),
    ] {
        assert_eq!(client.post("/rpc/whoami", &json!({})).await.json()["role"], role);
    }
}

#[actix_web::test]
async fn rest_002_claims_reach_policies_and_always_hold_a_role() {
    let app = TestApp::blog().await;

    let ana = app.user(ANA).get("/rpc/whoami").await.json();
    let nobody = app.anon().get("/rpc/whoami").await.json();

    assert_eq!(ana["sub"], ANA);
    assert_eq!(nobody["claims"], json!({ "role": "anon" }));
}

#[actix_web::test]
async fn rest_003_the_next_request_sees_nothing_of_the_one_before() {
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

#[actix_web::test]
async fn rest_006_expired_tokens_are_refused_after_thirty_seconds() {
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

#[actix_web::test]
async fn rest_007_a_bad_signature_is_refused() {
    let app = TestApp::blog().await;
    let mut client = app.user(ANA);
    client.token = client
        .token
        .map(|token| format!("{}AAAA", &token[..token.len() - 4]));

    let answer = client.get("/posts").await;

    assert_eq!((answer.status, answer.code().as_str()), (401, "PGRST301"));
}

#[actix_web::test]
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

#[actix_web::test]
async fn rest_072_role_settings_apply_and_change_without_a_restart() {
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
    let mut after = json!(null);
    for _ in 0..100 {
        after = app.anon().get("/rpc/settings").await.json();
        if after["timeout"] == "1234ms" {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(after["timeout"], "1234ms");
}

#[actix_web::test]
async fn rest_073_a_statement_that_takes_too_long_answers_57014() {
    let schema = format!(
        "{}; alter function public.nap(double precision) set statement_timeout = '50ms'",
        crate::support::BLOG
    );
    let app = TestApp::start(&schema).await;

    let answer = app.anon().post("/rpc/nap", &json!({ "s": 5 })).await;

    assert_eq!((answer.status, answer.code().as_str()), (500, "57014"));
}

#[actix_web::test]
async fn rest_115_the_pre_request_function_runs_with_the_requests_settings_and_may_refuse() {
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
