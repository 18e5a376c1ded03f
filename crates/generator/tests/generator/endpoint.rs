//! The requests that an HTTP generator receives, and how failures change the job.

use selvedge_http_client::WebhookKey;
use serde_json::json;
use tokio::task::JoinHandle;

use crate::http_generator::HttpGenerator;
use crate::{Project, SECRET};

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn the_endpoint_gets_a_signed_request_with_links_to_the_pictures() {
    let project = Project::create().await;
    let endpoint = HttpGenerator::start(&[]).await;
    let workers = Project::start_workers(&project.generator(Some(&endpoint.url)).await);
    let id = project.add_usual_job().await;

    let request = endpoint.wait_for(1).await;

    let header = |name: &str| request.headers[name].to_str().expect("text").to_owned();
    let key = WebhookKey::decode(SECRET).expect("a key");
    let expected = key.sign(&header("webhook-id"), &header("webhook-timestamp"), &request.text);
    assert_eq!(header("webhook-signature"), expected);
    let body = &request.body;
    assert_eq!(body["id"], id.to_string());
    assert_eq!(body["details"], json!({"title": "Harbour walk"}));
    assert_eq!(body["pictures"][0]["role"], "person");
    assert_eq!(
        body["pictures"][0]["url"],
        "http://selvedge.test/signed/photos/ana/1.png?seconds=630"
    );
    assert_eq!(body["pictures"][2]["label"], "Shoes");
    let callback = format!("http://selvedge.test/generator/v1/jobs/{id}/picture");
    assert_eq!(body["callback"]["picture_url"], callback);
    assert_eq!(body["callback"]["token"].as_str().map(str::len), Some(64));
    // The job waits for its picture, for as long as the generator may take.
    project.wait_for(id, "running").await;
    let is_waiting = "select lease_until > now() + interval '5 minutes' from public.pictures";
    let wait = async {
        while !project
            .client
            .query_one(is_waiting, &[])
            .await
            .expect("a row")
            .get::<_, bool>(0)
        {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(crate::DEADLINE, wait)
        .await
        .expect("the lease is extended");
    workers.abort();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn failed_requests_are_repeated_and_the_last_failure_is_shown() {
    let project = Project::create().await;
    let endpoint = HttpGenerator::start(&[500, 503, 502]).await;
    let workers = Project::start_workers(&project.generator(Some(&endpoint.url)).await);
    let id = project.add_usual_job().await;

    let row = project.wait_for(id, "failed").await;

    assert_eq!(row["attempts"], 3);
    assert_eq!(
        row["error"],
        "The picture service cannot be reached at the moment."
    );
    assert!(row["finished_at"].is_string());
    // Every attempt has a different token and message id.
    let received = endpoint.received();
    let tokens: std::collections::HashSet<String> = received
        .iter()
        .map(|request| request.body["callback"]["token"].to_string())
        .collect();
    assert_eq!((received.len(), tokens.len()), (3, 3));
    workers.abort();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_refusal_of_the_endpoint_is_shown_and_not_repeated() {
    let project = Project::create().await;
    let endpoint = HttpGenerator::start(&[422]).await;
    let workers = Project::start_workers(&project.generator(Some(&endpoint.url)).await);
    let id = project.add_usual_job().await;

    let row = project.wait_for(id, "failed").await;

    assert_eq!(row["error"], "Nobody is visible in the photo.");
    assert_eq!(row["attempts"], 1);
    workers.abort();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn the_job_of_a_dead_node_is_taken_over_when_its_lease_expires() {
    let project = Project::create().await;
    // The first call hangs, as if its node had been killed while it waited.
    let endpoint = HttpGenerator::start(&[0]).await;
    let dead: JoinHandle<()> = Project::start_workers(&project.generator(Some(&endpoint.url)).await);
    let id = project.add_usual_job().await;
    endpoint.wait_for(1).await;
    dead.abort();
    project
        .client
        .execute(
            "update public.pictures set lease_until = now() - interval '1 s'",
            &[],
        )
        .await
        .expect("expired");

    let workers = Project::start_workers(&project.generator(Some(&endpoint.url)).await);
    let second = endpoint.wait_for(2).await;

    assert_eq!(second.body["id"], id.to_string());
    assert_eq!(second.body["attempt"], 2);
    workers.abort();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_picture_that_never_arrives_fails_the_job_after_its_last_attempt() {
    let project = Project::create().await;
    let endpoint = HttpGenerator::start(&[]).await;
    let workers = Project::start_workers(&project.generator(Some(&endpoint.url)).await);
    let id = project.add_usual_job().await;
    project
        .client
        .execute("update public.pictures set max_attempts = 1", &[])
        .await
        .expect("updated");
    endpoint.wait_for(1).await;
    // Repeated, because the answer to the request may extend the lease after the first update.
    let expire = async {
        while project.row(id).await["status"] != "failed" {
            let expired =
                "update public.pictures set lease_until = now() - interval '1 s' where status = 'running'";
            project.client.execute(expired, &[]).await.expect("expired");
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(crate::DEADLINE, expire)
        .await
        .expect("the job fails");

    let row = project.row(id).await;
    assert_eq!(row["error"], "The picture did not arrive in time.");
    workers.abort();
}
