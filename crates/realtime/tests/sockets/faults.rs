//! Clients that send malformed frames, vanish, or request a lot; other clients must not be affected.

use std::time::Duration;

use futures_util::StreamExt;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use selvedge_realtime::RealtimeConfig;
use selvedge_token::{development, unix_now};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

use super::support::{Client, PATIENCE, TestServer};

/// A frame that a broken or hostile client might send: random bytes, almost valid JSON, valid frames with odd values,
/// and binary frames with wrong lengths.
fn odd_frame() -> impl Strategy<Value = Message> {
    let odd_json = prop_oneof![
        Just("null".to_owned()),
        Just("\"x\"".to_owned()),
        Just("1e999".to_owned()),
        Just("-0".to_owned()),
        Just("[]".to_owned()),
        Just("{}".to_owned()),
        Just(
            "{\"config\":{\"postgres_changes\":[{\"event\":7}],\"presence\":[],\"broadcast\":1}}".to_owned()
        ),
        Just("{\"access_token\":[]}".to_owned()),
        Just("{\"type\":\"presence\",\"event\":\"track\",\"payload\":7}".to_owned()),
        "\\PC{0,20}".prop_map(|text| Value::from(text).to_string()),
        (0_usize..300).prop_map(|depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth))),
    ];
    let topic = prop_oneof![
        Just("\"realtime:room\"".to_owned()),
        Just("\"realtime:\"".to_owned()),
        Just("\"phoenix\"".to_owned()),
        Just("\"\"".to_owned()),
        odd_json.clone(),
    ];
    let event = prop_oneof![
        Just("\"phx_join\"".to_owned()),
        Just("\"phx_leave\"".to_owned()),
        Just("\"broadcast\"".to_owned()),
        Just("\"presence\"".to_owned()),
        Just("\"access_token\"".to_owned()),
        odd_json.clone(),
    ];
    let parts = (odd_json.clone(), odd_json.clone(), topic, event, odd_json);
    let array = parts
        .clone()
        .prop_map(|(join_ref, reference, topic, event, payload)| {
            Message::text(format!("[{join_ref},{reference},{topic},{event},{payload}]"))
        });
    let object = parts.prop_map(|(join_ref, reference, topic, event, payload)| {
        Message::text(format!(
            "{{\"join_ref\":{join_ref},\"ref\":{reference},\"topic\":{topic},\"event\":{event},\"payload\":{payload}}}"
        ))
    });
    let cut = (array.clone(), 0_usize..40).prop_map(|(message, length)| {
        let text = message.to_text().unwrap_or_default();
        Message::text(text.chars().take(length).collect::<String>())
    });
    let binary = (any::<[u8; 7]>(), prop::collection::vec(any::<u8>(), 0..64)).prop_map(|(head, rest)| {
        // Most frames have the one kind that the server parses.
        let kind = if head[0] < 200 { 3 } else { head[0] };
        Message::binary([&[kind], &head[1..], &rest[..]].concat())
    });
    prop_oneof![
        3 => array,
        3 => object,
        2 => cut,
        3 => binary,
        1 => "\\PC{0,60}".prop_map(Message::text),
        1 => prop::collection::vec(any::<u8>(), 0..32).prop_map(Message::binary),
    ]
}

/// Reads until the answer to a heartbeat of this reference, which must come.
async fn heartbeat(client: &mut Client, version: &str, reference: &str) {
    let beat = match version {
        "1.0.0" => json!({"topic": "phoenix", "event": "heartbeat", "payload": {}, "ref": reference}),
        _ => json!([null, reference, "phoenix", "heartbeat", {}]),
    };
    client.send(beat).await;
    loop {
        let message = client.next_message().await;
        let Ok(text) = message.to_text() else { continue };
        // A reply repeats the reference as it came, which may be a number beyond those of `Value`.
        let Ok(frame) = serde_json::from_str::<Value>(text) else {
            continue;
        };
        let found = if version == "1.0.0" {
            &frame["ref"]
        } else {
            &frame[1]
        };
        if found == reference {
            return;
        }
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_049_sockets_survive_generated_nonsense_in_both_versions() {
    let server = TestServer::start().await;
    // The generator's seed is fixed, so every run sends the same frames.
    let mut runner = TestRunner::deterministic();
    let frames = odd_frame();

    for version in ["1.0.0", "2.0.0"] {
        let mut client = server.connect(version, &development::anon_key()).await;
        for round in 0..20 {
            for _ in 0..50 {
                let frame = frames.new_tree(&mut runner).expect("a frame").current();
                client.send_message(frame).await;
            }
            heartbeat(&mut client, version, &format!("beat-{round}")).await;
        }
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_049_violations_of_the_websocket_protocol_end_that_socket_only() {
    let server = TestServer::start().await;
    let mut bystander = server.connect_anon().await;
    bystander.join_ok("realtime:room", json!({})).await;
    let long_ping = [&b"\x89\xfe\x00\x7e\0\0\0\0"[..], &[0; 126]].concat();
    let violations: [&[u8]; 8] = [
        // A text frame without a mask.
        b"\x81\x02hi",
        // A reserved opcode, and reserved bits as permessage-deflate would set them.
        b"\x83\x80\0\0\0\0",
        b"\xc1\x80\0\0\0\0",
        // A ping in two fragments, and a ping that is too long.
        b"\x09\x80\0\0\0\0",
        &long_ping,
        // A continuation of nothing.
        b"\x80\x80\0\0\0\0",
        // Text that is not UTF-8.
        b"\x81\x81\0\0\0\0\xff",
        // A frame whose header announces 2^63 bytes.
        b"\x81\xff\x80\0\0\0\0\0\0\0\0\0\0\0",
    ];

    for violation in violations {
        let mut stream = handshake(&server).await;
        stream.write_all(violation).await.expect("the socket is open");
        let mut rest = Vec::new();
        // The server sends a close frame, and then closes the connection.
        let ended = timeout(PATIENCE, stream.read_to_end(&mut rest)).await;
        assert!(ended.is_ok(), "{violation:?} keeps the socket open");
        assert_eq!(
            rest.first(),
            Some(&0x88),
            "{violation:?} is answered with {rest:?}"
        );
    }
    bystander.expect_nothing().await;
}

/// A connection after a handshake by hand.
async fn handshake(server: &TestServer) -> TcpStream {
    let mut stream = server.connect_tcp().await;
    let request = format!(
        "GET /realtime/v1/websocket?apikey={}&vsn=2.0.0 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n\
         Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
         Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n\r\n",
        development::anon_key()
    );
    stream.write_all(request.as_bytes()).await.expect("it listens");
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.expect("a response"));
    }
    let head = String::from_utf8(head).expect("text").to_lowercase();
    assert!(head.starts_with("http/1.1 101"), "{head}");
    // Declined by leaving it out, as RFC 6455 has it; the client then sends its frames uncompressed.
    assert!(!head.contains("sec-websocket-extensions"), "{head}");
    stream
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_053_half_open_connections_are_closed_and_counted_no_longer() {
    const SOCKETS: usize = 200;
    let server = TestServer::start_with(RealtimeConfig {
        max_sockets: SOCKETS,
        idle_timeout: Duration::from_secs(2),
        ..RealtimeConfig::default()
    })
    .await;
    // Clients that never answer anything after the handshake: neither pings nor the closing handshake.
    let mut streams = Vec::new();
    for _ in 0..SOCKETS {
        streams.push(handshake(&server).await);
    }

    for mut stream in streams {
        let mut rest = Vec::new();
        timeout(PATIENCE, stream.read_to_end(&mut rest))
            .await
            .expect("the server closes")
            .ok();
    }

    // Closed connections no longer count against the limit of sockets.
    let mut clients = Vec::new();
    for _ in 0..SOCKETS / 2 {
        clients.push(server.connect_anon().await);
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_052_a_reading_client_gets_every_row_of_a_transaction_larger_than_its_queue() {
    const ROWS: usize = 5_000;
    let server = TestServer::start_with(RealtimeConfig {
        max_queued_messages: 600,
        // Long, because this machine may be busy; a reader that stops is tested elsewhere.
        reader_grace: Duration::from_secs(30),
        ..RealtimeConfig::default()
    })
    .await;
    let superuser = server.database.superuser().await;
    superuser
        .batch_execute(
            "create table public.bulk (id int primary key); grant select on public.bulk to anon;
             alter publication supabase_realtime add table public.bulk",
        )
        .await
        .expect("a published table");
    let mut client = server.connect_anon().await;
    client
        .join_ok(
            "realtime:bulk",
            json!({"postgres_changes": [{"event": "*", "schema": "public", "table": "bulk"}]}),
        )
        .await;
    assert_eq!(client.next().await[4]["message"], "Subscribed to PostgreSQL");

    superuser
        .batch_execute(&format!(
            "insert into public.bulk select generate_series(1, {ROWS})"
        ))
        .await
        .expect("rows");

    for id in 1..=ROWS {
        assert_eq!(client.next().await[4]["data"]["record"]["id"], id);
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_002_heartbeats_are_answered_while_a_join_waits_for_the_database() {
    let server = TestServer::start().await;
    let superuser = server.database.superuser().await;
    superuser
        .batch_execute(
            "create function public.wait_for_test() returns boolean language sql volatile
               as 'select pg_advisory_xact_lock_shared(7) is not null';
             create policy waits on realtime.messages for select to anon using (public.wait_for_test());
             select pg_advisory_lock(7)",
        )
        .await
        .expect("a policy that waits");
    let mut client = server.connect_anon().await;

    client
        .send(json!(["1", "1", "realtime:slow", "phx_join", {"config": {"private": true}}]))
        .await;
    for reference in [json!("2"), Value::Null] {
        client
            .send(json!([null, reference, "phoenix", "heartbeat", {}]))
            .await;
        let reply = json!([null, reference, "phoenix", "phx_reply", {"status": "ok", "response": {}}]);
        assert_eq!(client.next().await, reply);
    }
    superuser
        .batch_execute("select pg_advisory_unlock(7)")
        .await
        .expect("unlocks");

    let reply = client.next().await;
    assert_eq!(
        (&reply[1], &reply[4]["status"]),
        (&json!("1"), &json!("ok")),
        "{reply}"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_003_a_join_without_bindings_answers_an_empty_list() {
    let server = TestServer::start().await;
    let mut client = server.connect_anon().await;

    let reply = client.join("realtime:room", json!({"config": {}})).await;

    assert_eq!(
        reply,
        json!({"status": "ok", "response": {"postgres_changes": []}})
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_022_changes_end_with_the_token_and_go_on_with_a_fresh_one() {
    const ADA: &str = "6e9c7b1e-1b1f-4b9c-9d0c-0d5c3b1e2f3a";
    let server = TestServer::start().await;
    let superuser = server.database.superuser().await;
    superuser
        .batch_execute(
            "create table public.letters (id int primary key, owner uuid);
             alter table public.letters enable row level security;
             create policy own on public.letters for select to authenticated using (owner = auth.uid());
             grant select on public.letters to authenticated, service_role;
             alter publication supabase_realtime add table public.letters",
        )
        .await
        .expect("a published table");
    let insert = async |id: i32| {
        let sql = format!("insert into public.letters values ({id}, '{ADA}')");
        superuser.batch_execute(&sql).await.expect("a row");
    };
    let mut client = server.connect_anon().await;
    let bindings = json!({"postgres_changes": [{"event": "*", "schema": "public", "table": "letters"}]});
    let token = |seconds: i64| {
        server.token(json!({"role": "authenticated", "sub": ADA, "exp": unix_now() + seconds}))
    };

    let reply = client
        .join(
            "realtime:letters",
            json!({"config": bindings, "access_token": token(5)}),
        )
        .await;
    assert_eq!(reply["status"], "ok");
    let mut texts = Vec::new();
    loop {
        let frame = client.next().await;
        if frame[3] == "phx_close" {
            break;
        }
        texts.push(frame[4]["message"].as_str().expect("a text").to_owned());
    }
    let last = texts.pop().expect("a reason");
    assert!(last.starts_with("Token has expired "), "{last}");
    // The channel has ended before this row. When another channel has received the row, this one would have, too.
    let mut witness = server.connect("2.0.0", &development::service_role_key()).await;
    witness.join_ok("realtime:letters", bindings.clone()).await;
    assert_eq!(witness.next().await[4]["message"], "Subscribed to PostgreSQL");
    insert(1).await;
    assert_eq!(witness.next().await[4]["data"]["record"]["id"], 1);
    client.expect_nothing().await;

    let reply = client
        .join(
            "realtime:letters",
            json!({"config": bindings, "access_token": token(3600)}),
        )
        .await;
    assert_eq!(reply["status"], "ok");
    assert_eq!(client.next().await[4]["message"], "Subscribed to PostgreSQL");
    insert(2).await;
    assert_eq!(client.next().await[4]["data"]["record"]["id"], 2);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_052_one_of_a_hundred_members_that_stops_reading_is_closed_and_the_others_get_everything() {
    const MEMBERS: usize = 100;
    const MESSAGES: usize = 60;
    let server = TestServer::start_with(RealtimeConfig {
        max_queued_bytes: 500_000,
        ..RealtimeConfig::default()
    })
    .await;
    let mut stopped = server.connect_with_small_buffer().await;
    stopped.join_ok("realtime:room", json!({})).await;
    let mut members = Vec::new();
    for _ in 1..MEMBERS {
        let mut member = server.connect_anon().await;
        member.join_ok("realtime:room", json!({})).await;
        members.push(member);
    }
    let mut sender = server.connect_anon().await;
    sender
        .join_ok("realtime:room", json!({"broadcast": {"ack": true}}))
        .await;

    // Together more than the kernel buffers of both ends and the queue of the member that stopped can hold.
    let payload = "x".repeat(100_000);
    for index in 0..MESSAGES {
        let message = json!({"type": "broadcast", "event": "n", "payload": {"n": index, "x": payload}});
        sender
            .send(json!(["1", "5", "realtime:room", "broadcast", message]))
            .await;
        assert_eq!(sender.next().await[4]["status"], "ok");
        for member in &mut members {
            let message = member.next_message().await;
            let text = message.to_text().expect("text");
            assert!(
                text.contains(&format!("\"n\":{index}")),
                "in order and without a gap"
            );
        }
    }

    let read_to_end = async { while let Some(Ok(_)) = stopped.stream.next().await {} };
    timeout(PATIENCE, read_to_end)
        .await
        .expect("the socket was closed");
}
