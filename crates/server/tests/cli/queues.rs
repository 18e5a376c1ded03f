//! `[selvedge.queues] expose`: queues over the data API.

use std::time::{Duration, Instant};

use selvedge_token::development;
use serde_json::{Value, json};

use crate::support::{Project, Running};

/// Calls a function of `pgmq_public`; returns status and body.
async fn call(running: &Running, key: &str, function: &str, body: Value) -> (u16, Value) {
    let response = reqwest::Client::new()
        .post(running.url(&format!("/rest/v1/rpc/{function}")))
        .header("content-profile", "pgmq_public")
        .header("apikey", key)
        .bearer_auth(key)
        .json(&body)
        .send()
        .await
        .expect("a response");
    let status = response.status().as_u16();
    (status, response.json().await.unwrap_or(Value::Null))
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn sql_200_204_queues_are_reached_over_the_api_while_the_switch_is_on() {
    let project = Project::new();
    project.write(
        "config.toml",
        "project_id = \"cli\"\n[selvedge.queues]\nexpose = true\n",
    );
    project.write(
        "migrations/20260101000000_queue.sql",
        "create extension pgmq; select pgmq.create('jobs');",
    );
    let (service, anon) = (development::service_role_key(), development::anon_key());
    let running = project.start().await;

    let message = json!({"queue_name": "jobs", "message": {"n": 1}});
    let sent = call(&running, &service, "send", message.clone()).await;
    assert_eq!(sent, (200, json!([1])));
    let read = json!({"queue_name": "jobs", "sleep_seconds": 60, "n": 5});
    let (status, messages) = call(&running, &service, "read", read).await;
    assert_eq!((status, &messages[0]["message"]), (200, &json!({"n": 1})));
    let (status, refused) = call(&running, &anon, "send", message.clone()).await;
    assert_eq!((status, &refused["code"]), (401, &json!("42501")), "{refused}");
    let missing = json!({"queue_name": "none"});
    let (status, refused) = call(&running, &service, "pop", missing).await;
    assert_eq!((status, &refused["code"]), (404, &json!("42P01")), "{refused}");
    running.stop();

    project.write(
        "config.toml",
        "project_id = \"cli\"\n[selvedge.queues]\nexpose = false\n",
    );
    let running = project.start().await;
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let (status, refused) = call(&running, &service, "send", message.clone()).await;
        if (status, &refused["code"]) == (406, &json!("PGRST106")) {
            break;
        }
        assert!(Instant::now() < deadline, "{status} {refused}");
        actix_web::rt::time::sleep(Duration::from_millis(20)).await;
    }
    running.stop();
}
