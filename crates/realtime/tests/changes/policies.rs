//! Every role × table × kind of policy × kind of change: subscribers get what PostgreSQL itself would show them.
//!
//! What a channel should get is not written here but asked: after the changes each identity selects from the tables
//! under its own role and claims, and the rows that it sees are compared with the rows of its events.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_realtime::changes::ChannelKey;
use serde_json::{Value, json};
use tokio_postgres::Client;

use super::support::{ALICE, BOB, Event, MARKER, TestFeed};

/// Tables by the kind of their policies. All have the columns `id, owner, team, is_public, body`, and all are published.
const TABLES: [(&str, &str); 12] = [
    ("open", ""),
    ("no_policy", "alter table no_policy enable row level security"),
    (
        "everyone",
        "alter table everyone enable row level security;
         create policy p on everyone for select using (true)",
    ),
    (
        "signed_in",
        "alter table signed_in enable row level security;
         create policy p on signed_in for select to authenticated using (true)",
    ),
    (
        "own",
        "alter table own enable row level security;
         create policy p on own for select to authenticated using (owner = (select auth.uid()))",
    ),
    (
        "public_rows",
        "alter table public_rows enable row level security;
         create policy p on public_rows for select using (is_public)",
    ),
    (
        "own_or_public",
        "alter table own_or_public enable row level security;
         create policy p on own_or_public for select using (is_public);
         create policy q on own_or_public for select to authenticated using (auth.uid() = owner)",
    ),
    (
        "restricted",
        "alter table restricted enable row level security;
         create policy p on restricted for select to authenticated using (true);
         create policy q on restricted as restrictive for select using (is_public)",
    ),
    (
        "team_rows",
        "alter table team_rows enable row level security;
         create policy p on team_rows for select to authenticated
           using (team in (select m.team from members m where m.member = auth.uid()))",
    ),
    (
        "tenant",
        "alter table tenant enable row level security;
         create policy p on tenant for select to authenticated using (team::text = auth.jwt() ->> 'team')",
    ),
    (
        "by_setting",
        "alter table by_setting enable row level security;
         create policy p on by_setting for select
           using (team::text = current_setting('request.jwt.claims', true)::json ->> 'team')",
    ),
    (
        "by_function",
        "create function may_read(owner uuid, is_public boolean) returns boolean language sql stable security definer
           set search_path = '' as 'select $2 or $1 = auth.uid()';
         alter table by_function enable row level security;
         create policy p on by_function for select using (may_read(owner, is_public));
         alter table by_function force row level security",
    ),
];

/// The subscribers: a channel, its role, and its claims.
fn identities() -> Vec<(u64, &'static str, Value)> {
    let user = |id: &str, team: i32| json!({"role": "authenticated", "sub": id, "team": team.to_string()});
    vec![
        (1, "anon", json!({"role": "anon"})),
        (2, "authenticated", user(ALICE, 1)),
        (3, "authenticated", user(BOB, 2)),
        (4, "authenticated", json!({"role": "authenticated"})),
        (5, "service_role", json!({"role": "service_role"})),
        // Changes its claims between the rounds.
        (6, "authenticated", user(ALICE, 2)),
    ]
}

async fn start() -> TestFeed {
    let mut schema = format!(
        "create table members (member uuid, team int, primary key (member, team));
         insert into members values ('{ALICE}', 1), ('{BOB}', 2), ('{BOB}', 3);
         grant select on members to authenticated; {MARKER}"
    );
    for (table, policies) in TABLES {
        schema.push_str(&format!(
            "create table {table} (id int primary key, owner uuid, team int, is_public boolean, body text);
             grant select on {table} to anon, authenticated, service_role;
             {policies};
             alter publication supabase_realtime add table {table};"
        ));
    }
    let test = TestFeed::start(&schema).await;
    test.subscribe(
        99,
        "service_role",
        &[json!({"event": "*", "schema": "public", "table": "marker"})],
    )
    .await;
    let bindings: Vec<Value> = TABLES
        .iter()
        .map(|(table, _)| json!({"event": "*", "schema": "public", "table": table}))
        .collect();
    for (channel, role, claims) in identities() {
        test.subscribe_with_claims(channel, role, &claims, &bindings)
            .await;
    }
    test
}

/// Runs a statement on every table, whose name replaces `{t}`.
async fn change_all(test: &TestFeed, statement: &str) {
    for (table, _) in TABLES {
        test.sql(&statement.replace("{t}", table)).await;
    }
}

/// Rows by channel and table.
type Rows = BTreeMap<(u64, String), BTreeSet<String>>;

/// The rows that each identity can select among those with these ids.
async fn selectable(client: &Client, identities: &[(u64, &str, Value)], ids: &[i32]) -> Rows {
    let mut rows = Rows::new();
    for (channel, role, claims) in identities {
        for (table, _) in TABLES {
            let begin = format!(
                "begin; select set_config('request.jwt.claims', '{claims}', true); set local role {role}"
            );
            client.batch_execute(&begin).await.expect("a transaction");
            let query = format!("select to_jsonb(t)::text from {table} t where id = any($1)");
            let found = client.query(&query, &[&ids]).await.expect("a select");
            client.batch_execute("rollback").await.expect("a rollback");
            let found: BTreeSet<String> = found.iter().map(|row| parsed(row.get(0))).collect();
            if !found.is_empty() {
                rows.insert((*channel, table.to_owned()), found);
            }
        }
    }
    rows
}

/// The text of a row with its keys in one order.
fn parsed(json: &str) -> String {
    let columns: BTreeMap<String, Value> = serde_json::from_str(json).expect("an object");
    serde_json::to_string(&columns).expect("JSON")
}

/// The rows of the events since the last call; all must be of this kind.
async fn received(test: &TestFeed, kind: &str, row: &str) -> Rows {
    let mut rows = Rows::new();
    for event in test.events_until_marker().await {
        let Event::Change { channel, data, .. } = event else {
            panic!("only changes: {event:?}");
        };
        assert_eq!(data["type"], kind);
        assert_eq!(data["errors"], json!(null), "{data}");
        let table = data["table"].as_str().expect("a table").to_owned();
        let is_new = rows
            .entry((channel, table))
            .or_default()
            .insert(parsed(&data[row].to_string()));
        assert!(is_new, "no event comes twice: {channel} {data}");
    }
    rows
}

#[tokio::test]
async fn realtime_014_realtime_015_subscribers_get_exactly_the_rows_that_they_can_select() {
    let test = start().await;
    let client = test.superuser().await;
    let ids: Vec<i32> = (1..=5).collect();

    // Rows of Alice, of Bob and without owner, in their teams, public or not.
    let insert = format!(
        "insert into {{t}} values (1, '{ALICE}', 1, false, 'a'), (2, '{BOB}', 2, false, 'b'), (3, null, 3, false, 'n'),
                                  (4, '{ALICE}', 2, true, 'p'), (5, null, null, null, 'x')"
    );
    change_all(&test, &insert).await;
    let shown = received(&test, "INSERT", "record").await;
    assert_eq!(shown, selectable(&client, &identities(), &ids).await);
    let of = |channel: u64, table: &str| shown.get(&(channel, table.to_owned())).map_or(0, BTreeSet::len);
    // Some expected rows are listed by hand, so that the comparison cannot pass because both sides are empty.
    assert_eq!(
        [
            of(1, "open"),
            of(1, "own"),
            of(2, "own"),
            of(3, "team_rows"),
            of(5, "no_policy"),
            of(2, "no_policy")
        ],
        [5, 0, 2, 3, 5, 0]
    );

    // Rows become visible and invisible; a user who can no longer see a row gets no event for it.
    let update = format!(
        "update {{t}} set owner = case when owner = '{ALICE}' then '{BOB}'::uuid else '{ALICE}' end, team = 4 - team,
                        is_public = not is_public"
    );
    change_all(&test, &update).await;
    let shown = received(&test, "UPDATE", "record").await;
    assert_eq!(shown, selectable(&client, &identities(), &ids).await);

    // A token is refreshed: its claims apply from the next change on.
    let mut identities = identities();
    let refreshed = json!({"role": "authenticated", "sub": BOB, "team": "1"});
    test.feed
        .set_claims(ChannelKey(6), "authenticated".to_owned(), refreshed.to_string());
    assert!(matches!(
        test.next().await,
        Event::System {
            channel: 6,
            is_ok: true,
            ..
        }
    ));
    identities[5].2 = refreshed;
    change_all(&test, "update {t} set body = body || '!'").await;
    let shown = received(&test, "UPDATE", "record").await;
    assert_eq!(shown, selectable(&client, &identities, &ids).await);

    // It may also name another role.
    let anonymous = json!({"role": "anon"});
    test.feed
        .set_claims(ChannelKey(6), "anon".to_owned(), anonymous.to_string());
    assert!(matches!(
        test.next().await,
        Event::System {
            channel: 6,
            is_ok: true,
            ..
        }
    ));
    identities[5] = (6, "anon", anonymous);
    change_all(&test, "update {t} set body = body || '?'").await;
    let shown = received(&test, "UPDATE", "record").await;
    assert_eq!(shown, selectable(&client, &identities, &ids).await);

    // For a deleted row all subscribers get the key, and with row-level security nothing more.
    change_all(&test, "alter table {t} replica identity full").await;
    change_all(&test, "delete from {t} where id <= 2").await;
    let keys: BTreeSet<String> = [1, 2].map(|id| json!({ "id": id }).to_string()).into();
    for ((channel, table), rows) in received(&test, "DELETE", "old_record").await {
        if table == "open" {
            assert!(rows.iter().all(|row| row.contains("owner")), "{rows:?}");
        } else {
            assert_eq!(rows, keys, "{channel} {table}");
        }
    }
}
