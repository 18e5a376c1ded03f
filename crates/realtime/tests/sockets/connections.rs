//! Upgrades, frames, limits and close codes of sockets.

use std::time::Duration;

use futures_util::SinkExt;
use selvedge_realtime::RealtimeConfig;
use selvedge_token::{development, unix_now};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use super::support::TestServer;

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_001_sockets_open_in_both_versions_with_keys_of_every_kind() {
    let server = TestServer::start().await;
    let keys = [
        development::anon_key(),
        development::service_role_key(),
        development::publishable_key(),
        development::secret_key(),
        server.user_token("6e9c7b1e-1b1f-4b9c-9d0c-0d5c3b1e2f3a"),
    ];

    for key in keys {
        let mut one = server.connect("1.0.0", &key).await;
        one.send(json!({"topic": "phoenix", "event": "heartbeat", "payload": {}, "ref": "7"}))
            .await;
        assert_eq!(
            one.next().await,
            json!({"topic": "phoenix", "event": "phx_reply", "payload": {"status": "ok", "response": {}}, "ref": "7"})
        );
        let mut two = server.connect("2.0.0", &key).await;
        two.send(json!([null, null, "phoenix", "heartbeat", {}])).await;
        assert_eq!(
            two.next().await,
            json!([null, null, "phoenix", "phx_reply", {"status": "ok", "response": {}}])
        );
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_054_refused_upgrades_answer_a_status_and_an_error_text() {
    let server = TestServer::start().await;
    let expired = server.token(json!({"role": "anon", "exp": unix_now() - 60}));
    let without_role = server.token(json!({"sub": "x"}));
    let cases = [
        (
            "2.0.0",
            "not-a-token",
            401,
            r#"{"error":"The token provided is not a valid JWT"}"#,
        ),
        (
            "2.0.0",
            "sb_secret_guess",
            401,
            r#"{"error":"The token provided is not a valid JWT"}"#,
        ),
        ("2.0.0", expired.as_str(), 401, r#"{"error":"Token has expired"}"#),
        (
            "2.0.0",
            without_role.as_str(),
            401,
            "{\"error\":\"Fields `role` and `exp` are required in JWT\"}",
        ),
        ("2.1.0", without_role.as_str(), 403, ""),
    ];

    for (vsn, key, status, body) in cases {
        let refusal = server.try_connect(vsn, key, &[]).await.err();
        assert_eq!(refusal, Some((status, body.to_owned())), "{vsn} {key}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_055_asymmetric_tokens_verify_and_unsigned_ones_do_not() {
    let server = TestServer::start().await;
    let signing_keys = [development::signing_key()];
    let ring =
        selvedge_token::KeyRing::new(development::JWT_SECRET.as_bytes(), &signing_keys).expect("usable");
    let claims = json!({"role": "authenticated", "exp": unix_now() + 60});
    let es256 = ring.sign(&claims).expect("claims can be signed");
    let mut parts = es256.split('.');
    let payload = parts.nth(1).expect("a payload");
    // {"alg":"none","typ":"JWT"}
    let unsigned = format!("eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.{payload}.");

    server.connect("2.0.0", &es256).await;

    let refusal = server
        .try_connect("2.0.0", &unsigned, &[])
        .await
        .err()
        .expect("refused");
    assert_eq!(refusal.0, 401);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_049_malformed_frames_are_dropped_and_long_ones_close_the_socket() {
    let server = TestServer::start_with(RealtimeConfig {
        max_frame_bytes: 10_000,
        ..RealtimeConfig::default()
    })
    .await;
    let mut client = server.connect_anon().await;

    for text in ["", "[", "{}", "null", "[1,2,3,4,5]", "[null,\"2\",\"phoenix\"]"] {
        client.send_message(Message::text(text)).await;
    }
    for bytes in [&b""[..], b"\x03", b"\x03\x01\x01\xff\x02\x00", b"\xff"] {
        client.send_message(Message::binary(bytes)).await;
    }
    client.expect_nothing().await;

    client.send_message(Message::text("x".repeat(10_001))).await;
    assert_eq!(client.close_code().await, 1009);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_048_messages_to_unjoined_topics_are_unmatched_and_leaves_are_confirmed() {
    let server = TestServer::start().await;
    let mut client = server.connect_anon().await;
    let unmatched = json!({"status": "error", "response": {"reason": "unmatched topic"}});

    client.broadcast("realtime:nowhere", "x").await;
    assert_eq!(
        client.next().await,
        json!([null, "9", "realtime:nowhere", "phx_reply", unmatched])
    );

    client.join_ok("realtime:room", json!({})).await;
    client
        .send(json!(["1", "2", "realtime:room", "phx_leave", {}]))
        .await;
    let reply = json!(["1", "2", "realtime:room", "phx_reply", {"status": "ok", "response": {}}]);
    assert_eq!(client.next().await, reply);
    assert_eq!(
        client.next().await,
        json!(["1", "1", "realtime:room", "phx_close", {}])
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_047_a_second_join_replaces_the_channel() {
    let server = TestServer::start().await;
    let mut client = server.connect_anon().await;
    client.join_ok("realtime:room", json!({})).await;

    client
        .send(json!(["2", "2", "realtime:room", "phx_join", {"config": {}}]))
        .await;

    assert_eq!(client.next().await[0], "2", "the new join is answered first");
    assert_eq!(
        client.next().await,
        json!(["1", "1", "realtime:room", "phx_close", {}])
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_050_joins_over_the_channel_limit_of_a_socket_are_refused() {
    let server = TestServer::start_with(RealtimeConfig {
        max_channels_per_socket: 2,
        ..RealtimeConfig::default()
    })
    .await;
    let mut client = server.connect_anon().await;
    client.join_ok("realtime:a", json!({})).await;
    client.join_ok("realtime:b", json!({})).await;

    let reply = client.join("realtime:c", json!({})).await;

    let reason = "ChannelRateLimitReached: Too many channels";
    assert_eq!(reply, json!({"status": "error", "response": {"reason": reason}}));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_051_sockets_over_the_limit_are_refused_with_429() {
    let server = TestServer::start_with(RealtimeConfig {
        max_sockets: 1,
        ..RealtimeConfig::default()
    })
    .await;
    let _first = server.connect_anon().await;

    let refusal = server
        .try_connect("2.0.0", &development::anon_key(), &[])
        .await
        .err();

    assert_eq!(
        refusal,
        Some((429, r#"{"error":"Too many connected users"}"#.to_owned()))
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_053_a_silent_socket_is_closed_with_1000() {
    let server = TestServer::start_with(RealtimeConfig {
        idle_timeout: Duration::from_millis(300),
        ..RealtimeConfig::default()
    })
    .await;
    let mut client = server.connect_anon().await;

    assert_eq!(client.close_code().await, 1000);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_066_shutdown_sends_a_system_event_and_closes_with_1012() {
    let server = TestServer::start_with(RealtimeConfig {
        drain_duration: Duration::from_millis(50),
        ..RealtimeConfig::default()
    })
    .await;
    let mut client = server.connect_anon().await;
    client.join_ok("realtime:room", json!({})).await;

    let (_, message) = tokio::join!(server.realtime.drain(), client.next());

    let payload = json!({"extension": "system", "status": "ok", "message": "Server requested disconnect"});
    assert_eq!(message, json!(["1", null, "realtime:room", "system", payload]));
    assert_eq!(client.close_code().await, 1012);
    let refusal = server
        .try_connect("2.0.0", &development::anon_key(), &[])
        .await
        .err();
    assert_eq!(refusal.expect("refused").0, 503);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_052_client_that_stops_reading_is_closed_and_delays_nobody_else() {
    let server = TestServer::start_with(RealtimeConfig {
        max_queued_bytes: 200_000,
        ..RealtimeConfig::default()
    })
    .await;
    let mut stopped = server.connect_anon().await;
    stopped.join_ok("realtime:room", json!({})).await;
    let mut reading = server.connect_anon().await;
    reading.join_ok("realtime:room", json!({})).await;
    let mut sender = server.connect_anon().await;
    sender
        .join_ok("realtime:room", json!({"broadcast": {"ack": true}}))
        .await;

    // More bytes than the kernel's buffers of both ends and the outbox can hold together.
    let payload = "x".repeat(100_000);
    for index in 0..200 {
        let message = json!({"type": "broadcast", "event": "n", "payload": {"n": index, "x": payload}});
        sender
            .send(json!(["1", "5", "realtime:room", "broadcast", message]))
            .await;
        assert_eq!(sender.next().await[4]["status"], "ok");
        assert_eq!(reading.next().await[4]["payload"]["n"], index);
    }

    // The client still reads what the kernel had buffered; then the connection ends.
    while let Some(Ok(_)) = futures_util::StreamExt::next(&mut stopped.stream).await {}
    stopped.stream.close(None).await.ok();
    reading.expect_nothing().await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_069_join_payloads_of_wrong_types_join_with_defaults() {
    let server = TestServer::start().await;
    let mut client = server.connect_anon().await;
    let payloads: [Value; 5] = [
        json!(null),
        json!({"config": null}),
        json!({"config": "x"}),
        json!({"config": {"broadcast": [], "presence": 7, "postgres_changes": "x", "private": "perhaps"}}),
        json!({"config": {"broadcast": {"ack": "nonsense"}, "postgres_changes": [null]}}),
    ];

    for (index, payload) in payloads.into_iter().enumerate() {
        let reply = client.join(&format!("realtime:odd-{index}"), payload).await;
        assert_eq!(
            reply,
            json!({"status": "ok", "response": {"postgres_changes": []}})
        );
    }
    client.stream.flush().await.expect("the socket is open");
}
