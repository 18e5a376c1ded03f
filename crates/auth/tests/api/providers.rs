//! Sign-in with a provider: `/authorize`, `/callback`, linking of accounts, and sign-ins that must be rejected.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::app::{PASSWORD, Response, TestApp};
use crate::identity_provider::{CLIENT_ID, CLIENT_SECRET, IdentityProvider};

pub(crate) const VERIFIER: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// Starts the service with a test provider configured as Google.
pub(crate) async fn with_google() -> (TestApp, IdentityProvider) {
    let provider = IdentityProvider::start();
    let app = TestApp::start_with(|config| {
        config.insecure_providers = true;
        config.external = vec![provider.config("google")];
    })
    .await;
    (app, provider)
}

/// Returns one query parameter of a URL; empty when it is missing.
pub(crate) fn read_query_param(url: &str, name: &str) -> String {
    let url = url::Url::parse(url).unwrap();
    let found = url
        .query_pairs()
        .find(|(key, _)| key == name)
        .map(|(_, value)| value.into_owned());
    found.unwrap_or_default()
}

/// Returns one parameter in the fragment of the `location` header.
pub(crate) fn in_fragment(response: &Response, name: &str) -> Option<String> {
    let fragment = response
        .header("location")
        .split_once('#')
        .map_or("", |(_, rest)| rest);
    let mut pairs = url::form_urlencoded::parse(fragment.as_bytes());
    pairs
        .find(|(key, _)| key == name)
        .map(|(_, value)| value.into_owned())
}

/// Calls `/authorize`; returns the `state` of the redirect.
async fn begin(app: &TestApp, query: &str) -> String {
    let response = app.get(&format!("/authorize?{query}")).send().await;
    assert_eq!(response.status, 302, "{}", response.body);
    read_query_param(response.header("location"), "state")
}

/// Calls `/callback` with a code, as the browser does when the provider redirects it.
pub(crate) async fn return_from_provider(app: &TestApp, state: &str) -> Response {
    app.get(&format!("/callback?state={state}&code=their-code"))
        .send()
        .await
}

/// Runs the implicit flow: `/authorize`, then `/callback` as the browser calls it.
pub(crate) async fn sign_in(app: &TestApp) -> Response {
    let state = begin(app, "provider=google&redirect_to=https://site.example/auth").await;
    return_from_provider(app, &state).await
}

/// Verifies the access token in the fragment of a redirect and returns its claims.
pub(crate) fn verify_claims(app: &TestApp, response: &Response) -> Value {
    let token = in_fragment(response, "access_token").unwrap_or_else(|| panic!("{:?}", response.headers));
    Value::Object(app.keys.verify(&token).unwrap().map().clone())
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_038_authorize_redirects_to_the_provider_with_the_requested_parameters() {
    let (app, provider) = with_google().await;

    let response = app
        .get(
            "/authorize?provider=google&redirect_to=https://site.example/auth&scopes=openid%20email%20profile\
             &access_type=offline&prompt=consent&client_id=evil&Redirect_Uri=https://evil.io&state=mine&apikey=k",
        )
        .send()
        .await;

    assert_eq!(response.status, 302);
    let url = response.header("location");
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
        assert_eq!(read_query_param(url, name), value, "{name} in {url}");
    }
    assert!(read_query_param(url, "state").parse::<uuid::Uuid>().is_ok());
    assert_eq!(
        app.count("select count(*) from auth.flow_state where auth_code is null")
            .await,
        1
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_039_auth_045_a_first_sign_in_creates_a_user_with_name_and_picture() {
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

    let response = sign_in(&app).await;

    assert_eq!(response.status, 302);
    let location = response.header("location");
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
    assert_eq!(in_fragment(&response, "provider_token").unwrap(), "their-access");
    let claims = verify_claims(&app, &response);
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

    provider.set_claims(json!({"name": "Ana Berg"}));
    let again = sign_in(&app).await;
    let again = self::verify_claims(&app, &again);
    assert_eq!(
        (&again["sub"], &again["user_metadata"]["full_name"]),
        (&claims["sub"], &json!("Ana Berg"))
    );
    assert_eq!(app.count("select count(*) from auth.users").await, 1);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_046_a_pkce_client_exchanges_its_code_once_for_the_providers_tokens() {
    let (app, _provider) = with_google().await;
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER));
    let target = "https%3A%2F%2Fsite.example%2Fauth%3Fsb_flow_id%3Dx";
    let query =
        format!("provider=google&redirect_to={target}&code_challenge={challenge}&code_challenge_method=s256");
    let state = begin(&app, &query).await;

    let response = return_from_provider(&app, &state).await;

    let location = response.header("location").to_owned();
    assert!(
        location.starts_with("https://site.example/auth?sb_flow_id=x&code="),
        "{location}"
    );
    let replayed = return_from_provider(&app, &state).await;
    assert_eq!(
        read_query_param(replayed.header("location"), "error_code"),
        "flow_state_already_used"
    );
    let exchange = |verifier: &'static str| {
        let body = json!({"auth_code": read_query_param(&location, "code"), "code_verifier": verifier});
        app.post("/token?grant_type=pkce", body).send()
    };
    assert_eq!(exchange("wrong").await.error(), (400, "bad_code_verifier"));
    let session = exchange(VERIFIER).await;
    assert_eq!(session.body["provider_token"], "their-access");
    assert_eq!(session.body["provider_refresh_token"], "their-refresh");
    assert_eq!(session.session().user["email"], "ana@example.com");
    assert_eq!(exchange(VERIFIER).await.error(), (404, "flow_state_not_found"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_048_state_and_code_expire_after_five_minutes() {
    let (app, _provider) = with_google().await;
    let age = "update auth.flow_state set created_at = now() - interval '6 minutes'";
    let state = begin(&app, "provider=google").await;
    app.sql(age, &[]).await;

    let late = return_from_provider(&app, &state).await;

    assert_eq!(
        (
            late.status,
            read_query_param(late.header("location"), "error_code").as_str()
        ),
        (303, "bad_oauth_state")
    );
    assert!(
        late.header("location")
            .starts_with("https://site.example?error=invalid_request&")
    );

    let query = format!("provider=google&code_challenge={VERIFIER}&code_challenge_method=plain");
    let state = begin(&app, &query).await;
    let code = read_query_param(
        return_from_provider(&app, &state).await.header("location"),
        "code",
    );
    app.sql(age, &[]).await;
    let body = json!({"auth_code": code, "code_verifier": VERIFIER});
    let exchanged = app.post("/token?grant_type=pkce", body).send().await;
    assert_eq!(exchanged.error(), (422, "flow_state_expired"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_042_an_error_of_the_provider_is_passed_to_the_redirect_target() {
    let (app, provider) = with_google().await;
    let state = begin(&app, "provider=google&redirect_to=https://site.example/auth?x=1").await;

    let path =
        format!("/callback?state={state}&error=access_denied&error_description=The%20user%20said%20no");
    let response = app.get(&path).send().await;

    assert_eq!(response.status, 302);
    assert_eq!(
        response.header("location"),
        "https://site.example/auth?x=1&error=access_denied&error_description=The+user+said+no\
         #error=access_denied&error_description=The+user+said+no&sb="
    );
    assert!(provider.requests().is_empty());
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_callback_without_a_valid_state_redirects_to_the_site() {
    let (app, _provider) = with_google().await;
    let unknown = uuid::Uuid::new_v4();
    let cases = [
        ("/callback".to_owned(), "bad_oauth_callback"),
        ("/callback?state=x&code=y".to_owned(), "bad_oauth_state"),
        (format!("/callback?state={unknown}&code=y"), "bad_oauth_state"),
    ];
    for (path, code) in cases {
        let response = app.get(&path).header("referer", "https://evil.io/").send().await;
        assert_eq!(response.status, 303, "{path}");
        let location = response.header("location");
        assert!(location.starts_with("https://site.example?error="), "{location}");
        assert_eq!(read_query_param(location, "error_code"), code, "{path}");
    }
    let state = begin(&app, "provider=google").await;
    let without_code = app.get(&format!("/callback?state={state}")).send().await;
    assert_eq!(
        read_query_param(without_code.header("location"), "error_code"),
        "bad_oauth_callback"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_state_of_the_implicit_flow_is_used_once() {
    let (app, _provider) = with_google().await;
    let state = begin(&app, "provider=google").await;

    assert!(in_fragment(&return_from_provider(&app, &state).await, "access_token").is_some());
    assert_eq!(
        read_query_param(
            return_from_provider(&app, &state).await.header("location"),
            "error_code"
        ),
        "bad_oauth_state"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn foreign_redirect_targets_are_replaced_by_the_site() {
    let (app, _provider) = with_google().await;
    for target in [
        "https://evil.io/",
        "https://site.example.evil.io",
        "//evil.io",
        "https://site.example@evil.io",
    ] {
        let state = begin(&app, &format!("provider=google&redirect_to={target}")).await;
        let response = return_from_provider(&app, &state).await;
        assert!(
            response
                .header("location")
                .starts_with("https://site.example#access_token="),
            "{target}"
        );
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_040_a_verified_address_links_to_the_existing_account() {
    let (app, _provider) = with_google().await;
    let ana = app.user("ana@example.com").await;

    let claims = verify_claims(&app, &sign_in(&app).await);

    assert_eq!(claims["sub"], ana.user["id"]);
    assert_eq!(
        claims["app_metadata"],
        json!({"provider": "email", "providers": ["email", "google"]})
    );
    assert_eq!(app.sign_in("ana@example.com", PASSWORD).await.status, 200);
    let linked = "select count(*) from auth.audit_log_entries where payload ->> 'action' = 'identity_linked'";
    assert_eq!(app.count(linked).await, 1);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn an_unverified_address_never_links_even_with_autoconfirm() {
    for autoconfirm in [false, true] {
        let provider = IdentityProvider::start();
        provider.set_claims(json!({"email_verified": false}));
        let app = TestApp::start_with(|config| {
            config.insecure_providers = true;
            config.external = vec![provider.config("google")];
            config.email.autoconfirm = autoconfirm;
        })
        .await;
        let ana = app.user("ana@example.com").await;

        let response = sign_in(&app).await;

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
            assert_eq!(verify_claims(&app, &response)["email"], "");
        } else {
            assert_eq!(
                read_query_param(response.header("location"), "error_code"),
                "provider_email_needs_verification"
            );
        }
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn an_unverified_new_address_must_be_confirmed_by_mail_first() {
    let (app, provider) = with_google().await;
    provider.set_claims(json!({"email_verified": false}));

    let response = sign_in(&app).await;

    let location = response.header("location");
    assert_eq!(read_query_param(location, "error"), "access_denied");
    assert_eq!(
        read_query_param(location, "error_code"),
        "provider_email_needs_verification"
    );
    assert_eq!(
        in_fragment(&response, "error_code").unwrap(),
        "provider_email_needs_verification"
    );
    let mail = app.mail_to("ana@example.com");
    assert!(
        mail.link.contains("redirect_to=https://site.example/auth"),
        "{}",
        mail.link
    );
    app.get(&mail.link).send().await;
    assert_eq!(
        verify_claims(&app, &sign_in(&app).await)["email"],
        "ana@example.com"
    );
    assert_eq!(app.count("select count(*) from auth.users").await, 1);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_041_a_verified_provider_sign_in_resets_password_metadata_and_links_of_an_unconfirmed_account() {
    let (app, _provider) = with_google().await;
    let body = json!({"email": "ana@example.com", "password": PASSWORD, "data": {"role": "planted"}});
    app.post("/signup", body).send().await;
    let planted = app.mail_to("ana@example.com");

    let claims = verify_claims(&app, &sign_in(&app).await);

    assert_eq!(
        app.sign_in("ana@example.com", PASSWORD).await.error(),
        (400, "invalid_credentials")
    );
    assert_eq!(claims["user_metadata"]["role"], Value::Null);
    assert_eq!(claims["app_metadata"]["providers"], json!(["google"]));
    let old_link = app.get(&planted.link).send().await;
    assert_eq!(old_link.in_fragment("error_code").unwrap(), "otp_expired");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_044_disabled_sign_ups_reject_new_provider_users() {
    let provider = IdentityProvider::start();
    let app = TestApp::start_with(|config| {
        config.insecure_providers = true;
        config.external = vec![provider.config("google")];
        config.disable_signup = true;
    })
    .await;

    let response = sign_in(&app).await;

    assert_eq!(
        read_query_param(response.header("location"), "error"),
        "access_denied"
    );
    assert_eq!(in_fragment(&response, "error_code").unwrap(), "signup_disabled");
    assert_eq!(app.count("select count(*) from auth.users").await, 0);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_banned_user_cannot_sign_in_with_a_provider() {
    let (app, _provider) = with_google().await;
    sign_in(&app).await;
    app.sql(
        "update auth.users set banned_until = now() + interval '1 day'",
        &[],
    )
    .await;

    let response = sign_in(&app).await;

    assert_eq!(in_fragment(&response, "error").unwrap(), "access_denied");
    assert_eq!(in_fragment(&response, "error_code").unwrap(), "user_banned");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_043_a_disabled_provider_is_answered_with_json_and_no_redirect() {
    let (app, _provider) = with_google().await;
    for query in ["", "provider=github", "provider=nonsense", "provider=custom:x"] {
        let response = app.get(&format!("/authorize?{query}")).send().await;
        assert_eq!(response.error(), (400, "validation_failed"), "{query}");
        assert!(response.message().starts_with("Unsupported provider"), "{query}");
    }
    let half = app
        .get("/authorize?provider=google&code_challenge_method=s256")
        .send()
        .await;
    assert_eq!(half.error(), (400, "validation_failed"));
    let invite = app.get("/authorize?provider=google&invite_token=x").send().await;
    assert_eq!(invite.error(), (404, "user_not_found"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn an_invitation_is_accepted_by_the_invited_address_only() {
    let (app, provider) = with_google().await;
    app.post("/invite", json!({"email": "ben@example.com"}))
        .admin()
        .send()
        .await;
    let token = app.mail_to("ben@example.com").param("token");
    let accept = async || {
        let state = begin(&app, &format!("provider=google&invite_token={token}")).await;
        return_from_provider(&app, &state).await
    };

    assert_eq!(
        read_query_param(accept().await.header("location"), "error_code"),
        "validation_failed"
    );
    provider.set_claims(json!({"email": "ben@example.com", "sub": "ben-1"}));
    assert_eq!(verify_claims(&app, &accept().await)["email"], "ben@example.com");
    let audit = "select count(*) from auth.audit_log_entries where payload ->> 'action' = 'invite_accepted'";
    assert_eq!(app.count(audit).await, 1);
}
