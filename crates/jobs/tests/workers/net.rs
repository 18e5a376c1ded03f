//! pg_net: requests of SQL, their responses, limits, crashes, webhooks.

use std::time::Duration;

use selvedge_jobs::{JobsConfig, NetConfig};
use selvedge_testing::TestDatabase;

use crate::http_server::HttpServer;
use crate::{DEADLINE, development, query_value, start_node, wait_until};

#[tokio::test]
async fn requests_are_sent_after_the_commit_and_their_responses_stored() {
    let database = TestDatabase::create().await;
    let server = HttpServer::start().await;
    let node = start_node(&database, development()).await;
    let client = database.connect("postgres").await;
    let url = |path: &str| server.url(path);

    client
        .batch_execute(&format!(
            "begin; select net.http_get('{}'); rollback;
             select net.http_get('{}', params := '{{\"q\": \"a b&c\", \"ä\": \"1\"}}', headers := '{{\"X-One\": \"1\"}}');
             select net.http_post('{}', body := '{{\"a\": [1, 2]}}', params := '{{\"p\": \"1\"}}');
             select net.http_delete('{}');
             select net.http_delete('{}', body := '{{\"b\": 1}}');
             select net.http_get('{}');
             select net.http_post('{}', headers := '{{\"Authorization\": \"Bearer x\"}}');",
            url("/rolled-back"),
            url("/get?x=1#part"),
            url("/post"),
            url("/delete"),
            url("/delete"),
            url("/missing"),
            url("/moved"),
        ))
        .await
        .expect("queued");
    wait_until(&client, "select count(*) = 6 from net._http_response").await;

    let received = server.received();
    let find = |method: &str, path: &str| {
        received
            .iter()
            .find(|request| request.method == method && request.path.starts_with(path))
            .unwrap_or_else(|| panic!("{method} {path} in {received:?}"))
    };
    let get = find("GET", "/get");
    assert!(get.path.contains("x=1&") && get.path.contains("q=a%20b%26c") && get.path.contains("%C3%A4=1"));
    assert_eq!(
        (&get.headers["x-one"], &get.headers["user-agent"]),
        (&"1".parse().unwrap(), &"pg_net/0.20.4".parse().unwrap())
    );
    let post = find("POST", "/post?p=1");
    assert_eq!(
        (post.body.as_str(), &post.headers["content-type"]),
        ("{\"a\": [1, 2]}", &"application/json".parse().unwrap())
    );
    assert!(
        received
            .iter()
            .any(|request| request.method == "DELETE" && request.body == "{\"b\": 1}")
    );
    assert_eq!(find("GET", "/target").headers["authorization"], "Bearer x");
    assert!(received.iter().all(|request| request.path != "/rolled-back"));

    assert_eq!(
        query_value(
            &client,
            "select concat_ws(' ', status_code, content_type, content, timed_out, headers ->> 'x-answer')
             from net._http_response where id = 2"
        )
        .await,
        "200 application/json {\"ok\":true} f 42"
    );
    let collected = "select (r).status || ' ' || ((r).response).status_code || ' ' || ((r).response).body
        from net._http_collect_response((select id from net._http_response where status_code = 404)) as r";
    assert_eq!(query_value(&client, collected).await, "SUCCESS 404 nothing here");
    assert_eq!(
        query_value(&client, "select count(*) from net.http_request_queue").await,
        "0"
    );
    client
        .batch_execute("select net.check_worker_is_up(), net.wait_until_running()")
        .await
        .expect("it is up");
    node.abort();
}

#[tokio::test]
async fn limits_become_error_messages() {
    let database = TestDatabase::create().await;
    let server = HttpServer::start().await;
    let mut config = development();
    config.net.max_response_bytes = 100_000;
    let node = start_node(&database, config).await;
    let client = database.connect("postgres").await;
    // A port that was free a moment ago, and on which nothing listens.
    let closed = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();

    for (url, expected) in [
        (server.url("/large"), "Maximum file size exceeded"),
        (server.url("/around"), "Number of redirects hit maximum amount"),
        (format!("http://{closed}/"), "Couldn't connect to server"),
        // A label of a host name has at most 63 characters, so this one is refused without a DNS query.
        (
            format!("http://{}.invalid/", "a".repeat(64)),
            "Couldn't resolve host name",
        ),
    ] {
        client
            .execute("select net.http_get($1)", &[&url])
            .await
            .expect("queued");
        wait_until(&client, "select count(*) = 1 from net._http_response").await;
        let stored = query_value(
            &client,
            "select (status_code, timed_out, error_msg)::text from net._http_response",
        )
        .await;
        assert_eq!(stored, format!("(,f,\"{expected}\")"), "{url}");
        client
            .batch_execute("delete from net._http_response")
            .await
            .expect("allowed");
    }
    client
        .execute(
            "select net.http_get($1, timeout_milliseconds := 200)",
            &[&server.url("/slow")],
        )
        .await
        .expect("queued");
    wait_until(
        &client,
        "select count(*) = 1 from net._http_response where timed_out",
    )
    .await;
    let message = query_value(&client, "select error_msg from net._http_response").await;
    assert!(
        message.starts_with("Timeout of 200 ms reached. Total time: "),
        "{message}"
    );
    node.abort();
}

/// The console and the inbox of `start`, whatever else of this machine may be called.
#[tokio::test]
async fn gw_012_sql_calls_no_refused_port_of_this_machine() {
    let database = TestDatabase::create().await;
    let (console, other) = (HttpServer::start().await, HttpServer::start().await);
    let config = JobsConfig {
        net: NetConfig {
            allowed_hosts: vec!["localhost".to_owned()],
            refused_ports: vec![console.address.port()],
            ..development().net
        },
        ..JobsConfig::default()
    };
    let client = database.connect("postgres").await;
    let node = start_node(&database, config).await;

    let port = console.address.port();
    let refused = [
        format!("http://127.0.0.1:{port}/"),
        format!("http://localhost:{port}/"),
        format!("http://0.0.0.0:{port}/"),
        format!("http://0x7f000001:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("https://127.0.0.1:{port}/"),
        other.url(&format!("/elsewhere?http://127.0.0.1:{port}/api")),
    ];
    for url in &refused {
        client
            .execute("select net.http_get($1)", &[url])
            .await
            .expect("queued");
    }
    wait_until(
        &client,
        "select count(*) = 7 from net._http_response where error_msg like '% is not called at this port%'",
    )
    .await;
    assert!(console.received().is_empty());
    // The console and the inbox of every project refuse requests with this mark, and nothing of the console is sent.
    let received = other.received();
    assert_eq!(received.len(), 1);
    assert_eq!(received[0].headers["x-selvedge-sender"], "sql");
    for name in ["X-Selvedge-Console", "x-selvedge-sender"] {
        let headers = format!("{{\"{name}\": \"1\"}}");
        client
            .execute(
                "select net.http_get($1, headers := $2::text::jsonb)",
                &[&other.url("/"), &headers],
            )
            .await
            .expect("queued");
    }
    wait_until(
        &client,
        "select count(*) = 2 from net._http_response where error_msg like 'the header % is the console''s'",
    )
    .await;
    assert_eq!(other.received().len(), 1);
    node.abort();
}

#[tokio::test]
async fn in_production_private_addresses_are_called_only_if_they_are_allowed() {
    let database = TestDatabase::create().await;
    let server = HttpServer::start().await;
    let config = |hosts: &[&str]| JobsConfig {
        net: NetConfig {
            allowed_hosts: hosts.iter().map(ToString::to_string).collect(),
            ..NetConfig::default()
        },
        ..JobsConfig::default()
    };
    let client = database.connect("postgres").await;
    let port = server.address.port();

    let node = start_node(&database, config(&[])).await;
    let blocked = [
        format!("http://127.0.0.1:{port}/"),
        format!("http://localhost:{port}/"),
        format!("http://0x7f000001:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
    ];
    for url in &blocked {
        client
            .execute("select net.http_get($1)", &[url])
            .await
            .expect("queued");
    }
    wait_until(
        &client,
        "select count(*) = 5 from net._http_response where error_msg like '% is in a private network%'",
    )
    .await;
    assert!(server.received().is_empty());
    node.abort();
    node.await.expect_err("aborted");

    let node = start_node(&database, config(&["127.0.0.1"])).await;
    client
        .execute("select net.http_get($1)", &[&server.url("/allowed")])
        .await
        .expect("queued");
    wait_until(
        &client,
        "select count(*) = 1 from net._http_response where status_code = 200",
    )
    .await;
    node.abort();
}

#[tokio::test]
async fn requests_survive_a_crash_and_one_node_of_two_sends_them() {
    let database = TestDatabase::create().await;
    let server = HttpServer::start().await;
    let client = database.connect("postgres").await;
    // Queued while no node runs, as after a crash.
    client
        .execute(
            "select net.http_get($1) from generate_series(1, 300)",
            &[&server.url("/first")],
        )
        .await
        .expect("queued");
    client
        .batch_execute("select net.check_worker_is_up()")
        .await
        .expect_err("no node runs");

    let first = start_node(&database, development()).await;
    wait_until(&client, "select count(*) = 300 from net._http_response").await;
    let second = start_node(&database, development()).await;
    client
        .execute(
            "select net.http_get($1) from generate_series(1, 100)",
            &[&server.url("/second")],
        )
        .await
        .expect("queued");
    wait_until(&client, "select count(*) = 400 from net._http_response").await;
    assert_eq!(server.received().len(), 400, "each request was sent once");

    // The leader ends in the middle of its requests; the other node sends them again.
    client
        .execute(
            "select net.http_get($1) from generate_series(1, 60)",
            &[&server.url("/pause")],
        )
        .await
        .expect("queued");
    tokio::time::timeout(DEADLINE, async {
        while server.received().len() < 420 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await
    .expect("the first are on their way");
    first.abort();
    wait_until(&client, "select count(*) = 460 from net._http_response").await;
    assert_eq!(
        query_value(
            &client,
            "select count(distinct id) from net._http_response where status_code = 200"
        )
        .await,
        "460"
    );
    second.abort();
}

#[tokio::test]
async fn responses_expire() {
    let database = TestDatabase::create().await;
    let client = database.connect("postgres").await;
    client
        .batch_execute(
            "insert into net._http_response (id, created)
             select n, now() - case when n <= 1200 then interval '7 hours' else interval '5 hours' end
             from generate_series(1, 1203) as n",
        )
        .await
        .expect("allowed");

    let node = start_node(&database, development()).await;

    wait_until(&client, "select count(*) = 3 from net._http_response").await;
    node.abort();
}

#[tokio::test]
async fn webhooks_send_the_changed_row() {
    let database = TestDatabase::create().await;
    let server = HttpServer::start().await;
    let node = start_node(&database, development()).await;
    let client = database.connect("postgres").await;
    client
        .batch_execute(&format!(
            "create table public.notes (id int, body text);
             create trigger hook after insert or update or delete on public.notes for each row
               execute function supabase_functions.http_request('{}', 'POST', '{{\"X-Key\": \"k\"}}', '{{\"a\": \"b\"}}', '5000');
             create trigger ping after insert on public.notes for each row
               execute function supabase_functions.http_request('{}', 'GET');",
            server.url("/hook"),
            server.url("/ping"),
        ))
        .await
        .expect("created");
    // As an API request does it: the caller's role owns neither the queue nor the function.
    let api = database.connect("authenticator").await;
    api.batch_execute(
        "set role anon; insert into notes values (1, 'x'); update notes set body = 'y'; delete from notes;",
    )
    .await
    .expect("sent later");

    wait_until(&client, "select count(*) = 4 from net._http_response").await;

    let hooks: Vec<_> = server
        .received()
        .into_iter()
        .filter(|request| request.path == "/hook?a=b")
        .collect();
    let bodies: Vec<serde_json::Value> = hooks
        .iter()
        .map(|request| serde_json::from_str(&request.body).expect("JSON"))
        .collect();
    let deleted = serde_json::json!({
        "type": "DELETE", "table": "notes", "schema": "public", "record": null, "old_record": {"id": 1, "body": "y"}
    });
    assert!(bodies.contains(&deleted), "{bodies:?}");
    assert!(hooks.iter().all(|request| request.headers["x-key"] == "k"));
    assert_eq!(
        query_value(
            &client,
            "select string_agg(hook_name || ' ' || n, ', ' order by hook_name) from (
               select hook_name, count(*) as n from supabase_functions.hooks as h
               join net._http_response as r on r.id = h.request_id
               where hook_table_id = 'public.notes'::regclass::oid::int group by hook_name) as counted"
        )
        .await,
        "hook 3, ping 1"
    );
    node.abort();
}

#[tokio::test]
async fn gw_049_large_bodies_are_read_a_few_at_a_time_and_small_ones_do_not_wait_for_them() {
    let database = TestDatabase::create().await;
    let server = HttpServer::start().await;
    let client = database.connect("postgres").await;
    let post = |path: &str, megabytes: i32, count: i32| {
        format!(
            "insert into net.http_request_queue (method, url, headers, body, timeout_milliseconds)
             select 'POST', '{}', '{{}}', convert_to(repeat('x', {megabytes} * 1000000), 'utf8'), 60000 from generate_series(1, {count});",
            server.url(path)
        )
    };
    client
        .batch_execute(&format!(
            "{}{}{}",
            post("/too-large", 40, 1),
            post("/slow", 6, 40),
            post("/small", 0, 300)
        ))
        .await
        .expect("queued");

    let node = start_node(&database, development()).await;

    wait_until(
        &client,
        "select count(*) = 300 from net._http_response where status_code = 200",
    )
    .await;
    let slow = server
        .received()
        .iter()
        .filter(|request| request.path == "/slow")
        .count();
    assert!(slow <= 4, "{slow} large bodies were read at the same time");
    let refused = "select error_msg from net._http_response where status_code is null";
    wait_until(
        &client,
        "select count(*) = 1 from net._http_response where status_code is null",
    )
    .await;
    assert_eq!(
        query_value(&client, refused).await,
        "the body has 40000000 bytes, more than 33554432"
    );
    node.abort();
}

#[tokio::test]
async fn a_request_that_cannot_be_read_gets_an_error_and_stops_neither_the_queue_nor_the_jobs() {
    let database = TestDatabase::create().await;
    let server = HttpServer::start().await;
    let client = database.connect("postgres").await;
    client
        .batch_execute("select _selvedge.create_extension('pg_cron', true, null, null, false)")
        .await
        .expect("created");
    client
        .batch_execute(&format!(
            "create table public.ticks (at timestamptz);
             select cron.schedule('tick', '1 second', 'insert into public.ticks values (clock_timestamp())');
             set role anon;
             select net.http_get('http://127.0.0.1:1/', headers := (repeat('{{\"a\":', 200) || '1' || repeat('}}', 200))::jsonb);
             select net.http_get('http://127.0.0.1:1/', headers := (
               select jsonb_object_agg('h' || i, repeat('x', 10)) from generate_series(1, 40000) as i));
             select net.http_post('http://127.0.0.1:1/', body := (repeat('[', 5000) || repeat(']', 5000))::jsonb);
             select net.http_get('{}');
             reset role;",
            server.url("/get")
        ))
        .await
        .expect("queued");

    let node = start_node(&database, development()).await;

    wait_until(&client, "select count(*) = 4 from net._http_response").await;
    let unreadable =
        "select error_msg like 'the request cannot be read%' from net._http_response order by id limit 1";
    assert_eq!(query_value(&client, unreadable).await, "true");
    let answered = "select status_code from net._http_response order by id desc limit 1";
    assert_eq!(query_value(&client, answered).await, "200");
    wait_until(&client, "select count(*) > 1 from public.ticks").await;
    node.abort();
}
