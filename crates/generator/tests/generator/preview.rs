//! The built-in generator, and how jobs are shared out between nodes.

use serde_json::json;

use crate::{Project, usual_input};

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn the_built_in_generator_stores_a_card_and_calls_it_a_preview() {
    let project = Project::create().await;
    let generator = project.generator(None).await;
    let id = project.add_usual_job().await;

    let workers = Project::start_workers(&generator);
    let row = project.wait_for(id, "succeeded").await;

    assert_eq!(row["result_name"], format!("ana/generated/{id}.jpg"));
    assert_eq!(row["result_is_preview"], true);
    assert_eq!((&row["progress"], &row["attempts"]), (&json!(100), &json!(1)));
    assert!(row["error"].is_null() && row["lease_until"].is_null() && row["callback_token_hash"].is_null());
    let card = project
        .store
        .object(&format!("private/ana/generated/{id}.jpg"))
        .expect("a file");
    let card = image::load_from_memory(&card).expect("a picture");
    assert_eq!(card.width(), 1200);
    workers.abort();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn unusable_pictures_fail_the_job_with_a_text_for_its_owner() {
    let project = Project::create().await;
    let generator = project.generator(None).await;
    project.store.insert(
        "photos/ana/heic.heic",
        bytes::Bytes::from_static(b"not a picture"),
    );
    let mut no_photo = usual_input();
    no_photo["sources"][0]["name"] = json!("ana/heic.heic");
    let mut no_items = usual_input();
    no_items["sources"][1]["name"] = json!("gone.png");
    no_items["sources"][2]["name"] = json!("gone-too.png");
    let mut one_item = usual_input();
    one_item["sources"][1]["name"] = json!("gone.png");
    let (no_photo, no_items, one_item, malformed) = (
        project.add_job(&no_photo).await,
        project.add_job(&no_items).await,
        project.add_job(&one_item).await,
        project.add_job(&json!({"sources": "all of them"})).await,
    );

    let workers = Project::start_workers(&generator);

    let text = |row: serde_json::Value| row["error"].as_str().unwrap_or_default().to_owned();
    assert!(text(project.wait_for(no_photo, "failed").await).starts_with("None of your photos"));
    assert!(text(project.wait_for(no_items, "failed").await).starts_with("None of the item"));
    assert!(text(project.wait_for(malformed, "failed").await).starts_with("Something went wrong"));
    project.wait_for(one_item, "succeeded").await;
    // A failure that would repeat itself is not tried again.
    assert_eq!(project.row(no_photo).await["attempts"], 1);
    workers.abort();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn two_nodes_carry_out_each_job_once() {
    let project = Project::create().await;
    for _ in 0..12 {
        project.add_usual_job().await;
    }
    let (first, second) = (project.generator(None).await, project.generator(None).await);

    let workers = [Project::start_workers(&first), Project::start_workers(&second)];

    let done = "select count(*) from public.pictures where status = 'succeeded' and attempts = 1";
    let wait = async {
        while project
            .client
            .query_one(done, &[])
            .await
            .expect(done)
            .get::<_, i64>(0)
            < 12
        {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(crate::DEADLINE, wait)
        .await
        .expect("all succeed");
    workers.iter().for_each(tokio::task::JoinHandle::abort);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_job_that_was_cancelled_while_it_waited_is_not_carried_out() {
    let project = Project::create().await;
    let id = project.add_usual_job().await;
    project
        .client
        .execute("update public.pictures set status = 'cancelled'", &[])
        .await
        .expect("cancelled");
    let other = project.add_usual_job().await;
    let before = project.store.count();

    let workers = Project::start_workers(&project.generator(None).await);
    project.wait_for(other, "succeeded").await;

    assert_eq!(project.row(id).await["status"], "cancelled");
    assert_eq!(project.store.count(), before + 1);
    workers.abort();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_store_that_fails_for_a_while_delays_the_picture_only() {
    let project = Project::create().await;
    project.store.refuse_writes(true);
    let id = project.add_usual_job().await;
    // More attempts than can be made until the store works again.
    project
        .client
        .execute("update public.pictures set max_attempts = 1000", &[])
        .await
        .expect("updated");

    let workers = Project::start_workers(&project.generator(None).await);
    let wait = async {
        while project.row(id).await["error"].is_null() {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(crate::DEADLINE, wait)
        .await
        .expect("an attempt fails");
    project.store.refuse_writes(false);
    let row = project.wait_for(id, "succeeded").await;

    assert!(row["error"].is_null());
    assert!(row["attempts"].as_i64() > Some(1));
    workers.abort();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_job_whose_input_cannot_be_read_fails_and_stops_no_other() {
    let project = Project::create().await;
    let generator = project.generator(None).await;
    let deep: uuid::Uuid = project
        .client
        .query_one(
            "insert into public.pictures (input, result_bucket, result_folder)
             values ((repeat('{\"a\":', 200) || '1' || repeat('}', 200))::jsonb, 'private', 'ana/generated') returning id",
            &[],
        )
        .await
        .expect("a job")
        .get(0);
    let usual = project.add_usual_job().await;

    let workers = Project::start_workers(&generator);

    let status = async {
        let status = "select status from public.pictures where id = $1";
        loop {
            let row = project.client.query_one(status, &[&deep]).await.expect("the job");
            match row.get::<_, String>(0).as_str() {
                "queued" | "running" => tokio::time::sleep(std::time::Duration::from_millis(20)).await,
                ended => return ended.to_owned(),
            }
        }
    };
    let status = tokio::time::timeout(std::time::Duration::from_secs(60), status).await;
    assert_eq!(status.as_deref(), Ok("failed"));
    project.wait_for(usual, "succeeded").await;
    workers.abort();
}
