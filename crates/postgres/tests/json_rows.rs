//! Compares the JSON that this crate writes for rows with the JSON of PostgreSQL's `json_agg`, byte for byte.

use std::sync::Arc;

use selvedge_postgres::{
    AccessMode, Database, JsonDocument, JsonForm, JsonRead, JsonReadResult, Logins, RequestContext,
    RequestPool, RequestPoolConfig, RequestTransaction, SqlStatement, TransactionEnd,
};
use selvedge_testing::TestDatabase;
use tokio::task::LocalSet;

/// Every type for which this crate writes JSON, with values that have a special text form.
const VALUES: &[(&str, &[&str])] = &[
    ("bool", &["t", "f"]),
    ("int2", &["-32768", "0"]),
    ("int4", &["2147483647", "-1"]),
    ("int8", &["-9223372036854775808", "7"]),
    ("float4", &["1.5", "NaN", "Infinity", "-Infinity", "1e-30", "-0"]),
    (
        "float8",
        &[
            "0.1",
            "1e300",
            "-1e-300",
            "NaN",
            "-Infinity",
            "123456789012345680",
        ],
    ),
    (
        "numeric",
        &["1.50", "-0.001", "NaN", "Infinity", "-Infinity", "1e40", "0"],
    ),
    ("json", &["{\"b\" : 1,\n \"a\":[null]}", "null", "\"x\"", "3"]),
    (
        "jsonb",
        &["{\"b\": 1, \"a\": [null, 1.50, \"\\u0007\"]}", "null", "[]"],
    ),
    ("uuid", &["0b3a6c3e-3b0c-4a0e-9b1a-2f6a5d8e7c11"]),
    (
        "date",
        &[
            "2026-01-31",
            "infinity",
            "-infinity",
            "0044-03-15 BC",
            "12026-01-01",
        ],
    ),
    ("oid", &["4294967295"]),
    (
        "timestamp",
        &[
            "2026-01-31 12:00:00",
            "2026-01-31 12:00:00.123456",
            "infinity",
            "0044-03-15 01:02:03 BC",
        ],
    ),
    (
        "timestamptz",
        &[
            "2026-01-31 12:00:00+00",
            "2026-07-31 12:00:00.5-07",
            "infinity",
            "-infinity",
            "0044-03-15 01:02:03+00 BC",
            "1883-01-01 00:00:00+00",
            "12026-01-01 00:00:00+00",
        ],
    ),
    (
        "text",
        &[
            "",
            "a\"b\\c/d",
            "tab\tnewline\nreturn\rback\u{8}feed\u{c}bell\u{7}delete\u{7f}",
            "é 漢 🧵",
            "NULL",
        ],
    ),
    ("varchar(20)", &["x \" y"]),
    ("char(5)", &["ab"]),
    ("name", &["a\"b"]),
    ("\"char\"", &["x", "\\"]),
    ("bytea", &["\\x00ff", ""]),
    ("xml", &["<a b=\"c\">d</a>"]),
    ("time", &["12:34:56.789"]),
    ("timetz", &["12:34:56+05:30"]),
    ("interval", &["1 year 2 mons -3 days 04:05:06.7", "00:00:00"]),
    ("inet", &["10.0.0.1/8", "::1"]),
    ("cidr", &["10.0.0.0/8"]),
    ("macaddr", &["08:00:2b:01:02:03"]),
    ("macaddr8", &["08:00:2b:01:02:03:04:05"]),
    ("money", &["-1234.5"]),
    ("bit(4)", &["1010"]),
    ("varbit", &["101", ""]),
    ("point", &["(1.5,-2)"]),
    ("tsvector", &["'a':1 'b''c':2A"]),
    ("tsquery", &["'a' & !'b'"]),
    ("int4range", &["[1,5)", "empty"]),
    ("numrange", &["(1.5,)"]),
    ("tstzrange", &["[\"2026-01-31 12:00:00+00\",)"]),
    ("daterange", &["[2026-01-01,2026-02-01)"]),
    ("bool[]", &["{t,f,NULL}", "{}"]),
    ("int4[]", &["{1,2,NULL}", "{{1,2},{3,4}}", "[0:1]={5,6}", "{}"]),
    ("float8[]", &["{1.5,NaN,-Infinity}"]),
    ("numeric[]", &["{1.50,NaN}"]),
    (
        "text[]",
        &[
            "{a,\"b,c\",\"d\\\"e\",\"f\\\\g\",\"\",\"NULL\",NULL,\" h \",\"{i}\"}",
            "{{\"a b\",c},{NULL,\"\"}}",
        ],
    ),
    ("varchar[]", &["{\"x\ny\"}"]),
    ("uuid[]", &["{0b3a6c3e-3b0c-4a0e-9b1a-2f6a5d8e7c11}"]),
    ("date[]", &["{2026-01-31,infinity}"]),
    ("timestamp[]", &["{\"2026-01-31 12:00:00\",infinity}"]),
    (
        "timestamptz[]",
        &["{\"2026-01-31 12:00:00+00\",\"0044-03-15 01:02:03+00 BC\"}"],
    ),
    ("json[]", &["{\"{\\\"a\\\" : 1}\",null,NULL}"]),
    ("jsonb[]", &["{\"{\\\"a\\\": [1, 2]}\",\"\\\"x\\\"\"}"]),
    ("bytea[]", &["{\"\\\\x00ff\"}"]),
    ("point[]", &["{\"(1,2)\",\"(3,4)\"}"]),
    ("interval[]", &["{\"1 day\",\"02:00:00\"}"]),
];

struct Lists {
    _test: TestDatabase,
    database: Arc<Database>,
    pool: RequestPool,
}

impl Lists {
    async fn new(schema: &str) -> Self {
        let test = TestDatabase::create().await;
        test.connect("postgres")
            .await
            .batch_execute(schema)
            .await
            .expect("the schema is made");
        let logins = Logins::new(
            test.config("authenticator"),
            test.config("supabase_auth_admin"),
            test.config("supabase_storage_admin"),
        );
        let database = Database::connect(logins).await.expect("the database is there");
        let config = RequestPoolConfig {
            connections_per_worker: 1,
            // With one connection, each statement finds the row types that its earlier runs have shown.
            max_connections_per_worker: 1,
            ..RequestPoolConfig::default()
        };
        let pool = RequestPool::new(database.clone(), config);
        Self {
            _test: test,
            database,
            pool,
        }
    }

    /// Lists rows.
    async fn list(&self, text: &str, zone: &str) -> (JsonReadResult, String) {
        self.list_as("service_role", text, zone).await
    }

    async fn list_as(&self, role: &str, text: &str, zone: &str) -> (JsonReadResult, String) {
        self.list_trying((role, true), text, zone).await
    }

    async fn list_trying(
        &self,
        (role, may_run_twice): (&str, bool),
        text: &str,
        zone: &str,
    ) -> (JsonReadResult, String) {
        let rows = SqlStatement::plain(text);
        let after = SqlStatement::plain("select current_setting('response.status', true)");
        let fallback = || SqlStatement::plain(format!("select row_to_json(the_rows) from ({text}) the_rows"));
        let transaction = RequestTransaction {
            access: AccessMode::ReadOnly,
            isolation: None,
            context: RequestContext {
                search_path: r#""public""#,
                role,
                claims: "{}",
                method: "GET",
                path: "/",
                headers: "{}",
                cookies: "{}",
                extra: &[("timezone", zone)],
            },
            pre_request: None,
            statement: &rows,
            calls_function: false,
            replayed_to: None,
            client: None,
            turn: None,
            explain: None,
            end: TransactionEnd::Commit,
        };
        let read = JsonRead {
            document: JsonDocument {
                form: JsonForm::Array,
                has_total: false,
            },
            only_texts: false,
            after: &after,
            fallback: &fallback,
            may_run_twice: &|| may_run_twice,
        };
        let listed = self.pool.read_json(&transaction, &read).await.expect("a list");
        let body = listed.body.clone().flatten().collect::<Vec<u8>>();
        (listed, String::from_utf8(body).expect("text"))
    }

    async fn json_agg(&self, text: &str, zone: &str) -> String {
        let client = self._test.connect("postgres").await;
        let set = format!("set timezone = '{zone}'; set role service_role");
        client.batch_execute(&set).await.expect("settings");
        let document = format!("select coalesce(json_agg(the_rows), '[]')::text from ({text}) the_rows");
        let row = client.query_one(&document, &[]).await.expect("a document");
        row.get(0)
    }

    /// The JSON of the same rows as PostgreSQL writes it, in one piece and row by row, and as this crate writes it.
    async fn list_both_ways(&self, text: &str, zone: &str) -> (String, String) {
        // A composite value is one that only PostgreSQL writes.
        let with_composite = format!("select the_rows.*, row(1) as composite from ({text}) the_rows");
        let theirs = self.json_agg(&with_composite, zone).await;
        let (listed, row_by_row) = self.list(&with_composite, zone).await;
        assert!(listed.is_fallback, "{with_composite}");
        let difference = || first_difference(&row_by_row, &theirs);
        assert!(row_by_row == theirs, "{}", difference());
        let theirs = self.json_agg(text, zone).await;
        // Executed as it is, prepared, and by its name.
        let mut ours = None;
        for _ in 0..3 {
            let (listed, written) = self.list(text, zone).await;
            assert!(!listed.is_fallback, "PostgreSQL wrote {text}");
            let before = ours.replace(written.clone());
            assert!(before.is_none_or(|before| before == written), "{text}");
        }
        let ours = ours.expect("three times");
        (theirs, ours)
    }
}

#[tokio::test]
async fn every_supported_type_is_rendered_as_postgresql_does() {
    LocalSet::new()
        .run_until(async {
            let lists = Lists::new("").await;
            for (r#type, values) in VALUES {
                let rows: Vec<String> = values
                    .iter()
                    .map(|value| format!("('{}'::{type}, 1)", value.replace('\'', "''")))
                    .collect();
                let text = format!(
                    "select a as \"the \"\" name\", b from (values {}, (null, 2)) v (a, b)",
                    rows.join(", ")
                );
                for zone in ["UTC", "Asia/Kolkata", "America/New_York"] {
                    let text = format!("{text} /* {zone} */");
                    let (theirs, ours) = lists.list_both_ways(&text, zone).await;
                    assert_eq!(ours, theirs, "{type} in {zone}");
                }
            }
        })
        .await;
}

#[tokio::test]
async fn rows_of_tables_and_domains_and_no_rows_are_the_same_too() {
    LocalSet::new()
        .run_until(async {
            let schema = "create domain public.short as text check (length(value) < 9);
                create table public.t (id int, s public.short, made timestamptz default '2026-01-01 00:00:00+00');
                insert into public.t values (1, 'a'), (2, null), (3, '\"');
                grant select on public.t to service_role;";
            let lists = Lists::new(schema).await;
            for text in [
                "select t.* from public.t order by id",
                "select t.* from public.t where id > 9",
                "select from public.t",
                "select id, id, row_to_json(t) as row from public.t order by id",
                "select id, (select json_agg(u) from public.t u where u.id < t.id) as before from public.t order by id",
            ] {
                let (theirs, ours) = lists.list_both_ways(text, "UTC").await;
                assert_eq!(ours, theirs, "{text}");
            }
        })
        .await;
}

#[tokio::test]
async fn rows_with_user_defined_types_are_rendered_by_postgresql() {
    LocalSet::new()
        .run_until(async {
            let lists = Lists::new(
                "create type public.mood as enum ('a'); create type public.pair as (a int, b int);",
            )
            .await;
            for text in [
                "select array['a'::public.mood]",
                "select row(1, 2)::public.pair as pair",
                "select row(1) as r",
            ] {
                for _ in 0..5 {
                    let (listed, _) = lists.list(text, "UTC").await;
                    assert!(listed.is_fallback, "{text}");
                }
            }
        })
        .await;
}

#[tokio::test]
async fn gw_049_a_read_that_must_not_run_twice_runs_once_whatever_its_types_are() {
    LocalSet::new()
        .run_until(async {
            let lists = Lists::new(
                "create function public.count_run() returns int language sql volatile as $$
                   select set_config('gw.runs', (coalesce(nullif(current_setting('gw.runs', true), ''), '0')::int + 1)::text, false)::int
                 $$;",
            )
            .await;
            let mut runs = 0;
            // What is written here is so as soon as PostgreSQL has described its columns.
            for (one, json, fallbacks) in [("row(1)", r#"{"f1":1}"#, 4), ("1", "1", 2)] {
                let text = format!("select {one} as one, public.count_run() as runs");
                for use_before in 0..4 {
                    let (listed, body) = lists.list_trying(("service_role", false), &text, "UTC").await;
                    let row = |runs: u32| format!(r#"[{{"one":{json},"runs":{runs}}}]"#);
                    // The setting is lost with the reset of a session that was idle for a second.
                    let counted = [runs + 1, 1].into_iter().find(|counted| body == row(*counted));
                    runs = counted.unwrap_or_else(|| panic!("after {runs}: {body}"));
                    assert_eq!(listed.is_fallback, use_before < fallbacks);
                }
            }
        })
        .await;
}

#[tokio::test]
async fn rows_have_the_new_columns_after_a_table_has_changed() {
    LocalSet::new()
        .run_until(async {
            let lists = Lists::new("create table public.t (id int); insert into public.t values (1); grant select on public.t to service_role;").await;
            let text = "select t.* from public.t";
            assert_eq!(lists.list_both_ways(text, "UTC").await.1, r#"[{"id":1}]"#);
            let owner = lists._test.connect("postgres").await;

            for (change, expected) in [
                ("alter table public.t add column b text default 'x'", r#"[{"id":1,"b":"x"}]"#),
                ("alter table public.t alter column id type text", r#"[{"id":"1","b":"x"}]"#),
                ("alter table public.t drop column id", r#"[{"b":"x"}]"#),
            ] {
                owner.batch_execute(change).await.expect("a change");
                for _ in 0..4 {
                    assert_eq!(lists.list(text, "UTC").await.1, expected, "{change}");
                }
            }
        })
        .await;
}

#[tokio::test]
async fn gw_049_rows_of_long_statements_are_rendered_here_and_nothing_of_them_stays_prepared() {
    LocalSet::new()
        .run_until(async {
            let lists = Lists::new("").await;
            let text = format!("select 1 as one /* {} */", "x".repeat(9000));
            let (theirs, ours) = lists.list_both_ways(&text, "UTC").await;
            assert_eq!(ours, theirs);

            let kept = "select count(*) from pg_prepared_statements where length(statement) > 8192";
            let (_, kept) = lists.list(kept, "UTC").await;
            assert_eq!(kept, r#"[{"count":0}]"#);
        })
        .await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn gw_049_a_session_holds_one_row_of_a_read_that_postgresql_writes() {
    LocalSet::new()
        .run_until(async {
            let lists = Lists::new("").await;
            let (_, pid) = lists.list("select pg_backend_pid() as pid", "UTC").await;
            let pid: String = pid.chars().filter(char::is_ascii_digit).collect();
            let peak = || {
                let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("a process");
                let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
                let kibibytes = line.and_then(|line| line.trim().strip_suffix("kB"));
                kibibytes
                    .and_then(|number| number.trim().parse::<u64>().ok())
                    .expect("its size")
                    / 1024
            };

            let before = peak();
            let (listed, body) = lists
                .list(
                    "select repeat('x', 10000) as text, row(1) as one from generate_series(1, 3000)",
                    "UTC",
                )
                .await;

            assert!(listed.is_fallback && body.len() > 30_000_000);
            let grown = peak() - before;
            assert!(grown < 25, "{grown} MiB");
        })
        .await;
}

#[tokio::test]
async fn deallocated_statements_are_prepared_again() {
    LocalSet::new()
        .run_until(async {
            let schema = "create function public.forget() returns text language plpgsql as $$ begin execute 'deallocate all'; return 'x'; end $$;";
            let lists = Lists::new(schema).await;
            lists.list_both_ways("select 1 as one", "UTC").await;

            for _ in 0..3 {
                assert_eq!(lists.list("select public.forget() as f", "UTC").await.1, r#"[{"f":"x"}]"#);
                assert_eq!(lists.list("select 1 as one", "UTC").await.1, r#"[{"one":1}]"#);
            }
        })
        .await;
}

#[tokio::test]
async fn dates_in_other_styles_than_iso_are_rendered_by_postgresql() {
    LocalSet::new()
        .run_until(async {
            let lists = Lists::new("create role gw_other_dates; grant gw_other_dates to authenticator; alter role gw_other_dates set datestyle = 'SQL, DMY'").await;
            lists.database.reload_role_settings().await.expect("settings");
            let text = "select '2026-01-31 12:00:00+00'::timestamptz as t";
            for _ in 0..4 {
                assert_eq!(lists.list_as("gw_other_dates", text, "UTC").await.1, r#"[{"t":"2026-01-31T12:00:00+00:00"}]"#);
            }
        })
        .await;
}

/// A table whose columns hold random values of the types with a specific text form, generated by PostgreSQL.
const RANDOM_VALUES: &str = r#"
    create function public.random_text() returns text language sql volatile as $$
        select coalesce(string_agg(
            case when random() < 0.3 then (array['"', '\', '/', ',', '{', '}', ' ', chr(9), chr(10), chr(127)])[1 + floor(random() * 10)::int]
                 when random() < 0.1 then chr(1 + floor(random() * 31)::int)
                 when random() < 0.1 then chr(65536 + floor(random() * 1000000)::int)
                 else chr(32 + floor(random() * 55000)::int) end, ''), '')
        from generate_series(1, floor(random() * 12)::int) $$;
    create function public.random_time() returns timestamptz language sql volatile as $$
        select to_timestamp((random() - 0.5) * power(10, 1 + random() * 10.5))
            + floor(random() * 1000000) * interval '1 microsecond' $$;
    create table public.random_values as
        select id,
            public.random_text() as text,
            case when random() < 0.9 then array[public.random_text(), null, public.random_text()] else '{}' end as texts,
            array[array[public.random_text()], array[public.random_text()]] as nested,
            public.random_time() as instant,
            public.random_time()::timestamp as local_time,
            public.random_time()::date as date,
            array[public.random_time()] as instants,
            public.random_time() - public.random_time() as age,
            ((random() - 0.5) * power(10, floor(random() * 300)))::float8 as double,
            ((random() - 0.5) * power(10, floor(random() * 30)))::float4 as single,
            ((random() - 0.5)::numeric * power(10::numeric, floor(random() * 40)::int)) as exact,
            ((random() - 0.5) * 9e18)::int8 as long,
            case when random() < 0.5 then null else random() < 0.5 end as flag,
            jsonb_build_object(public.random_text(), public.random_text(), 'n', random()::numeric) as document,
            json_build_array(public.random_text(), random(), null) as list,
            decode(md5(random()::text), 'hex') as bytes,
            gen_random_uuid() as uuid
        from generate_series(1, ROWS) as id;
    grant select on public.random_values to service_role;
"#;

#[tokio::test]
async fn random_values_are_rendered_as_postgresql_does() {
    LocalSet::new()
        .run_until(async {
            // Values differ in each run, so repeated runs search further; 20 000 rows take 23 s.
            let rows = std::env::var("SELVEDGE_RANDOM_ROWS").unwrap_or_else(|_| "2000".to_owned());
            let lists = Lists::new(&RANDOM_VALUES.replace("ROWS", &rows)).await;
            for zone in ["UTC", "America/St_Johns"] {
                let text = format!("select * from public.random_values order by id /* {zone} */");
                let (theirs, ours) = lists.list_both_ways(&text, zone).await;
                assert!(ours == theirs, "{}", first_difference(&ours, &theirs));
            }
        })
        .await;
}

/// The surroundings of the first byte in which two documents differ.
fn first_difference(ours: &str, theirs: &str) -> String {
    let same = ours
        .bytes()
        .zip(theirs.bytes())
        .take_while(|(ours, theirs)| ours == theirs)
        .count();
    let around = |text: &str| {
        let bytes = &text.as_bytes()[same.saturating_sub(80)..(same + 80).min(text.len())];
        String::from_utf8_lossy(bytes).into_owned()
    };
    format!("ours: {}\ntheirs: {}", around(ours), around(theirs))
}
