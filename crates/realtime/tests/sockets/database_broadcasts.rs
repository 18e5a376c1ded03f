//! Broadcasts from the database: `realtime.send`, `broadcast_changes` in triggers, and what clients get of them.

use selvedge_token::development;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use super::support::{Client, TestServer};

const POLICY: &str = "
    create policy everyone on realtime.messages for select to anon, authenticated using (true)";

/// Joins a topic with `replication_ready`, and waits until broadcasts from the database arrive.
async fn join_when_replicating(client: &mut Client, topic: &str, is_private: bool) {
    let config = json!({"private": is_private, "broadcast": {"replication_ready": true}});
    client.join_ok(topic, config).await;
    let established = json!({
        "extension": "system", "status": "ok", "message": "Replication connection established",
        "channel": topic.strip_prefix("realtime:").expect("a topic"),
    });
    assert_eq!(
        client.next().await,
        json!(["1", null, topic, "system", established])
    );
}

/// The parts of a binary broadcast: topic, event, meta and payload.
fn decode(message: &Message) -> (String, String, Value, Vec<u8>) {
    let Message::Binary(bytes) = message else {
        panic!("a binary frame: {message:?}");
    };
    assert_eq!(bytes[0], 4);
    let lengths = [bytes[1], bytes[2], bytes[3]].map(usize::from);
    let mut rest = &bytes[5..];
    let mut texts = Vec::new();
    for length in lengths {
        let (text, behind) = rest.split_at(length);
        texts.push(String::from_utf8(text.to_vec()).expect("UTF-8"));
        rest = behind;
    }
    let meta = serde_json::from_str(&texts[2]).expect("JSON");
    (texts[0].clone(), texts[1].clone(), meta, rest.to_vec())
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_031_realtime_068_sent_broadcasts_reach_public_and_private_channels_after_the_commit() {
    let server = TestServer::start().await;
    let superuser = server.database.superuser().await;
    superuser.batch_execute(POLICY).await.expect("a policy");
    let (mut public, mut private) = (server.connect_anon().await, server.connect_anon().await);
    join_when_replicating(&mut public, "realtime:room", false).await;
    join_when_replicating(&mut private, "realtime:room", true).await;
    let mut old = server.connect("1.0.0", &development::anon_key()).await;
    let join = json!({"topic": "realtime:room", "event": "phx_join", "ref": "1", "payload": {"config": {"private": true}}});
    old.send(join).await;
    assert_eq!(old.next().await["event"], "phx_reply");

    superuser
        .batch_execute(
            "begin; select realtime.send('{\"n\": 0}', 'gone', 'room', true); rollback;
             select realtime.send('{\"n\": 1}', 'inside', 'room');
             select realtime.send('{\"n\": 2, \"id\": \"mine\"}', 'outside', 'room', false);
             select realtime.send_binary('\\x00ff', 'bytes', 'room', true);",
        )
        .await
        .expect("sends");

    let (topic, event, meta, payload) = decode(&private.next_message().await);
    assert_eq!((topic.as_str(), event.as_str()), ("realtime:room", "inside"));
    let payload: Value = serde_json::from_slice(&payload).expect("JSON");
    assert_eq!(payload, json!({"n": 1, "id": meta["id"]}));
    assert!(meta["id"].is_string(), "{meta}");
    let (_, event, _, payload) = decode(&private.next_message().await);
    assert_eq!((event.as_str(), payload.as_slice()), ("bytes", &[0, 255][..]));
    private.expect_nothing().await;

    let (_, event, meta, payload) = decode(&public.next_message().await);
    let payload: Value = serde_json::from_slice(&payload).expect("JSON");
    assert_eq!(
        (event.as_str(), payload),
        ("outside", json!({"n": 2, "id": "mine"}))
    );
    assert_ne!(meta["id"], "mine");
    public.expect_nothing().await;

    let text = old.next().await;
    assert_eq!(text["event"], "broadcast");
    let id = &text["payload"]["meta"]["id"];
    let expected =
        json!({"type": "broadcast", "event": "inside", "payload": {"n": 1, "id": id}, "meta": {"id": id}});
    assert_eq!(text["payload"], expected);
    // Version 1 has no form for bytes.
    let heartbeat = json!({"topic": "phoenix", "event": "heartbeat", "payload": {}, "ref": "2"});
    old.send(heartbeat).await;
    assert_eq!(old.next().await["topic"], "phoenix");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_031_two_rows_of_one_id_are_both_sent() {
    let server = TestServer::start().await;
    let superuser = server.database.superuser().await;
    superuser.batch_execute(POLICY).await.expect("a policy");
    let mut member = server.connect_anon().await;
    join_when_replicating(&mut member, "realtime:room", true).await;

    // The primary key is the id with the time, so that another row may have the id.
    let insert = |event: &str, time: &str| {
        format!(
            "insert into realtime.messages (id, topic, extension, event, payload, private, inserted_at)
             values ('4f4b1c5e-0000-4000-8000-000000000001', 'room', 'broadcast', '{event}', '{{}}', true, {time});"
        )
    };
    for (event, time) in [
        ("first", "now() at time zone 'utc'"),
        ("second", "now() at time zone 'utc' + interval '1 second'"),
    ] {
        superuser
            .batch_execute(&insert(event, time))
            .await
            .expect("inserted");
    }

    for expected in ["first", "second"] {
        let (_, event, _, _) = decode(&member.next_message().await);
        assert_eq!(event, expected);
    }
    member.expect_nothing().await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_032_a_row_trigger_broadcasts_what_changed() {
    let server = TestServer::start().await;
    let superuser = server.database.superuser().await;
    superuser
        .batch_execute(&format!(
            "{POLICY};
             create table public.tasks (id int primary key, title text);
             create function public.announce_task() returns trigger language plpgsql security definer as $$
             begin
               perform realtime.broadcast_changes('task:' || coalesce(new.id, old.id), tg_op, tg_op, tg_table_name,
                                                  tg_table_schema, new, old);
               return null;
             end $$;
             create trigger announce after insert or update or delete on public.tasks
               for each row execute function public.announce_task();"
        ))
        .await
        .expect("a table with a trigger");
    let mut client = server.connect_anon().await;
    join_when_replicating(&mut client, "realtime:task:1", true).await;

    superuser
        .batch_execute(
            "insert into public.tasks values (1, 'a'), (2, 'of another topic');
             update public.tasks set title = 'b' where id = 1;
             delete from public.tasks where id = 1;",
        )
        .await
        .expect("changes");

    let row = |title: &str| json!({"id": 1, "title": title});
    let cases = [
        ("INSERT", row("a"), Value::Null),
        ("UPDATE", row("b"), row("a")),
        ("DELETE", Value::Null, row("b")),
    ];
    for (operation, record, old_record) in cases {
        let (_, event, meta, payload) = decode(&client.next_message().await);
        let payload: Value = serde_json::from_slice(&payload).expect("JSON");
        assert_eq!(event, operation);
        assert_eq!(
            payload,
            json!({"schema": "public", "table": "tasks", "operation": operation, "record": record,
                   "old_record": old_record, "id": meta["id"]})
        );
    }
    client.expect_nothing().await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_071_a_broadcast_that_fails_is_a_warning_and_keeps_the_transaction() {
    let server = TestServer::start().await;
    let superuser = server.database.superuser().await;
    superuser
        .batch_execute("create table public.orders (id int); grant insert on public.orders to anon")
        .await
        .expect("a table");

    let failing = [
        // Not an object, so that it cannot take an id.
        "select realtime.send('[1]', 'e', 't', false)",
        "select realtime.send('{}', 'e', null, false)",
        // `anon` has no policy that lets it insert.
        "set local role anon; select realtime.send('{}', 'e', 't', true)",
        "set local role anon; select realtime.send_binary('\\x00', 'e', 't', true)",
    ];
    for (statement, id) in failing.iter().zip(1..) {
        superuser
            .batch_execute(&format!(
                "begin; insert into public.orders values ({id}); {statement}; commit"
            ))
            .await
            .expect("the transaction succeeds");
    }

    let orders = superuser
        .query("select id from public.orders", &[])
        .await
        .expect("rows");
    assert_eq!(orders.len(), failing.len());
    let messages = superuser
        .query("select id from realtime.messages", &[])
        .await
        .expect("rows");
    assert_eq!(messages.len(), 0);
}
