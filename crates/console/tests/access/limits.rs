//! Limits of a session, as a client meets them.

use std::thread;
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

    // The requests of one connection are answered one after the other, on a busy machine fewer than 50 a second. Ten connections send at the
    // same time, so that the limit is reached there as well.
    let deadline = Instant::now() + Duration::from_secs(60);
    let requests = head("keep-alive").repeat(19) + &head("close");
    let send = || {
        let answer = console.raw(&requests);
        answer.head + &answer.body
    };
    let answers = loop {
        let all: String = thread::scope(|scope| {
            let connections: Vec<_> = (0..10).map(|_| scope.spawn(send)).collect();
            connections
                .into_iter()
                .map(|connection| connection.join().expect("answers"))
                .collect()
        });
        if all.contains("HTTP/1.1 429") {
            break all;
        }
        assert!(Instant::now() < deadline, "no request was refused: {all}");
    };

    assert!(answers.contains("HTTP/1.1 200"), "{answers}");
    assert!(answers.contains("too_many"), "{answers}");
    assert_eq!(console.page_as(&other, "GET", "/api/storage/jobs").status, 200);
}
