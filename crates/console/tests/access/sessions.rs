//! Attacks on sessions: stolen and planted secrets, ended sessions, and guessed passwords.

use std::time::{Duration, Instant};

use selvedge_console::{Level, remove_account, set_account_level};

use super::support::{Console, PASSWORD, SignedIn};

/// Waits until the session has ended. The contract allows half a second; on a busy machine the test allows five.
async fn assert_session_ends(console: &Console, session: &SignedIn) {
    let deadline = Instant::now() + Duration::from_secs(5);
    while console.page_as(session, "GET", "/api/logs").status != 401 {
        assert!(Instant::now() < deadline, "the session goes on");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test]
async fn console_013_sessions_end_by_sign_out_removal_and_a_new_level() {
    let console = Console::start().await;
    let client = console.database.connect("selvedge_console_service").await;

    let first = console.sign_in("vera");
    let second = console.sign_in("vera");
    assert_eq!(console.page_as(&first, "DELETE", "/api/session").status, 204);
    assert_eq!(console.page_as(&first, "GET", "/api/logs").status, 401);
    assert_eq!(console.page_as(&second, "GET", "/api/logs").status, 200);

    set_account_level(&client, "vera", Level::Admin).await.unwrap();
    assert_session_ends(&console, &second).await;

    let third = console.sign_in("vera");
    remove_account(&client, "vera").await.unwrap();
    assert_session_ends(&console, &third).await;
    assert_eq!(console.try_sign_in("vera", PASSWORD, "").status, 401);
}

#[tokio::test]
async fn console_160_and_174_one_secret_alone_is_no_session_and_none_can_be_set_from_outside() {
    let console = Console::start().await;
    let session = console.sign_in("adam");
    let cookie = &session.cookie;

    let stolen = format!("Cookie: {cookie}\r\nX-Selvedge-Console: 1\r\n");
    assert_eq!(console.page("GET", "/api/logs", &stolen, "").status, 401);
    let header_alone = format!("X-Selvedge-Console: {}\r\n", session.secret);
    assert_eq!(console.page("GET", "/api/logs", &header_alone, "").status, 401);
    let two_cookies = format!(
        "Cookie: selvedge_console=x; {cookie}\r\nX-Selvedge-Console: {}\r\n",
        session.secret
    );
    assert_eq!(console.page("GET", "/api/logs", &two_cookies, "").status, 401);

    let fixed = console.try_sign_in("vera", PASSWORD, "Cookie: selvedge_console=chosen\r\n");
    assert_eq!(fixed.status, 200);
    assert!(!fixed.header("set-cookie").unwrap().contains("chosen"));

    let client = console.database.connect("selvedge_console_service").await;
    let rows = client
        .query(
            "select cookie_digest, header_digest from selvedge_console.selvedge_sessions",
            &[],
        )
        .await
        .unwrap();
    let value = cookie.split_once('=').unwrap().1.as_bytes();
    for row in rows {
        assert_ne!(row.get::<_, Vec<u8>>(0), value, "secrets are not stored");
    }
}

#[tokio::test]
async fn console_174_guessing_is_slowed_and_does_not_tell_which_accounts_exist() {
    let console = Console::start().await;
    let without_id = |body: &str| {
        let mut body: serde_json::Value = serde_json::from_str(body).unwrap();
        body["request_id"] = serde_json::Value::Null;
        body
    };
    let wrong = console.try_sign_in("adam", "wrong password", "");
    let unknown = console.try_sign_in("nobody", "wrong password", "");
    assert_eq!((wrong.status, unknown.status), (401, 401));
    assert_eq!(without_id(&wrong.body), without_id(&unknown.body));

    // One second after five failures, and twice as long after each further one: a busy machine may need longer for the next request.
    let is_slowed = (4..=10).any(|failures| {
        let mut failed = 0;
        while failed < failures {
            match console.try_sign_in("adam", "wrong password", "").status {
                401 => failed += 1,
                _ => std::thread::sleep(Duration::from_millis(100)),
            }
        }
        console.try_sign_in("adam", PASSWORD, "").status == 429
    });
    assert!(is_slowed, "also the right password waits");
    assert_eq!(
        console.try_sign_in("vera", PASSWORD, "").status,
        200,
        "and nobody else does"
    );
}

#[tokio::test]
async fn console_019_sign_ins_and_refusals_are_in_the_audit_with_their_request() {
    let console = Console::start().await;
    console.try_sign_in("adam", "wrong password", "X-Request-Id: guess-1\r\n");
    let admin = console.sign_in("adam");

    let answer = console.page_as(&admin, "GET", "/api/audit?action=sign_in");
    let body: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
    let results: Vec<_> = body["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| (entry["result"].as_str().unwrap(), entry["account"].as_str()))
        .collect();
    assert_eq!(results, [("ok", Some("adam")), ("refused", None)]);
    assert_eq!(body["entries"][1]["request_id"], "guess-1");
    assert!(!answer.body.contains("wrong password"));
}

#[tokio::test]
async fn console_014_a_sign_in_with_a_long_name_or_body_is_refused_and_leaves_nothing() {
    let console = Console::start().await;

    assert_eq!(console.try_sign_in(&"a".repeat(321), "x", "").status, 422);
    assert_eq!(console.try_sign_in("adam", &"x".repeat(5000), "").status, 422);
    let admin = console.sign_in("adam");

    let answer = console.page_as(&admin, "GET", "/api/audit?action=sign_in");
    let body: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(body["entries"].as_array().unwrap().len(), 1, "the last one alone");
}

#[tokio::test]
async fn console_018_no_viewer_is_let_in_while_the_jwt_secret_is_a_setting_of_the_database() {
    let console = Console::start().await;
    let superuser = console.database.superuser().await;
    let name = console.database.name();
    let set = format!("alter database \"{name}\" set \"app.settings.jwt_secret\" = 'readable'");
    superuser.batch_execute(&set).await.unwrap();

    let viewer = console.try_sign_in("vera", PASSWORD, "");
    assert_eq!(viewer.status, 403, "{}", viewer.body);
    assert!(viewer.body.contains("reset"), "{}", viewer.body);
    assert_eq!(console.try_sign_in("adam", PASSWORD, "").status, 200);
}
