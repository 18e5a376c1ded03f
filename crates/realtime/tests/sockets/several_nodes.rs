//! Two nodes on one database, which reach each other through a real NATS server.

use std::collections::HashSet;
use std::rc::Rc;
use std::time::Duration;

use actix_web::rt::spawn;
use futures_util::StreamExt as _;
use selvedge_realtime::{BrokerCredentials, ClusterConfig, RealtimeConfig};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep, timeout};

use super::nats_server::NatsServer;
use super::support::{Client, TestServer};

const TOPIC: &str = "realtime:room";
/// Time limit for what nodes do by themselves; generous, because test machines are busy.
const PATIENCE: Duration = Duration::from_secs(60);

fn config(nats: &NatsServer) -> RealtimeConfig {
    RealtimeConfig {
        cluster: Some(ClusterConfig {
            servers: vec![nats.url()],
            credentials: BrokerCredentials::None,
            ca_file: None,
            prefix: "test".to_owned(),
            node_timeout: Duration::from_secs(3),
        }),
        ..RealtimeConfig::default()
    }
}

/// Starts two nodes and waits until both are connected to the broker.
async fn start_two(nats: &NatsServer) -> (TestServer, TestServer) {
    let first = TestServer::start_with(config(nats)).await;
    let second = TestServer::start_on(Rc::clone(&first.database), config(nats)).await;
    for node in [&first, &second] {
        wait_until(|| node.realtime.find_cluster_fault().is_none()).await;
    }
    (first, second)
}

async fn wait_until(is_true: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_true() {
        assert!(Instant::now() < deadline, "it did not happen in time");
        sleep(Duration::from_millis(20)).await;
    }
}

async fn join(node: &TestServer, key: &str) -> Client {
    let mut client = node.connect_anon().await;
    let config = json!({"presence": {"key": key, "enabled": true}});
    client.join_ok(TOPIC, config).await;
    client
}

async fn track(client: &mut Client, payload: Value) {
    let push = json!({"type": "presence", "event": "track", "payload": payload});
    client.send(json!(["1", "5", TOPIC, "presence", push])).await;
}

/// Reads presence events until one lists the key under `list`: `joins` or `leaves` of a diff. A state counts as joins.
async fn wait_for_presence(client: &mut Client, list: &str, key: &str) -> Value {
    let found = timeout(PATIENCE, async {
        loop {
            let message = client.next().await;
            let payload = match message[3].as_str() {
                Some("presence_diff") => &message[4][list],
                Some("presence_state") if list == "joins" => &message[4],
                _ => &Value::Null,
            };
            if let Some(metas) = payload.get(key) {
                return metas["metas"][0].clone();
            }
        }
    });
    found.await.expect("presence arrives in time")
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_064_broadcasts_cross_nodes_in_both_directions_and_arrive_once() {
    let nats = NatsServer::start();
    let (first, second) = start_two(&nats).await;
    let mut ada = first.connect_anon().await;
    let mut bob = second.connect_anon().await;
    for client in [&mut ada, &mut bob] {
        client.join_ok(TOPIC, json!({})).await;
    }

    ada.broadcast(TOPIC, "from ada").await;
    assert_eq!(bob.next().await[4]["event"], "from ada");
    bob.broadcast(TOPIC, "from bob").await;
    assert_eq!(ada.next().await[4]["event"], "from bob");
    let body = json!({"messages": [{"topic": "room", "event": "by HTTP", "payload": {}}]});
    let request = first.request("/broadcast").json(&body);
    let (status, _) = first.post(&first.user_token("ada"), request).await;
    assert_eq!(status, 202);
    assert_eq!(ada.next().await[4]["event"], "by HTTP");
    assert_eq!(bob.next().await[4]["event"], "by HTTP");

    // A message that came twice would still be in front of the answer to this heartbeat.
    ada.expect_nothing().await;
    bob.expect_nothing().await;
}

/// Passes connections on to the broker, and holds what a node sends up for `delay`. Returns the URL.
async fn start_slow_way(nats: &NatsServer, delay: Duration) -> String {
    let broker = nats.url().replace("nats://", "");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    spawn(async move {
        while let Ok((node, _)) = listener.accept().await {
            let broker = TcpStream::connect(&broker).await.expect("the broker");
            let (mut from_node, mut to_node) = node.into_split();
            let (mut from_broker, mut to_broker) = broker.into_split();
            spawn(async move {
                let mut buffer = [0; 4096];
                while let Ok(length @ 1..) = from_node.read(&mut buffer).await {
                    sleep(delay).await;
                    to_broker.write_all(&buffer[..length]).await.ok();
                }
            });
            spawn(async move { tokio::io::copy(&mut from_broker, &mut to_node).await.ok() });
        }
    });
    format!("nats://{address}")
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_064_a_join_is_answered_when_the_broker_has_the_subscription() {
    let nats = NatsServer::start();
    let mut slow = config(&nats);
    let way = start_slow_way(&nats, Duration::from_millis(300)).await;
    slow.cluster.as_mut().expect("a cluster").servers = vec![way];
    let first = TestServer::start_with(config(&nats)).await;
    let second = TestServer::start_on(Rc::clone(&first.database), slow).await;
    for node in [&first, &second] {
        wait_until(|| node.realtime.find_cluster_fault().is_none()).await;
    }
    let mut ada = first.connect_anon().await;
    ada.join_ok(TOPIC, json!({})).await;
    let mut bob = second.connect_anon().await;
    bob.join_ok(TOPIC, json!({})).await;

    ada.broadcast(TOPIC, "after the join").await;

    assert_eq!(bob.next().await[4]["event"], "after the join");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_064_whoever_publishes_at_the_broker_cannot_send_clients_anything() {
    let nats = NatsServer::start();
    let (first, second) = start_two(&nats).await;
    let stranger = async_nats::connect(nats.url()).await.expect("a connection");
    let mut everything = stranger
        .subscribe("test.realtime.>")
        .await
        .expect("a subscription");
    stranger.flush().await.expect("subscribed");
    let mut ada = first.connect_anon().await;
    let mut bob = join(&second, "bob").await;
    ada.join_ok(TOPIC, json!({})).await;
    ada.broadcast(TOPIC, "first").await;
    while bob.next().await[4]["event"] != "first" {}

    let find = |bytes: &[u8]| bytes.windows(5).position(|part| part == b"first");
    let (subject, sealed) = loop {
        let message = everything.next().await.expect("a message");
        if find(&message.payload).is_some() {
            break (message.subject, message.payload.to_vec());
        }
    };
    let mut changed = sealed.clone();
    let place = find(&changed).expect("it was found above");
    changed[place..place + 5].copy_from_slice(b"false");
    // As nodes of before the key have sent it, with the key of nobody, and as somebody who is not there.
    let bare = changed[40..].to_vec();
    let node = uuid::Uuid::new_v4();
    let presence = json!({"kind": "change", "node": node, "sequence": 1, "topic": TOPIC, "private": false, "channel": 1,
        "entry": {"key": "eve", "phx_ref": "F1", "payload": {}}});
    for (subject, message) in [
        (subject.to_string(), changed),
        (subject.to_string(), bare),
        (
            "test.realtime.presence".to_owned(),
            presence.to_string().into_bytes(),
        ),
    ] {
        stranger
            .publish(subject, message.into())
            .await
            .expect("published");
    }
    stranger.flush().await.expect("published");

    ada.broadcast(TOPIC, "second").await;
    let next = loop {
        let message = bob.next().await;
        let text = message.to_string();
        assert!(!text.contains("\"eve\"") && !text.contains("false\""), "{text}");
        if message[3] == "broadcast" {
            break message;
        }
    };
    assert_eq!(next[4]["event"], "second");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_064_broadcasts_of_the_database_need_no_broker_and_arrive_once() {
    let nats = NatsServer::start();
    let (first, second) = start_two(&nats).await;
    let mut ada = first.connect_anon().await;
    let mut bob = second.connect_anon().await;
    for client in [&mut ada, &mut bob] {
        client.join_ok(TOPIC, json!({})).await;
    }
    let database = first.database.connect("postgres").await;

    // The streams of both nodes begin some time after the first join, so rows are sent until each has seen one.
    for client in [&mut ada, &mut bob] {
        while timeout(Duration::from_secs(1), client.next_message())
            .await
            .is_err()
        {
            send_from_database(&database, "row").await;
        }
    }
    send_from_database(&database, "last").await;

    for client in [&mut ada, &mut bob] {
        let mut frames = HashSet::new();
        loop {
            // A binary frame, which holds the row's id: no two rows look the same.
            let frame = client.next_message().await.into_data();
            let is_last = frame.windows(4).any(|bytes| bytes == b"last");
            assert!(frames.insert(frame), "a row arrived twice");
            if is_last {
                break;
            }
        }
        client.expect_nothing().await;
    }
}

async fn send_from_database(database: &tokio_postgres::Client, event: &str) {
    let send = "select realtime.send('{}', $1, 'room', false)";
    database.execute(send, &[&event]).await.expect("it is sent");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_064_presence_crosses_nodes_with_one_phx_ref() {
    let nats = NatsServer::start();
    let (first, second) = start_two(&nats).await;
    let mut ada = join(&first, "ada").await;
    track(&mut ada, json!({"n": 1})).await;
    let on_first = wait_for_presence(&mut ada, "joins", "ada").await;

    let mut bob = join(&second, "bob").await;
    let on_second = wait_for_presence(&mut bob, "joins", "ada").await;
    assert_eq!(on_second, on_first, "both nodes show the same meta");
    track(&mut bob, json!({})).await;
    wait_for_presence(&mut ada, "joins", "bob").await;

    drop(ada);
    let left = wait_for_presence(&mut bob, "leaves", "ada").await;
    assert_eq!(left["phx_ref"], on_first["phx_ref"]);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_064_a_new_node_learns_who_is_present() {
    let nats = NatsServer::start();
    let first = TestServer::start_with(config(&nats)).await;
    let mut ada = join(&first, "ada").await;
    track(&mut ada, json!({"n": 1})).await;
    wait_for_presence(&mut ada, "joins", "ada").await;

    let second = TestServer::start_on(Rc::clone(&first.database), config(&nats)).await;
    let mut bob = join(&second, "bob").await;

    assert_eq!(wait_for_presence(&mut bob, "joins", "ada").await["n"], 1);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_065_presence_of_a_node_that_shuts_down_leaves_at_once() {
    let nats = NatsServer::start();
    let (first, second) = start_two(&nats).await;
    let mut ada = join(&first, "ada").await;
    track(&mut ada, json!({})).await;
    let mut bob = join(&second, "bob").await;
    wait_for_presence(&mut bob, "joins", "ada").await;

    first.realtime.drain().await;

    wait_for_presence(&mut bob, "leaves", "ada").await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_065_silent_nodes_lose_their_presence_and_a_returning_broker_heals_it() {
    let mut nats = NatsServer::start();
    let (first, second) = start_two(&nats).await;
    let mut ada = join(&first, "ada").await;
    track(&mut ada, json!({"n": 1})).await;
    let mut bob = join(&second, "bob").await;
    wait_for_presence(&mut bob, "joins", "ada").await;

    nats.kill();
    wait_until(|| first.realtime.find_cluster_fault().is_some()).await;
    wait_for_presence(&mut bob, "leaves", "ada").await;
    // A change whose message does not reach the other nodes.
    track(&mut ada, json!({"n": 2})).await;
    // While the broker is away, members of one node still reach each other.
    let mut cleo = second.connect_anon().await;
    cleo.join_ok(TOPIC, json!({})).await;
    bob.broadcast(TOPIC, "near").await;
    assert_eq!(cleo.next().await[4]["event"], "near");

    nats.restart();
    wait_until(|| second.realtime.find_cluster_fault().is_none()).await;
    let returned = wait_for_presence(&mut bob, "joins", "ada").await;
    assert_eq!(returned["n"], 2, "the change during the outage is known");
}
