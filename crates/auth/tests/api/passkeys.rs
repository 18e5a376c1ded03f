//! WebAuthn as a second factor and passkeys as a way to sign in, with a software authenticator.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ciborium::Value as Cbor;
use p256::ecdsa::signature::Signer;
use p256::ecdsa::{Signature, SigningKey};
use reqwest::Method;
use selvedge_auth::FactorSwitch;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::app::{PASSWORD, Response, Session, TestApp};

const ORIGIN: &str = "https://site.example";

/// A software authenticator with one key pair.
pub(crate) struct Authenticator {
    key: SigningKey,
    id: Vec<u8>,
    user_handle: String,
    counter: u32,
    origin: &'static str,
}

/// Encodes bytes in base64url without padding.
fn encode_base64url(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn encode_cbor(value: &Cbor) -> Vec<u8> {
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).unwrap();
    bytes
}

impl Authenticator {
    pub(crate) fn new() -> Self {
        Self {
            key: SigningKey::from_slice(&[7; 32]).unwrap(),
            id: uuid::Uuid::new_v4().as_bytes().to_vec(),
            user_handle: String::new(),
            counter: 0,
            origin: ORIGIN,
        }
    }

    /// The id of the credential.
    pub(crate) fn credential_id(&self) -> &[u8] {
        &self.id
    }

    /// Builds `clientDataJSON` as a browser on the page [`Self::origin`] does.
    fn client_data(&self, kind: &str, challenge: &Value) -> Vec<u8> {
        let data = json!({"type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": false});
        data.to_string().into_bytes()
    }

    /// Builds authenticator data up to the counter (W3C Web Authentication §6.1).
    fn authenticator_data(&self, rp_id: &str, flags: u8) -> Vec<u8> {
        let hash = Sha256::digest(rp_id);
        [hash.as_slice(), &[flags], &self.counter.to_be_bytes()].concat()
    }

    /// Does what `navigator.credentials.create()` does: returns the registration response.
    pub(crate) fn create(&mut self, options: &Value) -> Value {
        self.user_handle = options["user"]["id"].as_str().unwrap().to_owned();
        let point = self.key.verifying_key().to_encoded_point(false);
        let int = |number: i64| Cbor::Integer(number.into());
        // A COSE key: type EC2, algorithm ES256, curve P-256, and both coordinates.
        let key = encode_cbor(&Cbor::Map(vec![
            (int(1), int(2)),
            (int(3), int(-7)),
            (int(-1), int(1)),
            (int(-2), Cbor::Bytes(point.x().unwrap().to_vec())),
            (int(-3), Cbor::Bytes(point.y().unwrap().to_vec())),
        ]));
        let length = u16::try_from(self.id.len()).unwrap().to_be_bytes();
        // Flags: user present (0x01), user verified (0x04), attested credential data included (0x40).
        let data = self.authenticator_data(options["rp"]["id"].as_str().unwrap(), 0x45);
        let data = [data.as_slice(), &[0; 16], &length, &self.id, &key].concat();
        let attestation = encode_cbor(&Cbor::Map(vec![
            (Cbor::Text("fmt".to_owned()), Cbor::Text("none".to_owned())),
            (Cbor::Text("attStmt".to_owned()), Cbor::Map(vec![])),
            (Cbor::Text("authData".to_owned()), Cbor::Bytes(data)),
        ]));
        json!({
            "id": encode_base64url(&self.id), "rawId": encode_base64url(&self.id), "type": "public-key",
            "response": {
                "clientDataJSON": encode_base64url(self.client_data("webauthn.create", &options["challenge"])),
                "attestationObject": encode_base64url(attestation),
                "transports": ["internal"],
            },
        })
    }

    /// Does what `navigator.credentials.get()` does: returns the assertion response.
    fn get(&mut self, options: &Value) -> Value {
        self.counter += 1;
        let client_data = self.client_data("webauthn.get", &options["challenge"]);
        let data = self.authenticator_data(options["rpId"].as_str().unwrap(), 0x05);
        let signed = [data.as_slice(), &Sha256::digest(&client_data)].concat();
        let signature: Signature = self.key.sign(&signed);
        json!({
            "id": encode_base64url(&self.id), "rawId": encode_base64url(&self.id), "type": "public-key",
            "response": {
                "clientDataJSON": encode_base64url(client_data),
                "authenticatorData": encode_base64url(data),
                "signature": encode_base64url(signature.to_der()),
                "userHandle": self.user_handle,
            },
        })
    }
}

/// Starts the service with passkeys, and with WebAuthn as a second factor.
pub(crate) async fn start_app() -> TestApp {
    TestApp::start_with(|config| {
        config.webauthn.passkeys_enabled = true;
        config.mfa.webauthn = FactorSwitch {
            enroll: true,
            verify: true,
        };
    })
    .await
}

impl TestApp {
    pub(crate) async fn signed_in_post(&self, session: &Session, path: &str, body: Value) -> Response {
        self.post(path, body).bearer(&session.access_token).send().await
    }

    /// Registers a passkey for the signed-in user.
    pub(crate) async fn register(&self, session: &Session, key: &mut Authenticator) -> Response {
        let options = self
            .signed_in_post(session, "/passkeys/registration/options", json!({}))
            .await;
        assert_eq!(options.status, 200, "{}", options.body);
        let credential = key.create(&options.body["options"]);
        let body = json!({"challenge_id": options.body["challenge_id"], "credential": credential});
        self.signed_in_post(session, "/passkeys/registration/verify", body)
            .await
    }

    /// Requests sign-in options and lets the authenticator respond to them.
    pub(crate) async fn sign_in_options(&self, key: &mut Authenticator) -> Value {
        let options = self
            .post("/passkeys/authentication/options", json!({}))
            .send()
            .await;
        assert_eq!(options.status, 200, "{}", options.body);
        assert!(options.body["options"].get("allowCredentials").is_none());
        json!({"challenge_id": options.body["challenge_id"], "credential": key.get(&options.body["options"])})
    }

    /// Sends the authenticator's response, which completes or fails the sign-in.
    pub(crate) async fn complete_sign_in(&self, body: &Value) -> Response {
        self.post("/passkeys/authentication/verify", body.clone())
            .send()
            .await
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_passkey_signs_in() {
    let app = start_app().await;
    let session = app.user("ana@example.com").await;
    let mut key = Authenticator::new();

    let registered = app.register(&session, &mut key).await;
    assert_eq!(registered.status, 200, "{}", registered.body);
    assert!(registered.body["created_at"].is_string());
    let twice = app.register(&session, &mut key).await;
    assert_eq!(twice.error(), (422, "webauthn_credential_exists"));
    let response = app.sign_in_options(&mut key).await;
    let signed_in = app.complete_sign_in(&response).await.session();

    assert_eq!(signed_in.user["id"], session.user["id"]);
    let claims: Value =
        serde_json::from_str(app.keys.verify(&signed_in.access_token).unwrap().json()).unwrap();
    assert_eq!(
        (&claims["aal"], &claims["amr"][0]["method"]),
        (&json!("aal1"), &json!("passkey"))
    );
    assert_eq!(
        app.complete_sign_in(&response).await.error(),
        (400, "webauthn_challenge_not_found"),
        "a challenge is answered once"
    );
    let list = app.get("/passkeys").bearer(&signed_in.access_token).send().await;
    assert_eq!(list.body[0]["id"], registered.body["id"]);
    assert!(list.body[0]["last_used_at"].is_string());
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn invalid_webauthn_responses_are_rejected() {
    let app = start_app().await;
    let session = app.user("ana@example.com").await;
    let mut key = Authenticator::new();
    assert_eq!(app.register(&session, &mut key).await.status, 200);
    let failed = (400, "webauthn_verification_failed");

    let mut phished = Authenticator {
        origin: "https://site.example.evil.example",
        ..Authenticator::new()
    };
    assert_eq!(app.register(&session, &mut phished).await.error(), failed);
    key.origin = "http://site.example";
    let response = app.sign_in_options(&mut key).await;
    assert_eq!(
        app.complete_sign_in(&response).await.error(),
        failed,
        "another scheme"
    );
    key.origin = ORIGIN;
    let mut response = app.sign_in_options(&mut key).await;
    response["credential"]["response"]["signature"] = json!(encode_base64url([1; 64]));
    assert_eq!(
        app.complete_sign_in(&response).await.error(),
        failed,
        "a forged signature"
    );
    let other = app.sign_in_options(&mut key).await;
    let mut mixed = app.sign_in_options(&mut key).await;
    mixed["credential"] = other["credential"].clone();
    assert_eq!(
        app.complete_sign_in(&mixed).await.error(),
        failed,
        "the response to another challenge"
    );
    let mut stolen = app.sign_in_options(&mut key).await;
    stolen["credential"]["response"]["userHandle"] =
        json!(encode_base64url(uuid::Uuid::new_v4().to_string()));
    assert_eq!(
        app.complete_sign_in(&stolen).await.error(),
        failed,
        "somebody else's name"
    );
    let good = app.sign_in_options(&mut key).await;
    assert_eq!(app.complete_sign_in(&good).await.status, 200);
    key.counter = 0;
    let cloned = app.sign_in_options(&mut key).await;
    assert_eq!(
        app.complete_sign_in(&cloned).await.error(),
        failed,
        "a copy counts from the start"
    );
    let late = app.sign_in_options(&mut key).await;
    app.sql("update auth.webauthn_challenges set expires_at = now()", &[])
        .await;
    assert_eq!(
        app.complete_sign_in(&late).await.error(),
        (400, "webauthn_challenge_expired")
    );
    for body in [
        json!({}),
        json!({"challenge_id": "x", "credential": {}}),
        json!({"challenge_id": uuid::Uuid::new_v4()}),
    ] {
        assert_eq!(
            app.complete_sign_in(&body).await.error(),
            (400, "validation_failed"),
            "{body}"
        );
    }
    app.sql(
        "update auth.users set banned_until = now() + interval '1 day'",
        &[],
    )
    .await;
    key.counter = 100;
    let banned = app.sign_in_options(&mut key).await;
    assert_eq!(app.complete_sign_in(&banned).await.error(), (403, "user_banned"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn owners_and_administrators_manage_passkeys() {
    let app = start_app().await;
    let session = app.user("ana@example.com").await;
    let eve = app.user("eve@example.com").await;
    let id = app.register(&session, &mut Authenticator::new()).await.body["id"].clone();
    let path = format!("/passkeys/{}", id.as_str().unwrap());
    let patch = |session: &Session, name: &str| {
        app.call(Method::PATCH, &path)
            .json(&json!({ "friendly_name": name }))
            .bearer(&session.access_token)
            .send()
    };

    assert_eq!(patch(&session, "laptop").await.body["friendly_name"], "laptop");
    assert_eq!(patch(&session, "").await.error(), (400, "validation_failed"));
    let longest = "ü".repeat(120);
    assert_eq!(patch(&session, &longest).await.body["friendly_name"], longest);
    assert_eq!(
        patch(&session, &"ü".repeat(121)).await.error(),
        (400, "validation_failed")
    );
    assert_eq!(patch(&session, "laptop").await.status, 200);
    assert_eq!(patch(&eve, "mine").await.error(), (404, "validation_failed"));
    let admin = format!("/admin/users/{}/passkeys", session.user_id());
    let listed = app.get(&admin).admin().send().await;
    assert_eq!(listed.body[0]["friendly_name"], "laptop");
    let delete = |session: &Session| {
        app.call(Method::DELETE, &path)
            .bearer(&session.access_token)
            .send()
    };
    assert_eq!(delete(&eve).await.status, 404);
    assert_eq!(delete(&session).await.status, 204);
    assert_eq!(delete(&session).await.status, 404);
    let id = app.register(&session, &mut Authenticator::new()).await.body["id"].clone();
    let path = format!("{admin}/{}", id.as_str().unwrap());
    assert_eq!(app.call(Method::DELETE, &path).admin().send().await.status, 204);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_077_a_passkey_is_not_renamed_below_aal2_when_a_second_factor_exists() {
    let app = start_app().await;
    let session = app.user("ana@example.com").await;
    let id = app.register(&session, &mut Authenticator::new()).await.body["id"].clone();
    app.sql(
        "insert into auth.mfa_factors (id, user_id, factor_type, status, secret, created_at, updated_at)
         values (gen_random_uuid(), $1, 'totp', 'verified', 'x', now(), now())",
        &[&session.user_id()],
    )
    .await;

    let renamed = app
        .call(Method::PATCH, &format!("/passkeys/{}", id.as_str().unwrap()))
        .json(&json!({"friendly_name": "laptop"}))
        .bearer(&session.access_token)
        .send()
        .await;

    assert_eq!(renamed.error(), (403, "insufficient_aal"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_095_passkeys_are_off_by_default() {
    let app = TestApp::start().await;

    let response = app
        .post("/passkeys/authentication/options", json!({}))
        .send()
        .await;

    assert_eq!(response.error(), (404, "passkey_disabled"));
    assert_eq!(app.get("/settings").send().await.body["passkeys_enabled"], false);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_security_key_is_a_second_factor() {
    let app = start_app().await;
    let session = app.user("ana@example.com").await;
    let enrolled = app
        .signed_in_post(
            &session,
            "/factors",
            json!({"factor_type": "webauthn", "friendly_name": "key"}),
        )
        .await;
    assert_eq!(enrolled.status, 200, "{}", enrolled.body);
    let id = enrolled.body["id"].as_str().unwrap().to_owned();
    let (challenge_path, verify_path) = (
        format!("/factors/{id}/challenge"),
        format!("/factors/{id}/verify"),
    );
    let site = json!({"webauthn": {"rpId": "site.example", "rpOrigins": [ORIGIN]}});
    let mut key = Authenticator::new();

    let challenge = app.signed_in_post(&session, &challenge_path, site.clone()).await;
    let question = &challenge.body["webauthn"];
    assert_eq!(question["type"], "create", "{}", challenge.body);
    let credential = key.create(&question["credential_options"]["publicKey"]);
    let response = |challenge: &Response, kind: &str, credential: Value| {
        json!({
            "challenge_id": challenge.body["id"],
            "webauthn": {"type": kind, "credential_response": credential, "rpId": "site.example"},
        })
    };
    let body = response(&challenge, "create", credential);
    let raised = app.signed_in_post(&session, &verify_path, body).await.session();
    assert_eq!(raised.user["factors"][0]["status"], "verified");
    assert!(raised.user["factors"][0]["web_authn_aaguid"].is_string());

    let low = app.sign_in("ana@example.com", PASSWORD).await.session();
    let challenge = app.signed_in_post(&low, &challenge_path, site.clone()).await;
    assert_eq!(challenge.body["webauthn"]["type"], "request");
    let options = &challenge.body["webauthn"]["credential_options"]["publicKey"];
    // An attacker who knows only the password must not replace the key of the verified factor.
    let mut creation = options.clone();
    creation["user"] = json!({"id": "x"});
    creation["rp"] = json!({"id": "site.example"});
    let own = Authenticator::new().create(&creation);
    let body = response(&challenge, "create", own);
    let refused = app.signed_in_post(&low, &verify_path, body).await;
    assert_eq!(refused.error(), (400, "validation_failed"));
    let mut forged = Authenticator {
        key: SigningKey::from_slice(&[9; 32]).unwrap(),
        id: key.id.clone(),
        ..Authenticator::new()
    };
    let body = response(&challenge, "request", forged.get(options));
    let refused = app.signed_in_post(&low, &verify_path, body).await;
    assert_eq!(refused.error(), (422, "mfa_verification_failed"));
    let body = response(&challenge, "request", key.get(options));
    let raised = app.signed_in_post(&low, &verify_path, body).await.session();
    let claims: Value = serde_json::from_str(app.keys.verify(&raised.access_token).unwrap().json()).unwrap();
    assert_eq!(
        (&claims["aal"], &claims["amr"][0]["method"]),
        (&json!("aal2"), &json!("mfa/webauthn"))
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn webauthn_relying_parties_must_be_allowed_redirect_targets() {
    let app = start_app().await;
    let session = app.user("ana@example.com").await;
    let enrolled = app
        .signed_in_post(&session, "/factors", json!({"factor_type": "webauthn"}))
        .await;
    let path = format!("/factors/{}/challenge", enrolled.body["id"].as_str().unwrap());
    for (rp_id, origin, expected) in [
        ("evil.example", "https://evil.example", "site.example"),
        ("example", "https://site.example", "site.example"),
        ("preview.example", "https://a.preview.example", "preview.example"),
        (
            "a.preview.example",
            "https://a.preview.example/x",
            "a.preview.example",
        ),
        ("evil.example", "https://site.example", "site.example"),
    ] {
        let body = json!({"webauthn": {"rpId": rp_id, "rpOrigins": [origin]}});
        let challenge = app.signed_in_post(&session, &path, body).await;
        let options = &challenge.body["webauthn"]["credential_options"]["publicKey"];
        assert_eq!(options["rp"]["id"], expected, "{rp_id} {origin}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_121_the_owner_is_told_of_passkeys_that_come_and_go() {
    let app = start_app().await;
    let ana = app.user("ana@example.com").await;
    let added = app.register(&ana, &mut Authenticator::new()).await;
    assert_eq!(added.status, 200, "{}", added.body);
    wait_for_mail(&app, "A passkey was added").await;

    let path = format!("/passkeys/{}", added.body["id"].as_str().unwrap());
    let removed = app.call(Method::DELETE, &path).bearer(&ana.access_token);
    assert_eq!(removed.send().await.status, 204);
    wait_for_mail(&app, "A passkey was removed").await;
}

/// Waits until a notice was sent, because the server sends it after the response.
pub(crate) async fn wait_for_mail(app: &TestApp, subject: &str) {
    for _ in 0..1500 {
        if app.inbox.list_mails().iter().any(|mail| mail.subject == subject) {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("no mail {subject:?}");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_121_a_session_that_must_prove_itself_for_a_password_must_for_a_passkey() {
    let app = TestApp::start_with(|config| {
        config.webauthn.passkeys_enabled = true;
        config.password.require_reauthentication = true;
    })
    .await;
    let ana = app.user("ana@example.com").await;
    app.sql(
        "update auth.sessions set created_at = now() - interval '2 days'",
        &[],
    )
    .await;

    let path = "/passkeys/registration/options";
    let refused = app.signed_in_post(&ana, path, json!({})).await;

    assert_eq!(refused.error(), (400, "reauthentication_needed"));
    let fresh = app.sign_in("ana@example.com", PASSWORD).await.session();
    assert_eq!(app.signed_in_post(&fresh, path, json!({})).await.status, 200);
}
