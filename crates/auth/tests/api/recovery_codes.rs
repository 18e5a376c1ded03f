//! Recovery codes: sets of single-use codes beside other second factors.

use reqwest::Method;
use selvedge_auth::AuthConfig;
use selvedge_mail::MailKind;
use serde_json::{Value, json};

use crate::app::{PASSWORD, Response, Session, TestApp};
use crate::mfa::{ENABLED, read_text};

pub(crate) const PATH: &str = "/factors/recovery-codes";
/// No code of any set.
pub(crate) const WRONG: &str = "aaaaaaaaaaaaaaaa";

/// Authenticator apps and recovery codes, whose sets have four codes and are locked by three wrong ones.
pub(crate) fn with_codes(config: &mut AuthConfig) {
    config.mfa.totp = ENABLED;
    config.mfa.recovery_codes.switch = ENABLED;
    config.mfa.recovery_codes.count = 4;
    config.mfa.recovery_codes.max_verify_attempts = 3;
    config.rate_limits.mfa_per_minute = 10_000;
}

pub(crate) async fn start_app() -> TestApp {
    TestApp::start_with(with_codes).await
}

impl TestApp {
    pub(crate) async fn recovery(
        &self,
        session: &Session,
        method: Method,
        suffix: &str,
        body: Value,
    ) -> Response {
        self.call(method, &format!("{PATH}{suffix}"))
            .json(&body)
            .bearer(&session.access_token)
            .send()
            .await
    }

    pub(crate) async fn generate_codes(&self, session: &Session) -> Vec<String> {
        let made = self.recovery(session, Method::POST, "", json!({})).await;
        read_codes(&made)
    }

    pub(crate) async fn use_code(&self, session: &Session, code: &str) -> Response {
        self.recovery(session, Method::POST, "/verify", json!({"code": code}))
            .await
    }

    pub(crate) async fn remaining(&self, session: &Session) -> i64 {
        let status = self.recovery(session, Method::GET, "", json!({})).await;
        assert_eq!(status.status, 200, "{}", status.body);
        status.body["remaining"].as_i64().unwrap()
    }

    pub(crate) async fn weak_session(&self) -> Session {
        self.sign_in("ana@example.com", PASSWORD).await.session()
    }
}

pub(crate) fn read_codes(response: &Response) -> Vec<String> {
    assert_eq!(response.status, 200, "{}", response.body);
    let codes = response.body["codes"].as_array().unwrap();
    codes.iter().map(read_text).collect()
}

/// A user with an authenticator app and recovery codes; the session at `aal2` and the codes.
pub(crate) async fn user_with_codes(app: &TestApp) -> (Session, Vec<String>) {
    let (_, _, strong) = app.user_with_totp("ana@example.com").await;
    let codes = app.generate_codes(&strong).await;
    (strong, codes)
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_200_codes_are_generated_counted_used_replaced_and_deleted() {
    let app = start_app().await;
    let (_, _, strong) = app.user_with_totp("ana@example.com").await;

    let made = app.recovery(&strong, Method::POST, "", json!({})).await;
    let codes = read_codes(&made);
    assert_eq!(
        (
            &made.body["type"],
            &made.body["friendly_name"],
            &made.body["total"]
        ),
        (&json!("recovery_code"), &json!("Recovery codes"), &json!(4))
    );
    assert!(codes.iter().all(|code| code.len() == 16), "{codes:?}");
    assert_eq!(app.remaining(&strong).await, 4);
    let weak = app.weak_session().await;
    let raised = app.use_code(&weak, &codes[0]).await.session();
    assert_eq!(app.remaining(&raised).await, 3);

    let again = app
        .recovery(&strong, Method::POST, "/regenerate", json!({}))
        .await;
    assert_eq!(again.body["id"], made.body["id"]);
    let fresh = read_codes(&again);
    assert_eq!(app.remaining(&strong).await, 4);
    let old = app.use_code(&strong, &codes[1]).await;
    assert_eq!(old.error(), (422, "mfa_verification_failed"));
    app.use_code(&strong, &fresh[0]).await.session();

    let gone = app.recovery(&strong, Method::DELETE, "", json!({})).await;
    assert_eq!((gone.status, &gone.body["id"]), (200, &made.body["id"]));
    let none = app.recovery(&strong, Method::GET, "", json!({})).await;
    assert_eq!(none.error(), (404, "mfa_factor_not_found"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_201_what_needs_the_second_factor_is_refused_without_it_and_the_app_must_be_there() {
    let app = start_app().await;
    let session = app.user("ana@example.com").await;
    let generate = async |session: &Session| app.recovery(session, Method::POST, "", json!({})).await;

    assert_eq!(generate(&session).await.error(), (403, "insufficient_aal"));
    let without = app.use_code(&session, WRONG).await;
    assert_eq!(without.error(), (422, "mfa_verification_failed"));
    let (_, _, strong) = app.user_with_totp("bea@example.com").await;
    app.generate_codes(&strong).await;
    assert_eq!(
        generate(&strong).await.error(),
        (422, "mfa_verified_factor_exists")
    );
    let weak = app.sign_in("bea@example.com", PASSWORD).await.session();
    for (method, suffix) in [
        (Method::POST, ""),
        (Method::POST, "/regenerate"),
        (Method::DELETE, ""),
    ] {
        let refused = app.recovery(&weak, method.clone(), suffix, json!({})).await;
        assert_eq!(refused.error(), (403, "insufficient_aal"), "{method} {suffix}");
    }
    let by_type = app.enroll(&strong, json!({"factor_type": "recovery_code"})).await;
    assert_eq!(by_type.error(), (400, "validation_failed"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_201_a_set_is_not_challenged_and_has_its_own_call_to_delete_it() {
    let app = start_app().await;
    let (strong, _) = user_with_codes(&app).await;
    let factors = app.get("/user").bearer(&strong.access_token).send().await.body["factors"].clone();
    let of_type = |kind: &str| {
        let factor = factors
            .as_array()
            .unwrap()
            .iter()
            .find(|factor| factor["factor_type"] == kind);
        read_text(&factor.unwrap()["id"])
    };
    let (set, totp) = (of_type("recovery_code"), of_type("totp"));

    let challenged = app.challenge(&strong, &set).await;
    assert_eq!(challenged.error(), (400, "validation_failed"));
    let verified = app
        .verify_factor(&strong, &set, "00000000-0000-4000-8000-000000000000", WRONG)
        .await;
    assert_eq!(verified.error(), (400, "validation_failed"));
    let unenroll = async |id: &str| {
        app.call(Method::DELETE, &format!("/factors/{id}"))
            .bearer(&strong.access_token)
            .send()
            .await
    };
    assert_eq!(unenroll(&set).await.error(), (422, "validation_failed"));
    assert_eq!(
        unenroll(&totp).await.error(),
        (422, "mfa_recovery_codes_sole_factor")
    );
    app.recovery(&strong, Method::DELETE, "", json!({})).await;
    assert_eq!(unenroll(&totp).await.status, 200);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_202_each_code_works_once_however_it_is_written() {
    let app = start_app().await;
    let (_, codes) = user_with_codes(&app).await;
    let weak = app.weak_session().await;

    let written = format!(" {}-{} ", codes[0][..4].to_uppercase(), &codes[0][4..]);
    let strong = app.use_code(&weak, &written).await.session();
    let used = app.use_code(&strong, &codes[0]).await;
    assert_eq!(used.error(), (422, "mfa_verification_failed"));
    for code in &codes[1..] {
        app.use_code(&strong, code).await.session();
    }
    assert_eq!(app.remaining(&strong).await, 0);
    for empty in [json!({}), json!({"code": " - "}), json!({"code": null})] {
        let refused = app.recovery(&strong, Method::POST, "/verify", empty).await;
        assert_eq!(refused.error(), (400, "validation_failed"));
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_204_a_code_raises_its_session_ends_weaker_ones_and_its_level_goes_with_the_set() {
    let app = start_app().await;
    let (strong, codes) = user_with_codes(&app).await;
    let (weak, other) = (app.weak_session().await, app.weak_session().await);

    let raised = app.use_code(&weak, &codes[0]).await.session();

    let claims: Value = serde_json::from_str(app.keys.verify(&raised.access_token).unwrap().json()).unwrap();
    assert_eq!(claims["aal"], "aal2");
    let methods: Vec<_> = claims["amr"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| &entry["method"])
        .collect();
    assert!(methods.contains(&&json!("mfa/recovery_code")), "{methods:?}");
    let ended = app.get("/user").bearer(&other.access_token).send().await;
    assert_eq!(ended.error(), (403, "session_not_found"));
    app.recovery(&strong, Method::DELETE, "", json!({})).await;
    let levels = app
        .superuser()
        .await
        .query_one(
            "select string_agg(aal::text, ',' order by aal) from auth.sessions",
            &[],
        )
        .await
        .unwrap();
    assert_eq!(levels.get::<_, String>(0), "aal1,aal2");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_205_administrators_delete_a_set_and_codes_go_with_their_user() {
    let app = start_app().await;
    user_with_codes(&app).await;
    let db = app.superuser().await;
    let id: uuid::Uuid = db
        .query_one("select id from auth.users", &[])
        .await
        .unwrap()
        .get(0);
    let left = async || -> i64 {
        let row = db
            .query_one("select count(*) from auth.mfa_recovery_codes", &[])
            .await;
        row.unwrap().get(0)
    };

    assert_eq!(left().await, 4);
    let deleted = app
        .call(Method::DELETE, &format!("/admin/users/{id}"))
        .admin()
        .send()
        .await;
    assert_eq!(deleted.status, 200, "{}", deleted.body);
    assert_eq!(left().await, 0);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_206_switched_off_nothing_is_generated_or_verified_whatever_the_body_is() {
    let app = TestApp::start_with(|config| config.mfa.totp = ENABLED).await;
    let (_, _, strong) = app.user_with_totp("ana@example.com").await;

    for (suffix, code) in [
        ("", "mfa_recovery_codes_enroll_not_enabled"),
        ("/regenerate", "mfa_recovery_codes_enroll_not_enabled"),
        ("/verify", "mfa_recovery_codes_verify_not_enabled"),
    ] {
        let refused = app
            .call(Method::POST, &format!("{PATH}{suffix}"))
            .json_bytes("{")
            .bearer(&strong.access_token)
            .send()
            .await;
        assert_eq!(refused.error(), (422, code), "{suffix}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_208_codes_are_nowhere_in_the_database() {
    let app = start_app().await;
    let (strong, codes) = user_with_codes(&app).await;
    app.use_code(&strong, &codes[0]).await.session();
    let db = app.superuser().await;
    // Every row of every table of Auth and of ours, as text.
    let tables = "select format('%I.%I', schemaname, tablename) from pg_tables \
                  where schemaname in ('auth', '_selvedge', 'net')";
    let mut searched = 0;
    for table in db.query(tables, &[]).await.unwrap() {
        let table: String = table.get(0);
        let rows = db
            .query(&format!("select t::text from {table} t"), &[])
            .await
            .unwrap();
        for row in rows {
            let text: String = row.get(0);
            searched += 1;
            assert!(codes.iter().all(|code| !text.contains(code)), "{table}");
        }
    }
    assert!(searched > 10, "{searched}");
    let hash = "select count(*) from auth.mfa_recovery_codes where code_hash like '$argon2id$v=19$m=19456,t=1,p=1$%'";
    assert_eq!(db.query_one(hash, &[]).await.unwrap().get::<_, i64>(0), 4);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_205_a_factor_whose_set_is_missing_stands_in_nobodys_way() {
    let app = start_app().await;
    let (strong, _) = user_with_codes(&app).await;
    let db = app.superuser().await;
    db.batch_execute("delete from auth.mfa_recovery_code_sets")
        .await
        .unwrap();

    let again = app.recovery(&strong, Method::POST, "", json!({})).await;
    assert_eq!(read_codes(&again).len(), 4);
    assert_eq!(app.remaining(&strong).await, 4);
    let sets = "select count(*) from auth.mfa_factors where factor_type::text = 'recovery_code'";
    assert_eq!(app.count(sets).await, 1);

    db.batch_execute("delete from auth.mfa_recovery_code_sets")
        .await
        .unwrap();
    let user = app.get("/user").bearer(&strong.access_token).send().await.body;
    for kind in ["totp", "recovery_code"] {
        let of_kind = user["factors"]
            .as_array()
            .unwrap()
            .iter()
            .find(|factor| factor["factor_type"] == kind);
        let path = format!("/factors/{}", read_text(&of_kind.unwrap()["id"]));
        let removed = app
            .call(Method::DELETE, &path)
            .bearer(&strong.access_token)
            .send()
            .await;
        assert_eq!(removed.status, 200, "{kind}: {}", removed.body);
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_209_clients_that_do_not_know_recovery_codes_get_them_not_among_factors() {
    let app = start_app().await;
    let (strong, _) = user_with_codes(&app).await;
    let types = async |client: &str| {
        let call = app.get("/user").bearer(&strong.access_token);
        let user = call.header("x-client-info", client).send().await.body;
        let factors = user["factors"].as_array().unwrap().clone();
        let types = factors.iter().map(|factor| read_text(&factor["factor_type"]));
        types.collect::<Vec<_>>()
    };

    assert_eq!(types("supabase-js/2.109.0; runtime=node").await, ["totp"]);
    assert_eq!(
        types("supabase-js/2.119.1; runtime=node").await,
        ["totp", "recovery_code"]
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_204_used_and_replaced_codes_are_told_and_replacing_them_ends_what_old_ones_raised() {
    let app = TestApp::start_with(|config| {
        with_codes(config);
        config.email.notifications = vec![MailKind::RecoveryCodeUsed, MailKind::RecoveryCodesReplaced];
    })
    .await;
    let (strong, codes) = user_with_codes(&app).await;

    let stolen = app.use_code(&app.weak_session().await, &codes[0]).await.session();
    assert_eq!(app.mail_to("ana@example.com").subject, "A recovery code was used");
    app.recovery(&strong, Method::POST, "/regenerate", json!({}))
        .await;
    assert_eq!(
        app.mail_to("ana@example.com").subject,
        "Your recovery codes were replaced"
    );

    let delete = app.recovery(&stolen, Method::DELETE, "", json!({})).await;
    assert_eq!(delete.error(), (403, "insufficient_aal"));
    let kept = app.recovery(&strong, Method::DELETE, "", json!({})).await;
    assert_eq!(kept.status, 200, "{}", kept.body);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_205_a_reset_may_empty_whatever_refers_to_users() {
    let app = start_app().await;
    let (_, codes) = user_with_codes(&app).await;
    let weak = app.weak_session().await;
    app.use_code(&weak, WRONG).await;
    app.use_code(&weak, &codes[0]).await.session();

    app.migrate("truncate auth.users cascade").await;
}
