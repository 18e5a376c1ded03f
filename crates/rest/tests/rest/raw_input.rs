//! Malformed HTTP, written byte by byte: each request is refused in PostgREST's shape and in bounded time, and the server
//! keeps serving.

use std::time::Duration;

use selvedge_rest::RestConfig;
use serde_json::Value;

use crate::standalone_app::{StandaloneApp, Start};

const ITEMS: &str =
    "create table public.items (id int primary key, name text); insert into public.items values (1, 'x');
    grant usage on schema public to anon; grant all on public.items to anon";

/// Status and JSON body of a connection that holds exactly one response.
fn parse_only_response(response: &str) -> (u16, Value) {
    let (head, body) = response
        .split_once("\r\n\r\n")
        .unwrap_or_else(|| panic!("no response: {response:?}"));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    let body =
        serde_json::from_str(body).unwrap_or_else(|_| panic!("not one response in JSON: {response:?}"));
    (status.expect("a status"), body)
}

/// Checks that the server still serves requests, and that the table has its one row.
async fn expect_serving(app: &StandaloneApp) {
    let response = app.anon().get("/items?select=id").await;
    assert_eq!((response.status, response.text.as_str()), (200, r#"[{"id":1}]"#));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_078_ambiguous_http_heads_are_refused() {
    let app = Start::on(ITEMS).run().await;
    let hidden = "GET /items HTTP/1.1\r\nHost: x\r\n\r\n";

    for head in [
        "POST /items HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 50\r\n\r\n{}",
        "POST /items HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /items HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n0\r\n\r\n",
        "POST /items HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "POST /items HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
        "POST /items HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        "POST /items HTTP/1.1\r\nHost: x\r\nContent-Length: 1e1\r\n\r\n",
        "POST /items HTTP/1.0\r\n\r\n{}",
        "GET /items HTTP/1.1\r\nHost: x\r\nX-A: b\r\n folded\r\n\r\n",
        "GET /items HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
        "GET /items HTTP/1.1\r\n\r\n",
        "GET /items\r\n\r\n",
        "GET /it\0ems HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /items HTTP/1.1\r\nHost: x\r\nX-A: \0\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let response = app.raw(format!("{head}{hidden}").as_bytes()).await;

        let (status, body) = parse_only_response(&response);
        assert_eq!((status, &body["code"]), (400, &Value::from("PGRST100")), "{head}");
        assert!(response.contains("access-control-allow-origin: *"), "{response}");
    }
    expect_serving(&app).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_078_oversized_urls_headers_and_bodies_are_refused() {
    let app = Start::on(ITEMS).run().await;
    let get = |target: &str, more: &str| format!("GET {target} HTTP/1.1\r\nHost: x\r\n{more}\r\n");

    for (request, expected) in [
        (get(&format!("/items?name=eq.{}", "x".repeat(1 << 20)), ""), 414),
        (get(&format!("/items?{}", "id=eq.1&".repeat(10_000)), ""), 414),
        (
            get(
                &format!("/items?or={}id.eq.1{}", "(or".repeat(200), ")".repeat(200)),
                "Connection: close\r\n",
            ),
            400,
        ),
        (get("/items", &"X-A: b\r\n".repeat(1_000)), 431),
        (get("/items", &format!("X-A: {}\r\n", "x".repeat(1 << 20))), 431),
        (
            "POST /items HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 99999999999\r\n\r\n"
                .to_owned(),
            413,
        ),
    ] {
        let (status, body) = parse_only_response(&app.raw(request.as_bytes()).await);

        assert_eq!(status, expected, "{request:.80}: {body}");
        assert!(body["message"].is_string(), "{request:.80}: {body}");
    }
    expect_serving(&app).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_043_truncated_or_malformed_chunked_bodies_get_one_error_response() {
    let start = Start::on(ITEMS);
    let config = RestConfig {
        body_pause: Duration::from_millis(200),
        ..start.config
    };
    let app = Start { config, ..start }.run().await;
    let post = |more: &str| format!("POST /items HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{more}");
    let chunked = "Transfer-Encoding: chunked\r\n\r\n";

    for (request, expected) in [
        (post(&format!("{chunked}zz\r\n{{}}\r\n0\r\n\r\n")), 400),
        (post(&format!("{chunked}2\r\n{{}}x\r\n0\r\n\r\n")), 400),
        (post(&format!("{chunked}ffffffffffffffffff\r\n")), 400),
        (post(&format!("{chunked}2\r\n{{}}\n0\r\n\r\n")), 400),
        // The announced rest of the body never arrives.
        (post(&format!("{chunked}2\r\n{{}}\r\n")), 408),
        (post("Content-Length: 10\r\n\r\n{}"), 408),
    ] {
        let response = app.raw_single_response(request.as_bytes()).await;

        let (status, body) = parse_only_response(&response);
        assert_eq!(
            (status, &body["code"]),
            (expected, &Value::from("PGRST102")),
            "{request}: {response}"
        );
    }
    expect_serving(&app).await;
    let bodies = app.anon().get("/items").await;
    assert_eq!(
        bodies.json().as_array().map(Vec::len),
        Some(1),
        "nothing was written"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_049_slow_and_silent_clients_are_disconnected_after_the_head_timeout() {
    let app = Start::on(ITEMS).run().await;

    // Sending a byte every 20 ms does not extend the time for the head.
    let mut drip: Vec<&[u8]> = vec![b"GET /items HTTP/1.1\r\nHost: x\r\nX-A: "];
    drip.resize(150, b"x");
    let (slow, silent, second) = futures_util::join!(
        app.raw_pieces(&drip),
        app.raw(b""),
        app.raw(b"GET /items?select=id HTTP/1.1\r\nHost: x\r\n\r\nGET /it")
    );

    let (status, body) = parse_only_response(&slow);
    assert_eq!(
        (status, &body["message"]),
        (408, &Value::from("The request took too long to arrive"))
    );
    assert_eq!(silent, "", "a client that sent nothing gets no response");
    assert!(
        second.starts_with("HTTP/1.1 200 OK") && second.contains("HTTP/1.1 408 "),
        "{second}"
    );
    expect_serving(&app).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_018_pipelined_requests_are_answered_in_order_however_they_are_split() {
    let app = Start::on(ITEMS).run().await;
    let get = |target: &str| format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n");
    let chunked = "POST /items?select=name HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
                   Prefer: return=representation\r\nTransfer-Encoding: chunked\r\n\r\n\
                   7;ext=\"<>\"\r\n{\"id\":2\r\nb\r\n,\"name\":\"<\"\r\n1\r\n}\r\n0\r\nTrailer: x\r\n\r\n";
    let stream = [
        get("/items?select=id&name=eq.\"x\""),
        chunked.to_owned(),
        get("/items?select=name&name=eq.<"),
        "GET /\0 HTTP/1.1\r\n\r\n".to_owned(),
    ]
    .concat();

    for pieces in [1, 7, 4_000] {
        let pieces: Vec<&[u8]> = stream
            .as_bytes()
            .chunks(stream.len().div_ceil(pieces).max(40))
            .collect();
        let response = app.raw_pieces(&pieces).await;

        let statuses: Vec<_> = response
            .split("HTTP/1.1 ")
            .skip(1)
            .map(|rest| &rest[..3])
            .collect();
        assert_eq!(statuses, ["200", "201", "200", "400"], "{response}");
        assert_eq!(response.matches(r#"[{"name":"<"}]"#).count(), 2, "{response}");
        app.run_sql("delete from public.items where id = 2").await;
    }
}
