//! Sign-in by way of a provider: the two redirects, what comes of them, and whom they must not let in.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::app::{Answer, PASSWORD, TestApp};
use crate::identity_provider::{CLIENT_ID, CLIENT_SECRET, IdentityProvider};

pub(crate) const VERIFIER: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// The service with a provider that stands in for Google.
async fn with_google() -> (TestApp, IdentityProvider) {
    let provider = IdentityProvider::start();
    let app = TestApp::with(|config| {
        config.insecure_providers = true;
        config.external = vec![provider.config("google")];
    })
    .await;
    (app, provider)
}

fn param(url: &str, name: &str) -> String {
    let url = url::Url::parse(url).unwrap();
    let found = url
        .query_pairs()
        .find(|(key, _)| key == name)
        .map(|(_, value)| value.into_owned());
    found.unwrap_or_default()
}

fn in_fragment(answer: &Answer, name: &str) -> Option<String> {
    let fragment = answer
        .header("location")
        .split_once('#')
        .map_or("", |(_, rest)| rest);
    let mut pairs = url::form_urlencoded::parse(fragment.as_bytes());
    pairs
        .find(|(key, _)| key == name)
        .map(|(_, value)| value.into_owned())
}

/// Begins a visit; the state that the provider would carry back.
async fn begin(app: &TestApp, query: &str) -> String {
    let answer = app.get(&format!("/authorize?{query}")).send().await;
    assert_eq!(answer.status, 302, "{}", answer.body);
    param(answer.header("location"), "state")
}

/// Comes back from the provider with a code.
async fn come_back(app: &TestApp, state: &str) -> Answer {
    app.get(&format!("/callback?state={state}&code=their-code"))
        .send()
        .await
}

async fn sign_in(app: &TestApp) -> Answer {
    let state = begin(app, "provider=google&redirect_to=https://site.example/auth").await;
    come_back(app, &state).await
}

fn claims(app: &TestApp, answer: &Answer) -> Value {
    let token = in_fragment(answer, "access_token").unwrap_or_else(|| panic!("{:?}", answer.headers));
    Value::Object(app.keys.verify(&token).unwrap().map().clone())
}

#[actix_web::test]
async fn auth_038_authorize_leads_to_the_provider_with_what_the_site_asks_for() {
    let (app, provider) = with_google().await;

    let answer = app
        .get(
            "/authorize?provider=google&redirect_to=https://site.example/auth&scopes=openid%20email%20profile\
             &access_type=offline&prompt=consent&client_id=evil&Redirect_Uri=https://evil.io&state=mine&apikey=k",
        )
        .send()
        .await;

    assert_eq!(answer.status, 302);
    let url = answer.header("location");
    assert!(url.starts_with(&format!("{}/authorize?", provider.base)), "{url}");
    let expected = [
        ("client_id", CLIENT_ID),
        ("redirect_uri", "https://api.example/auth/v1/callback"),
        ("response_type", "code"),
        ("scope", "email profile openid email profile"),
        ("access_type", "offline"),
        ("prompt", "consent"),
        ("redirect_to", ""),
        ("Redirect_Uri", ""),
        ("apikey", ""),
    ];
    for (name, value) in expected {
        assert_eq!(param(url, name), value, "{name} in {url}");
    }
    assert!(param(url, "state").parse::<uuid::Uuid>().is_ok());
    assert_eq!(
        app.count("select count(*) from auth.flow_state where auth_code is null")
            .await,
        1
    );
}

#[actix_web::test]
async fn auth_039_auth_045_a_first_visit_makes_a_user_with_name_and_picture() {
    let (app, provider) = with_google().await;
    app.migrate(
        "create table public.profiles (id uuid, full_name text, avatar_url text, email text);
         create function public.note() returns trigger language plpgsql security definer as $$
         begin
           insert into public.profiles values (new.id, new.raw_user_meta_data ->> 'full_name',
             new.raw_user_meta_data ->> 'avatar_url', new.raw_user_meta_data ->> 'email');
           return new;
         end $$;
         create trigger note after insert on auth.users for each row execute function public.note();",
    )
    .await;

    let answer = sign_in(&app).await;

    assert_eq!(answer.status, 302);
    let location = answer.header("location");
    assert!(
        location.starts_with("https://site.example/auth#access_token="),
        "{location}"
    );
    let names: Vec<String> = url::form_urlencoded::parse(location.split_once('#').unwrap().1.as_bytes())
        .map(|(name, _)| name.into_owned())
        .collect();
    let expected = [
        "access_token",
        "expires_at",
        "expires_in",
        "provider_refresh_token",
        "provider_token",
        "refresh_token",
        "sb",
        "token_type",
    ];
    assert_eq!(names, expected);
    assert_eq!(in_fragment(&answer, "provider_token").unwrap(), "their-access");
    let claims = claims(&app, &answer);
    assert_eq!(claims["amr"][0]["method"], "oauth");
    assert_eq!(claims["email"], "ana@example.com");
    assert_eq!(
        claims["app_metadata"],
        json!({"provider": "google", "providers": ["google"]})
    );
    let metadata = &claims["user_metadata"];
    assert_eq!(
        *metadata,
        json!({
            "iss": provider.base, "sub": "ana-1", "provider_id": "ana-1", "name": "Ana Lind", "full_name": "Ana Lind",
            "picture": "https://img.example/ana.png", "avatar_url": "https://img.example/ana.png",
            "email": "Ana@Example.com", "email_verified": true, "phone_verified": false,
        })
    );
    let profile = &app
        .sql("select full_name, avatar_url, email from public.profiles", &[])
        .await[0];
    assert_eq!(profile.get::<_, &str>(0), "Ana Lind");
    assert_eq!(profile.get::<_, &str>(1), "https://img.example/ana.png");
    assert_eq!(profile.get::<_, &str>(2), "Ana@Example.com");
    assert_eq!(app.count("select count(*) from auth.flow_state").await, 0);
    assert_eq!(app.mail_count(), 0);

    let request = &provider.requests()[0];
    let basic = STANDARD.encode(format!("{CLIENT_ID}:{CLIENT_SECRET}"));
    assert_eq!(request.authorization, format!("Basic {basic}"));
    assert_eq!(request.get("grant_type"), "authorization_code");
    assert_eq!(request.get("code"), "their-code");
    assert_eq!(
        request.get("redirect_uri"),
        "https://api.example/auth/v1/callback"
    );

    provider.says(json!({"name": "Ana Berg"}));
    let again = sign_in(&app).await;
    let again = self::claims(&app, &again);
    assert_eq!(
        (&again["sub"], &again["user_metadata"]["full_name"]),
        (&claims["sub"], &json!("Ana Berg"))
    );
    assert_eq!(app.count("select count(*) from auth.users").await, 1);
}

#[actix_web::test]
async fn auth_046_a_pkce_client_gets_a_code_and_the_providers_tokens_once() {
    let (app, _provider) = with_google().await;
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER));
    let target = "https%3A%2F%2Fsite.example%2Fauth%3Fsb_flow_id%3Dx";
    let query =
        format!("provider=google&redirect_to={target}&code_challenge={challenge}&code_challenge_method=s256");
    let state = begin(&app, &query).await;

    let answer = come_back(&app, &state).await;

    let location = answer.header("location").to_owned();
    assert!(
        location.starts_with("https://site.example/auth?sb_flow_id=x&code="),
        "{location}"
    );
    let replayed = come_back(&app, &state).await;
    assert_eq!(
        param(replayed.header("location"), "error_code"),
        "flow_state_already_used"
    );
    let exchange = |verifier: &'static str| {
        let body = json!({"auth_code": param(&location, "code"), "code_verifier": verifier});
        app.post("/token?grant_type=pkce", body).send()
    };
    assert_eq!(exchange("wrong").await.error(), (400, "bad_code_verifier"));
    let session = exchange(VERIFIER).await;
    assert_eq!(session.body["provider_token"], "their-access");
    assert_eq!(session.body["provider_refresh_token"], "their-refresh");
    assert_eq!(session.session().user["email"], "ana@example.com");
    assert_eq!(exchange(VERIFIER).await.error(), (404, "flow_state_not_found"));
}

#[actix_web::test]
async fn auth_048_the_whole_visit_must_fit_into_five_minutes() {
    let (app, _provider) = with_google().await;
    let age = "update auth.flow_state set created_at = now() - interval '6 minutes'";
    let state = begin(&app, "provider=google").await;
    app.sql(age, &[]).await;

    let late = come_back(&app, &state).await;

    assert_eq!(
        (late.status, param(late.header("location"), "error_code").as_str()),
        (303, "bad_oauth_state")
    );
    assert!(
        late.header("location")
            .starts_with("https://site.example?error=invalid_request&")
    );

    let query = format!("provider=google&code_challenge={VERIFIER}&code_challenge_method=plain");
    let state = begin(&app, &query).await;
    let code = param(come_back(&app, &state).await.header("location"), "code");
    app.sql(age, &[]).await;
    let body = json!({"auth_code": code, "code_verifier": VERIFIER});
    let exchanged = app.post("/token?grant_type=pkce", body).send().await;
    assert_eq!(exchanged.error(), (422, "flow_state_expired"));
}

#[actix_web::test]
async fn auth_042_what_the_provider_refuses_is_passed_on() {
    let (app, provider) = with_google().await;
    let state = begin(&app, "provider=google&redirect_to=https://site.example/auth?x=1").await;

    let path =
        format!("/callback?state={state}&error=access_denied&error_description=The%20user%20said%20no");
    let answer = app.get(&path).send().await;

    assert_eq!(answer.status, 302);
    assert_eq!(
        answer.header("location"),
        "https://site.example/auth?x=1&error=access_denied&error_description=The+user+said+no\
         #error=access_denied&error_description=The+user+said+no&sb="
    );
    assert!(provider.requests().is_empty());
}

#[actix_web::test]
async fn a_callback_without_a_living_state_leads_to_the_site() {
    let (app, _provider) = with_google().await;
    let unknown = uuid::Uuid::new_v4();
    let cases = [
        ("/callback".to_owned(), "bad_oauth_callback"),
        ("/callback?state=x&code=y".to_owned(), "bad_oauth_state"),
        (format!("/callback?state={unknown}&code=y"), "bad_oauth_state"),
    ];
    for (path, code) in cases {
        let answer = app.get(&path).header("referer", "https://evil.io/").send().await;
        assert_eq!(answer.status, 303, "{path}");
        let location = answer.header("location");
        assert!(location.starts_with("https://site.example?error="), "{location}");
        assert_eq!(param(location, "error_code"), code, "{path}");
    }
    let state = begin(&app, "provider=google").await;
    let without_code = app.get(&format!("/callback?state={state}")).send().await;
    assert_eq!(
        param(without_code.header("location"), "error_code"),
        "bad_oauth_callback"
    );
}

#[actix_web::test]
async fn a_state_of_the_implicit_flow_is_worth_one_session() {
    let (app, _provider) = with_google().await;
    let state = begin(&app, "provider=google").await;

    assert!(in_fragment(&come_back(&app, &state).await, "access_token").is_some());
    assert_eq!(
        param(come_back(&app, &state).await.header("location"), "error_code"),
        "bad_oauth_state"
    );
}

#[actix_web::test]
async fn open_redirects_end_at_the_site() {
    let (app, _provider) = with_google().await;
    for target in [
        "https://evil.io/",
        "https://site.example.evil.io",
        "//evil.io",
        "https://site.example@evil.io",
    ] {
        let state = begin(&app, &format!("provider=google&redirect_to={target}")).await;
        let answer = come_back(&app, &state).await;
        assert!(
            answer
                .header("location")
                .starts_with("https://site.example#access_token="),
            "{target}"
        );
    }
}

#[actix_web::test]
async fn auth_040_a_proven_address_links_to_the_account_that_has_it() {
    let (app, _provider) = with_google().await;
    let ana = app.user("ana@example.com").await;

    let claims = claims(&app, &sign_in(&app).await);

    assert_eq!(claims["sub"], ana.user["id"]);
    assert_eq!(
        claims["app_metadata"],
        json!({"provider": "email", "providers": ["email", "google"]})
    );
    assert_eq!(app.sign_in("ana@example.com", PASSWORD).await.status, 200);
    let linked = "select count(*) from auth.audit_log_entries where payload ->> 'action' = 'identity_linked'";
    assert_eq!(app.count(linked).await, 1);
}

#[actix_web::test]
async fn an_unproven_address_never_links_even_under_autoconfirm() {
    for autoconfirm in [false, true] {
        let provider = IdentityProvider::start();
        provider.says(json!({"email_verified": false}));
        let app = TestApp::with(|config| {
            config.insecure_providers = true;
            config.external = vec![provider.config("google")];
            config.email.autoconfirm = autoconfirm;
        })
        .await;
        let ana = app.user("ana@example.com").await;

        let answer = sign_in(&app).await;

        let owners = app
            .sql(
                "select user_id from auth.identities where provider = 'google'",
                &[],
            )
            .await;
        assert!(
            owners
                .iter()
                .all(|row| row.get::<_, uuid::Uuid>(0) != ana.user_id())
        );
        assert_eq!(app.sign_in("ana@example.com", PASSWORD).await.status, 200);
        if autoconfirm {
            assert_eq!(claims(&app, &answer)["email"], "");
        } else {
            assert_eq!(
                param(answer.header("location"), "error_code"),
                "provider_email_needs_verification"
            );
        }
    }
}

#[actix_web::test]
async fn an_unproven_new_address_must_be_confirmed_by_mail_first() {
    let (app, provider) = with_google().await;
    provider.says(json!({"email_verified": false}));

    let answer = sign_in(&app).await;

    let location = answer.header("location");
    assert_eq!(param(location, "error"), "access_denied");
    assert_eq!(param(location, "error_code"), "provider_email_needs_verification");
    assert_eq!(
        in_fragment(&answer, "error_code").unwrap(),
        "provider_email_needs_verification"
    );
    let mail = app.mail_to("ana@example.com");
    assert!(
        mail.link.contains("redirect_to=https://site.example/auth"),
        "{}",
        mail.link
    );
    app.get(&mail.link).send().await;
    assert_eq!(claims(&app, &sign_in(&app).await)["email"], "ana@example.com");
    assert_eq!(app.count("select count(*) from auth.users").await, 1);
}

#[actix_web::test]
async fn auth_041_whoever_registered_the_address_first_without_proof_loses_the_account() {
    let (app, _provider) = with_google().await;
    let body = json!({"email": "ana@example.com", "password": PASSWORD, "data": {"role": "planted"}});
    app.post("/signup", body).send().await;
    let planted = app.mail_to("ana@example.com");

    let claims = claims(&app, &sign_in(&app).await);

    assert_eq!(
        app.sign_in("ana@example.com", PASSWORD).await.error(),
        (400, "invalid_credentials")
    );
    assert_eq!(claims["user_metadata"]["role"], Value::Null);
    assert_eq!(claims["app_metadata"]["providers"], json!(["google"]));
    let old_link = app.get(&planted.link).send().await;
    assert_eq!(old_link.in_fragment("error_code").unwrap(), "otp_expired");
}

#[actix_web::test]
async fn auth_044_nobody_new_comes_in_where_sign_ups_are_off() {
    let provider = IdentityProvider::start();
    let app = TestApp::with(|config| {
        config.insecure_providers = true;
        config.external = vec![provider.config("google")];
        config.disable_signup = true;
    })
    .await;

    let answer = sign_in(&app).await;

    assert_eq!(param(answer.header("location"), "error"), "access_denied");
    assert_eq!(in_fragment(&answer, "error_code").unwrap(), "signup_disabled");
    assert_eq!(app.count("select count(*) from auth.users").await, 0);
}

#[actix_web::test]
async fn a_banned_user_stays_outside() {
    let (app, _provider) = with_google().await;
    sign_in(&app).await;
    app.sql(
        "update auth.users set banned_until = now() + interval '1 day'",
        &[],
    )
    .await;

    let answer = sign_in(&app).await;

    assert_eq!(in_fragment(&answer, "error").unwrap(), "access_denied");
    assert_eq!(in_fragment(&answer, "error_code").unwrap(), "user_banned");
}

#[actix_web::test]
async fn auth_043_providers_that_are_off_answer_in_json() {
    let (app, _provider) = with_google().await;
    for query in ["", "provider=github", "provider=nonsense", "provider=custom:x"] {
        let answer = app.get(&format!("/authorize?{query}")).send().await;
        assert_eq!(answer.error(), (400, "validation_failed"), "{query}");
        assert!(answer.message().starts_with("Unsupported provider"), "{query}");
    }
    let half = app
        .get("/authorize?provider=google&code_challenge_method=s256")
        .send()
        .await;
    assert_eq!(half.error(), (400, "validation_failed"));
    let invite = app.get("/authorize?provider=google&invite_token=x").send().await;
    assert_eq!(invite.error(), (404, "user_not_found"));
}

#[actix_web::test]
async fn an_invitation_is_accepted_by_the_invited_address_only() {
    let (app, provider) = with_google().await;
    app.post("/invite", json!({"email": "ben@example.com"}))
        .admin()
        .send()
        .await;
    let token = app.mail_to("ben@example.com").param("token");
    let accept = async || {
        let state = begin(&app, &format!("provider=google&invite_token={token}")).await;
        come_back(&app, &state).await
    };

    assert_eq!(
        param(accept().await.header("location"), "error_code"),
        "validation_failed"
    );
    provider.says(json!({"email": "ben@example.com", "sub": "ben-1"}));
    assert_eq!(claims(&app, &accept().await)["email"], "ben@example.com");
    let audit = "select count(*) from auth.audit_log_entries where payload ->> 'action' = 'invite_accepted'";
    assert_eq!(app.count(audit).await, 1);
}

#[actix_web::test]
async fn token_substitution_every_forged_id_token_is_refused() {
    let (app, provider) = with_google().await;
    let foreign = IdentityProvider::start();
    let base = provider.base.clone();
    let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let payload = part(json!({
        "iss": base, "aud": CLIENT_ID, "sub": "victim", "exp": 9_999_999_999_i64, "email": "v@x.io", "email_verified": true,
    }));
    let key = provider.public_jwks()["keys"][0].clone();
    let unsigned = format!("{}.{payload}.", part(json!({"alg": "none"})));
    // The published key as an HMAC secret: the classic confusion.
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
        provider.answers("id_token", json!(token));
        let answer = sign_in(&app).await;
        assert_eq!(in_fragment(&answer, "access_token"), None, "{name}");
        assert_eq!(in_fragment(&answer, "error").unwrap(), "server_error", "{name}");

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

fn jsonwebtoken_hs256(message: &[u8], secret: &[u8]) -> String {
    use hmac::{Hmac, KeyInit, Mac};
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).unwrap();
    mac.update(message);
    URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
}

#[actix_web::test]
async fn auth_081_an_id_token_signs_in_when_its_nonce_fits() {
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

#[actix_web::test]
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

#[actix_web::test]
async fn an_issuer_that_rotates_its_keys_is_asked_again() {
    let (app, provider) = with_google().await;
    assert!(in_fragment(&sign_in(&app).await, "access_token").is_some());
    // Not more often than every ten seconds: a stranger's token must not make us call.
    provider.rotate(selvedge_token::KeyAlgorithm::EdDsa);
    assert_eq!(
        in_fragment(&sign_in(&app).await, "error").unwrap(),
        "server_error"
    );
}

#[actix_web::test]
async fn github_is_asked_for_the_person_and_their_proven_address() {
    let provider = IdentityProvider::start();
    provider.shows(json!({
        "id": 583231, "login": "octo", "name": "Octo Cat", "avatar_url": "https://img.example/o.png", "email": "spoofed@x.io",
        "emails": [
            {"email": "side@example.com", "verified": true, "primary": false},
            {"email": "Octo@Example.com", "verified": true, "primary": true},
        ],
    }));
    let app = TestApp::with(|config| {
        config.insecure_providers = true;
        config.external = vec![provider.config("github")];
    })
    .await;
    let started = app
        .get("/authorize?provider=github&scopes=repo,gist")
        .send()
        .await;
    assert_eq!(param(started.header("location"), "scope"), "user:email repo gist");

    let answer = come_back(&app, &param(started.header("location"), "state")).await;

    let claims = claims(&app, &answer);
    assert_eq!(claims["email"], "octo@example.com");
    assert_eq!(claims["user_metadata"]["user_name"], "octo");
    assert_eq!(claims["user_metadata"]["provider_id"], "583231");
    assert_eq!(
        claims["user_metadata"]["iss"],
        format!("{}/api/v3", provider.base)
    );
}

#[actix_web::test]
async fn apple_posts_a_form_and_tells_the_name_once() {
    let provider = IdentityProvider::start();
    let app = TestApp::with(|config| {
        config.insecure_providers = true;
        config.external = vec![provider.config("apple")];
    })
    .await;
    let started = app.get("/authorize?provider=apple").send().await;
    let url = started.header("location");
    assert_eq!(param(url, "response_mode"), "form_post");
    assert_eq!(param(url, "scope"), "email name");

    let user = "%7B%22name%22%3A%7B%22firstName%22%3A%22Ana%22%2C%22lastName%22%3A%22Lind%22%7D%7D";
    let form = format!("state={}&code=their-code&user={user}", param(url, "state"));
    let call = app.call(reqwest::Method::POST, "/callback").raw(form);
    let answer = call
        .header("content-type", "application/x-www-form-urlencoded")
        .send()
        .await;

    assert_eq!(claims(&app, &answer)["user_metadata"]["full_name"], "Ana Lind");
    let request = &provider.requests()[0];
    assert_eq!(
        (request.get("client_id"), request.get("client_secret")),
        (CLIENT_ID, CLIENT_SECRET)
    );
}
