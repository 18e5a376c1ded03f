//! How values are written, and the filters that only texts and booleans have.

use serde_json::{Map, Value, json};

use super::support::{TestFeed, all};

/// Columns of one type each, with values that are easy to write wrongly.
const VALUES: [(&str, &str); 30] = [
    ("int2", "-32768"),
    ("int4", "2147483647"),
    ("int8", "9223372036854775807"),
    ("float4", "1.5"),
    ("float8", "1e300"),
    ("numeric", "12345678901234567890.123456789"),
    ("boolean", "true"),
    ("text", "E'a\"b\\\\c\\n\\u00e9'"),
    ("varchar(5)", "'vchar'"),
    ("name", "'n'"),
    ("uuid", "'11111111-1111-4111-8111-111111111111'"),
    ("date", "'2026-01-02'"),
    ("time", "'03:04:05.678'"),
    ("timetz", "'03:04:05+09'"),
    ("timestamp", "'2026-01-02 03:04:05.678'"),
    ("timestamptz", "'2026-01-02 03:04:05.678+09'"),
    ("interval", "'1 day 02:03:04'"),
    ("json", "'{\"b\": [1,  2], \"a\": null}'"),
    ("jsonb", "'{\"b\": [1,  2], \"a\": null}'"),
    ("inet", "'10.0.0.1/8'"),
    ("cidr", "'10.0.0.0/8'"),
    ("macaddr", "'08:00:2b:01:02:03'"),
    ("point", "'(1,2)'"),
    ("int4range", "'[1,5)'"),
    ("int4multirange", "'{[1,5),[7,9)}'"),
    ("text[]", "array['a', null, '{,}']"),
    ("int4[]", "'{{1,2},{3,4}}'"),
    ("timestamptz[]", "array['2026-01-02 03:04:05+00'::timestamptz]"),
    ("tsvector", "'a:1 b:2'"),
    ("xml", "'<a/>'"),
];

#[tokio::test]
async fn realtime_041_values_are_written_as_to_jsonb_writes_them() {
    let mut columns = String::new();
    let mut values = String::new();
    for (index, (sql_type, value)) in VALUES.iter().enumerate() {
        columns.push_str(&format!(", c{index} {sql_type}"));
        values.push_str(&format!(", {value}"));
    }
    let test = TestFeed::start(&format!(
        "create domain positive as int check (value > 0);
         create domain label as text;
         create type mood as enum ('sad', 'ok');
         create type pair as (x int, y text, moods mood[]);
         create table types (id int primary key{columns}, own1 positive, own2 label, own3 mood, own4 pair, own5 pair[]);
         grant select on types to anon;
         alter publication supabase_realtime add table types;"
    ))
    .await;
    test.subscribe(1, "anon", &[all("types")]).await;

    test.sql(&format!(
        "insert into types values (1{values}, 7, 'l', 'ok', (1, 'a\"', '{{ok,sad}}'), array[(2, null, null)::pair]);
         insert into types (id) values (2);"
    ))
    .await;

    for id in [1, 2] {
        let record = test.change().await.2["record"].clone();
        test.sql("set timezone = 'UTC'").await;
        let row = test
            .client
            .query_one("select to_jsonb(t)::text from types t where id = $1", &[&id])
            .await
            .expect("a row");
        let expected: Map<String, Value> = serde_json::from_str(row.get(0)).expect("an object");
        for (name, value) in expected {
            let index = name
                .strip_prefix('c')
                .and_then(|index| index.parse::<usize>().ok());
            let sql_type = index
                .and_then(|index| VALUES.get(index))
                .map_or("own", |value| value.0);
            assert_eq!(record[&name], value, "{name} {sql_type}");
        }
    }
}

#[tokio::test]
async fn realtime_041_numbers_that_json_cannot_express_are_null_and_bytes_have_no_prefix() {
    let test = TestFeed::start(
        "create table odd (id int primary key, a float8, b float4, c numeric, d bytea, e float8[]);
         grant select on odd to anon;
         alter publication supabase_realtime add table odd;",
    )
    .await;
    test.subscribe(1, "anon", &[all("odd")]).await;

    test.sql(
        "insert into odd values (1, 'NaN', '-Infinity', 'NaN', '\\x0aff', '{1}'), (2, 1, 1, 1, '', '{}')",
    )
    .await;

    let odd = json!({"id": 1, "a": null, "b": null, "c": null, "d": "0aff", "e": [1]});
    assert_eq!(test.change().await.2["record"], odd);
    let plain = json!({"id": 2, "a": 1, "b": 1, "c": 1, "d": "", "e": []});
    assert_eq!(test.change().await.2["record"], plain);
}

#[tokio::test]
async fn realtime_042_the_commit_time_is_utc_with_milliseconds_and_the_same_in_a_transaction() {
    let test = TestFeed::start(
        "create table times (id int primary key);
         grant select on times to anon;
         alter publication supabase_realtime add table times;",
    )
    .await;
    test.subscribe(1, "anon", &[all("times")]).await;
    let clock = "select to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')";
    let before: String = test.client.query_one(clock, &[]).await.expect("a time").get(0);

    test.sql("set timezone = 'Asia/Tokyo'; begin; insert into times values (1); insert into times values (2); commit")
        .await;
    test.sql("insert into times values (3)").await;

    let mut times = Vec::new();
    for _ in 0..3 {
        let time = test.change().await.2["commit_timestamp"].clone();
        times.push(time.as_str().expect("a text").to_owned());
    }
    let after: String = test.client.query_one(clock, &[]).await.expect("a time").get(0);
    assert_eq!(times[0], times[1]);
    assert!(
        before <= times[0] && times[0] <= times[2] && times[2] <= after,
        "{before} {times:?} {after}"
    );
}

#[tokio::test]
async fn realtime_035_patterns_and_is_filters_match_and_refuse_unfit_columns() {
    let test = TestFeed::start(
        "create table words (id int primary key, word text, done boolean, n int);
         grant select on words to anon;
         alter publication supabase_realtime add table words;",
    )
    .await;
    let binding =
        |filter: &str| json!({"event": "*", "schema": "public", "table": "words", "filter": filter});
    let filters = [
        "word=like.a%",
        "word=not.like.a%",
        "word=ilike.A_c",
        "word=match.^a.*c$",
        "word=imatch.^A",
        "done=is.true",
        "done=not.is.true",
        "word=is.null",
        "n=isdistinct.1",
        "n=not.isdistinct.1",
    ];
    for (channel, filter) in (1..).zip(filters) {
        test.subscribe(channel, "anon", &[binding(filter)]).await;
    }

    test.sql("insert into words values (1, 'abc', true, 1), (2, 'xyz', false, null), (3, null, null, 2)")
        .await;

    let mut seen: Vec<(usize, i64)> = Vec::new();
    for _ in 0..12 {
        let (channel, _, data) = test.change().await;
        let channel = usize::try_from(channel).expect("small");
        seen.push((channel, data["record"]["id"].as_i64().expect("an id")));
    }
    seen.sort_unstable();
    assert_eq!(
        seen,
        [
            (1, 1),
            (2, 2),
            (3, 1),
            (4, 1),
            (5, 1),
            (6, 1),
            (7, 2),
            (7, 3),
            (8, 3),
            (9, 2),
            (9, 3),
            (10, 1),
        ]
    );

    for (filter, text) in [
        (
            "n=like.1%",
            "operator like requires a text-compatible column type, got integer",
        ),
        (
            "n=is.true",
            "is true filter requires a boolean column, got integer",
        ),
        (
            "word=is.maybe",
            "invalid value for is filter: must be null, true, false, or unknown",
        ),
        ("word=match.(", "invalid regular expression for match filter: "),
        ("missing=eq.1", "invalid column for filter missing"),
    ] {
        let refusal = test.refusal(50, "anon", binding(filter)).await;
        assert!(
            refusal.contains(&format!("ERROR P0001 (raise_exception) {text}")),
            "{filter}: {refusal}"
        );
    }
}

#[tokio::test]
async fn realtime_061_row_security_is_asked_once_for_channels_with_equal_claims() {
    const CHANNELS: u64 = 200;
    const ROWS: i64 = 10;
    let test = TestFeed::start_as_superuser(
        "create function counted(uuid) returns boolean language plpgsql stable as $$
           begin perform pg_stat_force_next_flush(); return $1 = auth.uid(); end $$;
         create table asked (id int primary key, owner uuid);
         alter table asked enable row level security;
         create policy own on asked for select to authenticated using (counted(owner));
         grant select on asked to authenticated;
         alter publication supabase_realtime add table asked;
         do $$ begin execute format('alter database %I set track_functions = ''all''', current_database()); end $$",
    )
    .await;
    for channel in 1..=CHANNELS {
        test.subscribe(channel, super::support::ALICE, &[all("asked")])
            .await;
    }

    test.sql(&format!(
        "insert into asked select g, '{}' from generate_series(1, {ROWS}) g",
        super::support::ALICE
    ))
    .await;

    for _ in 0..CHANNELS * ROWS.unsigned_abs() {
        test.change().await;
    }
    let calls =
        "select coalesce(sum(calls), 0)::bigint from pg_stat_user_functions where funcname = 'counted'";
    let calls: i64 = test
        .client
        .query_one(calls, &[])
        .await
        .expect("statistics")
        .get(0);
    // If a batch ends before its transaction does, each row is asked for twice: for its version, and for its values.
    assert!((1..=2 * ROWS).contains(&calls), "{calls} calls for {ROWS} rows");
}
