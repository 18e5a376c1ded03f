//! Calls of generators: what a valid token permits, and that nothing else is permitted.

use std::sync::Arc;

use actix_http::Request;
use actix_web::body::MessageBody;
use actix_web::dev::{Service, ServiceResponse};
use actix_web::{App, Error, test, web};
use bytes::Bytes;
use selvedge_generator::Generator;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::http_generator::HttpGenerator;
use crate::memory_store::png;
use crate::{Project, delivered_picture};

/// A node whose job waits for the picture of a generator.
struct Waiting {
    project: Project,
    endpoint: HttpGenerator,
    generator: Arc<Generator>,
    workers: JoinHandle<()>,
    id: Uuid,
    token: String,
}

impl Waiting {
    async fn start() -> Self {
        let project = Project::create().await;
        let endpoint = HttpGenerator::start(&[]).await;
        let generator = project.generator(Some(&endpoint.url)).await;
        let workers = Project::start_workers(&generator);
        let id = project.add_usual_job().await;
        let token = token_of(&endpoint, 1).await;
        Self {
            project,
            endpoint,
            generator,
            workers,
            id,
            token,
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.workers.abort();
    }
}

/// The token of the request with this number, from 1.
async fn token_of(endpoint: &HttpGenerator, number: usize) -> String {
    let request = endpoint.wait_for(number).await;
    request.body["callback"]["token"]
        .as_str()
        .expect("a token")
        .to_owned()
}

async fn serve(
    generator: &Arc<Generator>,
) -> impl Service<Request, Response = ServiceResponse<impl MessageBody>, Error = Error> {
    let routes = web::scope("/generator/v1").configure(selvedge_generator::configure(Arc::clone(generator)));
    test::init_service(App::new().service(routes)).await
}

/// Calls `/generator/v1/jobs/{path}`; returns status and JSON.
async fn call(generator: &Arc<Generator>, path: &str, token: &str, body: Bytes) -> (u16, Value) {
    let service = serve(generator).await;
    let request = test::TestRequest::post()
        .uri(&format!("/generator/v1/jobs/{path}"))
        .insert_header(("authorization", format!("Bearer {token}")))
        .set_payload(body)
        .to_request();
    let response = test::call_service(&service, request).await;
    let status = response.status().as_u16();
    let body = test::read_body(response).await;
    (status, serde_json::from_slice(&body).unwrap_or_default())
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_token_delivers_one_picture() {
    let waiting = Waiting::start().await;
    let path = format!("{}/picture", waiting.id);

    let first = call(&waiting.generator, &path, &waiting.token, delivered_picture()).await;
    let replayed = call(
        &waiting.generator,
        &path,
        &waiting.token,
        png(500, 500, [1, 2, 3]),
    )
    .await;

    assert_eq!(first, (200, json!({"status": "succeeded"})));
    assert_eq!(replayed.0, 401);
    let row = waiting.project.row(waiting.id).await;
    assert_eq!(row["status"], "succeeded");
    assert_eq!(row["result_is_preview"], false);
    assert_eq!(row["result_name"], format!("ana/generated/{}.png", waiting.id));
    let stored = waiting
        .project
        .store
        .object(&format!("private/ana/generated/{}.png", waiting.id));
    assert_eq!(stored, Some(delivered_picture()));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn of_two_deliveries_at_once_one_is_accepted() {
    let waiting = Waiting::start().await;
    let path = format!("{}/picture", waiting.id);
    let deliver = || call(&waiting.generator, &path, &waiting.token, delivered_picture());

    let (first, second, third) = tokio::join!(deliver(), deliver(), deliver());

    let mut statuses = [first.0, second.0, third.0];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 401, 401]);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn forged_and_foreign_tokens_are_refused() {
    let waiting = Waiting::start().await;
    let other = waiting.project.add_usual_job().await;
    let other_token = token_of(&waiting.endpoint, 2).await;
    let guess = "0".repeat(64);

    for (id, token) in [
        (waiting.id.to_string(), guess.as_str()),
        (waiting.id.to_string(), ""),
        (waiting.id.to_string(), other_token.as_str()),
        (other.to_string(), waiting.token.as_str()),
        (Uuid::new_v4().to_string(), waiting.token.as_str()),
        ("not-a-uuid".to_owned(), waiting.token.as_str()),
    ] {
        for action in ["picture", "progress", "failure"] {
            let path = format!("{id}/{action}");
            let (status, _) = call(&waiting.generator, &path, token, delivered_picture()).await;
            assert_eq!(status, 401, "{path} {token}");
        }
    }
    assert_eq!(waiting.project.row(waiting.id).await["status"], "running");
    assert_eq!(waiting.project.row(other).await["status"], "running");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn an_unusable_picture_is_refused_and_may_be_sent_again() {
    let waiting = Waiting::start().await;
    let path = format!("{}/picture", waiting.id);
    let send = |body| call(&waiting.generator, &path, &waiting.token, body);

    let script =
        Bytes::from_static(b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>");
    assert_eq!(send(script).await.0, 422);
    assert_eq!(send(png(10, 10, [0, 0, 0])).await.0, 422);
    assert_eq!(send(delivered_picture().slice(..60)).await.0, 422);
    assert_eq!(send(vec![0; (1 << 20) + 1].into()).await.0, 413);
    waiting.project.store.refuse_writes(true);
    assert_eq!(send(delivered_picture()).await.0, 503);
    waiting.project.store.refuse_writes(false);
    assert_eq!(waiting.project.row(waiting.id).await["status"], "running");

    assert_eq!(send(delivered_picture()).await.0, 200);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_cancelled_job_accepts_no_picture() {
    let waiting = Waiting::start().await;
    let before = waiting.project.store.count();
    waiting
        .project
        .client
        .execute(
            "update public.pictures set status = 'cancelled', callback_token_hash = null",
            &[],
        )
        .await
        .expect("cancelled");

    let path = format!("{}/picture", waiting.id);
    let (status, _) = call(&waiting.generator, &path, &waiting.token, delivered_picture()).await;

    assert_eq!(status, 401);
    assert_eq!(waiting.project.store.count(), before);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn progress_is_shown_and_never_goes_back() {
    let waiting = Waiting::start().await;
    let path = format!("{}/progress", waiting.id);
    let report = |body: Value| call(&waiting.generator, &path, &waiting.token, body.to_string().into());

    assert_eq!(report(json!({"progress": 40})).await.0, 200);
    assert_eq!(report(json!({"progress": 20})).await.0, 200);
    assert_eq!(waiting.project.row(waiting.id).await["progress"], 40);
    assert_eq!(report(json!({"progress": 1e9})).await.0, 200);
    assert_eq!(waiting.project.row(waiting.id).await["progress"], 99);
    assert_eq!(report(json!({"progress": "half"})).await.0, 422);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_failure_is_shown_to_the_owner_or_repeated_as_the_generator_says() {
    let waiting = Waiting::start().await;
    let path = format!("{}/failure", waiting.id);
    let body = json!({"message": "Try a brighter\nphoto.", "retry": true});

    let repeated = call(&waiting.generator, &path, &waiting.token, body.to_string().into()).await;
    assert_eq!(repeated, (200, json!({"status": "queued"})));
    let token = token_of(&waiting.endpoint, 2).await;
    let body = json!({"message": "Try a brighter\nphoto."});
    let failed = call(&waiting.generator, &path, &token, body.to_string().into()).await;
    assert_eq!(failed, (200, json!({"status": "failed"})));

    let row = waiting.project.row(waiting.id).await;
    assert_eq!(row["error"], "Try a brighter photo.");
    assert_eq!(row["status"], "failed");
}
