//! Project-wide rates: an average over the finished intervals since the first event decides.

use std::time::Duration;

use actix_web::rt::time::sleep;
use selvedge_realtime::RealtimeConfig;
use selvedge_token::development;
use serde_json::{Value, json};

use super::support::{Client, TestServer};

const TOPIC: &str = "realtime:rates";
/// Events count when this has passed, and stop counting after 12 of it: long enough for a busy machine to act between.
const INTERVAL: Duration = Duration::from_secs(2);
/// A burst with this many events keeps the average above one per second for all of the 24 s.
const BURST: usize = 60;

/// Broadcasts until the receiver gets something else than a broadcast, which is returned.
async fn broadcast_until_refused(sender: &mut Client, receiver: &mut Client) -> Value {
    loop {
        sender.broadcast(TOPIC, "x").await;
        let received = receiver.next().await;
        if received[3] != "broadcast" {
            return received;
        }
        sleep(Duration::from_millis(20)).await;
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_051_receiving_channel_is_closed_and_http_gets_429_over_the_rate_of_events() {
    let server = TestServer::start_with(RealtimeConfig {
        max_events_per_second: 1,
        rate_interval: INTERVAL,
        ..RealtimeConfig::default()
    })
    .await;
    let (mut sender, mut receiver) = (server.connect_anon().await, server.connect_anon().await);
    sender.join_ok(TOPIC, json!({})).await;
    receiver.join_ok(TOPIC, json!({})).await;

    for _ in 0..BURST {
        sender.broadcast(TOPIC, "x").await;
    }
    let notice = broadcast_until_refused(&mut sender, &mut receiver).await;

    assert_eq!(notice[3], "system");
    assert_eq!(notice[4]["message"], "Too many messages per second");
    assert_eq!(receiver.next().await, json!(["1", "1", TOPIC, "phx_close", {}]));
    sender.expect_nothing().await;
    let anon = development::anon_key();
    let refusal = (
        429,
        r#"{"message":"You have exceeded your rate limit"}"#.to_owned(),
    );
    let batch = json!({ "messages": [{ "topic": "rates", "event": "x", "payload": {} }] });
    let batch = server.request("/broadcast").json(&batch);
    assert_eq!(server.post(&anon, batch).await, refusal);
    let single = server.request("/broadcast/rates/events/x").json(&json!({}));
    assert_eq!(server.post(&anon, single).await, refusal);
}

fn join(index: usize) -> Value {
    json!(["1", "1", format!("realtime:rates-{index}"), "phx_join", {}])
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_051_socket_is_closed_and_upgrades_get_429_over_the_rate_of_joins() {
    let server = TestServer::start_with(RealtimeConfig {
        max_joins_per_second: 1,
        max_channels_per_socket: usize::MAX,
        rate_interval: INTERVAL,
        ..RealtimeConfig::default()
    })
    .await;
    let mut client = server.connect_anon().await;

    for index in 0..BURST {
        client.send(join(index)).await;
    }
    let mut index = 0;
    let refusal = loop {
        // Behind the burst one join at a time, so that nothing is sent to a socket that is being closed.
        if index >= BURST {
            sleep(Duration::from_millis(20)).await;
            client.send(join(index)).await;
        }
        let reply = client.next().await;
        if reply[4]["status"] != "ok" {
            break reply;
        }
        index += 1;
    };

    let reason = "ClientJoinRateLimitReached: Too many joins per second";
    assert_eq!(
        refusal[4],
        json!({"status": "error", "response": {"reason": reason}})
    );
    assert_eq!(client.close_code().await, 1001);
    let upgrade = server.try_connect("2.0.0", &development::anon_key(), &[]).await;
    assert_eq!(
        upgrade.err(),
        Some((429, r#"{"error":"Too many joins per second"}"#.to_owned()))
    );
}
