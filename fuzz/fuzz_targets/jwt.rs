//! Tokens: none is accepted without the secret, and none that is signed makes the checks of its claims fail badly. The input
//! is a header and a payload, separated by an empty line, or else a whole token.
#![no_main]

use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use libfuzzer_sys::fuzz_target;
use selvedge_token::KeyRing;
use serde_json::Value;
use sha2::Sha256;

const SECRET: &[u8] = b"a secret of this fuzz target, which no input holds";

static RING: LazyLock<KeyRing> = LazyLock::new(|| KeyRing::new(SECRET, &[]).expect("a usable secret"));

fuzz_target!(|input: &str| {
    let Some((header, payload)) = input.split_once("\n\n") else {
        assert!(RING.verify(input).is_err(), "a token that nobody signed");
        assert!(RING.verify_any_hash(input).is_err(), "a token that nobody signed");
        return;
    };
    let signed = format!(
        "{}.{}",
        URL_SAFE_NO_PAD.encode(header),
        URL_SAFE_NO_PAD.encode(payload)
    );
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET).expect("HMAC takes keys of any length");
    mac.update(signed.as_bytes());
    let token = format!("{signed}.{}", URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()));
    let Ok(claims) = RING.verify(&token) else {
        return;
    };
    let header: Value = serde_json::from_str(header).expect("an accepted header is JSON");
    assert_eq!(header["alg"], "HS256", "the key is for this algorithm alone");
    let payload: Value = serde_json::from_str(payload).expect("accepted claims are JSON");
    assert_eq!(Value::Object(claims.map().clone()), payload);
    // Compared as text: a number with many digits may be read as its neighbour when it is parsed once more.
    assert_eq!(claims.json(), payload.to_string());
    let _ = (claims.check_time(0, 30), claims.check_time(i64::MAX, i64::MAX));
    let _ = (
        claims.check_audience("authenticated"),
        claims.role(),
        claims.subject(),
    );
});
