//! Sign-in by SAML: what the recorded corpus (`e2e/golden/saml`) cannot show, because it plays one request after another.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use selvedge_auth::{AuthConfig, SamlConfig, SamlSettings};
use serde_json::{Value, json};

use crate::app::{Response, TestApp};
use crate::pkce::{VERIFIER, exchange_code, with_challenge};
use crate::providers::{in_fragment, read_query_param};
use crate::saml_provider::{Assertion, ENTITY_ID, read_key, write_metadata, write_response};

pub(crate) const SERVICE: &str = "https://sso.example/auth/v1";

/// Starts the service with SAML and one identity provider; returns the provider's id, too.
async fn start() -> (TestApp, String) {
    start_with(|_| {}).await
}

async fn start_with(change: impl FnOnce(&mut AuthConfig)) -> (TestApp, String) {
    let app = TestApp::start_with(|config| {
        config.saml = Some(self::config());
        change(config);
    })
    .await;
    let id = add_provider(&app, json!(["Example.com"])).await;
    (app, id)
}

/// The configuration of [`SERVICE`].
pub(crate) fn config() -> SamlConfig {
    let settings = SamlSettings {
        private_key: read_key("sp").into(),
        private_key_next: None,
        allow_encrypted_assertions: false,
        allow_sha1: false,
        relay_state_validity: Duration::from_secs(120),
        external_url: None,
    };
    SamlConfig::new(&settings, SERVICE).unwrap()
}

/// Adds the identity provider of the tests with these domains; returns its id.
pub(crate) async fn add_provider(app: &TestApp, domains: Value) -> String {
    let body = json!({"type": "saml", "metadata_xml": write_metadata(), "domains": domains});
    let created = app.post("/admin/sso/providers", body).admin().send().await;
    assert_eq!(created.status, 201, "{}", created.body);
    created.body["id"].as_str().unwrap().to_owned()
}

/// Posts a response as a browser does.
pub(crate) async fn post_response(app: &TestApp, response: &str, relay_state: &str) -> Response {
    app.call(reqwest::Method::POST, "/sso/saml/acs")
        .form(&[("SAMLResponse", response), ("RelayState", relay_state)])
        .send()
        .await
}

fn count_sign_ins(responses: &[Response]) -> usize {
    responses.iter().filter(|response| response.status == 302).count()
}

/// Starts a sign-in; returns the relay state and the id of the request.
async fn start_sign_in(app: &TestApp) -> (String, String) {
    start_sign_in_by(app, json!({"domain": "example.COM", "skip_http_redirect": true})).await
}

async fn start_sign_in_by(app: &TestApp, body: Value) -> (String, String) {
    let started = app.post("/sso", body).send().await;
    assert_eq!(started.status, 200, "{}", started.body);
    let url = url::Url::parse(started.body["url"].as_str().unwrap()).unwrap();
    let relay_state = url
        .query_pairs()
        .find(|(name, _)| name == "RelayState")
        .unwrap()
        .1
        .into_owned();
    let rows = app
        .sql("select request_id from auth.saml_relay_states", &[])
        .await;
    (relay_state, rows.last().unwrap().get(0))
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn saml_003_a_relay_state_that_is_used_at_once_signs_in_once() {
    let (app, _) = start().await;
    let (relay_state, request) = start_sign_in(&app).await;
    let responses: Vec<String> = (0..6)
        .map(|number| {
            write_response(&Assertion {
                service: SERVICE,
                request: Some(&request),
                assertion_id: &format!("_{number}"),
                name_id: "ada",
                email: "ada@example.com",
            })
        })
        .collect();
    let posts = responses
        .iter()
        .map(|response| post_response(&app, response, &relay_state));
    let outcomes = futures_util::future::join_all(posts).await;
    assert_eq!(count_sign_ins(&outcomes), 1);
    for refused in outcomes.iter().filter(|outcome| outcome.status != 302) {
        assert!(
            refused
                .header("location")
                .contains("error_code=saml_relay_state_not_found")
        );
    }
    assert_eq!(app.count("select count(*) from auth.sessions").await, 1);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn saml_012_an_assertion_that_is_used_at_once_signs_in_once() {
    let (app, _) = start().await;
    let response = write_response(&Assertion {
        service: SERVICE,
        request: None,
        assertion_id: "_once",
        name_id: "ada",
        email: "ada@example.com",
    });
    let posts = (0..6).map(|_| post_response(&app, &response, ""));
    let outcomes = futures_util::future::join_all(posts).await;
    assert_eq!(count_sign_ins(&outcomes), 1);
    assert_eq!(app.count("select count(*) from auth.sessions").await, 1);
    assert_eq!(
        app.count("select count(*) from _selvedge.selvedge_saml_used_assertions")
            .await,
        1
    );
    // An hour later the assertion is too old to be accepted, so it need not be remembered.
    assert_eq!(
        app.count("select count(*) from _selvedge.selvedge_saml_used_assertions where expires_at < now() + interval '5 minutes'").await,
        1
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn saml_010_nothing_of_a_response_gets_into_the_redirect_of_an_error() {
    let (app, _) = start().await;
    let response = write_response(&Assertion {
        service: "https://other.example",
        request: None,
        assertion_id: "_secret-id",
        name_id: "secret-name",
        email: "secret@example.com",
    });
    let refused = post_response(&app, &response, "").await;
    assert_eq!(refused.status, 303);
    let location = refused.header("location");
    assert!(location.contains("error_code=validation_failed"), "{location}");
    assert!(!location.contains("secret"), "{location}");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn saml_006_a_sign_in_is_stored_with_its_provider_and_changes_of_it_keep_the_row() {
    let (app, id) = start().await;
    let path = format!("/admin/sso/providers/{id}");
    let changed = app
        .put(&path, json!({"metadata_xml": write_metadata()}))
        .admin()
        .send()
        .await;
    assert_eq!(
        (changed.status, &changed.body["saml"]["entity_id"]),
        (200, &json!(ENTITY_ID))
    );
    assert_eq!(changed.body["domains"], json!([{"domain": "example.com"}]));
    assert_eq!(app.count("select count(*) from auth.saml_providers").await, 1);
}

/// A server that ends every connection at once; returns its port and how many there were.
fn count_connections() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            counted.fetch_add(1, Ordering::SeqCst);
            drop(connection);
        }
    });
    (port, count)
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn saml_014_metadata_at_private_addresses_are_not_fetched_unless_that_is_allowed() {
    for allowed in [false, true] {
        let (port, connections) = count_connections();
        let app = TestApp::start_with(|config| config.calls_private_addresses = allowed).await;
        let body = json!({"type": "saml", "metadata_url": format!("https://127.0.0.1:{port}/metadata")});
        let created = app.post("/admin/sso/providers", body).admin().send().await;
        // The same answer in both cases, because a different one would tell what runs in the server's network.
        assert_eq!(created.error(), (400, "saml_metadata_fetch_failed"));
        assert_eq!(connections.load(Ordering::SeqCst) > 0, allowed);
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn saml_012_users_of_the_api_cannot_read_or_forget_used_assertions() {
    let (app, _) = start().await;
    for role in ["anon", "authenticated", "service_role", "authenticator"] {
        for table in [
            "_selvedge.selvedge_saml_used_assertions",
            "_selvedge.selvedge_saml_session_ends",
        ] {
            for right in ["select", "insert", "update", "delete", "truncate"] {
                let sql = "select has_table_privilege($1, $2, $3)";
                let rows = app.sql(sql, &[&role, &table, &right]).await;
                assert!(!rows[0].get::<_, bool>(0), "{role} may {right} {table}");
            }
        }
    }
}

/// Signs a person in whom the provider calls `name_id`; returns the claims of the access token.
async fn sign_in(app: &TestApp, assertion_id: &str, name_id: &str, email: &str) -> Value {
    let response = write_response(&Assertion {
        service: SERVICE,
        request: None,
        assertion_id,
        name_id,
        email,
    });
    let response = post_response(app, &response, "").await;
    assert_eq!(response.status, 302, "{}", response.header("location"));
    let token = in_fragment(&response, "access_token").unwrap();
    Value::Object(app.keys.verify(&token).unwrap().map().clone())
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_103_a_provider_links_by_the_addresses_of_its_own_domains_only() {
    let (app, _) = start().await;
    let subject = async |assertion_id: &str, name_id: &str, email: &str| {
        let claims = sign_in(&app, assertion_id, name_id, email).await;
        claims["sub"].as_str().unwrap().to_owned()
    };

    let own = subject("_a1", "ana", "ana@example.com").await;
    assert_eq!(
        subject("_a2", "ana-again", "ana@example.com").await,
        own,
        "its own domain"
    );
    let foreign = subject("_b1", "ben", "ben@other.example").await;
    assert_ne!(subject("_b2", "mallory", "ben@other.example").await, foreign);
    // A response that names another address leads to the same account. The provider knows whose this one is, and did not know the first.
    assert_eq!(subject("_b3", "mallory-2", "ana@example.com").await, own);
    assert_eq!(subject("_b4", "ben", "ana@example.com").await, foreign);
    let sql = "select email from auth.users where id::text = $1 and email_confirmed_at is not null";
    let rows = app.sql(sql, &[&foreign]).await;
    assert_eq!(rows[0].get::<_, String>(0), "ana@example.com");
    // A confirmed address stays.
    assert_eq!(subject("_b5", "ben", "cleo@example.com").await, foreign);
    let rows = app.sql(sql, &[&foreign]).await;
    assert_eq!(rows[0].get::<_, String>(0), "ana@example.com");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_114_a_code_of_single_sign_on_ends_with_a_sign_out() {
    let (app, _) = start().await;
    let assertion = |assertion_id: &'static str, request: Option<&str>| {
        write_response(&Assertion {
            service: SERVICE,
            request,
            assertion_id,
            name_id: "ana",
            email: "ana@example.com",
        })
    };
    let first = post_response(&app, &assertion("_1", None), "").await;
    let body = with_challenge(json!({"domain": "example.com", "skip_http_redirect": true}));
    let (relay_state, request) = start_sign_in_by(&app, body).await;
    let posted = post_response(&app, &assertion("_2", Some(&request)), &relay_state).await;
    let code = read_query_param(posted.header("location"), "code");

    let token = in_fragment(&first, "access_token").unwrap();
    let signed_out = app.post("/logout", json!({})).bearer(&token).send().await;

    assert_eq!(signed_out.status, 204);
    let exchanged = exchange_code(&app, &code, VERIFIER).await;
    assert_eq!(exchanged.error(), (404, "flow_state_not_found"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_102_a_provider_confirms_the_addresses_of_its_own_domains_only() {
    let (app, id) = start().await;
    let victim = app.user("victim@other.example").await;

    let own = sign_in(&app, "_a1", "ana", "ana@example.com").await;
    let foreign = sign_in(&app, "_b1", "mallory", "victim@other.example").await;

    assert_eq!(
        (&own["email"], &own["user_metadata"]["email_verified"]),
        (&json!("ana@example.com"), &json!(true))
    );
    assert_eq!(
        (&foreign["email"], &foreign["user_metadata"]["email_verified"]),
        (&json!(""), &json!(false))
    );
    assert_ne!(foreign["sub"], victim.user["id"]);
    // Mails of somebody else find the account of the address's owner, not the claimed one.
    let asked = app
        .post("/recover", json!({"email": "victim@other.example"}))
        .send()
        .await;
    assert_eq!(asked.status, 200);
    let recovery = "select user_id::text from auth.one_time_tokens where token_type = 'recovery_token'";
    assert_eq!(
        app.sql(recovery, &[]).await[0].get::<_, &str>(0),
        victim.user["id"]
    );

    // Once the domain is the provider's, the next sign-in confirms the address.
    let path = format!("/admin/sso/providers/{id}");
    let body = json!({"domains": ["example.com", "other.example"]});
    assert_eq!(app.put(&path, body).admin().send().await.status, 200);
    let confirmed = sign_in(&app, "_b2", "mallory", "victim@other.example").await;
    assert_eq!(
        (&confirmed["sub"], &confirmed["email"]),
        (&foreign["sub"], &json!("victim@other.example"))
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_102_a_project_may_let_its_providers_confirm_any_address() {
    let (app, _) = start_with(|config| config.sso_confirms_any_address = true).await;

    let foreign = sign_in(&app, "_b1", "ben", "ben@other.example").await;
    let again = sign_in(&app, "_b2", "mallory", "ben@other.example").await;

    assert_eq!(foreign["email"], "ben@other.example");
    assert_ne!(
        again["sub"], foreign["sub"],
        "no account is given to another subject"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_103_an_address_that_was_named_before_its_domain_was_the_providers_attracts_nobody() {
    for confirms_any in [false, true] {
        let (app, id) = start_with(|config| config.sso_confirms_any_address = confirms_any).await;
        let mallory = sign_in(&app, "_m1", "mallory", "victim@other.example").await;
        let path = format!("/admin/sso/providers/{id}");
        let body = json!({"domains": ["example.com", "other.example"]});
        assert_eq!(app.put(&path, body).admin().send().await.status, 200);

        let victim = sign_in(&app, "_v1", "victim", "victim@other.example").await;

        assert_ne!(victim["sub"], mallory["sub"]);
        // Now it is the provider's word, and the same person may come by another name.
        let renamed = sign_in(&app, "_v2", "victim-2", "victim@other.example").await;
        assert_eq!(renamed["sub"], victim["sub"]);
    }
}
