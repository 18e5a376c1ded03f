//! Broadcasts between sockets of both versions and by HTTP.

use selvedge_realtime::RealtimeConfig;
use selvedge_token::development;
use serde_json::json;
use tokio_tungstenite::tungstenite::Message;

use super::support::{Client, TestServer};

const TOPIC: &str = "realtime:room";

async fn join_version_1(client: &mut Client) {
    let join =
        json!({"topic": TOPIC, "event": "phx_join", "payload": {"config": {}}, "ref": "1", "join_ref": "1"});
    client.send(join).await;
    assert_eq!(client.next().await["payload"]["status"], "ok");
}

/// A binary push of kind 3 to the topic, with event `hi`.
fn push(encoding: u8, payload: &[u8]) -> Message {
    let mut frame = vec![3, 1, 1, 13, 2, 0, encoding];
    frame.extend_from_slice(b"15realtime:roomhi");
    frame.extend_from_slice(payload);
    Message::binary(frame)
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_006_a_text_push_reaches_members_of_both_versions_verbatim() {
    let server = TestServer::start().await;
    let anon = development::anon_key();
    let (mut one, mut two) = (server.connect("1.0.0", &anon).await, server.connect_anon().await);
    join_version_1(&mut one).await;
    two.join_ok(TOPIC, json!({})).await;
    let payload = json!({"type": "broadcast", "event": "hi", "payload": {"n": 1}, "extra": [true]});

    one.send(json!({"topic": TOPIC, "event": "broadcast", "payload": payload, "ref": "2", "join_ref": "1"}))
        .await;
    assert_eq!(two.next().await, json!([null, null, TOPIC, "broadcast", payload]));

    two.send(json!(["1", "2", TOPIC, "broadcast", payload])).await;
    let received = one.next().await;
    assert_eq!(
        received,
        json!({"topic": TOPIC, "event": "broadcast", "payload": payload, "ref": null})
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_007_a_binary_json_push_is_binary_for_version_2_and_text_for_version_1() {
    let server = TestServer::start().await;
    let mut sender = server.connect_anon().await;
    sender.join_ok(TOPIC, json!({})).await;
    let mut one = server.connect("1.0.0", &development::anon_key()).await;
    join_version_1(&mut one).await;
    let mut two = server.connect_anon().await;
    two.join_ok(TOPIC, json!({})).await;

    sender.send_message(push(1, br#"{"a":1}"#)).await;

    let binary = two.next_message().await.into_data();
    assert_eq!(&binary[..], b"\x04\x0d\x02\x00\x01realtime:roomhi{\"a\":1}");
    let text = one.next().await;
    assert_eq!(
        text["payload"],
        json!({"type": "broadcast", "event": "hi", "payload": {"a": 1}})
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_008_opaque_bytes_arrive_unchanged_in_version_2_and_not_in_version_1() {
    let server = TestServer::start().await;
    let mut sender = server.connect_anon().await;
    sender.join_ok(TOPIC, json!({"broadcast": {"self": true}})).await;
    let mut one = server.connect("1.0.0", &development::anon_key()).await;
    join_version_1(&mut one).await;

    sender.send_message(push(0, &[0, 255, 128])).await;

    let binary = sender.next_message().await.into_data();
    assert_eq!(&binary[..], b"\x04\x0d\x02\x00\x00realtime:roomhi\x00\xff\x80");
    one.send(json!({"topic": "phoenix", "event": "heartbeat", "payload": {}, "ref": "9"}))
        .await;
    assert_eq!(one.next().await["ref"], "9", "nothing came before the heartbeat");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_009_without_self_only_the_sending_channel_gets_no_copy() {
    let server = TestServer::start().await;
    let (mut sender, mut other) = (server.connect_anon().await, server.connect_anon().await);
    sender.join_ok(TOPIC, json!({"broadcast": {"self": false}})).await;
    other.join_ok(TOPIC, json!({"broadcast": {"self": true}})).await;

    sender.broadcast(TOPIC, "one").await;
    assert_eq!(other.next().await[4]["event"], "one");
    sender.expect_nothing().await;

    other.broadcast(TOPIC, "two").await;
    assert_eq!(other.next().await[4]["event"], "two");
    assert_eq!(sender.next().await[4]["event"], "two");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_010_broadcasts_are_acknowledged_where_asked_for() {
    let server = TestServer::start_with(RealtimeConfig {
        max_payload_bytes: 1000,
        ..RealtimeConfig::default()
    })
    .await;
    let mut client = server.connect_anon().await;
    client.join_ok(TOPIC, json!({"broadcast": {"ack": true}})).await;

    client.broadcast(TOPIC, "x").await;
    assert_eq!(
        client.next().await,
        json!(["1", "9", TOPIC, "phx_reply", {"status": "ok", "response": {}}])
    );

    client.broadcast(TOPIC, &"x".repeat(2000)).await;
    let refusal = json!({"status": "error", "response": "payload_size_exceeded"});
    assert_eq!(
        client.next().await,
        json!(["1", "9", TOPIC, "phx_reply", refusal])
    );

    let mut quiet = server.connect_anon().await;
    quiet.join_ok("realtime:other", json!({})).await;
    quiet.broadcast("realtime:other", "x").await;
    quiet.expect_nothing().await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_029_a_batch_by_http_reaches_its_topics() {
    let server = TestServer::start().await;
    let mut client = server.connect_anon().await;
    client.join_ok(TOPIC, json!({})).await;
    let user = server.user_token("6e9c7b1e-1b1f-4b9c-9d0c-0d5c3b1e2f3a");

    for token in [development::anon_key(), development::service_role_key(), user] {
        let messages = json!({"messages": [
            {"topic": "room", "event": "one", "payload": {"n": 1}},
            {"topic": "nobody", "event": "x", "payload": {}},
            {"topic": "room", "event": "two", "payload": {}, "id": "my-id"},
        ]});
        let response = server
            .post(&token, server.request("/broadcast").json(&messages))
            .await;
        assert_eq!(response, (202, String::new()));
        let one = json!({"type": "broadcast", "event": "one", "payload": {"n": 1}});
        assert_eq!(client.next().await, json!([null, null, TOPIC, "broadcast", one]));
        assert_eq!(client.next().await[4]["meta"], json!({"id": "my-id"}));
    }

    let invalid = json!({"messages": [{"topic": "a", "event": "x", "payload": {}}, {"event": ""}]});
    let request = server.request("/broadcast").json(&invalid);
    let (status, body) = server.post(&development::anon_key(), request).await;
    assert_eq!(status, 422);
    let blank = json!(["can't be blank"]);
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&body).unwrap(),
        json!({"errors": {"messages": [{}, {"topic": blank, "event": blank, "payload": blank}]}})
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_030_a_single_broadcast_by_http_takes_json_and_bytes() {
    let server = TestServer::start().await;
    let anon = development::anon_key();
    let mut client = server.connect_anon().await;
    client.join_ok(TOPIC, json!({})).await;
    let path = "/broadcast/room/events/hi";

    let request = server.request(path).json(&json!([1, 2]));
    assert_eq!(server.post(&anon, request).await.0, 202);
    assert_eq!(
        &client.next_message().await.into_data()[..],
        b"\x04\x0d\x02\x00\x01realtime:roomhi[1,2]"
    );

    let bytes = server
        .request(path)
        .header("content-type", "application/octet-stream");
    assert_eq!(server.post(&anon, bytes.body(vec![0, 255])).await.0, 202);
    assert_eq!(
        &client.next_message().await.into_data()[..],
        b"\x04\x0d\x02\x00\x00realtime:roomhi\x00\xff"
    );

    let text = server
        .request(path)
        .header("content-type", "text/plain")
        .body("x");
    assert_eq!(server.post(&anon, text).await.0, 415);
    let private = server.request(&format!("{path}?private=true")).json(&json!({}));
    let unauthorized = (403, r#"{"message":"Unauthorized"}"#.to_owned());
    assert_eq!(server.post(&anon, private).await, unauthorized);
    let forged = server.request(path).json(&json!({}));
    assert_eq!(server.post("a.b.c", forged).await.0, 401);
}
