//! WebAuthn as a second factor and as a way to sign in, with an authenticator made of software.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ciborium::Value as Cbor;
use p256::ecdsa::signature::Signer;
use p256::ecdsa::{Signature, SigningKey};
use reqwest::Method;
use selvedge_auth::FactorSwitch;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::app::{Answer, PASSWORD, Session, TestApp};

const ORIGIN: &str = "https://site.example";

/// A key in somebody's pocket.
struct Authenticator {
    key: SigningKey,
    id: Vec<u8>,
    user_handle: String,
    counter: u32,
    origin: &'static str,
}

fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn cbor(value: &Cbor) -> Vec<u8> {
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).unwrap();
    bytes
}

impl Authenticator {
    fn new() -> Self {
        Self {
            key: SigningKey::from_slice(&[7; 32]).unwrap(),
            id: uuid::Uuid::new_v4().as_bytes().to_vec(),
            user_handle: String::new(),
            counter: 0,
            origin: ORIGIN,
        }
    }

    fn client_data(&self, kind: &str, challenge: &Value) -> Vec<u8> {
        let data = json!({"type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": false});
        data.to_string().into_bytes()
    }

    fn data(&self, rp_id: &str, flags: u8) -> Vec<u8> {
        let hash = Sha256::digest(rp_id);
        [hash.as_slice(), &[flags], &self.counter.to_be_bytes()].concat()
    }

    /// `navigator.credentials.create()`
    fn create(&mut self, options: &Value) -> Value {
        self.user_handle = options["user"]["id"].as_str().unwrap().to_owned();
        let point = self.key.verifying_key().to_encoded_point(false);
        let int = |number: i64| Cbor::Integer(number.into());
        let key = cbor(&Cbor::Map(vec![
            (int(1), int(2)),
            (int(3), int(-7)),
            (int(-1), int(1)),
            (int(-2), Cbor::Bytes(point.x().unwrap().to_vec())),
            (int(-3), Cbor::Bytes(point.y().unwrap().to_vec())),
        ]));
        let length = u16::try_from(self.id.len()).unwrap().to_be_bytes();
        let data = self.data(options["rp"]["id"].as_str().unwrap(), 0x45);
        let data = [data.as_slice(), &[0; 16], &length, &self.id, &key].concat();
        let attestation = cbor(&Cbor::Map(vec![
            (Cbor::Text("fmt".to_owned()), Cbor::Text("none".to_owned())),
            (Cbor::Text("attStmt".to_owned()), Cbor::Map(vec![])),
            (Cbor::Text("authData".to_owned()), Cbor::Bytes(data)),
        ]));
        json!({
            "id": encoded(&self.id), "rawId": encoded(&self.id), "type": "public-key",
            "response": {
                "clientDataJSON": encoded(self.client_data("webauthn.create", &options["challenge"])),
                "attestationObject": encoded(attestation),
                "transports": ["internal"],
            },
        })
    }

    /// `navigator.credentials.get()`
    fn get(&mut self, options: &Value) -> Value {
        self.counter += 1;
        let client_data = self.client_data("webauthn.get", &options["challenge"]);
        let data = self.data(options["rpId"].as_str().unwrap(), 0x05);
        let signed = [data.as_slice(), &Sha256::digest(&client_data)].concat();
        let signature: Signature = self.key.sign(&signed);
        json!({
            "id": encoded(&self.id), "rawId": encoded(&self.id), "type": "public-key",
            "response": {
                "clientDataJSON": encoded(client_data),
                "authenticatorData": encoded(data),
                "signature": encoded(signature.to_der()),
                "userHandle": self.user_handle,
            },
        })
    }
}

async fn app() -> TestApp {
    TestApp::with(|config| {
        config.webauthn.passkeys_enabled = true;
        config.mfa.webauthn = FactorSwitch {
            enroll: true,
            verify: true,
        };
    })
    .await
}

impl TestApp {
    async fn signed_in_post(&self, session: &Session, path: &str, body: Value) -> Answer {
        self.post(path, body).bearer(&session.access_token).send().await
    }

    async fn register(&self, session: &Session, key: &mut Authenticator) -> Answer {
        let options = self
            .signed_in_post(session, "/passkeys/registration/options", json!({}))
            .await;
        assert_eq!(options.status, 200, "{}", options.body);
        let credential = key.create(&options.body["options"]);
        let body = json!({"challenge_id": options.body["challenge_id"], "credential": credential});
        self.signed_in_post(session, "/passkeys/registration/verify", body)
            .await
    }

    /// The question, and its answer.
    async fn ask(&self, key: &mut Authenticator) -> Value {
        let options = self
            .post("/passkeys/authentication/options", json!({}))
            .send()
            .await;
        assert_eq!(options.status, 200, "{}", options.body);
        assert!(options.body["options"].get("allowCredentials").is_none());
        json!({"challenge_id": options.body["challenge_id"], "credential": key.get(&options.body["options"])})
    }

    async fn answer(&self, body: &Value) -> Answer {
        self.post("/passkeys/authentication/verify", body.clone())
            .send()
            .await
    }
}

#[actix_web::test]
async fn a_passkey_signs_in() {
    let app = app().await;
    let session = app.user("ana@example.com").await;
    let mut key = Authenticator::new();

    let registered = app.register(&session, &mut key).await;
    assert_eq!(registered.status, 200, "{}", registered.body);
    assert!(registered.body["created_at"].is_string());
    let twice = app.register(&session, &mut key).await;
    assert_eq!(twice.error(), (422, "webauthn_credential_exists"));
    let answer = app.ask(&mut key).await;
    let signed_in = app.answer(&answer).await.session();

    assert_eq!(signed_in.user["id"], session.user["id"]);
    let claims: Value =
        serde_json::from_str(app.keys.verify(&signed_in.access_token).unwrap().json()).unwrap();
    assert_eq!(
        (&claims["aal"], &claims["amr"][0]["method"]),
        (&json!("aal1"), &json!("passkey"))
    );
    assert_eq!(
        app.answer(&answer).await.error(),
        (400, "webauthn_challenge_not_found"),
        "a challenge is answered once"
    );
    let list = app.get("/passkeys").bearer(&signed_in.access_token).send().await;
    assert_eq!(list.body[0]["id"], registered.body["id"]);
    assert!(list.body[0]["last_used_at"].is_string());
}

#[actix_web::test]
async fn bad_ceremonies_are_refused() {
    let app = app().await;
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
    let answer = app.ask(&mut key).await;
    assert_eq!(app.answer(&answer).await.error(), failed, "another scheme");
    key.origin = ORIGIN;
    let mut answer = app.ask(&mut key).await;
    answer["credential"]["response"]["signature"] = json!(encoded([1; 64]));
    assert_eq!(app.answer(&answer).await.error(), failed, "a forged signature");
    let other = app.ask(&mut key).await;
    let mut mixed = app.ask(&mut key).await;
    mixed["credential"] = other["credential"].clone();
    assert_eq!(
        app.answer(&mixed).await.error(),
        failed,
        "the answer to another challenge"
    );
    let mut stolen = app.ask(&mut key).await;
    stolen["credential"]["response"]["userHandle"] = json!(encoded(uuid::Uuid::new_v4().to_string()));
    assert_eq!(app.answer(&stolen).await.error(), failed, "somebody else's name");
    let good = app.ask(&mut key).await;
    assert_eq!(app.answer(&good).await.status, 200);
    key.counter = 0;
    let cloned = app.ask(&mut key).await;
    assert_eq!(
        app.answer(&cloned).await.error(),
        failed,
        "a copy counts from the start"
    );
    let late = app.ask(&mut key).await;
    app.sql("update auth.webauthn_challenges set expires_at = now()", &[])
        .await;
    assert_eq!(
        app.answer(&late).await.error(),
        (400, "webauthn_challenge_expired")
    );
    for body in [
        json!({}),
        json!({"challenge_id": "x", "credential": {}}),
        json!({"challenge_id": uuid::Uuid::new_v4()}),
    ] {
        assert_eq!(
            app.answer(&body).await.error(),
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
    let banned = app.ask(&mut key).await;
    assert_eq!(app.answer(&banned).await.error(), (403, "user_banned"));
}

#[actix_web::test]
async fn passkeys_are_managed_by_their_owner_and_by_administrators() {
    let app = app().await;
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
    assert_eq!(
        patch(&session, &"x".repeat(121)).await.error(),
        (400, "validation_failed")
    );
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

#[actix_web::test]
async fn auth_095_passkeys_are_off_by_default() {
    let app = TestApp::start().await;

    let answer = app
        .post("/passkeys/authentication/options", json!({}))
        .send()
        .await;

    assert_eq!(answer.error(), (404, "passkey_disabled"));
    assert_eq!(app.get("/settings").send().await.body["passkeys_enabled"], false);
}

#[actix_web::test]
async fn a_key_in_the_pocket_is_a_second_factor() {
    let app = app().await;
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
    let answer = |challenge: &Answer, kind: &str, credential: Value| {
        json!({
            "challenge_id": challenge.body["id"],
            "webauthn": {"type": kind, "credential_response": credential, "rpId": "site.example"},
        })
    };
    let body = answer(&challenge, "create", credential);
    let raised = app.signed_in_post(&session, &verify_path, body).await.session();
    assert_eq!(raised.user["factors"][0]["status"], "verified");
    assert!(raised.user["factors"][0]["web_authn_aaguid"].is_string());

    let low = app.sign_in("ana@example.com", PASSWORD).await.session();
    let challenge = app.signed_in_post(&low, &challenge_path, site.clone()).await;
    assert_eq!(challenge.body["webauthn"]["type"], "request");
    let options = &challenge.body["webauthn"]["credential_options"]["publicKey"];
    // Who knows the password only must not be able to register a key of their own under the verified factor.
    let mut creation = options.clone();
    creation["user"] = json!({"id": "x"});
    creation["rp"] = json!({"id": "site.example"});
    let own = Authenticator::new().create(&creation);
    let body = answer(&challenge, "create", own);
    let refused = app.signed_in_post(&low, &verify_path, body).await;
    assert_eq!(refused.error(), (400, "validation_failed"));
    let mut forged = Authenticator {
        key: SigningKey::from_slice(&[9; 32]).unwrap(),
        id: key.id.clone(),
        ..Authenticator::new()
    };
    let body = answer(&challenge, "request", forged.get(options));
    let refused = app.signed_in_post(&low, &verify_path, body).await;
    assert_eq!(refused.error(), (422, "mfa_verification_failed"));
    let body = answer(&challenge, "request", key.get(options));
    let raised = app.signed_in_post(&low, &verify_path, body).await.session();
    let claims: Value = serde_json::from_str(app.keys.verify(&raised.access_token).unwrap().json()).unwrap();
    assert_eq!(
        (&claims["aal"], &claims["amr"][0]["method"]),
        (&json!("aal2"), &json!("mfa/webauthn"))
    );
}

#[actix_web::test]
async fn a_site_that_sign_ins_may_not_lead_to_is_no_relying_party() {
    let app = app().await;
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
