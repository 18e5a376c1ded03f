//! The SQL of the shipped extensions, called by the roles that call it at Supabase. What their workers do is tested in
//! crates/jobs.

use selvedge_testing::TestDatabase;
use tokio_postgres::Client;

use super::{api, query_sqlstate, query_value};

async fn create_extension(client: &Client, name: &str) {
    client
        .batch_execute(&format!(
            "select _selvedge.create_extension('{name}', true, 'public', null, false)"
        ))
        .await
        .expect(name);
}

/// The message of a refused statement.
async fn query_message(client: &Client, sql: &str) -> String {
    let error = client.batch_execute(sql).await.expect_err(sql);
    error.as_db_error().expect("by PostgreSQL").message().to_owned()
}

#[tokio::test]
async fn pgjwt_signs_and_verifies() {
    let database = TestDatabase::create().await;
    let client = api(&database, "anon", "{}").await;
    client
        .batch_execute("set search_path = extensions")
        .await
        .expect("set");
    let token = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiYWRtaW4iOnRydWV9.\
                 TJVA95OrM7E2cBab30RMHrHDcEfxjoYZgeFONFh7HgQ";

    let sign = "sign('{\"sub\":\"1234567890\",\"name\":\"John Doe\",\"admin\":true}', 'secret')";
    assert_eq!(query_value(&client, sign).await, token);
    assert_eq!(
        query_value(
            &client,
            &format!("select payload ->> 'name' || ' ' || valid from verify('{token}', 'secret')")
        )
        .await,
        "John Doe true"
    );
    for (payload, algorithm, secret, expected) in [
        ("{}", "HS384", "s", "true"),
        ("{}", "HS512", "other", "false"),
        ("{\"exp\": 1}", "HS256", "s", "false"),
        ("{\"nbf\": 9999999999}", "HS256", "s", "false"),
        ("{\"exp\": 9999999999, \"nbf\": 1}", "HS256", "s", "true"),
        ("{\"exp\": \"soon\"}", "HS256", "s", "true"),
    ] {
        let verify = format!(
            "select valid from verify(sign('{payload}', 's', '{algorithm}'), '{secret}', '{algorithm}')"
        );
        assert_eq!(
            query_value(&client, &verify).await,
            expected,
            "{payload} {algorithm}"
        );
    }
    query_sqlstate(&client, "select sign('{}', 's', 'none')").await;
}

#[tokio::test]
async fn pg_jsonschema_checks_documents_by_draft() {
    let database = TestDatabase::create().await;
    let client = database.connect("postgres").await;
    create_extension(&client, "pg_jsonschema").await;

    let seven = r#""$schema": "http://json-schema.org/draft-07/schema#""#;
    for (schema, instance, expected) in [
        (r#"{"type": "object", "required": ["a"]}"#, r#"{"a": 1}"#, "true"),
        (r#"{"type": "object", "required": ["a"]}"#, "{}", "false"),
        (
            r##"{"$ref": "#/$defs/n", "$defs": {"n": {"minimum": 2}}, "maximum": 3}"##,
            "4",
            "false",
        ),
        (
            &format!(
                r##"{{{seven}, "$ref": "#/definitions/n", "definitions": {{"n": {{}}}}, "maximum": 3}}"##
            ),
            "4",
            "true",
        ),
        (
            r#"{"prefixItems": [{"type": "string"}], "items": false}"#,
            r#"["a", 1]"#,
            "false",
        ),
        (
            &format!(r#"{{{seven}, "items": [{{}}], "additionalItems": false}}"#),
            "[1]",
            "true",
        ),
        (
            r#"{"oneOf": [{"type": "integer"}, {"minimum": 2}]}"#,
            "3",
            "false",
        ),
        (
            r#"{"if": {"const": 1}, "then": false, "else": {"pattern": "^a"}}"#,
            "\"abc\"",
            "true",
        ),
    ] {
        let call = format!("select jsonb_matches_schema('{schema}', '{instance}')::text");
        assert_eq!(query_value(&client, &call).await, expected, "{schema} {instance}");
        let call = format!("select json_matches_schema('{schema}', '{instance}')::text");
        assert_eq!(query_value(&client, &call).await, expected, "{schema} {instance}");
    }
    for (schema, expected) in [(r#"{"type": "obj"}"#, "false"), (r#"{"type": "object"}"#, "true")] {
        let call = format!("select jsonschema_is_valid('{schema}')::text");
        assert_eq!(query_value(&client, &call).await, expected, "{schema}");
    }
}

#[tokio::test]
async fn pg_jsonschema_names_what_is_wrong_and_ends_endless_references() {
    let database = TestDatabase::create().await;
    let client = database.connect("postgres").await;
    create_extension(&client, "pg_jsonschema").await;

    let errors = "select array_to_string(jsonschema_validation_errors(\
                  '{\"properties\": {\"a\": {\"type\": \"number\"}}, \"additionalProperties\": false}', \
                  '{\"a\": \"abc\", \"b\": 1}'), '; ')";
    assert_eq!(
        query_value(&client, errors).await,
        "\"abc\" is not of type \"number\"; Additional properties are not allowed ('b' was unexpected)"
    );
    for (schema, message) in [
        (r##"{"$ref": "#"}"##, "more than 100 schemas are nested"),
        (r#"{"$ref": "https://a.example/"}"#, "cannot resolve \"$ref\""),
        (r#"{"unevaluatedItems": false}"#, "are not supported"),
    ] {
        let call = format!("select jsonb_matches_schema('{schema}', '[]')");
        let said = query_message(&client, &call).await;
        assert!(said.contains(message), "{schema}: {said}");
    }
}

#[tokio::test]
async fn pg_net_refuses_what_it_could_not_send() {
    let database = TestDatabase::create().await;
    let client = api(&database, "anon", "{}").await;

    for (call, message) in [
        ("net.http_get('localhost:6666')", "Unsupported URL scheme"),
        ("net.http_get('ftp://a.example/')", "Unsupported URL scheme"),
        ("net.http_get('/malformed_url')", "invalid URL \"/malformed_url\""),
        ("net.http_get('http://a.example/ b')", "invalid URL"),
        ("net.http_get(null)", "null value in column \"url\""),
        ("net.http_post(null, '{}')", "null value in column \"url\""),
        (
            "net.http_post('http://a.example', '{}', headers := '{\"content-type\": \"text/plain\"}')",
            "Content-Type header must be \"application/json\"",
        ),
    ] {
        let said = query_message(&client, &format!("select {call}")).await;
        assert!(said.contains(message), "{call}: {said}");
    }
    assert_eq!(
        query_value(&client, "net._encode_url_with_params_array(null, null)").await,
        "null"
    );
    for (url, parameters, expected) in [
        ("http://a.example", "{}", "http://a.example/"),
        ("http://a.example?x=1#y", "{b=2}", "http://a.example/?x=1&b=2#y"),
        (
            "HTTPS://a.example:8080/p?",
            "{a=1,b=2}",
            "HTTPS://a.example:8080/p?a=1&b=2",
        ),
    ] {
        let call = format!("net._encode_url_with_params_array('{url}', '{parameters}')");
        assert_eq!(query_value(&client, &call).await, expected);
    }
    assert_eq!(
        query_value(&client, "net._urlencode_string('a b/ä~')").await,
        "a%20b%2F%C3%A4~"
    );
    assert_eq!(
        query_value(
            &client,
            "select (r).status || ': ' || (r).message from net._http_collect_response(1) as r"
        )
        .await,
        "ERROR: request matching request_id not found"
    );
}

#[tokio::test]
async fn pg_cron_keeps_named_jobs_and_refuses_what_cannot_run() {
    let database = TestDatabase::create().await;
    let client = database.connect("postgres").await;
    create_extension(&client, "pg_cron").await;

    assert_eq!(
        query_value(&client, "cron.schedule('nightly', '0 3 * * *', 'vacuum')").await,
        "1"
    );
    assert_eq!(
        query_value(&client, "cron.schedule('30 seconds', 'select 1')").await,
        "2"
    );
    client
        .batch_execute("select cron.alter_job(1, active := false)")
        .await
        .expect("changed");
    query_value(&client, "cron.schedule('nightly', '0 4 * * *', 'analyze')").await;
    assert_eq!(
        query_value(
            &client,
            "select (schedule, command, nodename, database = current_database(), username, active, jobname)::text
             from cron.job where jobname = 'nightly'"
        )
        .await,
        "(\"0 4 * * *\",analyze,localhost,t,postgres,f,nightly)"
    );
    for (call, message) in [
        (
            "cron.schedule('x', '61 * * * *', 'select 1')",
            "invalid schedule: 61 * * * *",
        ),
        (
            "cron.schedule(null, '* * * * *', 'select 1')",
            "job_name can not be NULL",
        ),
        ("cron.schedule('x', null, 'select 1')", "schedule can not be NULL"),
        ("cron.schedule('x', '* * * * *', null)", "command can not be NULL"),
        (
            "cron.unschedule('nothing')",
            "could not find valid entry for job 'nothing'",
        ),
        ("cron.unschedule(99)", "could not find valid entry for job 99"),
        (
            "cron.alter_job(99, active := true)",
            "Job 99 does not exist or you don't own it",
        ),
        ("cron.alter_job(1)", "no updates specified"),
        (
            "cron.alter_job(1, username := 'anon')",
            "must be superuser to alter username",
        ),
        (
            "cron.schedule_in_database('x', '* * * * *', 'select 1', 'nowhere')",
            "database \"nowhere\" does not exist",
        ),
        (
            "cron.schedule_in_database('x', '* * * * *', 'select 1', current_database(), 'supabase_admin')",
            "must be superuser to create a job for another role",
        ),
    ] {
        assert_eq!(
            query_message(&client, &format!("select {call}")).await,
            message,
            "{call}"
        );
    }
    assert_eq!(
        query_value(&client, "cron.unschedule('nightly') and cron.unschedule(2)").await,
        "true"
    );
    assert_eq!(query_value(&client, "select count(*) from cron.job").await, "0");
}

#[tokio::test]
async fn pg_cron_keeps_roles_from_running_jobs_as_others() {
    let database = TestDatabase::create().await;
    let superuser = database.superuser().await;
    let postgres = database.connect("postgres").await;
    create_extension(&postgres, "pg_cron").await;
    superuser
        .batch_execute("select cron.schedule('admin', '@daily', 'select 1'); grant usage on schema cron to anon, service_role")
        .await
        .expect("scheduled");
    query_value(&postgres, "cron.schedule('mine', '@daily', 'select 1')").await;

    // Both roles bypass row-level security, so they see every job; none becomes theirs.
    for role in ["postgres", "service_role"] {
        let client = database.connect("postgres").await;
        client
            .batch_execute(&format!("set role {role}"))
            .await
            .expect("a member");
        for attack in [
            "insert into cron.job (schedule, command, username) values ('@daily', 'x', 'supabase_admin')",
            "update cron.job set command = 'alter role anon superuser' where jobname = 'admin'",
            "update cron.job set username = 'supabase_admin' where jobname = 'mine'",
            "delete from cron.job where jobname = 'admin'",
            "truncate cron.job",
            "alter table cron.job disable trigger all",
        ] {
            assert_eq!(query_sqlstate(&client, attack).await, "42501", "{role}: {attack}");
        }
    }
    let anon = api(&database, "anon", "{}").await;
    assert_eq!(query_value(&anon, "select count(*) from cron.job").await, "0");
    assert_eq!(
        query_sqlstate(&anon, "select cron.alter_job(1, active := false)").await,
        "42501"
    );
    assert!(
        query_message(&anon, "select cron.unschedule(1)")
            .await
            .starts_with("could not find")
    );
    query_value(&anon, "cron.schedule('own', '@daily', 'select 1')").await;
    assert_eq!(
        query_value(
            &anon,
            "select string_agg(jobname || ' ' || username, ',') from cron.job"
        )
        .await,
        "own anon"
    );
    let authenticator = database.connect("authenticator").await;
    assert_eq!(
        query_sqlstate(
            &authenticator,
            "update cron.job set command = 'x' where jobname = 'admin'; select 1 / 0"
        )
        .await,
        "22012",
        "the scheduler's login changes no row"
    );
}

#[tokio::test]
async fn pgmq_sends_reads_archives_and_counts() {
    let database = TestDatabase::create().await;
    let client = database.connect("postgres").await;
    create_extension(&client, "pgmq").await;
    client
        .batch_execute(
            "select pgmq.create('Tasks'); select pgmq.create_unlogged('fast'); select pgmq.create('Tasks')",
        )
        .await
        .expect("created");

    assert_eq!(
        query_value(
            &client,
            "select array_agg(id) from pgmq.send('Tasks', '{\"n\": 1}') as id"
        )
        .await,
        "{1}"
    );
    assert_eq!(
        query_value(
            &client,
            "select array_agg(id) from pgmq.send_batch('Tasks', array['{\"n\": 2}', '{\"n\": 3}']::jsonb[], array['{\"h\": 1}']::jsonb[]) as id"
        )
        .await,
        "{2,3}"
    );
    query_value(&client, "select pgmq.send('Tasks', '{\"n\": 4}', 3600)").await;
    let read = |call: &str| {
        format!("select string_agg(msg_id || ':' || read_ct, ' ' order by msg_id) from pgmq.{call}")
    };
    assert_eq!(
        query_value(&client, &read("read('Tasks', 3600, 2)")).await,
        "1:1 2:1"
    );
    assert_eq!(
        query_value(&client, &read("read('Tasks', 0, 5, '{\"n\": 3}')")).await,
        "3:1"
    );
    assert_eq!(
        query_value(&client, &read("read_with_poll('Tasks', 0, 5, 1, 10)")).await,
        "3:2"
    );
    assert_eq!(query_value(&client, &read("set_vt('Tasks', 1, 0)")).await, "1:1");
    assert_eq!(query_value(&client, &read("pop('Tasks')")).await, "1:1");
    assert_eq!(
        query_value(&client, "select headers from pgmq.q_tasks where msg_id = 2").await,
        "{\"h\": 1}"
    );
    assert_eq!(
        query_value(
            &client,
            "pgmq.archive('Tasks', 2) and not pgmq.archive('Tasks', 2)"
        )
        .await,
        "true"
    );
    assert_eq!(
        query_value(
            &client,
            "select message ->> 'n' from pgmq.a_tasks where archived_at is not null"
        )
        .await,
        "2"
    );
    assert_eq!(
        query_value(&client, "select (queue_name, queue_length, total_messages, queue_visible_length)::text from pgmq.metrics('Tasks')").await,
        "(Tasks,2,4,1)"
    );
    assert_eq!(
        query_value(&client, "select count(*) from pgmq.metrics_all()").await,
        "2"
    );
    assert_eq!(
        query_value(
            &client,
            "select array_agg(id) from pgmq.delete('Tasks', array[3, 99]) as id"
        )
        .await,
        "{3}"
    );
    assert_eq!(query_value(&client, "pgmq.purge_queue('Tasks')").await, "1");
    assert_eq!(
        query_value(&client, "select string_agg(queue_name || ' ' || is_unlogged, ', ' order by queue_name) from pgmq.list_queues()").await,
        "Tasks false, fast true"
    );
    for (call, message) in [
        (
            "pgmq.create(repeat('x', 48))",
            "queue name is too long, maximum length is 47 characters",
        ),
        (
            "pgmq.send('a;b', '{}')",
            "queue name contains invalid characters: $, ;, --, or \\'",
        ),
        (
            "pgmq.create_partitioned('p')",
            "pg_partman is required for partitioned queues",
        ),
        (
            "pgmq.read('nothing', 1, 1)",
            "relation \"pgmq.q_nothing\" does not exist",
        ),
    ] {
        assert_eq!(
            query_message(&client, &format!("select * from {call}")).await,
            message
        );
    }
    assert_eq!(
        query_value(
            &client,
            "pgmq.drop_queue('Tasks') and not pgmq.drop_queue('Tasks')"
        )
        .await,
        "true"
    );
}

#[tokio::test]
async fn extensions_that_exist_by_their_script_are_created_once_and_dropped() {
    let database = TestDatabase::create().await;
    let superuser = database.superuser().await;
    let postgres = database.connect("postgres").await;
    let install = "select _selvedge.install_by_script('pgmq', false, 'public')";

    superuser.batch_execute(install).await.expect("installed");
    assert_eq!(query_sqlstate(&superuser, install).await, "42710");
    postgres
        .batch_execute("select pgmq.create('q')")
        .await
        .expect("by its owner");
    postgres
        .batch_execute("select _selvedge.drop_extension('pgmq', false, false)")
        .await
        .expect("dropped");
    assert_eq!(query_value(&superuser, "to_regnamespace('pgmq')").await, "null");
    superuser.batch_execute(install).await.expect("installed again");
}
