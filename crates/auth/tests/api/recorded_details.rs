//! Details of responses in which recordings of the original differed from this service.

use reqwest::Method;
use serde_json::{Value, json};

use crate::app::{PASSWORD, TestApp};

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_063_a_signup_link_for_an_unconfirmed_user_needs_no_password() {
    let app = TestApp::start().await;
    app.sign_up("ana@example.com", PASSWORD).await;
    let generate = |email: &str| {
        let body = json!({"type": "signup", "email": email});
        app.post("/admin/generate_link", body).admin().send()
    };

    let link = generate("ana@example.com").await;
    assert_eq!(link.status, 200, "{}", link.body);
    let opened = app.get(link.body["action_link"].as_str().unwrap()).send().await;
    assert!(
        opened.in_fragment("access_token").is_some(),
        "{:?}",
        opened.headers
    );
    assert_eq!(
        generate("new@example.com").await.error(),
        (400, "validation_failed")
    );
    app.sign_in("ana@example.com", PASSWORD).await.session();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_054_null_members_of_a_new_users_metadata_are_left_out() {
    let app = TestApp::autoconfirm().await;
    let body =
        json!({"email": "ana@example.com", "password": PASSWORD, "data": {"a": null, "b": {"c": null}}});

    let session = app.post("/signup", body).send().await.session();

    let metadata = session.user["user_metadata"].as_object().unwrap().clone();
    assert!(!metadata.contains_key("a"), "{metadata:?}");
    assert_eq!(metadata["b"], json!({"c": null}));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_056_the_provider_that_an_administrator_names_stays() {
    let app = TestApp::start().await;
    let named = json!({"provider": "crm", "providers": ["crm"], "team": "red"});

    let created = app
        .admin_create(json!({
            "email": "ana@example.com", "password": PASSWORD, "email_confirm": true, "app_metadata": named,
        }))
        .await;

    assert_eq!(created.body["app_metadata"], named);
    let session = app.sign_in("ana@example.com", PASSWORD).await.session();
    assert_eq!(session.user["app_metadata"], named);
    let changed = app
        .put(
            &format!("/admin/users/{}", session.user_id()),
            json!({"email": "bea@example.com", "phone": "49170"}),
        )
        .admin()
        .send()
        .await;
    assert_eq!(changed.body["app_metadata"], named);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_075_a_malformed_challenge_id_is_a_malformed_body() {
    let app = TestApp::start_with(|config| {
        config.mfa.totp = selvedge_auth::FactorSwitch {
            enroll: true,
            verify: true,
        };
    })
    .await;
    let session = app.user("ana@example.com").await;
    // A name of 300 characters is not too long.
    let body = json!({"factor_type": "totp", "friendly_name": "ü".repeat(300)});
    let factor = app.enroll(&session, body).await;
    assert_eq!(factor.status, 200, "{}", factor.body);
    let path = format!("/factors/{}/verify", factor.body["id"].as_str().unwrap());

    for (challenge, expected) in [
        (json!("x"), (400, "bad_json")),
        (json!(""), (400, "bad_json")),
        (json!(null), (422, "mfa_factor_not_found")),
    ] {
        let verified = app
            .post(&path, json!({"challenge_id": challenge, "code": "123456"}))
            .bearer(&session.access_token)
            .send()
            .await;
        assert_eq!(verified.error(), expected, "{challenge}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_094_a_number_that_is_changed_at_once_has_no_pending_change() {
    let app = TestApp::start_with(|config| {
        config.phone.enabled = true;
        config.phone.autoconfirm = true;
    })
    .await;
    let session = app.user("ana@example.com").await;

    let changed = app
        .put("/user", json!({"phone": "+49170"}))
        .bearer(&session.access_token)
        .send()
        .await;

    assert_eq!(changed.body["phone"], "49170", "{}", changed.body);
    assert_eq!(changed.body.get("phone_change_sent_at"), None);
    assert!(changed.body["phone_confirmed_at"].is_string());
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_061_the_caller_is_checked_before_the_body() {
    let app = TestApp::start().await;
    let session = app.user("ana@example.com").await;
    let malformed =
        |method: Method, path: &str, token: &str| app.call(method, path).bearer(token).json_bytes("{").send();
    let id = session.user_id();

    for (method, path) in [
        (Method::POST, "/admin/users".to_owned()),
        (Method::PUT, format!("/admin/users/{id}")),
        (Method::POST, "/admin/generate_link".to_owned()),
        (Method::POST, "/invite".to_owned()),
    ] {
        let refused = malformed(method.clone(), &path, &session.access_token).await;
        assert_eq!(refused.error(), (403, "not_admin"), "{path}");
        let admitted = app.call(method, &path).admin().json_bytes("{").send().await;
        assert_eq!(admitted.error(), (400, "bad_json"), "{path}");
    }
    app.post("/logout", Value::Null)
        .bearer(&session.access_token)
        .send()
        .await;
    for (method, path) in [(Method::PUT, "/user"), (Method::POST, "/factors")] {
        let refused = malformed(method, path, &session.access_token).await;
        assert_eq!(refused.error(), (403, "session_not_found"), "{path}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_017_only_a_whole_date_is_an_api_version() {
    let app = TestApp::start().await;
    for (version, is_new) in [
        ("2024-01-01", true),
        ("2030-12-31", true),
        ("2024-1-1", false),
        ("2023-12-31", false),
        ("20240101", false),
        ("2024-01-01T00:00:00Z", false),
    ] {
        let response = app
            .post(
                "/token?grant_type=password",
                json!({"email": "x@example.com", "password": "x"}),
            )
            .header("x-supabase-api-version", version)
            .send()
            .await;
        let expected = if is_new {
            json!("invalid_credentials")
        } else {
            json!(400)
        };
        assert_eq!(response.body["code"], expected, "{version}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_058_links_to_other_pages_keep_filter_and_sort() {
    let app = TestApp::start().await;
    for number in 0..3 {
        app.admin_create(json!({"email": format!("ana{number}@example.com")}))
            .await;
    }

    let users = app
        .get("/admin/users?per_page=1&filter=ana%2B&sort=created_at%20asc&page=1")
        .admin()
        .send()
        .await;
    let audit = app
        .get("/admin/audit?per_page=1&query=action:user_signedup")
        .admin()
        .send()
        .await;

    assert!(
        users
            .header("link")
            .contains("?page=1&per_page=1&filter=ana%2B&sort=created_at+asc>; rel=\"last\""),
        "{}",
        users.header("link")
    );
    assert!(
        audit
            .header("link")
            .contains("?page=2&per_page=1&query=action%3Auser_signedup>; rel=\"next\""),
        "{}",
        audit.header("link")
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_091_members_of_a_body_are_found_in_any_case() {
    let app = TestApp::autoconfirm().await;
    let body = json!({"Email": "ana@example.com", "PASSWORD": PASSWORD, "data": {"FullName": "Ana"}});

    let session = app.post("/signup", body).send().await.session();

    assert_eq!(session.user["email"], "ana@example.com");
    assert_eq!(session.user["user_metadata"]["FullName"], "Ana");
}
