//! Walks `docs/auth-access.md`: every endpoint with every kind of caller is allowed or refused as the table says, and every
//! endpoint of the route table has a row.

use std::collections::{BTreeMap, BTreeSet};

use reqwest::Method;
use selvedge_token::{KeyAlgorithm, KeyRing, development, generate_signing_key, unix_now};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::app::{PASSWORD, Response, Setup, TestApp};
use crate::mfa::ENABLED;

const DOCUMENT: &str = include_str!("../../../../docs/auth-access.md");
const ROUTES: &str = include_str!("../../src/routes.rs");

/// The columns of the table, in its order.
const CALLERS: [&str; 9] = [
    "no session",
    "aal1",
    "OAuth client",
    "ID token",
    "deleted",
    "banned",
    "unconfirmed",
    "anonymous",
    "SSO",
];

/// Method and path of every endpoint, as `GET /user`.
fn list_endpoints() -> BTreeSet<String> {
    let table = ROUTES
        .split("/// A path with and without a trailing slash")
        .next()
        .unwrap();
    let mut endpoints = BTreeSet::new();
    for piece in table.split("route(\"").skip(1) {
        let (path, rest) = piece.split_once('"').unwrap();
        for method in ["get", "post", "put", "delete", "patch"] {
            if rest.contains(&format!(".{method}(")) {
                endpoints.insert(format!("{} {path}", method.to_uppercase()));
            }
        }
    }
    endpoints
}

/// The rows of the document: endpoint, then a cell for each caller.
fn read_table() -> BTreeMap<String, Vec<String>> {
    let rows = DOCUMENT.lines().filter(|line| line.starts_with("| `"));
    let cells = rows.map(|line| {
        line.trim_matches('|')
            .split('|')
            .map(|cell| cell.trim().to_owned())
    });
    cells
        .map(|mut cells| {
            (
                cells.next().unwrap().trim_matches('`').to_owned(),
                cells.collect(),
            )
        })
        .collect()
}

/// Whether the response refuses the caller for what they are, and not the request for what it says.
fn is_refusal(response: &Response) -> bool {
    let (status, code) = response.error();
    let is_unauthorized = matches!(
        code,
        "no_authorization" | "bad_jwt" | "session_not_found" | "user_not_found" | "user_banned" | "not_admin"
    ) && matches!(status, 401 | 403);
    is_unauthorized
        || matches!(code, "insufficient_aal" | "user_sso_managed")
        || (status, code) == (403, "email_not_confirmed")
        || response.message().starts_with("SSO users")
}

/// Starts the service with everything on that an endpoint may need.
async fn start_app() -> TestApp {
    let mut setup = Setup::default();
    let config = &mut setup.config;
    config.oauth_server.enabled = true;
    config.oauth_server.allow_dynamic_registration = true;
    config.webauthn.passkeys_enabled = true;
    config.anonymous_users_enabled = true;
    config.manual_linking_enabled = true;
    config.mfa.totp = ENABLED;
    config.mfa.recovery_codes.switch = ENABLED;
    let key = generate_signing_key(KeyAlgorithm::Es256);
    setup.keys = KeyRing::new(development::JWT_SECRET.as_bytes(), &[key]).unwrap();
    TestApp::start_setup(setup).await
}

/// The client that sessions of clients belong to.
const CLIENT: &str = "00000000-0000-4000-8000-0000000000c1";

/// Makes a user of this kind with a session, as rows: endpoints must not rely on what a deletion or a ban has removed. Returns
/// the bearer token, if the kind has one.
async fn make_caller(app: &TestApp, db: &tokio_postgres::Client, kind: &str) -> Option<String> {
    if kind == "no session" {
        return None;
    }
    let (user, session) = (Uuid::new_v4(), Uuid::new_v4());
    let is_anonymous = kind == "anonymous";
    let change = match kind {
        "aal1" => {
            "insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, created_at, updated_at)
               values (gen_random_uuid(), '{user}', 'first', 'totp', 'verified', now(), now())"
        }
        "OAuth client" => {
            "update auth.sessions set oauth_client_id = '{client}', scopes = 'email' where id = '{session}'"
        }
        "deleted" => "update auth.users set deleted_at = now() where id = '{user}'",
        "banned" => "update auth.users set banned_until = now() + interval '1 day' where id = '{user}'",
        "unconfirmed" => "update auth.users set email_confirmed_at = null where id = '{user}'",
        "anonymous" => {
            "update auth.users set is_anonymous = true, email = null, email_confirmed_at = null where id = '{user}'"
        }
        "SSO" => "update auth.users set is_sso_user = true where id = '{user}'",
        _ => "select",
    };
    let sql = format!(
        "insert into auth.users (id, aud, role, email, email_confirmed_at, created_at)
           values ('{{user}}', 'authenticated', 'authenticated', '{{user}}@example.com', now(), now());
         insert into auth.sessions (id, user_id, aal, created_at) values ('{{session}}', '{{user}}', 'aal1', now());
         {change}"
    );
    let sql = sql
        .replace("{user}", &user.to_string())
        .replace("{session}", &session.to_string())
        .replace("{client}", CLIENT);
    db.batch_execute(&sql).await.unwrap();
    let mut claims = json!({
        "sub": user, "aud": "authenticated", "role": "authenticated", "exp": unix_now() + 600, "session_id": session,
        "aal": "aal1", "is_anonymous": is_anonymous, "amr": [{"method": "password", "timestamp": 0}],
    });
    match kind {
        "OAuth client" => claims["client_id"] = json!(CLIENT),
        "ID token" => {
            claims = json!({
                "sub": user, "aud": CLIENT, "client_id": CLIENT, "exp": unix_now() + 600, "token_use": "id",
            });
        }
        _ => {}
    }
    Some(app.keys.sign(&claims).unwrap())
}

/// A body with which the endpoint asks who the caller is.
fn build_body(endpoint: &str) -> Value {
    match endpoint {
        "PUT /user" => json!({"password": PASSWORD}),
        "POST /factors" => json!({"factor_type": "totp"}),
        "POST /factors/{id}/verify" => json!({"code": "123456", "challenge_id": Uuid::new_v4()}),
        "POST /passkeys/registration/verify" => {
            json!({"challenge_id": Uuid::new_v4(), "credential": {"id": "x"}})
        }
        "POST /factors/recovery-codes/verify" => json!({"code": "aaaaaaaaaaaaaaaa"}),
        "PATCH /passkeys/{id}" => json!({"friendly_name": "key"}),
        "POST /oauth/authorizations/{id}/consent" => json!({"action": "approve"}),
        _ => json!({}),
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn every_endpoint_has_a_row_and_answers_each_caller_as_the_table_says() {
    let (endpoints, table) = (list_endpoints(), read_table());
    let rows: BTreeSet<String> = table.keys().cloned().collect();
    assert!(endpoints.len() > 60, "{endpoints:?}");
    let missing: Vec<_> = endpoints.difference(&rows).collect();
    let gone: Vec<_> = rows.difference(&endpoints).collect();
    assert!(
        missing.is_empty() && gone.is_empty(),
        "without a row: {missing:?}, gone: {gone:?}"
    );

    let app = start_app().await;
    let db = app.superuser().await;
    db.batch_execute(&format!(
        "insert into auth.oauth_clients
           (id, registration_type, redirect_uris, grant_types, token_endpoint_auth_method, client_type)
         values ('{CLIENT}', 'manual', 'https://app.example/', 'authorization_code', 'none', 'public')"
    ))
    .await
    .unwrap();
    let mut differences = Vec::new();
    for (endpoint, cells) in &table {
        assert_eq!(cells.len(), CALLERS.len(), "{endpoint}");
        let (method, path) = endpoint.split_once(' ').unwrap();
        let method: Method = method.parse().unwrap();
        let ids = ["{id}", "{factor_id}", "{passkey_id}"];
        let path = ids.iter().fold(path.to_owned(), |path, id| {
            path.replace(id, &Uuid::new_v4().to_string())
        });
        for (kind, cell) in CALLERS.iter().zip(cells) {
            let call = app.call(method.clone(), &path).json(&build_body(endpoint));
            let call = match make_caller(&app, &db, kind).await {
                Some(token) => call.bearer(&token),
                None => call,
            };
            let response = call.send().await;
            let expected = match cell.as_str() {
                "open" | "yes" => false,
                "no" => true,
                other => panic!("{endpoint}: {other}"),
            };
            if is_refusal(&response) != expected {
                differences.push(format!(
                    "{endpoint}, {kind}: {cell}, got {:?} {}",
                    response.error(),
                    response.message()
                ));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
