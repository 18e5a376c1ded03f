//! Providers with their own protocol details: GitHub, Keycloak, Apple, Twitter.

use serde_json::{Value, json};

use crate::app::{Response, TestApp};
use crate::identity_provider::{CLIENT_ID, CLIENT_SECRET, IdentityProvider};
use crate::providers::{read_query_param, return_from_provider, verify_claims};

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn github_profile_and_verified_primary_address_are_fetched() {
    let provider = IdentityProvider::start();
    provider.set_userinfo(json!({
        "id": 583231, "login": "octo", "name": "Octo Cat", "avatar_url": "https://img.example/o.png", "email": "spoofed@x.io",
        "emails": [
            {"email": "side@example.com", "verified": true, "primary": false},
            {"email": "Octo@Example.com", "verified": true, "primary": true},
        ],
    }));
    let app = TestApp::start_with(|config| {
        config.insecure_providers = true;
        config.external = vec![provider.config("github")];
    })
    .await;
    let started = app
        .get("/authorize?provider=github&scopes=repo,gist")
        .send()
        .await;
    assert_eq!(
        read_query_param(started.header("location"), "scope"),
        "user:email repo gist"
    );

    let response = return_from_provider(&app, &read_query_param(started.header("location"), "state")).await;

    let claims = verify_claims(&app, &response);
    assert_eq!(claims["email"], "octo@example.com");
    assert_eq!(claims["user_metadata"]["user_name"], "octo");
    assert_eq!(claims["user_metadata"]["provider_id"], "583231");
    assert_eq!(
        claims["user_metadata"]["iss"],
        format!("{}/api/v3", provider.base)
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_039_keycloak_userinfo_without_name_email_or_sub_is_an_error_and_no_panic() {
    let provider = IdentityProvider::start();
    let app = TestApp::start_with(|config| {
        config.insecure_providers = true;
        config.external = vec![provider.config("keycloak")];
    })
    .await;
    let sign_in = async |userinfo: Value| {
        provider.set_userinfo(userinfo);
        let started = app.get("/authorize?provider=keycloak").send().await;
        return_from_provider(&app, &read_query_param(started.header("location"), "state")).await
    };

    for (userinfo, message) in [
        (json!({}), "Error getting user profile from external provider"),
        (
            json!({"email": "ana@example.com"}),
            "Error getting user profile from external provider",
        ),
        (json!([]), "Error getting user profile from external provider"),
        (
            json!({"sub": "1"}),
            "Error getting user email from external provider",
        ),
    ] {
        let response = sign_in(userinfo.clone()).await;
        let location = response.header("location");
        assert_eq!(
            read_query_param(location, "error_description"),
            message,
            "{userinfo}"
        );
    }
    let nameless = json!({"sub": "1", "email": "ana@example.com", "email_verified": true, "realm": "looms"});
    let claims = verify_claims(&app, &sign_in(nameless).await);
    assert_eq!(claims["email"], "ana@example.com");
    assert_eq!(
        claims["user_metadata"]["custom_claims"],
        json!({"realm": "looms"})
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn apple_posts_a_form_with_the_name_at_the_first_sign_in() {
    let provider = IdentityProvider::start();
    let app = TestApp::start_with(|config| {
        config.insecure_providers = true;
        config.external = vec![provider.config("apple")];
    })
    .await;
    let started = app.get("/authorize?provider=apple").send().await;
    let url = started.header("location");
    assert_eq!(read_query_param(url, "response_mode"), "form_post");
    assert_eq!(read_query_param(url, "scope"), "email name");

    let user = "%7B%22name%22%3A%7B%22firstName%22%3A%22Ana%22%2C%22lastName%22%3A%22Lind%22%7D%7D";
    let form = format!(
        "state={}&code=their-code&user={user}",
        read_query_param(url, "state")
    );
    let call = app.call(reqwest::Method::POST, "/callback").json_bytes(form);
    let response = call
        .header("content-type", "application/x-www-form-urlencoded")
        .send()
        .await;

    assert_eq!(
        verify_claims(&app, &response)["user_metadata"]["full_name"],
        "Ana Lind"
    );
    let request = &provider.requests()[0];
    assert_eq!(
        (request.get("client_id"), request.get("client_secret")),
        (CLIENT_ID, CLIENT_SECRET)
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn twitter_calls_are_signed_and_start_with_a_request_token() {
    let provider = IdentityProvider::start();
    provider.set_userinfo(json!({
        "id_str": "12", "screen_name": "ana", "name": "Ana Lind", "email": "ana@example.com",
        "profile_image_url_https": "https://img.example/a.png",
    }));
    let app = TestApp::start_with(|config| {
        config.insecure_providers = true;
        config.external = vec![provider.config("twitter")];
    })
    .await;

    let started = app
        .get("/authorize?provider=twitter&redirect_to=https://site.example/auth")
        .send()
        .await;
    assert_eq!(
        started.header("location"),
        format!("{}/oauth/authenticate?oauth_token=their-token", provider.base)
    );
    let callback = provider.requests()[0].get("oauth_callback").to_owned();
    assert!(
        callback.starts_with("https://api.example/auth/v1/callback?state="),
        "{callback}"
    );
    let state = read_query_param(&callback, "state");
    let back = format!("/callback?state={state}&oauth_token=their-token&oauth_verifier=their-word");
    let response = app.get(&back).send().await;

    let known = verify_claims(&app, &response);
    assert_eq!(known["email"], "ana@example.com");
    assert_eq!(known["app_metadata"]["provider"], "twitter");
    assert_eq!(known["user_metadata"]["user_name"], "ana");
    assert_eq!(known["user_metadata"]["avatar_url"], "https://img.example/a.png");
    let requests = provider.requests();
    assert_eq!(requests[1].get("oauth_verifier"), "their-word");
    for request in &requests {
        assert_eq!(request.get("oauth_consumer_key"), CLIENT_ID);
        assert_eq!(request.get("oauth_signature_method"), "HMAC-SHA1");
        assert_eq!(request.get("oauth_signature").len(), 28);
    }
    let again = app.get(&back).send().await;
    assert!(again.header("location").contains("error_code=bad_oauth_state"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_042_denying_twitter_redirects_with_access_denied() {
    let provider = IdentityProvider::start();
    let app = TestApp::start_with(|config| {
        config.insecure_providers = true;
        config.external = vec![provider.config("twitter")];
    })
    .await;
    app.get("/authorize?provider=twitter").send().await;
    let state = read_query_param(provider.requests()[0].get("oauth_callback"), "state");

    let response = app
        .get(&format!("/callback?state={state}&denied=their-token"))
        .send()
        .await;

    assert_eq!(response.status, 302);
    assert!(response.header("location").contains("error=access_denied"));
}

/// WorkOS never says that an address is verified. Where addresses need no proof, too, a second account without an address would be no
/// use to anybody.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_104_an_address_that_is_taken_and_cannot_be_verified_leads_to_no_second_account() {
    for autoconfirm in [true, false] {
        let (app, provider) = start_with_workos(autoconfirm).await;
        let owner = app.user("ana@example.com").await;
        provider.set_token_response("profile", workos_profile("ana@example.com"));

        for _ in 0..2 {
            let refused = sign_in_by_workos(&app).await;
            assert_eq!(
                read_query_param(refused.header("location"), "error_description"),
                "Unverified email with workos. Sign in as before and link workos in your account"
            );
        }
        let begun = app
            .get("/user/identities/authorize?provider=workos&skip_http_redirect=true&connection=conn_1")
            .bearer(&owner.access_token)
            .send()
            .await;
        let state = read_query_param(begun.body["url"].as_str().unwrap(), "state");
        return_from_provider(&app, &state).await;

        let claims = verify_claims(&app, &sign_in_by_workos(&app).await);
        assert_eq!(claims["sub"], owner.user["id"]);
        // A free address leads to an account.
        provider.set_token_response("profile", workos_profile("bea@example.com"));
        let free = sign_in_by_workos(&app).await;
        assert_eq!(free.header("location").contains("access_token="), autoconfirm);
    }
}

/// The account is in use, the provider is the only way into it, and an administrator has withdrawn the confirmation of its address.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_104_who_has_no_other_account_is_not_told_to_link_the_provider() {
    for autoconfirm in [true, false] {
        let (app, provider) = start_with_workos(autoconfirm).await;
        provider.set_token_response("profile", workos_profile("ana@example.com"));
        sign_in_by_workos(&app).await;
        const WITHDRAWN: &str = "update auth.users set email_confirmed_at = null, last_sign_in_at = now()";
        app.sql(WITHDRAWN, &[]).await;
        let mails = app.mail_count();

        let again = sign_in_by_workos(&app).await;

        let location = again.header("location");
        assert_eq!(location.contains("access_token="), autoconfirm);
        if !autoconfirm {
            assert_eq!(
                read_query_param(location, "error_description"),
                "Unverified email with workos. Sign in another way, or ask an administrator to confirm the email of your account"
            );
        }
        assert_eq!(app.mail_count(), mails);
        // Nor does the sign-in confirm the address again.
        let confirmed = "select count(*) from auth.users where email_confirmed_at is not null";
        assert_eq!(app.count(confirmed).await, 0);
    }
}

async fn start_with_workos(autoconfirm: bool) -> (TestApp, IdentityProvider) {
    let provider = IdentityProvider::start();
    let app = TestApp::start_with(|config| {
        config.insecure_providers = true;
        config.external = vec![provider.config("workos")];
        config.email.autoconfirm = autoconfirm;
        config.manual_linking_enabled = true;
    })
    .await;
    (app, provider)
}

fn workos_profile(email: &str) -> Value {
    json!({"id": email, "first_name": "Ana", "last_name": "Lind", "email": email})
}

async fn sign_in_by_workos(app: &TestApp) -> Response {
    let started = app.get("/authorize?provider=workos&connection=conn_1");
    let started = started.send().await;
    return_from_provider(app, &read_query_param(started.header("location"), "state")).await
}
