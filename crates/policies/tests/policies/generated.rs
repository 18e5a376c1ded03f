//! CONSOLE-082: for generated sets of policies, grants, claims and rows the explanation and PostgreSQL agree.

use std::fmt::Write;

use rand::prelude::*;
use rand::rngs::StdRng;
use selvedge_policies::Subject;
use serde_json::{Value, json};

use crate::project::{ANA, BEN, Project, subject};

/// The number of generated sets. The seed is fixed, so they are the same in every run.
const SETS: u64 = 200;

const COMMANDS: [&str; 5] = ["all", "select", "insert", "update", "delete"];
const ROLES: [&str; 5] = [
    "public",
    "anon",
    "authenticated",
    "generated_editors",
    "anon, generated_editors",
];

/// The conditions of policies over the columns id, owner, team, level and secret; some are null or raise an error for
/// some rows.
const CONDITIONS: [&str; 18] = [
    "true",
    "false",
    "null::boolean",
    "owner = auth.uid()",
    "owner = (select auth.uid())",
    "owner is not distinct from auth.uid()",
    "secret",
    "not secret",
    "level > 2",
    "level between 1 and 3 or secret",
    "team = auth.jwt() ->> 'team'",
    "team = any (array['red', 'blue'])",
    "10 / level > 3",
    "exists (select from memberships m where m.team = {table}.team)",
    "id in (select m.level from memberships m)",
    "auth.role() = 'authenticated' and level is not null",
    "(auth.jwt() ->> 'level')::int >= level",
    "coalesce(secret, false) or length(team) > 3",
];

#[tokio::test]
async fn console_082_two_hundred_generated_sets_are_explained_as_postgresql_answers() {
    let mut project = Project::start(&format!(
        "create role generated_editors nologin; grant generated_editors to authenticated;
         create table memberships (team text, member uuid, level int);
         alter table memberships enable row level security;
         insert into memberships values ('red', '{ANA}', 1), ('blue', '{BEN}', 2), ('green', '{ANA}', 3);
         create policy own on memberships for select to authenticated using (member = auth.uid());
         create policy first on memberships for select to anon using (level = 1);"
    ))
    .await;
    let (mut compared, mut allowed, mut refused, mut ended_early) = (0, 0, 0, 0);

    for seed in 0..SETS {
        let mut random = StdRng::seed_from_u64(seed);
        let table = format!("generated_{seed}");
        let setup = generate_table(&mut random, &table);
        project.sql(&setup).await;
        let oid = project.oid(&table).await;
        for _ in 0..4 {
            let subject = generate_subject(&mut random);
            let request = generate_request(&mut random, &oid);
            let report = project.simulate(subject.clone(), request.clone()).await;
            let case = format!("seed {seed}\n{setup}\n{subject:?}\n{request}\n{report:#}");
            // A limit may be reached before the row for which a policy raises an error; nothing else is left open.
            let is_open = report["banners"]
                .to_string()
                .contains("The limit was reached before");
            assert_eq!(
                report["agrees"],
                if is_open { Value::Null } else { true.into() },
                "{case}"
            );
            ended_early += usize::from(is_open);
            compared += 1;
            allowed += usize::from(report["truth"]["count"].as_u64() > Some(0));
            refused += usize::from(!report["truth"]["error"].is_null());
        }
    }

    // The sets would prove little if nearly all of them were allowed or nearly all refused.
    assert_eq!(compared, 4 * SETS);
    assert!(
        allowed > 80 && refused > 80,
        "{allowed} allowed, {refused} refused"
    );
    assert!(ended_early < 20, "{ended_early} not compared");
}

fn pick<'a>(random: &mut StdRng, choices: &[&'a str]) -> &'a str {
    choices.choose(random).expect("choices")
}

/// Generates the SQL of a table with rows, grants and policies.
fn generate_table(random: &mut StdRng, table: &str) -> String {
    let mut sql = format!(
        "create table {table} (id int primary key, owner uuid default auth.uid(), team text, level int default 2,
           secret boolean);
         revoke all on {table} from anon, authenticated, service_role;"
    );
    for id in 1..=random.random_range(0..6) {
        let owner = pick(random, &[ANA, BEN, "null"]).to_owned();
        let owner = if owner == "null" {
            owner
        } else {
            format!("'{owner}'")
        };
        let team = pick(random, &["'red'", "'blue'", "'green'", "null"]);
        let level = pick(random, &["0", "1", "2", "3", "null"]);
        let secret = pick(random, &["true", "false", "null"]);
        write!(
            sql,
            "insert into {table} values ({id}, {owner}, {team}, {level}, {secret});"
        )
        .expect("writing to a string");
    }
    for _ in 0..random.random_range(1..5) {
        let right = pick(
            random,
            &[
                "all",
                "all",
                "select",
                "insert, update",
                "delete",
                "select (id, team)",
                "update (team, level)",
                "insert (id, team)",
            ],
        );
        let role = pick(random, &["anon", "authenticated", "generated_editors", "public"]);
        write!(sql, "grant {right} on {table} to {role};").expect("writing to a string");
    }
    if random.random_bool(0.9) {
        write!(sql, "alter table {table} enable row level security;").expect("writing to a string");
    }
    if random.random_bool(0.3) {
        write!(sql, "alter table {table} force row level security;").expect("writing to a string");
    }
    for number in 0..random.random_range(0..6) {
        let policy = generate_policy(random, table, number);
        sql.push_str(&policy);
    }
    sql
}

fn generate_policy(random: &mut StdRng, table: &str, number: i32) -> String {
    let command = pick(random, &COMMANDS);
    let kind = if random.random_bool(0.3) {
        "restrictive"
    } else {
        "permissive"
    };
    let roles = pick(random, &ROLES);
    let using = pick(random, &CONDITIONS).replace("{table}", table);
    let check = pick(random, &CONDITIONS).replace("{table}", table);
    let mut sql = format!("create policy p{number} on {table} as {kind} for {command} to {roles}");
    if command != "insert" {
        write!(sql, " using ({using})").expect("writing to a string");
    }
    let has_check = command == "insert" || (matches!(command, "all" | "update") && random.random_bool(0.5));
    if has_check {
        write!(sql, " with check ({check})").expect("writing to a string");
    }
    sql + ";"
}

fn generate_subject(random: &mut StdRng) -> Subject {
    match pick(
        random,
        &["anon", "authenticated", "authenticated", "service_role"],
    ) {
        "authenticated" => {
            let id = pick(random, &[ANA, BEN]);
            let team = pick(random, &["red", "blue", "none"]);
            subject(
                "authenticated",
                json!({"sub": id, "team": team, "level": random.random_range(0..4)}),
            )
        }
        role => subject(role, json!({})),
    }
}

fn generate_request(random: &mut StdRng, table: &str) -> Value {
    let verb = pick(
        random,
        &[
            "select", "select", "insert", "update", "update", "upsert", "delete",
        ],
    );
    let mut request =
        json!({"kind": "verb", "verb": verb, "table": table, "returning": random.random_bool(0.4)});
    if random.random_bool(0.3) {
        request["columns"] = json!(["id", "team"]);
    }
    match verb {
        "select" | "delete" | "update" if random.random_bool(0.7) => {
            let level = random.random_range(0..3).to_string();
            let filters = [
                json!({"column": "id", "operator": "gt", "value": level}),
                json!({"column": "team", "operator": "in", "value": "(red,\"blue\")"}),
                json!({"column": "secret", "operator": "not.is", "value": "null"}),
            ];
            request["filters"] = json!([filters.choose(random).expect("filters")]);
        }
        _ => {}
    }
    if verb == "select" && random.random_bool(0.5) {
        request["page"] = generate_page(random);
    }
    let mut values = json!({});
    if matches!(verb, "insert" | "update" | "upsert") {
        values["team"] = pick(random, &["red", "blue", "green"]).into();
        if random.random_bool(0.5) {
            values["level"] = pick(random, &["0", "2", "3"]).into();
        }
        if random.random_bool(0.3) {
            values["owner"] = pick(random, &[ANA, BEN]).into();
        }
        if random.random_bool(0.3) {
            values["secret"] = [json!("true"), Value::Null]
                .choose(random)
                .expect("values")
                .clone();
        }
    }
    match verb {
        // The id is above all stored ones, so that no unique violation hides the policies' answer.
        "insert" => values["id"] = "100".into(),
        "upsert" => values["id"] = random.random_range(1..8).to_string().into(),
        _ => {}
    }
    request["values"] = values;
    request
}

fn generate_page(random: &mut StdRng) -> Value {
    let orders = [
        json!([]),
        json!([{"column": "id"}]),
        json!([{"column": "level", "descending": true, "nulls_first": false}, {"column": "id"}]),
        json!([{"column": "team"}]),
    ];
    let mut page = json!({"order": orders.choose(random).expect("orders")});
    if random.random_bool(0.8) {
        page["limit"] = random.random_range(0..4).into();
    }
    if random.random_bool(0.5) {
        page["offset"] = random.random_range(0..3).into();
    }
    page
}
