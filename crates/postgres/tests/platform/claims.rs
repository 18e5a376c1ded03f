//! auth.uid(), auth.role(), auth.email(), auth.jwt() with claims in one JSON setting, and in one setting per claim.

use selvedge_testing::TestDatabase;

use super::{api, query_value};

const ANA: &str = "00000000-0000-4000-8000-00000000000a";

#[tokio::test]
async fn gw_015_claims_are_read_from_the_json_document() {
    let database = TestDatabase::create().await;
    let claims =
        format!(r#"{{"sub":"{ANA}","role":"authenticated","email":"ana@example.com","app":{{"x":1}}}}"#);
    let client = api(&database, "authenticated", &claims).await;

    assert_eq!(query_value(&client, "auth.uid()").await, ANA);
    assert_eq!(query_value(&client, "auth.role()").await, "authenticated");
    assert_eq!(query_value(&client, "auth.email()").await, "ana@example.com");
    assert_eq!(query_value(&client, "auth.jwt() #>> '{app,x}'").await, "1");
}

#[tokio::test]
async fn gw_015_claims_are_read_from_single_settings_first() {
    let database = TestDatabase::create().await;
    let client = api(&database, "anon", r#"{"sub":"x","role":"json","email":"json"}"#).await;
    client
        .batch_execute(&format!(
            "set request.jwt.claim.sub = '{ANA}'; set request.jwt.claim.role = 'anon';
             set request.jwt.claim.email = 'single@example.com'; set request.jwt.claim = '{{\"a\":2}}'"
        ))
        .await
        .expect("set");

    assert_eq!(query_value(&client, "auth.uid()").await, ANA);
    assert_eq!(query_value(&client, "auth.role()").await, "anon");
    assert_eq!(query_value(&client, "auth.email()").await, "single@example.com");
    assert_eq!(query_value(&client, "auth.jwt()").await, r#"{"a": 2}"#);
}

#[tokio::test]
async fn gw_015_missing_or_empty_claims_are_null_and_never_an_error() {
    let database = TestDatabase::create().await;
    let client = database.connect("authenticator").await;
    client.batch_execute("set role anon").await.expect("a member");

    for _ in 0..2 {
        for function in ["uid", "role", "email", "jwt"] {
            assert_eq!(
                query_value(&client, &format!("auth.{function}()")).await,
                "null",
                "{function}"
            );
        }
        client
            .batch_execute("set request.jwt.claims = ''; set request.jwt.claim.sub = ''")
            .await
            .expect("set");
    }
}
