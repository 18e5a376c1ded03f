//! `selvedge import`: one instance is the source, a self-hosted project, others are the targets.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::production::{generate_keys, serve_variables};
use crate::support::{Project, Running, kill_when};

const OBJECTS: usize = 100;
const PASSWORD: &str = "correct horse battery";

const CONFIG: &str = "project_id = \"cli\"\n[storage.buckets.files]\nobjects_path = \"./files\"\n";

/// A migration with every kind of object that an import copies.
const MIGRATION: &str = r#"
create extension if not exists pg_cron;
create extension if not exists pgmq;
create extension if not exists citext with schema extensions;
create role reporter nologin;
alter role reporter set statement_timeout = '5s';
create schema shop;
create type shop.state as enum ('open', 'done');
create table profiles (id uuid primary key references auth.users on delete cascade, email extensions.citext);
create function handle_new_user() returns trigger language plpgsql security definer set search_path = '' as $$
begin
  insert into public.profiles values (new.id, new.email);
  return new;
end $$;
create trigger on_auth_user_created after insert on auth.users for each row execute function handle_new_user();
create table notes (
  id bigint generated always as identity primary key, owner uuid default auth.uid() references auth.users,
  body text not null, length int generated always as (length(body)) stored
);
alter table notes enable row level security;
create policy own on notes to authenticated using (owner = auth.uid()) with check (owner = auth.uid());
revoke truncate on notes from anon;
create table of_the_server (id int primary key);
revoke all on of_the_server from anon, authenticated;
grant select on of_the_server to reporter;
create table shop.orders (id int, day date, state shop.state default 'open', primary key (id, day)) partition by range (day);
create table shop.orders_2026 partition of shop.orders for values from ('2026-01-01') to ('2027-01-01');
insert into shop.orders select n, '2026-03-01' from generate_series(1, 1000) as n;
create materialized view shop.per_day as select day, count(*) from shop.orders group by day;
create policy "own files" on storage.objects for all to authenticated
  using (bucket_id = 'files' and owner_id = auth.uid()::text);
select cron.schedule('nightly', '0 3 * * *', 'select 1');
select pgmq.create('Jobs');
select pgmq.send('Jobs', '{"job": 1}');
select vault.create_secret('the secret', 'api_key');
alter publication supabase_realtime add table notes;
create function note_ddl() returns event_trigger language plpgsql as $$ begin end $$;
create event trigger noted on ddl_command_end execute function note_ddl();
-- A check that makes inserts slow, so that an import can be killed meanwhile.
create function takes_a_while(id int) returns boolean language plpgsql as $$
begin
  perform pg_sleep(0.004);
  return true;
end $$;
create table slow (id int check (takes_a_while(id)));
insert into slow select generate_series(1, 150);
"#;

/// Starts the source with a user who has a note and a file.
async fn start_source() -> (Project, Running) {
    let source = Project::of_source();
    source.write("config.toml", CONFIG);
    source.write("migrations/20260101000000_all.sql", MIGRATION);
    for number in 0..OBJECTS {
        source.write(
            &format!("files/folder {number}/a+{number}.txt"),
            &number.to_string().repeat(4000),
        );
    }
    let running = source.start().await;
    let user = Caller::sign(&running, "signup").await;
    user.post(
        "/rest/v1/notes",
        json!({"body": "mine"}).to_string(),
        "application/json",
    )
    .await;
    user.post(
        "/storage/v1/object/files/own.txt",
        "my bytes".to_owned(),
        "text/plain",
    )
    .await;
    let other = source.database().await;
    let insert = "insert into notes (owner, body) values (null, 'nobody''s')";
    other.execute(insert, &[]).await.expect("inserted");
    (source, running)
}

/// A signed-in user of an instance.
struct Caller {
    http: reqwest::Client,
    base: String,
    session: Value,
}

impl Caller {
    async fn sign(running: &Running, path: &str) -> Self {
        Self::sign_with(running, path, "unchecked").await
    }

    /// The same at an instance that requires a key.
    async fn sign_with(running: &Running, path: &str, key: &str) -> Self {
        let key = [(
            "apikey".parse().expect("a header name"),
            key.parse().expect("a header value"),
        )];
        let http = reqwest::Client::builder()
            .default_headers(key.into_iter().collect())
            .build()
            .expect("a client");
        let body = json!({"email": "ann@example.com", "password": PASSWORD});
        let response = http
            .post(running.url(&format!("/auth/v1/{path}")))
            .header("content-type", "application/json")
            .body(body.to_string())
            .send()
            .await
            .expect("a response");
        let session: Value = response.json().await.expect("JSON");
        assert!(session["access_token"].is_string(), "{session}");
        let base = running.url("");
        Self { http, base, session }
    }

    async fn post(&self, path: &str, body: String, kind: &str) {
        let request = self.http.post(format!("{}{path}", self.base)).body(body);
        let response = self.send(request.header("content-type", kind)).await;
        assert!(response.status().is_success(), "{:?}", response.text().await);
    }

    async fn get(&self, path: &str) -> String {
        let response = self.send(self.http.get(format!("{}{path}", self.base))).await;
        response.text().await.expect("text")
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> reqwest::Response {
        let token = self.session["access_token"].as_str().expect("a token");
        request.bearer_auth(token).send().await.expect("a response")
    }
}

/// The command that imports `source` into `target`.
pub(crate) fn import(source: &Project, target: &Project, arguments: &[&str]) -> Command {
    let status = source.run_and_expect_success(&["status", "-o", "json"]);
    let status: Value = serde_json::from_str(&status).expect("JSON");
    let mut command = target.command(&[&["import"], arguments].concat());
    for (variable, name) in [
        ("SUPABASE_DB_URL", "DB_URL"),
        ("SUPABASE_URL", "API_URL"),
        ("SUPABASE_SERVICE_ROLE_KEY", "SERVICE_ROLE_KEY"),
    ] {
        command.env(variable, status[name].as_str().expect("a value"));
    }
    command.stdin(Stdio::null());
    command
}

fn text_of(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    format!("{out}{err}")
}

fn expect_success(command: &mut Command) -> String {
    let output = command.output().expect("the binary runs");
    assert!(output.status.success(), "{}", text_of(&output));
    text_of(&output)
}

fn list_blobs(project: &Project) -> BTreeSet<String> {
    let files = walkdir::WalkDir::new(project.path(".selvedge/storage/blobs")).into_iter();
    files
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

/// Returns the lines of a dump, without those that differ between databases: times in rows of the platform and of queues, and
/// names that contain an oid.
fn dump_lines(project: &Project) -> BTreeSet<String> {
    let output = Command::new("pg_dump")
        .args([
            "--no-comments",
            "--exclude-schema=_selvedge",
            "--exclude-table-data=supabase_functions.*",
            "--exclude-table-data=pgmq.meta",
            "--exclude-table-data=vault.*",
        ])
        .args([
            "--exclude-table-data=selvedge_console.*",
            "--exclude-table-data=realtime.*",
        ])
        .arg(project.superuser_url())
        .output()
        .expect("pg_dump runs");
    assert!(output.status.success(), "{}", text_of(&output));
    String::from_utf8(output.stdout)
        .expect("text")
        .lines()
        .filter(|line| !line.contains("restrict ") && !line.contains("event_trigger_"))
        .map(str::to_owned)
        .collect()
}

/// Lists the privileges on the project's tables, functions and schemas, but for MAINTAIN, which PostgreSQL has from version 17 on.
async fn list_privileges(project: &Project) -> Vec<String> {
    let query = "
        select 'table ' || c.oid::regclass || ' ' || c.relowner::regrole || ' ' || coalesce(item::text, '')
        from pg_class as c left join unnest(c.relacl) as item on true
        where c.relnamespace::regnamespace::text in ('public', 'shop') and c.relkind <> 'i'
        union all
        select 'function ' || p.oid::regprocedure || ' ' || p.proowner::regrole || ' ' || coalesce(item::text, '')
        from pg_proc as p left join unnest(p.proacl) as item on true
        where p.pronamespace::regnamespace::text in ('public', 'shop')
        union all
        select 'default ' || defaclrole::regrole || ' ' || defaclobjtype::text || ' ' || item::text
        from pg_default_acl, unnest(defaclacl) as item where defaclnamespace = 'public'::regnamespace";
    let rows = project.database().await.query(query, &[]).await.expect("rows");
    // `…role=arwdDxtm/owner`
    let without_maintain = |line: String| match line.rsplit_once('=') {
        Some((start, rights)) => match rights.split_once('/') {
            Some((rights, owner)) => format!("{start}={}/{owner}", rights.replace('m', "")),
            None => line,
        },
        None => line,
    };
    let mut lines: Vec<String> = rows.iter().map(|row| without_maintain(row.get(0))).collect();
    lines.sort();
    lines
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn an_import_copies_the_whole_project_also_after_it_was_killed() {
    let (source, running) = start_source().await;
    let whole = Project::new();
    let printed = expect_success(&mut import(&source, &whole, &[]));
    assert!(printed.contains("1 users"), "{printed}");
    assert!(printed.contains(&format!("{} objects", OBJECTS + 1)), "{printed}");
    let refused = import(&source, &whole, &[]).output().expect("the binary runs");
    assert!(!refused.status.success());
    assert!(text_of(&refused).contains("not empty"), "{}", text_of(&refused));

    let killed = Project::new();
    let activity = source.database().await;
    let writes_slow_rows = "select exists (select from pg_stat_activity
        where application_name = 'selvedge import' and query ilike 'copy %\"slow\"%')";
    kill_when(import(&source, &killed, &[]), async || {
        activity
            .query_one(writes_slow_rows, &[])
            .await
            .expect("a row")
            .get(0)
    })
    .await;
    kill_when(import(&source, &killed, &[]), async || {
        !list_blobs(&killed).is_empty()
    })
    .await;
    assert!(
        list_blobs(&killed).len() < OBJECTS,
        "it was killed before the last object"
    );
    let start: Vec<String> = killed.start_arguments();
    let start: Vec<&str> = start.iter().map(String::as_str).collect();
    let advice = killed.run_and_expect_failure(&start);
    assert!(advice.contains("import into cli was cut off"), "{advice}");
    let printed = expect_success(&mut import(&source, &killed, &[]));
    assert!(printed.contains("goes on with the objects"), "{printed}");
    assert!(!printed.contains(" 0 were there already"), "{printed}");

    let expected_rights = list_privileges(&source).await;
    let blobs = list_blobs(&source);
    running.stop();
    let second = killed.start().await;
    let first = whole.start().await;
    assert_eq!(list_privileges(&whole).await, expected_rights);
    let (one, other) = (dump_lines(&killed), dump_lines(&whole));
    let differences: Vec<&String> = one.symmetric_difference(&other).collect();
    assert!(differences.is_empty(), "{differences:#?}");
    for project in [&whole, &killed] {
        assert_eq!(list_blobs(project), blobs);
    }
    use_imported_project(&whole, &first).await;
    use_imported_project(&killed, &second).await;
}

/// Signs in, reads, writes and downloads at a target, and runs its jobs.
async fn use_imported_project(project: &Project, running: &Running) {
    let user = Caller::sign(running, "token?grant_type=password").await;
    assert_eq!(
        user.get("/rest/v1/notes?select=body,length").await,
        r#"[{"body":"mine","length":4}]"#
    );
    let own = user.get("/storage/v1/object/authenticated/files/own.txt").await;
    assert_eq!(own, "my bytes");
    let foreign = user
        .get("/storage/v1/object/authenticated/files/folder%207/a%2B7.txt")
        .await;
    assert!(foreign.contains("not_found"), "{foreign}");
    user.post(
        "/rest/v1/notes",
        json!({"body": "new"}).to_string(),
        "application/json",
    )
    .await;

    let client = project.database().await;
    let facts = "select
        (select count(*) from shop.orders)::text || ' orders, '
        || (select sum(count) from shop.per_day) || ' counted, '
        || (select max(id) from notes) || ' notes, '
        || (select count(*) from profiles) || ' profiles, '
        || (select string_agg(jobname || ' ' || schedule, ',') from cron.job) || ', '
        || (select decrypted_secret from vault.decrypted_secrets where name = 'api_key') || ', '
        || (select string_agg(message::text, ',') from pgmq.read('Jobs', 0, 10)) || ', '
        || (select count(*) from pg_publication_tables where pubname = 'supabase_realtime' and tablename = 'notes') || ' published, '
        || (select string_agg(evtname, ',') from pg_event_trigger where evtname = 'noted') || ', '
        || (select array_to_string(rolconfig, ',') from pg_roles where rolname = 'reporter') || ', '
        || (select string_agg(version, ',') from supabase_migrations.schema_migrations)";
    let row = client.query_one(facts, &[]).await.expect("a row");
    assert_eq!(
        row.get::<_, String>(0),
        "1000 orders, 1000 counted, 3 notes, 1 profiles, nightly 0 3 * * *, the secret, {\"job\": 1}, 1 published, noted, \
         statement_timeout=5s, 20260101000000"
    );
    assert!(Path::exists(&project.path("migrations/20260101000000_all.sql")));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn an_import_into_a_database_of_ones_own_is_served_in_production() {
    let (source, running) = start_source().await;
    let server = Project::new();
    let postgresql = server.start().await;
    server
        .superuser()
        .await
        .batch_execute("create database production")
        .await
        .expect("created");
    let url = server.superuser_url().replace("/postgres", "/production");
    let service_url = format!(
        "postgresql://authenticator:postgres@127.0.0.1:{}/production",
        server.ports.database
    );
    let target = Project::new();

    let printed = expect_success(&mut import(&source, &target, &["--to-db-url", &url]));
    running.stop();

    assert!(printed.contains("1 users"), "{printed}");
    assert!(printed.contains(".selvedge/storage"), "{printed}");
    assert!(!target.path(".selvedge/pgdata").exists());
    let keys = generate_keys(&target);
    let port = target.ports.api.to_string();
    let arguments = ["serve", "--host", "127.0.0.1", "--port", &port].map(str::to_owned);
    let production = target.spawn(&arguments, &serve_variables(&keys, &service_url));
    production.wait_until_ready().await;
    let user = Caller::sign_with(
        &production,
        "token?grant_type=password",
        &keys["SUPABASE_AUTH_ANON_KEY"],
    )
    .await;
    let notes = user.get("/rest/v1/notes?select=body").await;
    let own = user.get("/storage/v1/object/authenticated/files/own.txt").await;
    assert_eq!(
        (notes.as_str(), own.as_str()),
        (r#"[{"body":"mine"}]"#, "my bytes")
    );
    production.stop();
    postgresql.stop();
}
