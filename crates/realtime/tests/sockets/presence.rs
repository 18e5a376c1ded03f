//! Presence across sockets and workers.

use serde_json::{Value, json};

use super::support::{Client, TestServer};

const TOPIC: &str = "realtime:room";

async fn join(server: &TestServer, key: &str) -> (Client, Value) {
    let mut client = server.connect_anon().await;
    client
        .join_ok(TOPIC, json!({"presence": {"key": key, "enabled": true}}))
        .await;
    let state = client.next().await;
    assert_eq!(state[3], "presence_state", "the state comes before any diff");
    (client, state[4].clone())
}

async fn track(client: &mut Client, payload: Value) {
    let push = json!({"type": "presence", "event": "track", "payload": payload});
    client.send(json!(["1", "5", TOPIC, "presence", push])).await;
    let reply = client.next().await;
    assert_eq!(
        reply,
        json!(["1", "5", TOPIC, "phx_reply", {"status": "ok", "response": {}}])
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_025_join_sends_a_presence_state_with_current_members() {
    let server = TestServer::start().await;
    let (mut ada, state) = join(&server, "ada").await;
    assert_eq!(state, json!({}));
    track(&mut ada, json!({"n": 1})).await;

    let (_, state) = join(&server, "bob").await;

    assert_eq!(state["ada"]["metas"][0]["n"], 1);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_026_members_get_diffs_of_joins_and_leaves() {
    let server = TestServer::start().await;
    let (mut ada, _) = join(&server, "ada").await;
    let (mut bob, _) = join(&server, "bob").await;

    track(&mut ada, json!({"n": 1})).await;
    let diff = ada.next().await;
    assert_eq!(diff[4]["joins"]["ada"]["metas"][0]["n"], 1);
    assert_eq!(bob.next().await, diff);

    drop(ada);
    let diff = bob.next().await;
    assert_eq!(diff[4]["leaves"]["ada"]["metas"][0]["n"], 1);
    assert_eq!(diff[4]["joins"], json!({}));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_027_update_is_one_diff_with_the_previous_phx_ref() {
    let server = TestServer::start().await;
    let (mut ada, _) = join(&server, "ada").await;
    track(&mut ada, json!({"n": 1})).await;
    let first = ada.next().await[4]["joins"]["ada"]["metas"][0]["phx_ref"].clone();

    track(&mut ada, json!({"n": 2})).await;
    let diff = ada.next().await;

    assert_eq!(diff[4]["leaves"]["ada"]["metas"][0]["phx_ref"], first);
    assert_eq!(diff[4]["joins"]["ada"]["metas"][0]["phx_ref_prev"], first);
    track(&mut ada, json!({"n": 2})).await;
    ada.expect_nothing().await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_028_sockets_with_the_same_key_leave_separately() {
    let server = TestServer::start().await;
    let (mut watcher, _) = join(&server, "watcher").await;
    let (mut first, _) = join(&server, "ada").await;
    let (mut second, _) = join(&server, "ada").await;
    track(&mut first, json!({"tab": 1})).await;
    watcher.next().await;
    second.next().await;
    track(&mut second, json!({"tab": 2})).await;
    watcher.next().await;

    drop(first);
    assert_eq!(watcher.next().await[4]["leaves"]["ada"]["metas"][0]["tab"], 1);
    let (_, state) = join(&server, "late").await;
    assert_eq!(state["ada"]["metas"].as_array().map(Vec::len), Some(1));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_051_the_sixth_presence_push_within_the_window_closes_the_channel() {
    let server = TestServer::start().await;
    let (mut ada, _) = join(&server, "ada").await;
    for _ in 0..6 {
        let push = json!({"type": "presence", "event": "untrack"});
        ada.send(json!(["1", "5", TOPIC, "presence", push])).await;
    }

    for _ in 0..5 {
        assert_eq!(ada.next().await[4]["status"], "ok");
    }
    assert_eq!(
        ada.next().await[4]["message"],
        "Client presence rate limit exceeded"
    );
    assert_eq!(ada.next().await[3], "phx_close");
}
