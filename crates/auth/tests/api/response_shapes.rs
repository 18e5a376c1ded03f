//! Shapes of responses, the order of checks and side effects, each compared with a recorded response of GoTrue.

use reqwest::Method;
use selvedge_auth::FactorSwitch;
use serde_json::{Value, json};

use crate::app::{PASSWORD, TestApp};

/// Returns the names of an object's members.
fn names(value: &Value) -> Vec<&str> {
    let members = value.as_object().into_iter().flatten();
    members.map(|(name, _)| name.as_str()).collect()
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_056_admin_created_user_has_a_minimal_identity_and_the_given_metadata() {
    let app = TestApp::start().await;

    let created = app
        .admin_create(json!({
            "email": "ana@example.com", "email_confirm": true, "phone": "+49 151 123", "phone_confirm": true,
            "user_metadata": {"name": "Ana"}, "app_metadata": {"provider": "legacy"},
        }))
        .await;

    assert_eq!(created.status, 200, "{}", created.body);
    let user = &created.body;
    assert_eq!(
        user["user_metadata"],
        json!({"name": "Ana", "email_verified": true})
    );
    assert_eq!(
        user["app_metadata"],
        json!({"provider": "legacy", "providers": ["email", "phone"]})
    );
    assert_eq!(
        user["identities"][0]["identity_data"],
        json!({"sub": user["id"], "email": "ana@example.com", "email_verified": false, "phone_verified": false})
    );
    assert_eq!(
        user["identities"][1]["identity_data"],
        json!({"sub": user["id"], "phone": "49151123", "email_verified": false, "phone_verified": false})
    );
    let taken = app.admin_create(json!({"phone": "49151123"})).await;
    assert_eq!(
        (taken.error(), taken.message()),
        (
            (422, "phone_exists"),
            "Phone number already registered by another user"
        )
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_025_a_mailed_link_sets_email_verified_of_the_identity_and_autoconfirm_does_not() {
    let app = TestApp::start().await;
    app.sign_up("ana@example.com", PASSWORD).await;
    let link = app.mail_to("ana@example.com").link;

    let token = app.get(&link).send().await.in_fragment("access_token").unwrap();

    let user = app.get("/user").bearer(&token).send().await.body;
    assert_eq!(user["identities"][0]["identity_data"]["email_verified"], true);
    assert_eq!(user["user_metadata"]["email_verified"], true);
    let at_once = TestApp::autoconfirm().await;
    let session = at_once.sign_up("bea@example.com", PASSWORD).await.session();
    assert_eq!(
        session.user["identities"][0]["identity_data"]["email_verified"],
        false
    );
    assert_eq!(session.user["user_metadata"]["email_verified"], true);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_062_an_invited_user_gets_a_random_password() {
    let app = TestApp::start().await;
    let body = json!({"email": "ana@example.com", "data": {"team": "blue"}});
    let invited = app.post("/invite", body).admin().send().await;
    assert_eq!(invited.status, 200, "{}", invited.body);
    assert_eq!(invited.body["user_metadata"]["team"], "blue");
    assert!(
        invited.body["identities"][0]["identity_data"]
            .get("team")
            .is_none()
    );

    app.get(&app.mail_to("ana@example.com").link).send().await;

    let set = "select count(*) from auth.users where encrypted_password like '$2%' and confirmation_sent_at is null";
    assert_eq!(app.count(set).await, 1);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_022_a_new_password_invalidates_pending_links_and_codes() {
    let app = TestApp::start().await;
    let session = app.user("ana@example.com").await;
    let bearer = &session.access_token;
    app.post("/recover", json!({"email": "ana@example.com"}))
        .send()
        .await;
    let recovery = app.mail_to("ana@example.com").link;
    app.put("/user", json!({"email": "new@example.com"}))
        .bearer(bearer)
        .send()
        .await;
    let change = app.mail_to("new@example.com").link;

    let changed = app
        .put("/user", json!({"password": "another horse"}))
        .bearer(bearer)
        .send()
        .await;

    assert_eq!(changed.status, 200, "{}", changed.body);
    for gone in ["recovery_sent_at", "email_change_sent_at", "confirmation_sent_at"] {
        assert!(changed.body.get(gone).is_none(), "{gone}");
    }
    for link in [recovery, change] {
        let code = app.get(&link).send().await.in_fragment("error_code");
        assert_eq!(code.as_deref(), Some("otp_expired"));
    }
    assert_eq!(app.count("select count(*) from auth.one_time_tokens").await, 0);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_070_a_changed_address_does_not_change_user_metadata() {
    let app = TestApp::start_with(|config| config.email.secure_change = false).await;
    app.sign_up("ana@example.com", PASSWORD).await;
    let code = app.mail_to("ana@example.com").code;
    let body = json!({"type": "signup", "email": "ana@example.com", "token": code});
    let session = app.post("/verify", body).send().await.session();

    app.put("/user", json!({"email": "new@example.com"}))
        .bearer(&session.access_token)
        .send()
        .await;
    let code = app.mail_to("new@example.com").code;
    let body = json!({"type": "email_change", "email": "new@example.com", "token": code});
    let user = app.post("/verify", body).send().await.session().user;

    assert_eq!(user["email"], "new@example.com");
    assert_eq!(user["identities"][0]["identity_data"]["email"], "new@example.com");
    assert_eq!(user["user_metadata"]["email"], "ana@example.com");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_009_response_headers_report_the_refresh_token_state() {
    let app = TestApp::start().await;
    let first = app.user("ana@example.com").await;

    let second = app.refresh(&first.refresh_token).await;
    let again = app.refresh(&first.refresh_token).await;

    let header = |name: &str| second.header(name).to_owned();
    assert_eq!(header("sb-auth-user-id"), first.user["id"].as_str().unwrap());
    assert_eq!(header("sb-auth-refresh-token-reuse"), "false");
    assert_eq!(
        header("sb-auth-refresh-token-prefix"),
        second.session().refresh_token[..5]
    );
    assert_eq!(
        again.header("sb-auth-refresh-token-reuse"),
        "",
        "the token is an old one"
    );
    assert_eq!(again.header("sb-auth-refresh-token-reuse-cause"), "");
    let counters = TestApp::start_with(|config| config.refresh.counter_tokens = true).await;
    let first = counters.user("ana@example.com").await;
    let second = counters.refresh(&first.refresh_token).await;
    assert_eq!(second.header("sb-auth-refresh-token-counter"), "1");
    assert_eq!(second.header("sb-auth-refresh-token-prefix"), "");
    assert_eq!(second.header("sb-auth-refresh-token-reuse"), "false");
    let again = counters.refresh(&first.refresh_token).await;
    assert_eq!(again.header("sb-auth-refresh-token-reuse-cause"), "fail-to-save");
    counters.refresh(&second.session().refresh_token).await.session();
    let stolen = counters.refresh(&first.refresh_token).await;
    assert_eq!(stolen.error(), (400, "refresh_token_already_used"));
    assert_eq!(stolen.header("sb-auth-refresh-token-rotated"), "true");
    assert_eq!(
        stolen.header("sb-auth-user-id"),
        first.user["id"].as_str().unwrap()
    );
    assert_ne!(stolen.header("sb-auth-session-id"), "");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_012_always_reuse_accepts_old_counter_tokens() {
    let app = TestApp::start_with(|config| {
        config.refresh.counter_tokens = true;
        config.refresh.always_reuse = true;
    })
    .await;
    let first = app.user("ana@example.com").await;
    let mut newest = first.clone();
    for _ in 0..3 {
        newest = app.refresh(&newest.refresh_token).await.session();
    }

    let again = app.refresh(&first.refresh_token).await;

    assert_eq!(again.session().refresh_token, newest.refresh_token);
    assert_eq!(again.header("sb-auth-refresh-token-reuse-cause"), "always-allow");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_013_rejects_refresh_tokens_with_characters_outside_the_alphabet() {
    let app = TestApp::start().await;

    for text in ["ABCDEFGHIJKL", "abcdefghij_0", "short"] {
        assert_eq!(
            app.refresh(text).await.error(),
            (400, "validation_failed"),
            "{text}"
        );
    }
    assert_eq!(
        app.refresh("abcdefghijkl").await.error(),
        (400, "refresh_token_not_found")
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_091_a_null_body_counts_as_empty_and_a_list_is_rejected() {
    let app = TestApp::start().await;
    let path = "/token?grant_type=password";

    let null = app.post(path, Value::Null).send().await;
    let list = app
        .post(path, json!(["ana@example.com", "", PASSWORD]))
        .send()
        .await;
    let nothing = app.call(Method::POST, path).json_bytes("").send().await;

    assert_eq!(
        (null.error(), null.message()),
        ((400, "validation_failed"), "missing email or phone")
    );
    assert_eq!(list.error(), (400, "bad_json"));
    assert_eq!(
        nothing.message(),
        "Could not parse request body as JSON: unexpected end of JSON input"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_026_verify_links_reject_unknown_and_sms_types() {
    let app = TestApp::start().await;
    for kind in ["nonsense", "sms", "phone_change"] {
        let response = app.get(&format!("/verify?token=abc&type={kind}")).send().await;
        let told = ["error_code", "error_description"].map(|name| response.in_fragment(name).unwrap());
        assert_eq!(
            told,
            ["validation_failed", "Invalid email verification type"],
            "{kind}"
        );
    }
    let verify = |body: Value| app.post("/verify", body).send();

    let by_hash = verify(json!({"type": "nonsense", "token_hash": "abc"})).await;
    let by_code = verify(json!({"type": "nonsense", "email": "ana@example.com", "token": "123456"})).await;

    assert_eq!(by_hash.error(), (400, "validation_failed"));
    assert_eq!(by_code.error(), (403, "otp_expired"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_065_magic_link_requests_are_checked_in_gotrues_order() {
    let app = TestApp::start().await;
    let channel = json!({"email": "ana@example.com", "channel": "sms"});

    let with_channel = app.post("/otp", channel).send().await;
    let without_address = app.post("/magiclink", json!({})).send().await;

    assert_eq!(
        (with_channel.error(), with_channel.message()),
        (
            (400, "validation_failed"),
            "Channel should only be specified with Phone OTP"
        )
    );
    assert_eq!(
        (without_address.error(), without_address.message()),
        ((422, "validation_failed"), "Password recovery requires an email")
    );
    assert_eq!(app.mail_count(), 0);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_044_disabled_sign_ups_also_reject_codes_for_unconfirmed_users() {
    let app = TestApp::start_with(|config| config.disable_signup = true).await;
    app.admin_create(json!({"email": "ana@example.com"})).await;
    app.admin_create(json!({"email": "bea@example.com", "email_confirm": true}))
        .await;
    let otp = |email: &str| app.post("/otp", json!({ "email": email })).send();

    assert_eq!(otp("ana@example.com").await.error(), (422, "signup_disabled"));
    assert_eq!(otp("bea@example.com").await.status, 200);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_077_updates_that_change_nothing_need_no_second_factor() {
    let on = FactorSwitch {
        enroll: true,
        verify: true,
    };
    let app = TestApp::start_with(|config| config.mfa.totp = on).await;
    let session = app.user("ana@example.com").await;
    app.post("/factors", json!({"factor_type": "totp"}))
        .bearer(&session.access_token)
        .send()
        .await;
    app.sql("update auth.mfa_factors set status = 'verified'", &[])
        .await;
    let update = |body: Value| app.put("/user", body).bearer(&session.access_token).send();

    let same = update(json!({"email": "Ana@example.com", "data": {"x": 1}})).await;
    let other = update(json!({"email": "new@example.com"})).await;
    let weak = update(json!({"password": "x"})).await;
    let app_metadata = update(json!({"app_metadata": {}})).await;

    assert_eq!((same.status, &same.body["user_metadata"]["x"]), (200, &json!(1)));
    assert_eq!(other.error(), (401, "insufficient_aal"));
    assert_eq!(weak.error(), (422, "weak_password"));
    assert_eq!(
        (app_metadata.error(), app_metadata.message()),
        (
            (403, "not_admin"),
            "Updating app_metadata requires admin privileges"
        )
    );
    let factor = &same.body["factors"][0];
    assert!(factor.get("friendly_name").is_none(), "{:?}", names(factor));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_064_ban_durations_may_be_negative_and_zero_means_no_ban() {
    let app = TestApp::start().await;
    let session = app.user("ana@example.com").await;
    let path = format!("/admin/users/{}", session.user_id());
    let ban = |duration: &str| app.put(&path, json!({ "ban_duration": duration })).admin().send();

    assert!(ban("-1h").await.body["banned_until"].is_string());
    assert_eq!(app.sign_in("ana@example.com", PASSWORD).await.status, 200);
    assert!(ban("0").await.body.get("banned_until").is_none());
    assert_eq!(ban("1d").await.error(), (400, "validation_failed"));
    let other = app.put(&path, json!({"aud": "elsewhere"})).admin().send().await;
    assert_eq!(other.body["aud"], "authenticated");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_063_generate_link_checks_the_address_first_and_rejects_an_unchanged_one() {
    let app = TestApp::start().await;
    app.user("ana@example.com").await;
    let link = |body: Value| app.post("/admin/generate_link", body).admin().send();

    let nothing = link(json!({})).await;
    let same =
        link(json!({"type": "email_change_new", "email": "ana@example.com", "new_email": "ana@example.com"}))
            .await;
    let new = link(json!({"type": "magiclink", "email": "bea@example.com", "data": {"team": "blue"}})).await;

    assert_eq!(nothing.message(), "An email address is required");
    assert_eq!(same.error(), (422, "email_exists"));
    assert_eq!(new.body["user_metadata"]["team"], "blue");
    assert!(new.body["identities"][0]["identity_data"].get("team").is_none());
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_088_the_audience_is_taken_from_the_token_and_must_be_present() {
    let app = TestApp::start_with(|config| config.tokens_without_session = true).await;
    let session = app.user("ana@example.com").await;
    let exp = selvedge_token::unix_now() + 60;
    let get = |aud: Value| {
        let token = app
            .keys
            .sign(&json!({"sub": session.user["id"], "aud": aud, "exp": exp}));
        app.get("/user").bearer(&token.unwrap()).send()
    };

    assert_eq!(get(json!("authenticated")).await.status, 200);
    assert_eq!(get(json!(["authenticated"])).await.status, 200);
    assert_eq!(get(json!("another")).await.error(), (400, "validation_failed"));
    assert_eq!(get(Value::Null).await.error(), (400, "validation_failed"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_081_linking_by_id_token_needs_a_bearer_and_unknown_providers_are_not_allowed() {
    let app = TestApp::start().await;
    let grant = |body: Value| app.post("/token?grant_type=id_token", body).send();

    let nobody = grant(json!({"provider": "google", "id_token": "x", "link_identity": true})).await;
    let unknown = grant(json!({"provider": "nonsense", "id_token": "x"})).await;
    let off = grant(json!({"provider": "google", "id_token": "x"})).await;

    assert_eq!(nobody.status, 400, "{}", nobody.body);
    assert_eq!(
        nobody.body,
        json!({
            "error": "invalid request",
            "error_description": "Linking requires a valid user access token in Authorization",
        })
    );
    assert_eq!(nobody.header("x-supabase-api-version"), "2024-01-01");
    assert_eq!(unknown.error(), (400, "validation_failed"));
    assert_eq!(off.error(), (400, "provider_disabled"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_060_soft_deletion_replaces_the_phone_number_by_fifteen_characters() {
    let app = TestApp::start().await;
    let created = app
        .admin_create(json!({"email": "ana@example.com", "phone": "49151123"}))
        .await;
    let path = format!("/admin/users/{}", created.body["id"].as_str().unwrap());

    let gone = app
        .call(Method::DELETE, &path)
        .admin()
        .json(&json!({"should_soft_delete": true}))
        .send()
        .await;

    assert_eq!(gone.status, 200, "{}", gone.body);
    let rows = app
        .sql(
            "select length(u.phone), length(u.email), count(distinct i.provider_id)
             from auth.users u join auth.identities i on i.user_id = u.id group by 1, 2",
            &[],
        )
        .await;
    let left: (i32, i32, i64) = (rows[0].get(0), rows[0].get(1), rows[0].get(2));
    // GoTrue truncates the hash that replaces the number to 15 characters, the longest E.164 number.
    assert_eq!(left, (15, 43, 2));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_098_known_and_unknown_addresses_are_both_answered_after_a_fixed_delay() {
    let app = TestApp::start().await;
    app.user("ana@example.com").await;

    for path in ["/recover", "/magiclink"] {
        for email in ["ana@example.com", "nobody@example.com"] {
            let start = std::time::Instant::now();
            let response = app.post(path, json!({ "email": email })).send().await;
            let took = start.elapsed();

            assert_eq!(
                (response.status, &response.body),
                (200, &json!({})),
                "{path} {email}"
            );
            // Responses leave at multiples of 40 ms, which hides that only known addresses cause database writes.
            assert!(took.as_millis() >= 40, "{path} {email} {took:?}");
        }
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_074_reauthentication_needs_a_confirmed_address() {
    let app = TestApp::start_with(|config| config.phone.enabled = true).await;
    let body = json!({
        "email": "ana@example.com", "phone": "49151123", "password": PASSWORD, "phone_confirm": true,
    });
    assert_eq!(app.admin_create(body).await.status, 200);
    let by_phone = json!({"phone": "+49151123", "password": PASSWORD});
    let session = app
        .post("/token?grant_type=password", by_phone)
        .send()
        .await
        .session();

    let response = app
        .get("/reauthenticate")
        .bearer(&session.access_token)
        .send()
        .await;

    assert_eq!(
        (response.error(), response.message()),
        ((422, "email_not_confirmed"), "Please verify your email first.")
    );
    assert_eq!(app.mail_count(), 0);
}
