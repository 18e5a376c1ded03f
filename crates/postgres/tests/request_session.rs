//! Sessions that functions of the project leave behind with other settings: what others read and write stays right.

use std::sync::Arc;

use selvedge_postgres::{
    AccessMode, Database, JsonDocument, JsonForm, JsonRead, Logins, Param, RequestContext, RequestPool,
    RequestPoolConfig, RequestTransaction, SqlStatement, TransactionEnd,
};
use selvedge_testing::TestDatabase;
use tokio::task::LocalSet;

/// Functions that each leave the session changed in another way, a view that does it when it is read, and tables whose
/// rows look different in a changed session.
const SCHEMA: &str = "
    create table public.days (id int primary key, day date, at timestamptz, span interval, bytes bytea, number float8);
    insert into public.days values (1, '2026-02-01', '2026-02-01 12:00Z', '1 day 02:00', '\\x01ff', 0.1);
    create table public.written (id bigint generated always as identity primary key, day date);
    create function public.hostile_dates() returns text language sql volatile
        as $$ select set_config('datestyle', 'German, DMY', false) || set_config('timezone', 'Asia/Tokyo', false)
            || set_config('intervalstyle', 'sql_standard', false) $$;
    create function public.hostile_read_only() returns text language sql volatile
        as $$ select set_config('default_transaction_read_only', 'on', false) $$;
    create function public.hostile_isolation() returns text language sql volatile
        as $$ select set_config('default_transaction_isolation', 'serializable', false) $$;
    create function public.hostile_row_security() returns text language sql volatile
        as $$ select set_config('row_security', 'off', false) $$;
    create function public.hostile_output() returns text language sql volatile
        as $$ select set_config('bytea_output', 'escape', false) || set_config('extra_float_digits', '-15', false) $$;
    create function public.hostile_own_setting() returns text language sql volatile
        as $$ select set_config('app.tenant', 'other', false) $$;
    create function public.hostile_timeout() returns text language sql volatile
        as $$ select set_config('statement_timeout', '123456', false) $$;
    create function public.hostile_names() returns text language plpgsql volatile as $$
        begin
            for number in 1..20 loop
                begin
                    execute format('prepare s%s as select 1', number);
                exception when duplicate_prepared_statement then null;
                end;
            end loop;
            return 'prepared';
        end $$;
    create function public.hostile_deallocate() returns text language plpgsql volatile
        as $$ begin deallocate all; return 'deallocated'; end $$;
    create view public.hostile_view as select set_config('datestyle', 'German, DMY', false) as style;
    create table public.policed (id int primary key);
    insert into public.policed values (1);
    alter table public.policed enable row level security;
    create policy everyone on public.policed for select using (true);
    grant all on all tables in schema public to anon;
    grant all on all sequences in schema public to anon;";

/// Every way to change a session: the statement, and whether it calls a function.
const HOSTILE: [(&str, bool); 10] = [
    ("select public.hostile_dates()", true),
    ("select public.hostile_read_only()", true),
    ("select public.hostile_isolation()", true),
    ("select public.hostile_row_security()", true),
    ("select public.hostile_output()", true),
    ("select public.hostile_own_setting()", true),
    ("select public.hostile_timeout()", true),
    ("select public.hostile_names()", true),
    ("select public.hostile_deallocate()", true),
    ("select style from public.hostile_view", false),
];

/// Returns the settings, to be compared with those of an unchanged session.
const SESSION: &str = "select concat_ws('|', current_setting('datestyle'), current_setting('timezone'), \
     current_setting('intervalstyle'), current_setting('default_transaction_read_only'), \
     current_setting('transaction_isolation'), current_setting('row_security'), current_setting('bytea_output'), \
     current_setting('extra_float_digits'), current_setting('statement_timeout'), \
     coalesce(nullif(current_setting('app.tenant', true), ''), 'none'), (select count(*) from public.policed))";

const COLUMNS: &str = "select id, day, at, span, bytes, number from public.days where id = $1";

/// How often each way to change a session is used. Every use is followed immediately by readers and writers.
/// `SELVEDGE_HOSTILE_ROUNDS` overrides it: 4 000 rounds are 200 000 requests.
fn rounds() -> usize {
    match std::env::var("SELVEDGE_HOSTILE_ROUNDS") {
        Ok(rounds) => rounds.parse().expect("a number"),
        Err(_) => 12,
    }
}

fn build_statement(text: &str, params: &[&str]) -> SqlStatement {
    SqlStatement {
        text: text.to_owned(),
        params: params.iter().map(|param| Param::text(param)).collect(),
        force_custom_plan: false,
    }
}

fn transaction(statement: &SqlStatement, access: AccessMode, calls_function: bool) -> RequestTransaction<'_> {
    RequestTransaction {
        access,
        isolation: None,
        context: RequestContext {
            search_path: r#""public""#,
            role: "anon",
            claims: "{}",
            method: "GET",
            path: "/t",
            headers: "{}",
            cookies: "{}",
            extra: &[],
        },
        pre_request: None,
        statement,
        calls_function,
        replayed_to: None,
        client: None,
        turn: None,
        explain: None,
        end: TransactionEnd::Commit,
    }
}

async fn read_text(pool: &RequestPool, text: &str) -> String {
    let statement = build_statement(text, &[]);
    let result = pool
        .run(transaction(&statement, AccessMode::ReadOnly, false))
        .await;
    result.expect("an answer").rows[0].get(0)
}

/// The row as this process writes it, or PostgreSQL.
async fn read_json(pool: &RequestPool) -> String {
    let statement = build_statement(COLUMNS, &["1"]);
    let after = build_statement("select 1", &[]);
    let fallback = || build_statement(&format!("select row_to_json(t) from ({COLUMNS}) t"), &["1"]);
    let read = JsonRead {
        document: JsonDocument {
            form: JsonForm::Array,
            has_total: false,
        },
        only_texts: false,
        after: &after,
        fallback: &fallback,
        may_run_twice: &|| true,
    };
    let result = pool
        .read_json(&transaction(&statement, AccessMode::ReadOnly, false), &read)
        .await;
    let bytes: Vec<u8> = result.expect("an answer").body.flatten().collect();
    String::from_utf8(bytes).expect("text")
}

/// The two JSON writers put different white space between values.
fn without_blanks(json: &str) -> String {
    json.replace([' ', '\n'], "")
}

async fn write_day(pool: &RequestPool) {
    // The month comes first, unless the session has the style DMY.
    let statement = build_statement(
        "insert into written (day) values ($1) returning day::text",
        &["02/01/2026"],
    );
    let result = pool
        .run(transaction(&statement, AccessMode::ReadWrite, false))
        .await;
    assert_eq!(
        result.expect("it may write").rows[0].get::<_, &str>(0),
        "2026-02-01"
    );
}

async fn run_hostile(pool: &RequestPool, (text, calls_function): (&str, bool)) {
    let statement = build_statement(text, &[]);
    let access = if calls_function {
        AccessMode::ReadWrite
    } else {
        AccessMode::ReadOnly
    };
    let result = pool.run(transaction(&statement, access, calls_function)).await;
    result.expect("nothing forbids it");
}

async fn create_pool(config: RequestPoolConfig) -> (TestDatabase, Arc<Database>, RequestPool) {
    let test = TestDatabase::create().await;
    let owner = test.connect("postgres").await;
    owner.batch_execute(SCHEMA).await.expect("the schema is made");
    let logins = Logins::new(
        test.config("authenticator"),
        test.config("supabase_auth_admin"),
        test.config("supabase_storage_admin"),
    );
    let database: Arc<Database> = Database::connect(logins).await.expect("the database is there");
    let pool = RequestPool::new(Arc::clone(&database), config);
    (test, database, pool)
}

#[tokio::test]
async fn rest_096_changed_sessions_give_no_wrong_answers() {
    LocalSet::new()
        .run_until(async {
            // One connection behind which requests may wait, so that readers and writers are sent right behind the hostile call.
            let (test, _database, pool) = create_pool(RequestPoolConfig {
                connections_per_worker: 1,
                max_connections_per_worker: 3,
                max_wait_behind: std::time::Duration::from_secs(3600),
                ..RequestPoolConfig::default()
            })
            .await;
            let session = read_text(&pool, SESSION).await;
            let json = without_blanks(&read_json(&pool).await);
            // Prepared and known as fast, so that they share connections.
            for hostile in HOSTILE.iter().cycle().take(3 * HOSTILE.len()) {
                run_hostile(&pool, *hostile).await;
                read_json(&pool).await;
                read_text(&pool, SESSION).await;
                write_day(&pool).await;
            }

            for hostile in HOSTILE.iter().cycle().take(rounds() * HOSTILE.len()) {
                let (_, first, second, third, ()) = futures_util::join!(
                    run_hostile(&pool, *hostile),
                    read_json(&pool),
                    read_text(&pool, SESSION),
                    read_json(&pool),
                    write_day(&pool),
                );
                assert_eq!(second, session, "after {}", hostile.0);
                for row in [&first, &third] {
                    assert_eq!(without_blanks(row), json, "after {}", hostile.0);
                }
            }
            assert_eq!(read_text(&pool, SESSION).await, session);

            let owner = test.connect("postgres").await;
            let wrong = owner
                .query("select day from written where day <> '2026-02-01'", &[])
                .await;
            assert!(wrong.expect("rows").is_empty());
        })
        .await;
}

#[tokio::test]
async fn rest_096_a_database_that_is_read_only_by_default_keeps_its_sessions_and_answers() {
    LocalSet::new()
        .run_until(async {
            let (test, _database, pool) = create_pool(RequestPoolConfig {
                connections_per_worker: 1,
                max_connections_per_worker: 1,
                ..RequestPoolConfig::default()
            })
            .await;
            let owner = test.connect("postgres").await;
            let read_only = format!(
                "alter database {} set default_transaction_read_only = on",
                test.name()
            );
            owner.batch_execute(&read_only).await.expect("the owner may");
            const BACKEND_PID: &str = "select pg_backend_pid()::text";

            let first = read_text(&pool, BACKEND_PID).await;
            write_day(&pool).await;
            run_hostile(&pool, ("select set_config('app.tenant', 'other', false)", true)).await;
            write_day(&pool).await;

            assert_eq!(read_text(&pool, BACKEND_PID).await, first);
            // A change by somebody else is still seen.
            run_hostile(&pool, HOSTILE[0]).await;
            assert!(!without_blanks(&read_json(&pool).await).contains("01.02.2026"));
        })
        .await;
}

#[tokio::test]
async fn a_trigger_at_the_commit_finds_the_settings_of_its_request() {
    LocalSet::new()
        .run_until(async {
            let (test, database, pool) = create_pool(RequestPoolConfig::default()).await;
            let owner = test.connect("postgres").await;
            owner
                .batch_execute(
                    "create table public.seen (claims text);
                     grant all on public.seen to anon;
                     create function public.note_claims() returns trigger language plpgsql as $$
                         begin
                             insert into public.seen values (current_setting('request.jwt.claims'));
                             return null;
                         end $$;
                     create constraint trigger at_commit after insert on public.written
                         deferrable initially deferred for each row execute function public.note_claims();",
                )
                .await
                .expect("valid");
            // As the catalog's reload does after DDL.
            database.reload_role_settings().await.expect("read");

            for _ in 0..4 {
                write_day(&pool).await;
                run_hostile(&pool, HOSTILE[0]).await;
            }

            let seen = owner.query("select claims from seen", &[]).await.expect("rows");
            assert!(
                seen.len() == 4 && seen.iter().all(|row| row.get::<_, &str>(0) == "{}"),
                "{seen:?}"
            );
        })
        .await;
}
