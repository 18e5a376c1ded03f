//! Private channels: policies on `realtime.messages`, token life, replay.

use selvedge_realtime::RealtimeConfig;
use selvedge_token::unix_now;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use super::support::{Client, TestServer};

const ADA: &str = "6e9c7b1e-1b1f-4b9c-9d0c-0d5c3b1e2f3a";

/// Policies of the tests: every signed-in user may read `open-…`, write `write-…`, and use a room named after the user
/// id; the header `x-room: open` allows `hdr-…`.
const POLICIES: &str = "
    create policy reading on realtime.messages for select to authenticated
      using (realtime.topic() like 'open-%' or realtime.topic() like 'write-%'
             or realtime.topic() = 'own-' || (select auth.uid())::text
             or (realtime.topic() like 'hdr-%'
                 and (current_setting('request.headers', true)::json ->> 'x-room') = 'open')
             or (realtime.topic() like 'presence-%' and extension = 'presence'));
    create policy writing on realtime.messages for insert to authenticated
      with check (realtime.topic() like 'write-%');";

async fn server() -> TestServer {
    let server = TestServer::start().await;
    let superuser = server.database.superuser().await;
    superuser.batch_execute(POLICIES).await.expect("policies");
    server
}

async fn connect(server: &TestServer) -> Client {
    server.connect("2.0.0", &server.user_token(ADA)).await
}

fn private(more: Value) -> Value {
    let mut config = json!({"private": true});
    for (name, value) in more.as_object().expect("an object") {
        config[name] = value.clone();
    }
    config
}

fn refusal(topic: &str) -> Value {
    let reason =
        format!("Unauthorized: You do not have permissions to read from this Channel topic: {topic}");
    json!({"status": "error", "response": {"reason": reason}})
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_017_private_join_needs_a_select_policy() {
    let server = server().await;
    let mut client = connect(&server).await;

    client.join_ok("realtime:open-a", private(json!({}))).await;
    let reply = client
        .join("realtime:shut-a", json!({"config": {"private": true}}))
        .await;
    assert_eq!(reply, refusal("shut-a"));
    let mut anon = server.connect_anon().await;
    let reply = anon
        .join("realtime:open-a", json!({"config": {"private": true}}))
        .await;
    assert_eq!(reply, refusal("open-a"));
    anon.join_ok("realtime:open-a", json!({})).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_018_policies_see_topic_user_extension_and_headers() {
    let server = server().await;
    let token = server.user_token(ADA);
    let connected = server.try_connect("2.0.0", &token, &[("x-room", "open")]).await;
    let mut with_header = connected.expect("accepted");
    let mut client = connect(&server).await;

    client
        .join_ok(&format!("realtime:own-{ADA}"), private(json!({})))
        .await;
    with_header.join_ok("realtime:hdr-1", private(json!({}))).await;
    let reply = client
        .join("realtime:hdr-1", json!({"config": {"private": true}}))
        .await;
    assert_eq!(reply, refusal("hdr-1"));
    let reply = client
        .join("realtime:presence-1", json!({"config": {"private": true}}))
        .await;
    assert_eq!(reply, refusal("presence-1"), "presence is not asked for");
    client
        .join_ok(
            "realtime:presence-1",
            private(json!({"presence": {"enabled": true}})),
        )
        .await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_019_a_broadcast_without_a_write_policy_is_dropped_without_a_reply() {
    let server = server().await;
    let (mut sender, mut reader) = (connect(&server).await, connect(&server).await);
    for topic in ["realtime:open-a", "realtime:write-a"] {
        sender
            .join_ok(topic, private(json!({"broadcast": {"ack": true}})))
            .await;
        reader.join_ok(topic, private(json!({}))).await;
    }

    sender.broadcast("realtime:open-a", "denied").await;
    sender.broadcast("realtime:write-a", "allowed").await;

    let reply = sender.next().await;
    assert_eq!(
        (&reply[2], &reply[4]["status"]),
        (&json!("realtime:write-a"), &json!("ok"))
    );
    assert_eq!(reader.next().await[4]["event"], "allowed");
    sender.broadcast("realtime:open-a", "denied again").await;
    sender.expect_nothing().await;
    reader.expect_nothing().await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_020_probe_rows_are_never_committed() {
    let server = server().await;
    let mut client = connect(&server).await;
    client
        .join_ok("realtime:write-p", private(json!({"broadcast": {"ack": true}})))
        .await;
    client.broadcast("realtime:write-p", "x").await;
    assert_eq!(client.next().await[4]["status"], "ok");

    let superuser = server.database.superuser().await;
    let count: i64 = superuser
        .query_one("select count(*) from realtime.messages", &[])
        .await
        .expect("counts")
        .get(0);
    assert_eq!(count, 0);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_021_private_and_public_members_of_one_name_never_meet() {
    let server = server().await;
    let (mut inside, mut outside) = (connect(&server).await, connect(&server).await);
    let presence = json!({"presence": {"key": "k", "enabled": true}, "broadcast": {"ack": true}});
    inside
        .join_ok("realtime:write-x", private(presence.clone()))
        .await;
    inside.next().await;
    outside.join_ok("realtime:write-x", presence).await;
    outside.next().await;

    inside.broadcast("realtime:write-x", "inside").await;
    assert_eq!(inside.next().await[3], "phx_reply");
    outside.expect_nothing().await;
    let track = json!({"type": "presence", "event": "track", "payload": {}});
    outside
        .send(json!(["1", "6", "realtime:write-x", "presence", track]))
        .await;
    assert_eq!(outside.next().await[3], "phx_reply");
    assert_eq!(outside.next().await[3], "presence_diff");
    inside.expect_nothing().await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_022_an_expired_token_ends_the_channel_and_not_the_socket() {
    let server = server().await;
    let mut client = connect(&server).await;
    client.join_ok("realtime:stays", json!({})).await;
    let short = server.token(json!({"role": "authenticated", "sub": ADA, "exp": unix_now() + 4}));
    let reply = client
        .join("realtime:goes", json!({"config": {}, "access_token": short}))
        .await;
    assert_eq!(reply["status"], "ok");

    let system = client.next().await;
    let message = system[4]["message"].as_str().expect("a text");
    assert!(message.starts_with("Token has expired "), "{message}");
    assert_eq!(
        client.next().await,
        json!(["1", "1", "realtime:goes", "phx_close", {}])
    );
    client.expect_nothing().await;
    let reply = client
        .join("realtime:again", json!({"config": {}, "access_token": short}))
        .await;
    let reason = reply["response"]["reason"].as_str().expect("a text");
    assert!(
        reason.starts_with("InvalidJWTToken: Token has expired "),
        "{reason}"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_024_token_refresh_without_read_permission_closes_the_channel() {
    let server = server().await;
    let mut client = connect(&server).await;
    let topic = format!("realtime:own-{ADA}");
    client.join_ok(&topic, private(json!({}))).await;
    let stranger = server.user_token("00000000-0000-4000-8000-000000000000");

    let same = server.token(json!({"role": "authenticated", "sub": ADA, "session_id": "2"}));
    client
        .send(json!(["1", "2", topic, "access_token", {"access_token": same}]))
        .await;
    client.expect_nothing().await;
    client
        .send(json!(["1", "3", topic, "access_token", {"access_token": stranger}]))
        .await;

    let text = format!("You do not have permissions to read from this Channel topic: own-{ADA}");
    assert_eq!(client.next().await[4]["message"], text);
    assert_eq!(client.next().await[3], "phx_close");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_046_replay_sends_the_newest_kept_messages_oldest_first() {
    let server = server().await;
    let superuser = server.database.superuser().await;
    superuser
        .batch_execute(
            "insert into realtime.messages (topic, extension, event, payload, private, inserted_at)
             select 'open-r', 'broadcast', 'ev', jsonb_build_object('n', g), true,
                    (now() at time zone 'utc') - interval '60 s' + g * interval '1 s' from generate_series(1, 5) g",
        )
        .await
        .expect("inserts");
    let mut client = connect(&server).await;

    let replay = json!({"broadcast": {"replay": {"since": 0, "limit": 2}}});
    client.join_ok("realtime:open-r", private(replay.clone())).await;
    for expected in [4, 5] {
        let message = client.next().await;
        assert_eq!(
            (&message[0], &message[4]["payload"]["n"]),
            (&json!("1"), &json!(expected))
        );
        assert_eq!(message[4]["meta"]["replayed"], true);
    }

    let reply = client.join("realtime:public", json!({"config": replay})).await;
    let reason = "UnableToReplayMessages: Replay is not allowed for public channels";
    assert_eq!(reply["response"]["reason"], reason);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_051_private_only_setting_refuses_public_joins() {
    let server = TestServer::start_with(RealtimeConfig {
        private_only: true,
        ..RealtimeConfig::default()
    })
    .await;
    let mut client = server.connect_anon().await;

    let reply = client.join("realtime:public", json!({"config": {}})).await;

    let reason = "PrivateOnly: This project only allows private channels";
    assert_eq!(reply["response"]["reason"], reason);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_060_partitions_exist_from_yesterday_to_three_days_ahead() {
    let server = TestServer::start().await;
    let superuser = server.database.superuser().await;
    // Asked before the partitions are made: when midnight passes in between, these days still have theirs.
    let expected = "select to_char((now() at time zone 'utc')::date + ahead, 'YYYY_MM_DD')
         from generate_series(-1, 3) as ahead";
    let expected = superuser.query(expected, &[]).await.expect("dates");
    superuser
        .batch_execute(
            "set role supabase_realtime_admin;
             create table realtime.messages_2020_01_01 partition of realtime.messages
               for values from ('2020-01-01') to ('2020-01-02');
             reset role;
             select realtime.maintain_messages_partitions()",
        )
        .await
        .expect("maintains");

    let rows = superuser
        .query(
            "select right(c.relname, 10) from pg_inherits i join pg_class c on c.oid = i.inhrelid
             where i.inhparent = 'realtime.messages'::regclass order by 1",
            &[],
        )
        .await
        .expect("lists");
    let days: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    for day in &expected {
        assert!(days.contains(&day.get(0)), "{days:?}");
    }
    // The old partition was dropped. Midnight adds at most one day.
    assert!(
        days.len() <= 6 && !days.contains(&"2020_01_01".to_owned()),
        "{days:?}"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_067_presence_and_broadcast_have_policies_of_their_own() {
    let server = TestServer::start().await;
    let superuser = server.database.superuser().await;
    superuser
        .batch_execute(
            "create policy see on realtime.messages for select to anon using (extension = 'presence');
             create policy track on realtime.messages for insert to anon
               with check (extension = 'presence' and realtime.topic() = 'writable');
             create policy all_of_it on realtime.messages for all to service_role using (true) with check (true)",
        )
        .await
        .expect("policies");
    let presence = json!({"presence": {"key": "k", "enabled": true}});
    let track = |topic: &str| {
        let push = json!({"type": "presence", "event": "track", "payload": {"a": 1}});
        json!(["1", "6", topic, "presence", push])
    };
    let mut member = server.connect_anon().await;
    let mut service = server
        .connect("2.0.0", &selvedge_token::development::service_role_key())
        .await;
    for topic in ["realtime:writable", "realtime:readable"] {
        member.join_ok(topic, private(presence.clone())).await;
        assert_eq!(member.next().await[3], "presence_state");
        service
            .join_ok(topic, private(json!({"broadcast": {"ack": true}})))
            .await;
    }

    // May track in one topic and not in the other.
    member.send(track("realtime:readable")).await;
    let refused = member.next().await;
    assert_eq!(refused[4], json!({"status": "error", "response": {}}));
    member.send(track("realtime:writable")).await;
    let tracked = member.next().await;
    assert_eq!(tracked[4], json!({"status": "ok", "response": {}}));
    assert_eq!(member.next().await[3], "presence_diff");

    // May read presence only, so it gets no broadcasts of others.
    service.broadcast("realtime:writable", "unheard").await;
    assert_eq!(service.next().await[4]["status"], "ok");
    member.expect_nothing().await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_072_errors_of_policies_do_not_reach_clients() {
    let server = TestServer::start().await;
    let superuser = server.database.superuser().await;
    superuser
        .batch_execute(
            "create function public.fail() returns boolean language plpgsql as $$
               begin raise exception 'the code word is swordfish'; end $$;
             create policy fails on realtime.messages for select to anon using (public.fail());
             create policy fails_too on realtime.messages for insert to anon with check (public.fail())",
        )
        .await
        .expect("policies");
    let mut client = server.connect_anon().await;

    let reply = client
        .join("realtime:room", json!({"config": {"private": true}}))
        .await;

    assert_eq!(reply, refusal("room"));
    let request = server
        .request("/broadcast/room/events/e?private=true")
        .json(&json!({"a": 1}));
    let (status, body) = server
        .post(&selvedge_token::development::anon_key(), request)
        .await;
    assert_eq!(status, 422, "{body}");
    assert!(
        !body.contains("swordfish") && body.contains("RLS policy error"),
        "{body}"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn realtime_074_metrics_count_sockets_channels_messages_drops_and_checks() {
    let server = server().await;
    let mut client = connect(&server).await;
    client.join_ok("realtime:open-m", private(json!({}))).await;
    client.send_message(Message::text("nonsense")).await;
    client.broadcast("realtime:open-m", "denied").await;
    client.expect_nothing().await;

    // All tests of this program share the metrics, so only what this test has added is certain.
    let metrics = prometheus::TextEncoder::new()
        .encode_to_string(&prometheus::gather())
        .expect("text");
    let value = |name: &str| -> f64 {
        let line = metrics.lines().find(|line| line.starts_with(&format!("{name} ")));
        let line = line.unwrap_or_else(|| panic!("{name} is missing:\n{metrics}"));
        line.rsplit(' ')
            .next()
            .and_then(|number| number.parse().ok())
            .expect("a number")
    };
    for (name, least) in [
        ("selvedge_realtime_sockets", 1.0),
        ("selvedge_realtime_channels", 1.0),
        ("selvedge_realtime_messages_received_total", 3.0),
        ("selvedge_realtime_messages_delivered_total", 2.0),
        ("selvedge_realtime_drops_total{reason=\"malformed\"}", 1.0),
        ("selvedge_realtime_drops_total{reason=\"unauthorized\"}", 1.0),
        ("selvedge_realtime_policy_check_seconds_count", 2.0),
    ] {
        assert!(value(name) >= least, "{name} is {}", value(name));
    }
    assert!(metrics.contains("selvedge_realtime_replication_lag_bytes "));
}
