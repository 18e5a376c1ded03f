//! Providers that have ways of their own.

use serde_json::json;

use crate::app::TestApp;
use crate::identity_provider::{CLIENT_ID, CLIENT_SECRET, IdentityProvider};
use crate::providers::{claims, come_back, param};

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

#[actix_web::test]
async fn twitter_signs_every_call_and_asks_for_a_token_before_the_visit() {
    let provider = IdentityProvider::start();
    provider.shows(json!({
        "id_str": "12", "screen_name": "ana", "name": "Ana Lind", "email": "ana@example.com",
        "profile_image_url_https": "https://img.example/a.png",
    }));
    let app = TestApp::with(|config| {
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
    let state = param(&callback, "state");
    let back = format!("/callback?state={state}&oauth_token=their-token&oauth_verifier=their-word");
    let answer = app.get(&back).send().await;

    let known = claims(&app, &answer);
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

#[actix_web::test]
async fn auth_042_who_tells_twitter_no_is_sent_back_with_the_refusal() {
    let provider = IdentityProvider::start();
    let app = TestApp::with(|config| {
        config.insecure_providers = true;
        config.external = vec![provider.config("twitter")];
    })
    .await;
    app.get("/authorize?provider=twitter").send().await;
    let state = param(provider.requests()[0].get("oauth_callback"), "state");

    let answer = app
        .get(&format!("/callback?state={state}&denied=their-token"))
        .send()
        .await;

    assert_eq!(answer.status, 302);
    assert!(answer.header("location").contains("error=access_denied"));
}
