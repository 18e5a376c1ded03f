//! What one client may take of what all share: subscriptions, memory, policy checks.

use selvedge_memory::MemoryBudget;
use selvedge_realtime::{ClusterConfig, RealtimeConfig};
use selvedge_token::development;
use serde_json::{Value, json};

use super::nats_server::NatsServer;
use super::support::{Client, TestServer};

const TOPIC: &str = "realtime:room";

/// The configuration of a join with this many subscriptions to database changes.
fn bindings(count: usize) -> Value {
    let bindings: Vec<Value> = (0..count)
        .map(|number| json!({"event": "*", "schema": "public", "table": format!("t{number}")}))
        .collect();
    json!({ "postgres_changes": bindings })
}

/// Joins, and returns the reply's payload. Notices about other channels may come before it.
async fn join(client: &mut Client, topic: &str, config: Value) -> Value {
    client
        .send(json!(["1", "1", topic, "phx_join", { "config": config }]))
        .await;
    loop {
        let message = client.next().await;
        if message[3] == "phx_reply" && message[2] == topic {
            return message[4].clone();
        }
    }
}

async fn refusal(client: &mut Client, topic: &str, config: Value) -> String {
    let reply = join(client, topic, config).await;
    assert_eq!(reply["status"], "error", "{reply}");
    reply["response"]["reason"].as_str().expect("a text").to_owned()
}

/// Tracks a presence, and returns the reply.
async fn track(client: &mut Client, payload: Value) -> Value {
    let push = json!({"type": "presence", "event": "track", "payload": payload});
    client.send(json!(["1", "5", TOPIC, "presence", push])).await;
    loop {
        let message = client.next().await;
        if message[3] == "phx_reply" {
            return message[4].clone();
        }
        assert_ne!(message[3], "phx_close", "{message}");
        if message[3] == "system" {
            return message[4].clone();
        }
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_075_a_channel_a_socket_and_a_client_have_a_share_of_subscriptions() {
    let server = TestServer::start_with(RealtimeConfig {
        max_bindings_per_address: 1100,
        ..RealtimeConfig::default()
    })
    .await;
    let (mut first, mut second) = (server.connect_anon().await, server.connect_anon().await);

    let too_many = refusal(&mut first, TOPIC, bindings(101)).await;
    assert_eq!(
        too_many,
        "PostgresChangesLimitReached: A channel can have at most 100 subscriptions to postgres_changes"
    );
    let of_client = "PostgresChangesLimitReached: Too many subscriptions to postgres_changes";
    for number in 0..10 {
        let reply = join(&mut first, &format!("realtime:{number}"), bindings(100)).await;
        assert_eq!(reply["status"], "ok", "{reply}");
    }
    assert_eq!(
        refusal(&mut first, TOPIC, bindings(1)).await,
        of_client,
        "the socket's share"
    );
    let reply = join(&mut second, TOPIC, bindings(100)).await;
    assert_eq!(reply["status"], "ok", "{reply}");
    assert_eq!(
        refusal(&mut second, "realtime:other", bindings(1)).await,
        of_client
    );
    second.send(json!(["1", "3", TOPIC, "phx_leave", {}])).await;
    while second.next().await[3] != "phx_close" {}

    let reply = join(&mut second, "realtime:other", bindings(1)).await;
    assert_eq!(reply["status"], "ok", "{reply}");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_075_a_message_beyond_the_share_of_memory_closes_its_socket_and_no_other() {
    let server = TestServer::start_with(RealtimeConfig {
        memory: MemoryBudget::new(4 * 1024 * 1024),
        ..RealtimeConfig::default()
    })
    .await;
    let mut bystander = server.connect_anon().await;
    bystander.join_ok(TOPIC, json!({})).await;
    let mut client = server.connect_anon().await;
    client.join_ok(TOPIC, json!({})).await;
    let broadcast = |bytes: usize| {
        let payload = json!({"type": "broadcast", "event": "e", "payload": {"x": "x".repeat(bytes)}});
        json!(["1", "2", TOPIC, "broadcast", payload])
    };

    client.send(broadcast(200_000)).await;
    assert_eq!(bystander.next().await[3], "broadcast");
    // Three times its bytes are more than half of the budget, and than the client's share.
    client.send(broadcast(800_000)).await;

    assert_eq!(client.close_code().await, 1013);
    bystander.expect_nothing().await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_075_presence_is_counted_until_it_is_gone() {
    let server = TestServer::start_with(RealtimeConfig {
        memory: MemoryBudget::new(4 * 1024 * 1024),
        max_presence_pushes: 0,
        ..RealtimeConfig::default()
    })
    .await;
    let mut client = server.connect_anon().await;
    client
        .join_ok(TOPIC, json!({"presence": {"key": "k", "enabled": true}}))
        .await;
    assert_eq!(client.next().await[3], "presence_state");

    let large = || json!({"x": "x".repeat(500_000)});
    let refused = track(&mut client, large()).await;
    assert_eq!(
        refused["response"]["reason"],
        "There is no memory for this presence at the moment"
    );
    for number in 0..20 {
        let tracked = track(&mut client, json!({"x": "x".repeat(40_000), "number": number})).await;
        assert_eq!(tracked["status"], "ok", "{number}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_075_topics_keys_and_joins_have_a_longest_length() {
    let server = TestServer::start().await;
    let mut client = server.connect_anon().await;
    let topic = |bytes: usize| format!("realtime:{}", "t".repeat(bytes));

    client.send(json!(["1", "1", topic(1100), "phx_join", {}])).await;
    client.expect_nothing().await;
    client.join_ok(&topic(1000), json!({})).await;
    let long_key = json!({"presence": {"key": "k".repeat(1100)}});
    let too_long = "JoinPayloadTooLarge: The join is too long";
    assert_eq!(refusal(&mut client, TOPIC, long_key).await, too_long);
    let long_join = json!({ "x": "x".repeat(600_000) });
    assert_eq!(refusal(&mut client, TOPIC, long_join).await, too_long);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_029_a_batch_has_at_most_500_messages_and_50_private_topics() {
    let server = TestServer::start().await;
    let batch = |count: usize, is_private: bool| {
        let messages: Vec<Value> = (0..count)
            .map(|number| json!({"topic": format!("t{number}"), "event": "e", "payload": {}, "private": is_private}))
            .collect();
        server
            .request("/broadcast")
            .json(&json!({ "messages": messages }))
    };
    let token = development::service_role_key();

    assert_eq!(server.post(&token, batch(500, false)).await.0, 202);
    let (status, body) = server.post(&token, batch(501, false)).await;
    assert_eq!(
        (status, &*body),
        (
            422,
            r#"{"errors":{"messages":["should have at most 500 item(s)"]}}"#
        )
    );
    assert_eq!(server.post(&token, batch(50, true)).await.0, 202);
    let (status, body) = server.post(&token, batch(51, true)).await;
    assert_eq!(
        (status, &*body),
        (
            422,
            r#"{"errors":{"messages":["should have at most 50 private topics"]}}"#
        )
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_064_a_presence_that_other_nodes_could_not_get_is_refused() {
    let nats = NatsServer::start();
    let server = TestServer::start_with(RealtimeConfig {
        cluster: Some(ClusterConfig {
            servers: vec![nats.url()],
            credentials: selvedge_realtime::BrokerCredentials::None,
            ca_file: None,
            prefix: "shares".to_owned(),
            node_timeout: std::time::Duration::from_secs(3),
        }),
        ..RealtimeConfig::default()
    })
    .await;
    while server.realtime.find_cluster_fault().is_some() {
        actix_web::rt::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let mut client = server.connect_anon().await;
    client
        .join_ok(TOPIC, json!({"presence": {"key": "k", "enabled": true}}))
        .await;

    // The broker's max_payload is 1 MiB.
    assert_eq!(
        track(&mut client, json!({"x": "x".repeat(1_000_000)})).await["status"],
        "ok"
    );
    let refused = track(&mut client, json!({"x": "y".repeat(1_048_000)})).await;

    assert_eq!(refused["message"], "Track message size exceeded");
}
