//! Joins that are answered when their subscriptions to database changes are live.

use serde_json::{Value, json};

use super::support::{Client, TestServer};

const TOPIC: &str = "realtime:items";

/// A server with the published table `items`, and an administrator of its database.
async fn server_with_items() -> (TestServer, tokio_postgres::Client) {
    let server = TestServer::start().await;
    let database = server.database.connect("postgres").await;
    database
        .batch_execute(
            "create table public.items (id int primary key); grant select on public.items to anon;
             alter publication supabase_realtime add table public.items",
        )
        .await
        .expect("a published table");
    (server, database)
}

/// The configuration of a join that waits for the changes of a table.
fn waiting(table: &str, timeout: Value) -> Value {
    json!({"config": {
        "postgres_changes": [{"event": "*", "schema": "public", "table": table}],
        "postgres_changes_options": {"wait": true, "timeout": timeout},
    }})
}

/// Whether the socket has no channel on the topic.
async fn is_not_joined(client: &mut Client) -> bool {
    client.broadcast(TOPIC, "x").await;
    client.next().await[4]["response"]["reason"] == "unmatched topic"
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_200_no_change_after_the_answer_to_a_waiting_join_is_missed() {
    let (server, database) = server_with_items().await;
    let mut client = server.connect_anon().await;

    // The first channel: the stream of changes is started for it.
    let reply = client.join(TOPIC, waiting("items", json!(20_000))).await;
    assert_eq!(reply["status"], "ok", "{reply}");
    let insert = "insert into public.items values (1)";
    database.batch_execute(insert).await.expect("a row");

    let notice = client.next().await;
    assert_eq!(notice[4]["message"], "Subscribed to PostgreSQL");
    let change = client.next().await;
    assert_eq!(change[4]["data"]["record"], json!({"id": 1}));
    assert_eq!(
        change[4]["ids"],
        json!([reply["response"]["postgres_changes"][0]["id"]])
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_200_messages_behind_a_waiting_join_are_handled_after_it() {
    let (server, _database) = server_with_items().await;
    let mut client = server.connect_anon().await;
    let mut config = waiting("items", json!(20_000));
    config["config"]["broadcast"] = json!({"ack": true});

    client.send(json!(["1", "1", TOPIC, "phx_join", config])).await;
    client.broadcast(TOPIC, "behind").await;

    let (joined, notice, acknowledged) = (client.next().await, client.next().await, client.next().await);
    assert_eq!((&joined[1], &joined[4]["status"]), (&json!("1"), &json!("ok")));
    assert_eq!(notice[3], "system");
    assert_eq!(
        (&acknowledged[1], &acknowledged[4]["status"]),
        (&json!("9"), &json!("ok"))
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_201_a_wait_that_is_over_refuses_the_join_and_another_one_works() {
    let (server, _database) = server_with_items().await;
    let mut client = server.connect_anon().await;

    // The first subscription needs connections, the published tables and a replication slot.
    let reply = client.join(TOPIC, waiting("items", json!(1))).await;

    assert_eq!(reply["status"], "error");
    assert_eq!(
        reply["response"]["reason"],
        "PostgresChangesSubscribeTimeout: Timed out after 1ms waiting for the postgres_changes subscription"
    );
    assert!(is_not_joined(&mut client).await);
    let again = client.join(TOPIC, waiting("items", json!(20_000))).await;
    assert_eq!(again["status"], "ok", "{again}");
    assert_eq!(client.next().await[4]["message"], "Subscribed to PostgreSQL");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_201_a_subscription_that_can_never_work_refuses_the_join_with_its_reason() {
    let (server, _database) = server_with_items().await;
    let mut client = server.connect_anon().await;

    let unknown = client.join(TOPIC, waiting("none", json!(20_000))).await;
    assert_eq!(unknown["status"], "error");
    let reason = unknown["response"]["reason"].as_str().expect("a text");
    assert!(
        reason.starts_with("Unable to subscribe to changes with given parameters."),
        "{reason}"
    );
    assert!(is_not_joined(&mut client).await);

    let mut bad_filter = waiting("items", json!(20_000));
    bad_filter["config"]["postgres_changes"][0]["filter"] = json!("nonsense");
    let refused = client.join(TOPIC, bad_filter).await;
    assert_eq!(refused["status"], "error", "{refused}");
    assert!(is_not_joined(&mut client).await);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_201_without_subscriptions_there_is_nothing_to_wait_for() {
    let server = TestServer::start().await;
    let mut client = server.connect_anon().await;

    let config = json!({"postgres_changes_options": {"wait": true, "timeout": 1}});
    client.join_ok(TOPIC, config).await;

    client.expect_nothing().await;
}

/// Keeps the first stream of changes from starting: PostgreSQL makes its slot when all older transactions have ended.
async fn open_transaction(server: &TestServer) -> tokio_postgres::Client {
    let older = server.database.superuser().await;
    let begin = "begin; select pg_current_xact_id()";
    older.batch_execute(begin).await.expect("a transaction");
    older
}

/// Waits until the server asks for the slot.
async fn wait_for_slot_request(database: &tokio_postgres::Client) {
    let asked = "select exists (select from pg_stat_activity where datname = current_database() \
                 and backend_type = 'walsender' and query like 'CREATE_REPLICATION_SLOT%')";
    loop {
        let row = database.query_one(asked, &[]).await.expect("the activity");
        if row.get(0) {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_201_a_client_that_gives_up_a_waiting_join_is_answered_at_once() {
    let (server, database) = server_with_items().await;
    let older = open_transaction(&server).await;
    let mut client = server.connect_anon().await;
    let wait = waiting("items", json!(20_000));

    client.send(json!(["1", "1", TOPIC, "phx_join", wait])).await;
    wait_for_slot_request(&database).await;
    client.send(json!(["1", "2", TOPIC, "phx_leave", {}])).await;
    let left = client.next().await;
    assert_eq!((&left[1], &left[4]["status"]), (&json!("2"), &json!("ok")));
    assert!(is_not_joined(&mut client).await);

    client.send(json!(["3", "3", TOPIC, "phx_join", wait])).await;
    // A late message about the channel before does not end the new join.
    client.send(json!(["1", "4", TOPIC, "phx_leave", {}])).await;
    client
        .send(json!(["5", "5", TOPIC, "phx_join", {"config": {}}]))
        .await;
    let joined = client.next().await;
    assert_eq!((&joined[1], &joined[4]["status"]), (&json!("5"), &json!("ok")));
    older.batch_execute("rollback").await.expect("the end");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_200_what_is_stored_while_a_join_waits_is_replayed() {
    let (server, database) = server_with_items().await;
    let superuser = server.database.superuser().await;
    superuser
        .batch_execute("create policy reading on realtime.messages for select to authenticated using (true)")
        .await
        .expect("a policy");
    let older = open_transaction(&server).await;
    let token = server.user_token("6e9c7b1e-1b1f-4b9c-9d0c-0d5c3b1e2f3a");
    let mut client = server.connect("2.0.0", &token).await;
    let mut join = waiting("items", json!(20_000));
    join["config"]["private"] = json!(true);
    join["config"]["broadcast"] = json!({"replay": {"since": 0}});
    superuser
        .batch_execute("grant select on public.items to authenticated")
        .await
        .expect("a right");

    client.send(json!(["1", "1", TOPIC, "phx_join", join])).await;
    wait_for_slot_request(&database).await;
    let insert = "insert into realtime.messages (topic, extension, event, payload, private) \
                  values ('items', 'broadcast', 'ev', '{\"n\": 1}', true)";
    superuser.batch_execute(insert).await.expect("a message");
    older.batch_execute("rollback").await.expect("the end");

    let joined = client.next().await;
    assert_eq!(joined[4]["status"], "ok", "{joined}");
    let message = client.next().await;
    assert_eq!(message[4]["payload"]["n"], 1, "{message}");
    assert_eq!(message[4]["meta"]["replayed"], true);
}
