//! Verification of ID tokens, from a provider's token response and from clients (`grant_type=id_token`).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::identity_provider::{CLIENT_ID, IdentityProvider};
use crate::providers::{in_fragment, sign_in, with_google};

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn every_forged_id_token_is_rejected() {
    let (app, provider) = with_google().await;
    let foreign = IdentityProvider::start();
    let base = provider.base.clone();
    let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let payload = part(json!({
        "iss": base, "aud": CLIENT_ID, "sub": "victim", "exp": 9_999_999_999_i64, "email": "v@x.io", "email_verified": true,
    }));
    let key = provider.public_jwks()["keys"][0].clone();
    let unsigned = format!("{}.{payload}.", part(json!({"alg": "none"})));
    // HS256 with the published key as the secret: a library that trusts the header's `alg` would accept it.
    let confused = {
        let header = part(json!({"alg": "HS256", "kid": key["kid"]}));
        let message = format!("{header}.{payload}");
        let secret = key["x"].as_str().unwrap().as_bytes();
        let mac = jsonwebtoken_hs256(message.as_bytes(), secret);
        format!("{message}.{mac}")
    };
    let good = provider.id_token(|_| {});
    let cut = good.rsplit_once('.').unwrap().0.to_owned() + ".AAAA";
    let swapped = format!(
        "{}.{payload}.{}",
        good.split('.').next().unwrap(),
        good.rsplit_once('.').unwrap().1
    );
    let cases = [
        ("unsigned", unsigned),
        ("HS256 with the public key", confused),
        (
            "another issuer's key",
            foreign.id_token(|claims| claims["iss"] = json!(base)),
        ),
        (
            "another issuer",
            provider.id_token(|claims| claims["iss"] = json!(foreign.base)),
        ),
        (
            "another audience",
            provider.id_token(|claims| claims["aud"] = json!("somebody-else")),
        ),
        ("expired", provider.id_token(|claims| claims["exp"] = json!(1))),
        (
            "no expiry",
            provider.id_token(|claims| claims["exp"] = json!(null)),
        ),
        (
            "no subject",
            provider.id_token(|claims| claims["sub"] = json!("")),
        ),
        (
            "another access token",
            provider.id_token(|claims| claims["at_hash"] = json!("AAAAAAAAAAAAAAAAAAAAAA")),
        ),
        ("cut signature", cut),
        ("another payload", swapped),
        ("garbage", "a.b.c".to_owned()),
    ];
    for (name, token) in cases {
        provider.set_token_response("id_token", json!(token));
        let response = sign_in(&app).await;
        assert_eq!(in_fragment(&response, "access_token"), None, "{name}");
        assert_eq!(in_fragment(&response, "error").unwrap(), "server_error", "{name}");

        let body = json!({"provider": "google", "id_token": token, "access_token": "their-access"});
        let granted = app.post("/token?grant_type=id_token", body).send().await;
        assert_eq!(
            (granted.status, &granted.body["error"]),
            (400, &json!("invalid request")),
            "{name}"
        );
    }
    assert_eq!(app.count("select count(*) from auth.users").await, 0);
}

/// Computes the HS256 signature of a JWT, in base64url.
fn jsonwebtoken_hs256(message: &[u8], secret: &[u8]) -> String {
    use hmac::{Hmac, KeyInit, Mac};
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).unwrap();
    mac.update(message);
    URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_081_an_id_token_with_a_matching_nonce_signs_in() {
    let (app, provider) = with_google().await;
    let grant = |nonce: Value, hashed: Value| {
        let token = provider.id_token(|claims| claims["nonce"] = hashed);
        let body = json!({"provider": "google", "id_token": token, "nonce": nonce});
        app.post("/token?grant_type=id_token", body).send()
    };
    let hashed = json!(hex::encode(Sha256::digest("raw-nonce")));

    let session = grant(json!("raw-nonce"), hashed.clone()).await.session();
    assert_eq!(session.user["email"], "ana@example.com");
    assert_eq!(
        app.keys
            .verify(&session.access_token)
            .unwrap()
            .get("amr")
            .unwrap()[0]["method"],
        "oauth"
    );
    grant(json!(null), json!(null)).await.session();
    for (nonce, in_token) in [
        (json!("other"), hashed.clone()),
        (json!(null), hashed.clone()),
        (json!("raw-nonce"), json!(null)),
        (json!("raw-nonce"), json!("raw-nonce")),
        (hashed.clone(), hashed.clone()),
    ] {
        let refused = grant(nonce.clone(), in_token).await;
        assert_eq!(refused.status, 400, "{nonce}");
        assert!(refused.body["error"].is_string() && refused.body["error_description"].is_string());
    }
    for body in [
        json!({"provider": "google"}),
        json!({"id_token": "x"}),
        json!({"id_token": "x", "issuer": "y"}),
    ] {
        let refused = app.post("/token?grant_type=id_token", body).send().await;
        assert_eq!(
            (refused.status, &refused.body["error"]),
            (400, &json!("invalid request"))
        );
    }
    let off = app.post(
        "/token?grant_type=id_token",
        json!({"id_token": "x", "provider": "apple"}),
    );
    assert_eq!(off.send().await.error(), (400, "provider_disabled"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_082_an_id_token_for_the_second_client_id_is_accepted() {
    let (app, provider) = with_google().await;
    let grant = |audience: Value| {
        let token = provider.id_token(|claims| claims["aud"] = audience);
        app.post(
            "/token?grant_type=id_token",
            json!({"provider": "google", "id_token": token}),
        )
        .send()
    };

    grant(json!("our-app")).await.session();
    grant(json!(["x", "our-app"])).await.session();
    let refused = grant(json!("x")).await;

    assert_eq!(
        refused.body["error_description"],
        "Unacceptable audience in id_token: [x]"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn key_sets_are_fetched_again_after_a_rotation_of_keys() {
    let (app, provider) = with_google().await;
    assert!(in_fragment(&sign_in(&app).await, "access_token").is_some());
    // At most every ten seconds: tokens with invented key ids must not make the server send requests.
    provider.rotate(selvedge_token::KeyAlgorithm::EdDsa);
    assert_eq!(
        in_fragment(&sign_in(&app).await, "error").unwrap(),
        "server_error"
    );
}
