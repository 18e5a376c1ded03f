//! Who may is asked where it takes effect: with the row locked, and of the session that has begun. Source: Auth contract
//! §13.

use reqwest::Method;
use selvedge_auth::FactorSwitch;
use selvedge_mail::MailKind;
use serde_json::{Value, json};

use crate::app::{PASSWORD, Response, Session, TestApp};
use crate::http_receiver::Receiver;
use crate::identity_provider::IdentityProvider;
use crate::mfa::{compute_code, with_twilio};
use crate::providers::{in_fragment, read_query_param, return_from_provider};

const ENABLED: FactorSwitch = FactorSwitch {
    enroll: true,
    verify: true,
};
const OWNER: &str = "owner@corp.example";

/// Starts the service with linking, factors of two types, and a provider configured as Google.
async fn start() -> (TestApp, IdentityProvider, Receiver) {
    let provider = IdentityProvider::start();
    let sms = Receiver::start(r#"{"sid": "SM1", "status": "queued"}"#).await;
    let app = TestApp::start_with(|config| {
        config.insecure_providers = true;
        config.manual_linking_enabled = true;
        config.external = vec![provider.config("google")];
        config.mfa.totp = ENABLED;
        config.mfa.phone.switch = ENABLED;
        with_twilio(config, &sms);
    })
    .await;
    (app, provider, sms)
}

/// Begins to link the provider's identity; returns the response.
async fn begin_link(app: &TestApp, session: &Session) -> Response {
    app.get("/user/identities/authorize?provider=google&skip_http_redirect=true")
        .bearer(&session.access_token)
        .send()
        .await
}

/// Lets the provider send the browser back; returns the error code of the redirect, or an empty text. It is in the query when
/// the flow is gone.
async fn finish_link(app: &TestApp, begun: &Response) -> String {
    let state = read_query_param(begun.body["url"].as_str().unwrap(), "state");
    let response = return_from_provider(app, &state).await;
    let location = url::Url::parse(response.header("location")).unwrap();
    let in_query = || {
        let mut pairs = location.query_pairs();
        pairs
            .find(|(name, _)| name == "error_code")
            .map(|(_, code)| code.into_owned())
    };
    in_fragment(&response, "error_code")
        .or_else(in_query)
        .unwrap_or_default()
}

/// Adds a factor of an authenticator app and verifies it.
async fn add_totp(app: &TestApp, session: &Session) -> (String, Response) {
    let enrolled = app
        .enroll(session, json!({"factor_type": "totp", "friendly_name": "mine"}))
        .await;
    assert_eq!(enrolled.status, 200, "{}", enrolled.body);
    let id = enrolled.body["id"].as_str().unwrap().to_owned();
    let code = compute_code(enrolled.body["totp"]["secret"].as_str().unwrap(), 0);
    let verified = app.verify_with_code(session, &id, &code).await;
    (id, verified)
}

async fn count_factors(app: &TestApp) -> i64 {
    app.count("select count(*) from auth.mfa_factors").await
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_121_a_session_that_must_prove_itself_for_a_password_must_for_an_identity() {
    let provider = IdentityProvider::start();
    let app = TestApp::start_with(|config| {
        config.insecure_providers = true;
        config.manual_linking_enabled = true;
        config.anonymous_users_enabled = true;
        config.external = vec![provider.config("google")];
        config.password.require_reauthentication = true;
    })
    .await;
    let owner = app.user(OWNER).await;
    let guest = app.post("/signup", json!({})).send().await.session();
    let age = "update auth.sessions set created_at = now() - interval '2 days'";
    app.sql(age, &[]).await;

    let begun = begin_link(&app, &owner).await;
    let token = provider.id_token(|_| {});
    let body = json!({"provider": "google", "id_token": token, "link_identity": true});
    let by_token = app
        .post("/token?grant_type=id_token", body)
        .bearer(&owner.access_token);

    assert_eq!(begun.error(), (400, "reauthentication_needed"));
    assert_eq!(by_token.send().await.error(), (400, "reauthentication_needed"));
    // Guests have nothing else to begin a session with.
    assert_eq!(begin_link(&app, &guest).await.status, 200);
    let fresh = app.sign_in(OWNER, PASSWORD).await.session();
    assert_eq!(begin_link(&app, &fresh).await.status, 200);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_107_the_first_verified_factor_deletes_every_unverified_one() {
    let (app, _provider, _sms) = start().await;
    let owner = app.user(OWNER).await;
    let thief = app.sign_in(OWNER, PASSWORD).await.session();
    let body = json!({"factor_type": "phone", "phone": "15550001", "friendly_name": "x"});
    assert_eq!(app.enroll(&thief, body).await.status, 200);

    let (_, verified) = add_totp(&app, &owner).await;

    verified.session();
    assert_eq!(count_factors(&app).await, 1);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_107_an_unverified_factor_does_not_stand_in_for_the_verified_one() {
    let (app, _provider, _sms) = start().await;
    let owner = app.user(OWNER).await;
    add_totp(&app, &owner).await.1.session();
    let thief = app.sign_in(OWNER, PASSWORD).await.session();
    // A factor that an older version has left.
    let id = uuid::Uuid::new_v4();
    let secret = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP";
    app.sql(
        "insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, created_at, updated_at, secret) \
         select $1, id, 'old', 'totp', 'unverified', now(), now(), $2 from auth.users",
        &[&id, &secret],
    )
    .await;

    let answered = app
        .verify_with_code(&thief, &id.to_string(), &compute_code(secret, 0))
        .await;

    assert_eq!(answered.error(), (403, "insufficient_aal"));
    let level = "select count(*) from auth.sessions where aal = 'aal2'";
    assert_eq!(app.count(level).await, 1, "the owner's");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_107_two_first_factors_at_once_leave_one_that_the_other_session_cannot_answer() {
    let (app, _provider, _sms) = start().await;
    for round in 0..5 {
        let email = format!("owner{round}@corp.example");
        let owner = app.user(&email).await;
        let thief = app.sign_in(&email, PASSWORD).await.session();
        let mut asked = Vec::new();
        for (session, name) in [(&owner, "mine"), (&thief, "theirs")] {
            let body = json!({"factor_type": "totp", "friendly_name": name});
            let enrolled = app.enroll(session, body).await.body;
            let id = enrolled["id"].as_str().unwrap().to_owned();
            // Asked for before, because the session that comes second has ended by the time it answers.
            let challenge = app.challenge(session, &id).await;
            let challenge = challenge.body["id"].as_str().unwrap().to_owned();
            let code = compute_code(enrolled["totp"]["secret"].as_str().unwrap(), 0);
            asked.push((session, id, challenge, code));
        }
        let answer = |index: usize| {
            let (session, factor, challenge, code) = &asked[index];
            app.verify_factor(session, factor, challenge, code)
        };

        let results = futures_util::future::join(answer(0), answer(1)).await;

        let raised = [results.0, results.1]
            .iter()
            .filter(|one| one.status == 200)
            .count();
        assert_eq!(raised, 1, "round {round}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_108_linking_and_unlinking_need_the_second_factor() {
    let (app, provider, _sms) = start().await;
    provider.set_claims(json!({"email": "mallory@evil.example"}));
    let owner = app.user(OWNER).await;
    let begun_before = begin_link(&app, &owner).await;
    let other = app.sign_in(OWNER, PASSWORD).await.session();
    let (_, verified) = add_totp(&app, &other).await;
    let raised = verified.session();
    let thief = app.sign_in(OWNER, PASSWORD).await.session();

    assert_eq!(begin_link(&app, &thief).await.error(), (401, "insufficient_aal"));
    let token = json!({"provider": "google", "id_token": provider.id_token(|_| {}), "link_identity": true});
    let by_token = app
        .post("/token?grant_type=id_token", token)
        .bearer(&thief.access_token);
    assert_eq!(by_token.send().await.error(), (401, "insufficient_aal"));
    assert_eq!(
        finish_link(&app, &begun_before).await,
        "session_not_found",
        "its session ended"
    );

    let begun = begin_link(&app, &raised).await;
    assert_eq!(finish_link(&app, &begun).await, "");
    let user = app.get("/user").bearer(&thief.access_token).send().await.body;
    for identity in user["identities"].as_array().unwrap() {
        let path = format!("/user/identities/{}", identity["identity_id"].as_str().unwrap());
        let refused = app
            .call(Method::DELETE, &path)
            .bearer(&thief.access_token)
            .send()
            .await;
        assert_eq!(refused.error(), (401, "insufficient_aal"));
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_108_a_link_that_a_factor_has_overtaken_is_refused() {
    let (app, _provider, _sms) = start().await;
    let owner = app.user(OWNER).await;
    let begun = begin_link(&app, &owner).await;
    // The factor was verified in this session, which fell back to `aal1` when the factor that raised it was removed.
    add_totp(&app, &owner).await.1.session();
    app.sql("update auth.sessions set aal = 'aal1'", &[]).await;

    assert_eq!(finish_link(&app, &begun).await, "insufficient_aal");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_108_a_link_ends_with_the_session_that_began_it() {
    let (app, _provider, _sms) = start().await;
    for ending in [
        "/logout?scope=global",
        "/logout?scope=local",
        "password",
        "/logout?scope=others",
    ] {
        app.sql("delete from auth.users", &[]).await;
        let owner = app.user(OWNER).await;
        let thief = app.sign_in(OWNER, PASSWORD).await.session();
        let begun = begin_link(&app, &thief).await;
        let ended = match ending {
            "password" => app
                .put("/user", json!({"password": "another password"}))
                .bearer(&owner.access_token),
            "/logout?scope=local" => app.post(ending, json!({})).bearer(&thief.access_token),
            _ => app.post(ending, json!({})).bearer(&owner.access_token),
        };
        assert!(ended.send().await.status < 300, "{ending}");

        let code = finish_link(&app, &begun).await;

        assert!(!code.is_empty(), "{ending}");
        let linked = "select count(*) from auth.identities where provider = 'google'";
        assert_eq!(app.count(linked).await, 0, "{ending}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_114_a_change_of_address_ends_with_a_sign_out_and_with_the_first_factor() {
    let (app, _provider, _sms) = start().await;
    for ending in ["/logout?scope=global", "/logout?scope=others", "factor"] {
        app.sql("delete from auth.users", &[]).await;
        let owner = app.user(OWNER).await;
        let thief = app.sign_in(OWNER, PASSWORD).await.session();
        let change = app
            .put("/user", json!({"email": "thief@evil.example"}))
            .bearer(&thief.access_token);
        assert_eq!(change.send().await.body["new_email"], "thief@evil.example");
        let link = app.mail_to("thief@evil.example").link;

        match ending {
            "factor" => {
                add_totp(&app, &owner).await.1.session();
            }
            path => {
                let ended = app.post(path, json!({})).bearer(&owner.access_token).send().await;
                assert_eq!(ended.status, 204, "{ending}");
            }
        }

        let opened = app.get(&link).send().await;
        assert_eq!(
            opened.in_fragment("error_code").unwrap(),
            "otp_expired",
            "{ending}"
        );
        let pending =
            "select count(*) from auth.users where email_change <> '' or email_change_token_new <> ''";
        assert_eq!(app.count(pending).await, 0, "{ending}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_108_users_of_single_sign_on_link_nothing() {
    let (app, provider, _sms) = start().await;
    let employee = app.user(OWNER).await;
    let begun = begin_link(&app, &employee).await;
    app.sql("update auth.users set is_sso_user = true", &[]).await;

    assert_eq!(
        begin_link(&app, &employee).await.error(),
        (422, "user_sso_managed")
    );
    assert_eq!(finish_link(&app, &begun).await, "user_sso_managed");
    let token = json!({"provider": "google", "id_token": provider.id_token(|_| {}), "link_identity": true});
    let by_token = app
        .post("/token?grant_type=id_token", token)
        .bearer(&employee.access_token);
    assert_eq!(by_token.send().await.error(), (422, "user_sso_managed"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_108_the_address_before_a_change_gets_the_notice() {
    let provider = IdentityProvider::start();
    let app = TestApp::start_with(|config| {
        config.insecure_providers = true;
        config.manual_linking_enabled = true;
        config.external = vec![provider.config("google")];
        config.email.notifications = vec![MailKind::IdentityUnlinked, MailKind::EmailChanged];
    })
    .await;
    provider.set_claims(json!({"email": "mallory@evil.example"}));
    let owner = app.user(OWNER).await;
    let begun = begin_link(&app, &owner).await;
    assert_eq!(finish_link(&app, &begun).await, "");
    let user = app.get("/user").bearer(&owner.access_token).send().await.body;
    let identities: &Vec<Value> = user["identities"].as_array().unwrap();
    let own = identities.iter().find(|one| one["provider"] == "email").unwrap();
    let path = format!("/user/identities/{}", own["identity_id"].as_str().unwrap());
    let unlinked = app
        .call(Method::DELETE, &path)
        .bearer(&owner.access_token)
        .send()
        .await;
    assert_eq!(unlinked.status, 200, "{}", unlinked.body);

    for _ in 0..1500 {
        let mails = app.inbox.list_mails();
        let to_owner = mails.iter().filter(|mail| mail.to[0].address == OWNER).count();
        if to_owner == 2 {
            assert_eq!(mails.len(), 2, "none to the new address");
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("no notices: {}", app.mail_count());
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_108_a_change_of_password_waits_for_a_factor_that_is_being_added() {
    let (app, _provider, _sms) = start().await;
    let thief = app.user(OWNER).await;
    let mut client = app.superuser().await;
    let transaction = client.transaction().await.unwrap();
    transaction
        .execute("select from auth.users for update", &[])
        .await
        .unwrap();
    let change = app
        .put("/user", json!({"password": "another password"}))
        .bearer(&thief.access_token);
    let change = actix_web::rt::spawn(change.send());
    app.eventually(
        "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
        |rows| rows[0].get::<_, i64>(0) > 0,
    )
    .await;
    transaction
        .execute(
            "insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, created_at, updated_at, secret) \
             select gen_random_uuid(), id, '', 'totp', 'verified', now(), now(), '' from auth.users",
            &[],
        )
        .await
        .unwrap();
    transaction.commit().await.unwrap();

    assert_eq!(change.await.unwrap().error(), (401, "insufficient_aal"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_108_an_administrator_deletes_a_factor_after_the_session_that_it_is_raising() {
    let (app, _provider, _sms) = start().await;
    let owner = app.user(OWNER).await;
    let enrolled = app.enroll(&owner, json!({"factor_type": "totp"})).await;
    let factor = enrolled.body["id"].as_str().unwrap().to_owned();
    let mut client = app.superuser().await;
    let transaction = client.transaction().await.unwrap();
    // Locks the user's row, as the verification of a factor does.
    let lock = "select from auth.users for no key update";
    transaction.execute(lock, &[]).await.unwrap();
    let path = format!("/admin/users/{}/factors/{factor}", owner.user_id());
    let deletion = app.call(Method::DELETE, &path).admin();
    let deletion = actix_web::rt::spawn(deletion.send());
    app.eventually(
        "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
        |rows| rows[0].get::<_, i64>(0) > 0,
    )
    .await;
    let raise = "update auth.sessions set aal = 'aal2', factor_id = (select id from auth.mfa_factors)";
    transaction.execute(raise, &[]).await.unwrap();
    transaction.commit().await.unwrap();

    assert_eq!(deletion.await.unwrap().status, 200);
    let raised = "select count(*) from auth.sessions where aal = 'aal2'";
    assert_eq!(app.count(raised).await, 0);
}
