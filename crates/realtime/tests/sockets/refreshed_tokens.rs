//! Database changes through sockets: whose rows a channel gets after its token was refreshed, and rows that are too large.

use serde_json::{Value, json};
use tokio_postgres::Client as Database;

use super::support::{Client, TestServer};

const ADA: &str = "6e9c7b1e-1b1f-4b9c-9d0c-0d5c3b1e2f3a";
const BOB: &str = "0b0b0b0b-1b1f-4b9c-9d0c-0d5c3b1e2f3a";
const TOPIC: &str = "realtime:letters";

/// A server with a published table whose rows only their owners see, and a superuser's connection.
async fn server() -> (TestServer, Database) {
    let server = TestServer::start().await;
    let superuser = server.database.superuser().await;
    superuser
        .batch_execute(
            "create table public.letters (id int primary key, owner uuid, body text);
             alter table public.letters enable row level security;
             create policy own on public.letters for select to authenticated using (owner = auth.uid());
             grant select on public.letters to authenticated;
             alter publication supabase_realtime add table public.letters",
        )
        .await
        .expect("a published table");
    (server, superuser)
}

async fn insert(database: &Database, id: i32, owner: &str, body: &str) {
    database
        .execute(
            "insert into public.letters values ($1, $2::text::uuid, $3)",
            &[&id, &owner, &body],
        )
        .await
        .expect("a row");
}

/// Joins as a user, and waits until changes flow.
async fn join(server: &TestServer, user: &str) -> Client {
    let mut client = server.connect_anon().await;
    let config = json!({"postgres_changes": [{"event": "*", "schema": "public", "table": "letters"}]});
    let payload = json!({"config": config, "access_token": server.user_token(user)});
    let reply = client.join(TOPIC, payload).await;
    assert_eq!(reply["status"], "ok", "{reply}");
    assert_eq!(client.next().await[4]["message"], "Subscribed to PostgreSQL");
    client
}

/// The data of the next change; `system` messages before it are skipped.
async fn next_change(client: &mut Client) -> Value {
    loop {
        let frame = client.next().await;
        match frame[3].as_str() {
            Some("postgres_changes") => return frame[4]["data"].clone(),
            Some("system") => assert_eq!(frame[4]["message"], "Subscribed to PostgreSQL"),
            _ => panic!("neither a change nor a system message: {frame}"),
        }
    }
}

/// Reads until a channel ends; the texts of `system` messages before that.
async fn texts_until_close(client: &mut Client) -> Vec<Value> {
    let mut texts = Vec::new();
    loop {
        let frame = client.next().await;
        match frame[3].as_str() {
            Some("phx_close") => return texts,
            _ => texts.push(frame[4]["message"].clone()),
        }
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_022_channels_of_a_deleted_or_banned_user_end_and_joins_with_its_tokens_are_refused() {
    const ENDED: &str = "The user of the token was deleted or banned";
    let (server, database) = server().await;
    let mut ada = join(&server, ADA).await;
    let mut bob = join(&server, BOB).await;
    // As Auth does it.
    let auth = server.database.connect("supabase_auth_admin").await;
    let end = format!("insert into _selvedge.selvedge_ended_users (user_id) values ('{ADA}')");
    auth.batch_execute(&end).await.expect("Auth may");

    let texts = texts_until_close(&mut ada).await;
    assert!(texts.contains(&json!(ENDED)), "{texts:?}");
    let payload = json!({"config": {}, "access_token": server.user_token(ADA)});
    let refused = server.connect_anon().await.join(TOPIC, payload.clone()).await;
    assert_eq!(refused["response"]["reason"], format!("InvalidJWTToken: {ENDED}"));
    insert(&database, 1, BOB, "goes on").await;
    assert_eq!(next_change(&mut bob).await["record"]["id"], 1);

    auth.batch_execute("update _selvedge.selvedge_ended_users set until = now()")
        .await
        .expect("Auth may");
    while server.connect_anon().await.join(TOPIC, payload.clone()).await["status"] != "ok" {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_022_tokens_of_a_deleted_user_do_not_count_for_another_with_the_same_id() {
    let (server, _) = server().await;
    let token = |issued_ago: i64| {
        let issued_at = selvedge_token::unix_now() - issued_ago;
        server.token(json!({"role": "authenticated", "sub": ADA, "iat": issued_at}))
    };
    let join = async |token: &str| {
        let payload = json!({"config": {}, "access_token": token});
        let mut client = server.connect_anon().await;
        let reply = client.join(TOPIC, payload).await;
        (client, reply)
    };
    let (former, new) = (token(60), token(0));
    let (mut channel, reply) = join(&former).await;
    assert_eq!(reply["status"], "ok", "{reply}");
    // As Auth does it, for a user who was deleted and created anew.
    let auth = server.database.connect("supabase_auth_admin").await;
    let renew = format!(
        "insert into _selvedge.selvedge_ended_users (user_id, renewed_at) values ('{ADA}', now() - interval '30 s')"
    );
    auth.batch_execute(&renew).await.expect("Auth may");

    texts_until_close(&mut channel).await;
    let (_, refused) = join(&former).await;
    assert_eq!(
        refused["response"]["reason"],
        "InvalidJWTToken: The user of the token was deleted or banned"
    );
    let (_, reply) = join(&new).await;
    assert_eq!(reply["status"], "ok", "{reply}");
    // The new user is banned, and then no longer.
    for (until, expected) in [("now() + interval '1 hour'", "error"), ("null", "ok")] {
        let ban = format!("update _selvedge.selvedge_ended_users set until = {until}");
        auth.batch_execute(&ban).await.expect("Auth may");
        while join(&new).await.1["status"] != expected {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        let (_, former) = join(&former).await;
        assert_eq!(former["status"], "error", "{until}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_023_rows_are_checked_with_the_claims_of_a_refreshed_token() {
    let (server, database) = server().await;
    let mut client = join(&server, ADA).await;
    insert(&database, 1, BOB, "before").await;
    insert(&database, 2, ADA, "before").await;
    assert_eq!(next_change(&mut client).await["record"]["id"], 2);

    let token = server.user_token(BOB);
    client
        .send(json!(["1", "2", TOPIC, "access_token", {"access_token": token}]))
        .await;
    // The first message after the refresh is this one, so the refresh itself has no reply.
    let confirmed = client.next().await;
    assert_eq!(
        (&confirmed[1], &confirmed[4]["message"]),
        (&Value::Null, &json!("Subscribed to PostgreSQL"))
    );
    insert(&database, 3, ADA, "after").await;
    insert(&database, 4, BOB, "after").await;

    assert_eq!(next_change(&mut client).await["record"]["id"], 4);
    client.expect_nothing().await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_023_a_refreshed_token_of_another_user_takes_the_old_rows_away_at_once() {
    let (server, database) = server().await;
    let mut client = join(&server, ADA).await;
    let mut witness = join(&server, ADA).await;
    let token = server.user_token(BOB);

    client
        .send(json!(["1", "2", TOPIC, "access_token", {"access_token": token}]))
        .await;
    // Only the frame itself is waited for, and not the confirmation by the database.
    client.send(json!([null, "3", "phoenix", "heartbeat", {}])).await;
    while client.next().await[1] != "3" {}
    insert(&database, 1, ADA, "after").await;

    assert_eq!(next_change(&mut witness).await["record"]["id"], 1);
    insert(&database, 2, BOB, "after").await;
    assert_eq!(next_change(&mut client).await["record"]["id"], 2);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_044_a_row_that_is_too_large_arrives_at_the_socket_with_its_small_columns() {
    let (server, database) = server().await;
    let mut client = join(&server, ADA).await;

    insert(&database, 1, ADA, &"x".repeat(2_000_000)).await;
    insert(&database, 2, ADA, "small").await;

    let large = next_change(&mut client).await;
    assert_eq!(large["errors"], json!(["Error 413: Payload Too Large"]));
    assert_eq!(large["record"], json!({"id": 1, "owner": ADA}));
    assert_eq!(large["columns"].as_array().map(Vec::len), Some(3));
    let small = next_change(&mut client).await;
    assert_eq!(
        (&small["errors"], &small["record"]["body"]),
        (&Value::Null, &json!("small"))
    );
}
