//! Broadcasts that are to be stored, which the server cannot do: they are refused, and nobody gets them.

use selvedge_token::development;
use serde_json::json;
use tokio_tungstenite::tungstenite::Message;

use super::support::TestServer;

const TOPIC: &str = "realtime:room";

/// A binary push of kind 3 to the topic with event `hi`, payload `{}` and this meta.
fn push(meta: &str) -> Message {
    let length = u8::try_from(meta.len()).expect("short meta");
    let mut frame = vec![3, 1, 1, 13, 2, length, 1];
    frame.extend_from_slice(format!("15realtime:roomhi{meta}{{}}").as_bytes());
    Message::binary(frame)
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_210_a_broadcast_that_is_to_be_stored_is_refused_with_a_reason() {
    let server = TestServer::start().await;
    let policies = "create policy w on realtime.messages for insert to anon with check (true);
                    create policy r on realtime.messages for select to anon using (true)";
    let database = server.database.connect("postgres").await;
    database.batch_execute(policies).await.expect("policies");
    let config = |is_private: bool| json!({"private": is_private, "broadcast": {"self": true}});

    for (is_private, reason) in [
        (true, "Storing broadcasts is not supported"),
        (false, "Broadcasts can be stored on private channels only"),
    ] {
        let mut client = server.connect_anon().await;
        client.join_ok(TOPIC, config(is_private)).await;
        for meta in [r#"{"persist":true}"#, r#"{"persist":{"ttl":60}}"#] {
            client.send_message(push(meta)).await;
            // The reply is all that comes, although the channel did not ask for acknowledgements.
            let reply = client.next().await;
            assert_eq!((&reply[1], &reply[3]), (&json!("5"), &json!("phx_reply")));
            assert_eq!(
                reply[4],
                json!({"status": "error", "response": {"error": reason}})
            );
        }
        client.expect_nothing().await;
        client.send_message(push(r#"{"persist":false,"other":1}"#)).await;
        assert!(client.next_message().await.is_binary());
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_211_persist_by_http_is_refused() {
    let server = TestServer::start().await;
    let mut member = server.connect_anon().await;
    member.join_ok(TOPIC, json!({})).await;
    let key = development::service_role_key();

    for query in [
        "persist=true",
        "private=true&persist%5Bttl%5D=60",
        "persist%5Bttl%5D=x",
    ] {
        let request = server.request(&format!("/broadcast/room/events/hi?{query}"));
        let (status, body) = server.post(&key, request.json(&json!({}))).await;
        assert_eq!(status, 400, "{query}: {body}");
        assert_eq!(body, r#"{"message":"Storing broadcasts is not supported"}"#);
    }

    member.expect_nothing().await;
}
