//! Guesses are counted per network: strangers neither find a code nor use up the attempts of its owner. Source: Auth contract
//! §3.7, §13.

use std::time::Duration;

use serde_json::json;

use crate::app::{PASSWORD, Session, TestApp};
use crate::guesses::{with_phone_factors, with_twilio_verify, wrong_code};
use crate::http_receiver::Receiver;
use crate::mfa::{ENABLED, compute_code, read_text};

/// Sends a wrong code of an address from each network until it is refused more attempts.
async fn guess_from(app: &TestApp, networks: std::ops::Range<u8>, wrong: &str) {
    for network in networks {
        for _ in 0..6 {
            let body = json!({"type": "email", "email": "ana@example.com", "token": wrong});
            let call = app.post("/verify", body);
            let guessed = call.sent_from(&format!("198.51.100.{network}")).send().await;
            assert_eq!(guessed.error(), (403, "otp_expired"));
        }
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_110_guesses_of_strangers_do_not_use_up_the_attempts_of_the_owner() {
    let app = TestApp::start_behind_proxy(|_| {}).await;
    app.sign_up("ana@example.com", PASSWORD).await;
    let code = app.mail_to("ana@example.com").code;
    let attempts = "select attempts::bigint from _selvedge.selvedge_one_time_codes";

    guess_from(&app, 1..4, wrong_code(&code)).await;

    assert_eq!(app.count(attempts).await, 15, "five of each network");
    let body = json!({"type": "email", "email": "ana@example.com", "token": code});
    let owner = app.post("/verify", body).sent_from("192.0.2.1").send().await;
    owner.session();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_110_many_networks_together_have_fifty_attempts_at_a_code() {
    let app = TestApp::start_behind_proxy(|_| {}).await;
    app.sign_up("ana@example.com", PASSWORD).await;
    let code = app.mail_to("ana@example.com").code;
    let attempts = "select attempts::bigint from _selvedge.selvedge_one_time_codes";

    guess_from(&app, 1..12, wrong_code(&code)).await;

    assert_eq!(app.count(attempts).await, 50);
    let body = json!({"type": "email", "email": "ana@example.com", "token": code});
    let right = app.post("/verify", body).sent_from("192.0.2.1").send().await;
    assert_eq!(right.error(), (403, "otp_expired"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_110_strangers_do_not_keep_the_network_that_has_asked_for_a_code_from_typing_it() {
    let app = TestApp::start_behind_proxy(|_| {}).await;
    let body = json!({"email": "ana@example.com", "password": PASSWORD});
    let asked = app.post("/signup", body).sent_from("192.0.2.1").send().await;
    assert_eq!(asked.status, 200, "{}", asked.body);
    let code = app.mail_to("ana@example.com").code;
    let present = async |ip: &str, code: &str| {
        let body = json!({"type": "email", "email": "ana@example.com", "token": code});
        app.post("/verify", body).sent_from(ip).send().await
    };
    // Ten networks use up the attempts at this code, and then those of a day at all codes of the address.
    guess_from(&app, 1..12, wrong_code(&code)).await;
    app.sql(USE_UP, &[]).await;
    for ip in ["198.51.100.1", "203.0.113.1"] {
        let refused = present(ip, wrong_code(&code)).await;
        assert_eq!(refused.error(), (429, "over_request_rate_limit"), "{ip}");
    }

    present("192.0.2.1", &code).await.session();
    // Those who have asked for codes share attempts of their own, which end, too: one takes 216 seconds of a day.
    let again = app.post("/otp", json!({"email": "ana@example.com"}));
    assert_eq!(again.sent_from("192.0.2.2").send().await.status, 200);
    let code = app.mail_to("ana@example.com").code;
    let wrong = present("192.0.2.2", wrong_code(&code)).await;
    assert_eq!(wrong.error(), (403, "otp_expired"));
    let used_up = app
        .sql(
            &format!("{USE_UP} where full_at between now() and now() + interval '5 minutes' returning 1"),
            &[],
        )
        .await;
    assert_eq!(used_up.len(), 1);
    let refused = present("192.0.2.2", &code).await;
    assert_eq!(refused.error(), (429, "over_request_rate_limit"));
}

/// Uses up the attempts of a day at all codes of an address, for those who have made one.
const USE_UP: &str = "update _selvedge.selvedge_counted_attempts set full_at = now() + interval '1 day'";

async fn ask(app: &TestApp, path: &str, address: &str, ip: &str) {
    let asked = app.post(path, json!({"email": address}));
    let asked = asked.sent_from(ip).send().await;
    assert_eq!(asked.status, 200, "{path}: {}", asked.body);
}

/// Sends codes that are wrong; returns the status of each answer.
async fn guess(app: &TestApp, address: &str, ip: &str, attempts: usize) -> Vec<u16> {
    let mut answers = Vec::new();
    for _ in 0..attempts {
        let body = json!({"type": "email", "email": address, "token": "00000x"});
        answers.push(app.post("/verify", body).sent_from(ip).send().await.status);
    }
    answers
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_110_a_newer_request_of_a_stranger_takes_no_attempts_from_the_owner() {
    let app = TestApp::start_behind_proxy(|_| {}).await;
    app.user("ana@example.com").await;
    ask(&app, "/otp", "ana@example.com", "192.0.2.1").await;
    guess(&app, "ana@example.com", "203.0.113.1", 1).await;
    app.sql(USE_UP, &[]).await;

    ask(&app, "/otp", "ana@example.com", "198.51.100.1").await;

    let code = app.mail_to("ana@example.com").code;
    let body = json!({"type": "email", "email": "ana@example.com", "token": code});
    let owner = app.post("/verify", body).sent_from("192.0.2.1").send().await;
    owner.session();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_110_a_request_for_a_code_gives_its_network_five_attempts_for_an_hour() {
    let app = TestApp::start_behind_proxy(|_| {}).await;
    let (ana, ip) = ("ana@example.com", "192.0.2.1");
    app.user(ana).await;
    guess(&app, ana, "203.0.113.1", 1).await;
    app.sql(USE_UP, &[]).await;
    ask(&app, "/recover", ana, ip).await;

    assert_eq!(guess(&app, ana, ip, 6).await, [403, 403, 403, 403, 403, 429]);
    ask(&app, "/recover", ana, ip).await;
    assert_eq!(guess(&app, ana, ip, 1).await, [403]);
    // A request that sends nothing keeps what is left, and gives nothing.
    let again = app.post("/resend", json!({"type": "signup", "email": ana}));
    assert_eq!(again.sent_from(ip).send().await.status, 200);
    let left = "select attempts::bigint from _selvedge.selvedge_code_requests";
    assert_eq!(app.count(left).await, 4);
    const LATER: &str =
        "update _selvedge.selvedge_code_requests set asked_at = asked_at - interval '61 minutes'";
    app.sql(LATER, &[]).await;
    assert_eq!(guess(&app, ana, ip, 1).await, [429]);
}

/// A change to the address of somebody else is a request for a code, too, which counts for an hour and not as long as it is pending.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_110_a_pending_change_to_an_address_gives_no_lasting_attempts() {
    let app = TestApp::start_behind_proxy(|_| {}).await;
    let mallory = app.user("mallory@example.com").await;
    let body = json!({"email": "ana@example.com"});
    let asked = app.put("/user", body).bearer(&mallory.access_token);
    assert_eq!(asked.sent_from("198.51.100.1").send().await.status, 200);
    guess(&app, "ana@example.com", "203.0.113.1", 1).await;
    app.sql(USE_UP, &[]).await;

    let answers = guess(&app, "ana@example.com", "198.51.100.1", 6).await;

    assert_eq!(answers, [403, 403, 403, 403, 403, 429]);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_110_answers_to_attempts_do_not_tell_which_addresses_are_registered() {
    let app = TestApp::start_behind_proxy(|_| {}).await;
    app.user("ana@example.com").await;
    let (ana, nobody) = ("ana@example.com", "nobody@example.com");
    for address in [ana, nobody] {
        guess(&app, address, "203.0.113.1", 1).await;
    }
    app.sql(USE_UP, &[]).await;
    let ip = "198.51.100.1";
    let mut all = [Vec::new(), Vec::new()];
    for (address, answers) in [ana, nobody].into_iter().zip(&mut all) {
        ask(&app, "/recover", address, ip).await;
        answers.extend(guess(&app, address, ip, 7).await);
    }
    // The network has made the fifty attempts that it has in a day.
    app.sql(USE_UP, &[]).await;
    for (address, answers) in [ana, nobody].into_iter().zip(&mut all) {
        ask(&app, "/recover", address, ip).await;
        answers.extend(guess(&app, address, ip, 1).await);
    }

    assert_eq!(all[0], [403, 403, 403, 403, 403, 429, 429, 429]);
    assert_eq!(all[0], all[1]);
    // Only a request that was answered has attempts at a code.
    let body = json!({"email": nobody, "password": PASSWORD});
    let signed_up = app.post("/signup", body).sent_from("192.0.2.1").send().await;
    assert_eq!(signed_up.status, 200);
    ask(&app, "/recover", "other@example.com", "192.0.2.1").await;
    let sent = "select count(*) from _selvedge.selvedge_code_requests where attempts > 0";
    assert_eq!(app.count(sent).await, 2, "ana's last one and the sign-up");
}

/// Requests that send nothing cost nothing, and nobody sees them.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_110_requests_that_send_nothing_take_no_attempts_from_the_owner() {
    let app = TestApp::start_behind_proxy(|_| {}).await;
    let ana = "ana@example.com";
    app.user(ana).await;
    ask(&app, "/recover", ana, "192.0.2.1").await;
    let code = app.mail_to(ana).code;
    guess(&app, ana, "203.0.113.1", 1).await;
    for host in 1..=60 {
        let body = json!({"type": "email_change", "email": ana});
        let asked = app.post("/resend", body).sent_from(&format!("198.51.100.{host}"));
        assert_eq!(asked.send().await.status, 200);
    }
    app.sql(USE_UP, &[]).await;

    let body = json!({"type": "recovery", "email": ana, "token": code});
    let owner = app.post("/verify", body).sent_from("192.0.2.1").send().await;

    owner.session();
    assert_eq!(
        app.count("select count(*) from _selvedge.selvedge_code_requests")
            .await,
        61
    );
}

/// A request for a code is noted in the transaction that sends the mail, which may take seconds.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_110_a_request_that_is_being_sent_holds_up_no_attempt_of_another_network() {
    let app = TestApp::start_behind_proxy(|_| {}).await;
    let ana = "ana@example.com";
    app.user(ana).await;
    ask(&app, "/recover", ana, "192.0.2.1").await;
    let holder = app.superuser().await;
    let prepared = holder.batch_execute(
        "create function public.wait_for_test() returns trigger language plpgsql as
           $$ begin perform pg_advisory_xact_lock(110); return null; end $$;
         create trigger wait_for_test after insert on _selvedge.selvedge_code_requests
           for each row execute function public.wait_for_test();",
    );
    prepared.await.unwrap();
    holder
        .batch_execute("select pg_advisory_lock(110)")
        .await
        .unwrap();

    let body = json!({"type": "email_change", "email": ana});
    let asking = app.post("/resend", body).sent_from("198.51.100.1").send();
    let guessing = async {
        let waiting = "select 1 from pg_locks where locktype = 'advisory' and not granted
                         and database = (select oid from pg_database where datname = current_database())";
        app.eventually(waiting, |rows| !rows.is_empty()).await;
        let attempt = guess(&app, ana, "192.0.2.1", 1);
        let answers = tokio::time::timeout(Duration::from_secs(20), attempt).await;
        holder
            .batch_execute("select pg_advisory_unlock(110)")
            .await
            .unwrap();
        answers
    };
    let (answers, asked) = futures_util::future::join(guessing, asking).await;

    assert_eq!(asked.status, 200);
    assert_eq!(answers.unwrap(), [403]);
}

/// What is left of the attempts of strangers is the same, whether or not a code was sent.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_110_attempts_of_a_network_that_has_asked_leave_those_of_strangers() {
    const ALL_BUT_THREE: &str =
        "update _selvedge.selvedge_counted_attempts set full_at = now() + interval '1 second' * (197 * 432)";
    let app = TestApp::start_behind_proxy(|_| {}).await;
    let (ana, nobody) = ("ana@example.com", "nobody@example.com");
    app.user(ana).await;
    for address in [ana, nobody] {
        guess(&app, address, "203.0.113.1", 1).await;
    }
    app.sql(ALL_BUT_THREE, &[]).await;
    for address in [ana, nobody] {
        ask(&app, "/recover", address, "198.51.100.1").await;
        let answers = guess(&app, address, "198.51.100.1", 5).await;
        assert_eq!(answers, [403; 5], "{address}");
    }

    for address in [ana, nobody] {
        let answers = guess(&app, address, "198.51.100.2", 4).await;
        assert_eq!(answers, [403, 403, 403, 429], "{address}");
    }
}

/// A request that sends nothing leaves a code that was sent before usable: one of an administrator's invitation, for example.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_110_a_code_is_accepted_after_a_request_that_sends_nothing() {
    let app = TestApp::start_behind_proxy(|_| {}).await;
    let ana = "ana@example.com";
    app.user(ana).await;
    let body = json!({"type": "magiclink", "email": ana});
    let generated = app.post("/admin/generate_link", body).admin().send().await;
    let code = generated.body["email_otp"].as_str().unwrap().to_owned();
    guess(&app, ana, "203.0.113.1", 1).await;
    app.sql(USE_UP, &[]).await;
    let body = json!({"type": "signup", "email": ana});
    let asked = app.post("/resend", body).sent_from("192.0.2.1").send().await;
    assert_eq!(asked.status, 200);

    let body = json!({"type": "magiclink", "email": ana, "token": code});
    let owner = app.post("/verify", body).sent_from("192.0.2.1").send().await;

    owner.session();
}

/// Anybody can write more of these rows in ten minutes than one statement deletes.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_110_one_cleanup_deletes_all_requests_and_attempts_that_count_no_longer() {
    let app = TestApp::start().await;
    let client = app.superuser().await;
    let written = client.batch_execute(
        "insert into _selvedge.selvedge_code_requests (request_hash, asked_at, answers, attempts)
           select int4send(i), now() - make_interval(mins => case when i = 0 then 59 else 61 end), 5, 0
           from generate_series(0, 45000) i;
         insert into _selvedge.selvedge_counted_attempts (subject_hash, full_at)
           select int4send(i), now() + make_interval(mins => case when i = 0 then 59 else -1 end)
           from generate_series(0, 45000) i;",
    );
    written.await.unwrap();

    app.clean_up().await;

    assert_eq!(
        app.count("select count(*) from _selvedge.selvedge_code_requests")
            .await,
        1
    );
    assert_eq!(
        app.count("select count(*) from _selvedge.selvedge_counted_attempts")
            .await,
        1
    );
}

/// One customer of a provider has 65 536 networks as narrow as a /64.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_110_one_wide_ipv6_network_keeps_nobody_from_typing_a_code() {
    let app = TestApp::start_behind_proxy(|config| config.rate_limits.verify = 0).await;
    let body = json!({"email": "ana@example.com", "password": PASSWORD});
    let asked = app.post("/signup", body).sent_from("192.0.2.1").send().await;
    assert_eq!(asked.status, 200, "{}", asked.body);
    let code = app.mail_to("ana@example.com").code;
    let present = async |ip: String, code: &str| {
        let body = json!({"type": "email", "email": "ana@example.com", "token": code});
        app.post("/verify", body).sent_from(&ip).send().await
    };
    let mut refused = 0;
    for round in 0..50 {
        let networks = (22 * round..22 * (round + 1)).map(|attempt| attempt / 5);
        let guesses = networks.map(|network| {
            let ip = format!("2001:db8:1:{network:x}::1");
            present(ip, wrong_code(&code))
        });
        let guesses = futures_util::future::join_all(guesses).await;
        refused += guesses.iter().filter(|guess| guess.status == 429).count();
    }
    // Fifty a day of a network, and more if the day comes nearer meanwhile.
    assert!((1040..=1050).contains(&refused), "{refused}");

    // Neither a network that has not asked for the code is refused, nor the owner, who has.
    let elsewhere = present("203.0.113.1".to_owned(), wrong_code(&code)).await;
    assert_eq!(elsewhere.error(), (403, "otp_expired"));
    present("192.0.2.1".to_owned(), &code).await.session();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_110_addresses_of_one_wide_ipv6_network_share_their_attempts() {
    let app = TestApp::start_behind_proxy(|_| {}).await;
    app.sign_up("ana@example.com", PASSWORD).await;
    let code = app.mail_to("ana@example.com").code;
    let present = async |ip: String, code: &str| {
        let body = json!({"type": "email", "email": "ana@example.com", "token": code});
        app.post("/verify", body).sent_from(&ip).send().await
    };
    for host in 0..5 {
        present(format!("2001:db8:1:{host}::1"), wrong_code(&code)).await;
    }

    let right = present("2001:db8:1:9::1".to_owned(), &code).await;

    assert_eq!(right.error(), (403, "otp_expired"));
    present("2001:db8:2::1".to_owned(), &code).await.session();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_110_whoever_knows_only_the_password_does_not_lock_the_second_factor() {
    let app = TestApp::start_behind_proxy(|config| config.mfa.totp = ENABLED).await;
    let (id, secret, owner) = app.user_with_totp("ana@example.com").await;
    let answer = async |session: &Session, ip: &str, code: &str| {
        let path = format!("/factors/{id}/challenge");
        let call = app.post(&path, json!({})).bearer(&session.access_token);
        let challenge = call.sent_from(ip).send().await.body;
        let body = json!({"challenge_id": challenge["id"], "code": code});
        let call = app.post(&format!("/factors/{id}/verify"), body);
        call.bearer(&session.access_token).sent_from(ip).send().await
    };
    // The owner has used the factor from this network before.
    let code = compute_code(&secret, 1);
    answer(&owner, "192.0.2.1", &code).await.session();
    let stranger = app.sign_in("ana@example.com", PASSWORD).await.session();
    let mut refused = 0;
    for network in 1..6 {
        for _ in 0..20 {
            let ip = format!("198.51.100.{network}");
            refused += u32::from(answer(&stranger, &ip, "000000x").await.status == 429);
        }
    }
    // Sixty of all networks together, and one more for each minute.
    assert!((30..=40).contains(&refused), "{refused}");
    let elsewhere = answer(&owner, "203.0.113.1", "000000x").await;
    assert_eq!(elsewhere.error(), (429, "over_request_rate_limit"));

    let usual = answer(&owner, "192.0.2.1", "000000x").await;

    assert_eq!(usual.error(), (422, "mfa_verification_failed"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_110_attempts_at_codes_of_the_provider_are_counted_in_the_database() {
    let verify = Receiver::start(r#"{"sid": "VE1"}"#).await;
    let app = TestApp::start_behind_proxy(|config| with_twilio_verify(config, &verify)).await;
    let ask = app.post("/otp", json!({"phone": "491701234567"}));
    assert_eq!(ask.sent_from("192.0.2.1").send().await.status, 200);
    let present = async |ip: &str, code: &str| {
        let body = json!({"type": "sms", "phone": "491701234567", "token": code});
        app.post("/verify", body).sent_from(ip).send().await
    };
    verify.respond("200 OK", r#"{"status": "pending", "valid": false}"#);

    for _ in 0..5 {
        assert_eq!(
            present("198.51.100.1", "111111").await.error(),
            (403, "otp_expired")
        );
    }
    let asked = verify.requests().len();
    let sixth = present("198.51.100.1", "111111").await;

    assert_eq!(sixth.error(), (429, "over_request_rate_limit"));
    assert_eq!(verify.requests().len(), asked, "the provider is not asked");
    // Those at all codes of the number count for a day, in rows of their own.
    let counted = "select count(*) from _selvedge.selvedge_counted_attempts \
                   where full_at between now() + interval '55 minutes' and now() + interval '65 minutes'";
    assert_eq!(app.count(counted).await, 1);
    // Networks that have not asked for the code do not use up the attempts of the one that has.
    app.sql(
        "update _selvedge.selvedge_counted_attempts set full_at = now() + interval '1 day'",
        &[],
    )
    .await;
    let elsewhere = present("203.0.113.1", "222222").await;
    assert_eq!(elsewhere.error(), (429, "over_request_rate_limit"));
    verify.respond("200 OK", r#"{"status": "approved", "valid": true}"#);
    present("192.0.2.1", "222222").await.session();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_110_attempts_at_test_codes_are_counted() {
    let (app, _) = crate::address_proofs::start().await;
    let present = async |code: &str| {
        let body = json!({"type": "sms", "phone": "15550001", "token": code});
        app.post("/verify", body).send().await
    };
    app.post("/otp", json!({"phone": "15550001"})).send().await;
    for _ in 0..5 {
        assert_eq!(present("000000").await.error(), (403, "otp_expired"));
    }

    assert_eq!(present("123456").await.error(), (429, "over_request_rate_limit"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_102_a_code_of_the_provider_changes_no_number_that_several_accounts_ask_for() {
    let verify = Receiver::start(r#"{"sid": "VE1"}"#).await;
    let app = TestApp::start_with(|config| with_twilio_verify(config, &verify)).await;
    let change = async |email: &str| {
        let session = app.user(email).await;
        let body = json!({"phone": "491701234567"});
        let asked = app.put("/user", body).bearer(&session.access_token).send().await;
        assert_eq!(asked.status, 200, "{}", asked.body);
    };
    change("victim@example.com").await;
    change("mallory@example.com").await;
    verify.respond("200 OK", r#"{"status": "approved", "valid": true}"#);
    let present = async || {
        let body = json!({"type": "phone_change", "phone": "491701234567", "token": "222222"});
        app.post("/verify", body).send().await
    };

    // The owner of the number has typed the code that was sent for either.
    assert_eq!(present().await.error(), (403, "otp_expired"));

    app.sql(
        "update auth.users set phone_change = '' where email like 'mallory@%'",
        &[],
    )
    .await;
    let session = present().await.session();
    assert_eq!(session.user["email"], "victim@example.com");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_115_factors_of_strangers_do_not_stop_the_messages_of_a_verified_one() {
    let twilio = Receiver::start(r#"{"sid": "SM1"}"#).await;
    let app = TestApp::start_with(|config| with_phone_factors(config, &twilio)).await;
    let owner = app.user("ana@example.com").await;
    let body = json!({"factor_type": "phone", "phone": "491701234567"});
    let own = read_text(&app.enroll(&owner, body.clone()).await.body["id"]);
    app.sql(
        "update auth.mfa_factors set status = 'verified', last_challenged_at = null",
        &[],
    )
    .await;
    let stranger = app.user("eve@example.com").await;
    let foreign = read_text(&app.enroll(&stranger, body).await.body["id"]);
    assert_eq!(app.challenge(&stranger, &foreign).await.status, 200);

    assert_eq!(app.challenge(&owner, &own).await.status, 200);

    let again = app.challenge(&owner, &own).await;
    assert_eq!(again.error(), (429, "over_sms_send_rate_limit"), "its own pause");
}
