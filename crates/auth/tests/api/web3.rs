//! Sign-in with messages that a crypto wallet has signed (`grant_type=web3`).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::Signer;
use k256::ecdsa::SigningKey;
use serde_json::json;
use sha3::{Digest, Keccak256};

use crate::app::{Response, TestApp};
use crate::protection::proxy_header;

/// Starts the service with sign-in by Ethereum and Solana wallets.
async fn start_app() -> TestApp {
    TestApp::start_with(|config| {
        config.web3.ethereum = true;
        config.web3.solana = true;
    })
    .await
}

/// Computes the address of a key: the last 20 bytes of the Keccak-256 hash of its public key.
fn ethereum_address(key: &SigningKey) -> String {
    let point = key.verifying_key().to_encoded_point(false);
    format!(
        "0x{}",
        hex::encode(&Keccak256::digest(&point.as_bytes()[1..])[12..])
    )
}

/// Builds a message as wallets sign it (EIP-4361), issued now.
fn build_message(chain: &str, address: &str, domain: &str, uri: &str, network: &str) -> String {
    let now = chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Millis, true);
    format!(
        "{domain} wants you to sign in with your {chain} account:\n{address}\n\nI accept the terms\n\nURI: {uri}\n\
         Version: 1\nChain ID: {network}\nNonce: 12345678\nIssued At: {now}"
    )
}

/// Signs a message as Ethereum wallets do (EIP-191): 64 bytes of signature and a recovery byte, in hex.
fn sign_ethereum(key: &SigningKey, message: &str) -> String {
    let text = format!("\u{19}Ethereum Signed Message:\n{}{message}", message.len());
    let (signature, recovery) = key.sign_prehash_recoverable(&Keccak256::digest(text)).unwrap();
    format!(
        "0x{}{:02x}",
        hex::encode(signature.to_bytes()),
        recovery.to_byte() + 27
    )
}

async fn sign_in_with_wallet(app: &TestApp, chain: &str, message: &str, signature: &str) -> Response {
    let body = json!({"chain": chain, "message": message, "signature": signature});
    app.post("/token?grant_type=web3", body).send().await
}

/// An Ethereum wallet.
pub(crate) struct Wallet(SigningKey);

impl Wallet {
    /// The wallet of this number, which is not 0.
    pub(crate) fn new(number: u64) -> Self {
        let mut secret = [0; 32];
        secret[24..].copy_from_slice(&number.to_be_bytes());
        Self(SigningKey::from_slice(&secret).unwrap())
    }

    /// The name of the wallet's identity.
    pub(crate) fn subject(&self) -> String {
        format!("web3:ethereum:{}", ethereum_address(&self.0))
    }
}

/// Signs a message for the site and sends it.
pub(crate) async fn sign_in_with_ethereum(app: &TestApp, Wallet(key): &Wallet) -> Response {
    let (address, site) = (ethereum_address(key), "https://site.example/");
    let text = build_message("Ethereum", &address, "site.example", site, "1");
    sign_in_with_wallet(app, "ethereum", &text, &sign_ethereum(key, &text)).await
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn an_ethereum_wallet_signs_in_to_the_same_user_again() {
    let app = start_app().await;
    let key = SigningKey::from_slice(&[7; 32]).unwrap();
    let address = ethereum_address(&key);
    let text = build_message(
        "Ethereum",
        &address,
        "site.example",
        "https://site.example/login",
        "1",
    );

    let session = sign_in_with_wallet(&app, "ethereum", &text, &sign_ethereum(&key, &text))
        .await
        .session();

    let user = &session.user;
    assert_eq!(
        (&user["email"], &user["is_anonymous"]),
        (&json!(""), &json!(false))
    );
    assert_eq!(
        user["app_metadata"],
        json!({"provider": "web3", "providers": ["web3"]})
    );
    assert_eq!(user["identities"][0]["id"], format!("web3:ethereum:{address}"));
    let custom = &user["identities"][0]["identity_data"]["custom_claims"];
    assert_eq!(
        (&custom["network"], &custom["statement"]),
        (&json!("1"), &json!("I accept the terms"))
    );
    assert_eq!(
        app.keys
            .verify(&session.access_token)
            .unwrap()
            .get("amr")
            .unwrap()[0]["method"],
        "web3"
    );
    let again = sign_in_with_wallet(&app, "ethereum", &text, &sign_ethereum(&key, &text))
        .await
        .session();
    assert_eq!(again.user["id"], user["id"]);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn solana_signatures_of_the_text_and_of_the_offchain_envelope_sign_in() {
    let app = start_app().await;
    let key = ed25519_dalek::SigningKey::from_bytes(&[9; 32]);
    let address = bs58::encode(key.verifying_key().as_bytes()).into_string();
    let text = build_message(
        "Solana",
        &address,
        "site.example",
        "https://site.example/",
        "solana:mainnet",
    );

    let plain = STANDARD.encode(key.sign(text.as_bytes()).to_bytes());
    let session = sign_in_with_wallet(&app, "solana", &text, &plain).await.session();
    assert_eq!(
        session.user["identities"][0]["id"],
        format!("web3:solana:{address}")
    );

    let mut wrapped = b"\xffsolana offchain\x00".to_vec();
    wrapped.extend(b"site.example");
    wrapped.extend([0; 20]);
    wrapped.extend([0, 1]);
    wrapped.extend(key.verifying_key().as_bytes());
    wrapped.extend(u16::try_from(text.len()).unwrap().to_le_bytes());
    wrapped.extend(text.as_bytes());
    let hardware = STANDARD.encode(key.sign(&wrapped).to_bytes());
    assert_eq!(
        sign_in_with_wallet(&app, "solana", &text, &hardware)
            .await
            .session()
            .user["id"],
        session.user["id"]
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn messages_for_other_sites_or_signed_by_other_keys_are_rejected() {
    let app = start_app().await;
    let key = SigningKey::from_slice(&[7; 32]).unwrap();
    let other = SigningKey::from_slice(&[8; 32]).unwrap();
    let address = ethereum_address(&key);
    let good = build_message("Ethereum", &address, "site.example", "https://site.example/", "1");
    let signed = |domain: &str, uri: &str| {
        let text = build_message("Ethereum", &address, domain, uri, "1");
        let signature = sign_ethereum(&key, &text);
        (text, signature)
    };
    let old = good.replace("Issued At: 20", "Issued At: 19");
    let cases = [
        (good.clone(), sign_ethereum(&other, &good)),
        (good.replace("terms", "conditions"), sign_ethereum(&key, &good)),
        signed("evil.example", "https://evil.example/"),
        signed("evil.example", "https://site.example/"),
        signed("site.example", "http://site.example/"),
        (old.clone(), sign_ethereum(&key, &old)),
        (good.clone(), format!("0x{}", "00".repeat(65))),
        (good.clone(), format!("0x{}", "ff".repeat(65))),
    ];
    for (text, signature) in cases {
        let refused = sign_in_with_wallet(&app, "ethereum", &text, &signature).await;
        assert_eq!(
            (refused.status, &refused.body["error"]),
            (400, &json!("invalid_grant")),
            "{text}"
        );
    }
    assert_eq!(
        sign_in_with_wallet(&app, "ethereum", &good, "0x00").await.error(),
        (400, "validation_failed")
    );
    assert_eq!(
        sign_in_with_wallet(&app, "ethereum", "short", "").await.error(),
        (400, "validation_failed")
    );
    assert_eq!(
        sign_in_with_wallet(&app, "bitcoin", &good, "").await.error(),
        (400, "web3_unsupported_chain")
    );
    assert_eq!(app.count("select count(*) from auth.users").await, 0);
    let off = TestApp::start().await;
    assert_eq!(
        sign_in_with_wallet(&off, "ethereum", "", "").await.error(),
        (422, "web3_provider_disabled")
    );
    let bytes = json!({ "chain": "ethereum", "message": "m", "signature": { "0": 1, "1": 2 } });
    assert_eq!(
        off.post("/token?grant_type=web3", bytes).send().await.error(),
        (422, "web3_provider_disabled")
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn web3_sign_ins_have_their_own_rate_limit() {
    let app = TestApp::start_with(|config| {
        config.web3.ethereum = true;
        config.rate_limits.client = proxy_header();
        config.rate_limits.web3 = 1;
    })
    .await;
    let request_token = |kind: &'static str| {
        let call = app.post(&format!("/token?grant_type={kind}"), json!({"chain": "ethereum"}));
        call.header("x-real-ip", "192.0.2.1").send()
    };

    for _ in 0..30 {
        assert_eq!(request_token("web3").await.error(), (400, "validation_failed"));
    }

    assert_eq!(
        request_token("web3").await.error(),
        (429, "over_request_rate_limit")
    );
    assert_eq!(
        request_token("refresh_token").await.status,
        400,
        "has a bucket of its own"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_117_the_domain_of_a_message_is_the_host_of_its_uri() {
    let app = TestApp::start_with(|config| {
        config.web3.ethereum = true;
        config.uri_allow_list = vec![
            "http://localhost:3000/**".to_owned(),
            "http://127.0.0.1:3000/**".to_owned(),
        ];
    })
    .await;
    let key = SigningKey::from_slice(&[7; 32]).unwrap();
    let address = ethereum_address(&key);
    let sign_in = async |domain: &str, uri: &str| {
        let text = build_message("Ethereum", &address, domain, uri, "1");
        let signature = sign_ethereum(&key, &text);
        sign_in_with_wallet(&app, "ethereum", &text, &signature).await
    };

    for (domain, uri) in [
        ("evil.example", "http://localhost:3000/"),
        ("evil.example", "http://127.0.0.1:3000/"),
        ("localhost:3001", "http://localhost:3000/"),
        ("localhost", "http://localhost:3000/"),
        ("evil.example", "https://site.example/"),
    ] {
        let refused = sign_in(domain, uri).await;
        assert_eq!(
            (refused.status, &refused.body["error"]),
            (400, &json!("invalid_grant")),
            "{domain} {uri}"
        );
    }
    sign_in("localhost:3000", "http://localhost:3000/")
        .await
        .session();
    sign_in("site.example", "https://site.example/").await.session();
}
