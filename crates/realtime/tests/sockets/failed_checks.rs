//! Policy checks that give no verdict: the client is told, and the policies are asked again.

use std::time::Duration;

use selvedge_realtime::RealtimeConfig;
use serde_json::{Value, json};

use super::support::{Client, TestServer};

const ADA: &str = "6e9c7b1e-1b1f-4b9c-9d0c-0d5c3b1e2f3a";
const ROOM: &str = "realtime:room";
const CANCELED: &str = "Query was cancelled, please try again";

async fn start() -> TestServer {
    let config = RealtimeConfig {
        database_timeout: Duration::from_secs(1),
        ..RealtimeConfig::default()
    };
    let server = TestServer::start_with(config).await;
    let superuser = server.database.superuser().await;
    superuser
        .batch_execute(
            "create policy reading on realtime.messages for select to authenticated using (true);
             create policy writing on realtime.messages for insert to authenticated with check (true);",
        )
        .await
        .expect("policies");
    server
}

async fn join(server: &TestServer) -> Client {
    let mut client = server.connect("2.0.0", &server.user_token(ADA)).await;
    let config = json!({"private": true, "broadcast": {"ack": true}, "presence": {"enabled": true}});
    client.join_ok(ROOM, config).await;
    assert_eq!(client.next().await[3], "presence_state");
    client
}

/// The next frames up to a reply, whose payload is returned with the messages of the `system` errors.
async fn reply(client: &mut Client) -> (Value, Vec<Value>) {
    let mut errors = Vec::new();
    loop {
        let frame = client.next().await;
        match frame[3].as_str() {
            Some("phx_reply") => return (frame[4].clone(), errors),
            Some("system") => {
                assert_eq!(frame[4]["status"], "error", "{frame}");
                errors.push(frame[4]["message"].clone());
            }
            _ => {}
        }
    }
}

/// Sends a message until it is accepted. While the policies cannot be asked, each is answered with an error.
async fn send_until_accepted(client: &mut Client, event: &str, payload: &Value) -> usize {
    for attempts in 0..200 {
        client.send(json!(["1", "9", ROOM, event, payload])).await;
        let (answer, _) = reply(client).await;
        if answer["status"] == "ok" {
            return attempts;
        }
        assert_eq!(answer["response"]["reason"], CANCELED, "{answer}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("never accepted");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_019_a_check_without_a_verdict_drops_its_message_with_an_error_and_is_repeated() {
    let server = start().await;
    let (mut sender, mut reader) = (join(&server).await, join(&server).await);
    let superuser = server.database.superuser().await;
    let lock = "begin; lock table realtime.messages in access exclusive mode";
    let broadcast = json!({"type": "broadcast", "event": "moved", "payload": {}});
    let track = json!({"type": "presence", "event": "track", "payload": {"at": 1}});

    for (event, payload) in [("broadcast", &broadcast), ("presence", &track)] {
        superuser.batch_execute(lock).await.expect("locked");
        sender.send(json!(["1", "9", ROOM, event, payload])).await;
        let (answer, errors) = {
            // The `system` error comes behind the reply.
            let (answer, _) = reply(&mut sender).await;
            let system = sender.next().await;
            assert_eq!(system[3], "system", "{system}");
            (answer, system[4]["message"].clone())
        };
        assert_eq!(answer["status"], "error", "{answer}");
        assert_eq!(answer["response"]["reason"], CANCELED);
        assert_eq!(errors, CANCELED);
        superuser.batch_execute("rollback").await.expect("unlocked");

        let refused = send_until_accepted(&mut sender, event, payload).await;
        assert!(refused > 0, "the database is not asked for every message");
    }
    // Nothing of what was refused is delivered, and what was accepted is, once.
    let mut events = Vec::new();
    while events.len() < 2 {
        let frame = reader.next().await;
        events.push(frame[3].as_str().expect("an event").to_owned());
    }
    assert_eq!(events, ["broadcast", "presence_diff"]);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_029_a_batch_whose_policies_cannot_be_asked_is_refused_as_a_whole() {
    let server = start().await;
    let mut reader = join(&server).await;
    let token = server.user_token(ADA);
    let batch = json!({"messages": [
        {"topic": "other", "event": "a", "payload": {}},
        {"topic": "room", "event": "b", "payload": {}, "private": true},
    ]});
    let send = async || {
        server
            .post(&token, server.request("/broadcast").json(&batch))
            .await
    };
    let superuser = server.database.superuser().await;
    superuser
        .batch_execute("begin; lock table realtime.messages in access exclusive mode")
        .await
        .expect("locked");

    let (status, body) = send().await;

    assert_eq!((status, body.as_str()), (422, r#"{"message":"Query canceled"}"#));
    superuser.batch_execute("rollback").await.expect("unlocked");
    assert_eq!(send().await.0, 202);
    assert_eq!(reader.next().await[4]["event"], "b");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_057_joins_and_refreshed_tokens_are_answered_when_the_policies_cannot_be_asked() {
    let server = start().await;
    let mut client = join(&server).await;
    let superuser = server.database.superuser().await;
    superuser
        .batch_execute("begin; lock table realtime.messages in access exclusive mode")
        .await
        .expect("locked");

    let mut late = server.connect("2.0.0", &server.user_token(ADA)).await;
    let refusal = late.join(ROOM, json!({"config": {"private": true}})).await;
    assert_eq!(
        refusal["response"]["reason"],
        format!("QueryCanceled: {CANCELED}")
    );
    let refreshed = server.token(json!({"role": "authenticated", "sub": ADA, "again": true}));
    client
        .send(json!(["1", "2", ROOM, "access_token", {"access_token": refreshed}]))
        .await;
    let told = client.next().await;
    assert_eq!(
        (&told[3], &told[4]["message"]),
        (&json!("system"), &json!(CANCELED))
    );
    assert_eq!(client.next().await[3], "phx_close");

    superuser.batch_execute("rollback").await.expect("unlocked");
    late.join_ok(ROOM, json!({"private": true})).await;
    client.join_ok(ROOM, json!({"private": true})).await;
}
