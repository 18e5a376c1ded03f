//! Limits of a session, as a client meets them.

use std::time::{Duration, Instant};

use super::support::Console;

#[tokio::test]
async fn console_020_more_than_fifty_requests_a_second_of_one_session_are_refused() {
    let console = Console::start().await;
    let (busy, other) = (console.sign_in("vera"), console.sign_in("vera"));
    let port = console.port;
    let head = |connection: &str| {
        format!(
            "GET /api/storage/jobs HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nSec-Fetch-Site: same-origin\r\nCookie: {}\r\n\
             X-Selvedge-Console: {}\r\nConnection: {connection}\r\n\r\n",
            busy.cookie, busy.secret
        )
    };

    // They are answered one after the other on one connection, faster than 50 a second unless the machine is very busy.
    let deadline = Instant::now() + Duration::from_secs(60);
    let answers = loop {
        let answer = console.raw(&(head("keep-alive").repeat(150) + &head("close")));
        let all = answer.head + &answer.body;
        if all.contains("HTTP/1.1 429") {
            break all;
        }
        assert!(Instant::now() < deadline, "no request was refused: {all}");
    };

    assert!(answers.contains("HTTP/1.1 200"), "{answers}");
    assert!(answers.contains("too_many"), "{answers}");
    assert_eq!(console.page_as(&other, "GET", "/api/storage/jobs").status, 200);
}
