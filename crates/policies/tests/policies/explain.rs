//! The report explains reads.

use serde_json::{Value, json};

use crate::project::{ANA, BEN, Project, allowed, anon, step, subject, user};

fn notes() -> String {
    format!(
        "create table notes (id int primary key, owner uuid, title text, shared boolean);
         alter table notes enable row level security;
         insert into notes values (1, '{ANA}', 'hers', false), (2, '{BEN}', 'his', false), (3, '{BEN}', 'ours', true),
           (4, null, 'lost', null);
         create policy own on notes for select to authenticated using (owner = auth.uid());
         create policy shared on notes for select using (shared);"
    )
}

async fn select(project: &mut Project, subject: selvedge_policies::Subject, table: &str) -> Value {
    let oid = project.oid(table).await;
    project
        .simulate(subject, json!({"kind": "verb", "verb": "select", "table": oid}))
        .await
}

#[tokio::test]
async fn console_080_each_row_shows_what_denied_it_and_the_values_of_the_operands() {
    let mut project = Project::start(&notes()).await;

    let report = select(&mut project, user(ANA), "notes").await;

    assert_eq!(allowed(&report, "title"), ["hers", "ours"]);
    assert_eq!(report["agrees"], true, "{report}");
    assert_eq!(report["truth"]["count"], 2);
    let his = &report["rows"][1];
    assert_eq!(his["denied_by"].as_array().unwrap().len(), 2);
    assert_eq!(
        his["denied_by"][0],
        "permissive policy \"own\" for SELECT on the stored row is false"
    );
    assert_eq!(
        his["verdicts"][0]["operands"],
        json!([{"text": "owner", "value": BEN}, {"text": "auth.uid()", "value": ANA}])
    );
    assert_eq!(report["rows"][3]["verdicts"][1]["verdict"], "null");
    assert_eq!(
        step(&report, "exposed"),
        (true, "The schema public is exposed by the API.")
    );
    assert_eq!(
        step(&report, "policies"),
        (true, "2 policies apply to authenticated.")
    );

    let report = select(&mut project, anon(), "notes").await;
    assert_eq!(allowed(&report, "title"), ["ours"]);
    assert_eq!(report["policies"][0]["applies"], false);
    assert_eq!(report["agrees"], true);
}

#[tokio::test]
async fn console_080_privileges_exposure_and_bypassed_row_security_are_told_apart() {
    let mut project = Project::start(&format!(
        "{} create schema hidden; create table hidden.plans (id int); insert into hidden.plans values (1);
         create table columns (id int primary key, secret text); insert into columns values (1, 'x');
         revoke all on columns from anon; grant select (id) on columns to anon;",
        notes()
    ))
    .await;

    let report = select(&mut project, subject("service_role", json!({})), "notes").await;
    assert_eq!(allowed(&report, "id").len(), 4);
    assert_eq!(
        step(&report, "rls"),
        (true, "Row-level security is on, but service_role bypasses it.")
    );
    assert_eq!(report["agrees"], true);

    let report = select(&mut project, anon(), "hidden.plans").await;
    assert!(!step(&report, "exposed").0 && !step(&report, "privilege").0);
    assert_eq!(report["truth"]["error"]["code"], "42501");
    assert_eq!(report["agrees"], true);

    let report = select(&mut project, anon(), "columns").await;
    assert!(!step(&report, "privilege").0);
    assert!(
        report
            .to_string()
            .contains("anon has no privilege select on the column secret")
    );
    assert_eq!(report["agrees"], true);

    let oid = project.oid("columns").await;
    let of_one_column = json!({"kind": "verb", "verb": "select", "table": oid, "columns": ["id"]});
    let report = project.simulate(anon(), of_one_column).await;
    assert_eq!(
        (&report["agrees"], &report["truth"]["rows"]),
        (&json!(true), &json!([{"id": "1"}]))
    );
}

#[tokio::test]
async fn console_081_inherited_roles_restrictive_and_forced_policies_count() {
    let mut project = Project::start(
        "create role simulated_editors nologin; grant simulated_editors to authenticated;
         create table pages (id int primary key, level int);
         alter table pages enable row level security; alter table pages force row level security;
         insert into pages values (1, 1), (2, 5);
         create policy editors on pages to simulated_editors using (true);
         create policy low on pages as restrictive using (level < 3);",
    )
    .await;

    let report = select(&mut project, user(ANA), "pages").await;

    assert_eq!(allowed(&report, "id"), ["1"]);
    assert_eq!(
        report["rows"][1]["denied_by"],
        json!(["restrictive policy \"low\" for SELECT on the stored row is false"])
    );
    assert_eq!(report["agrees"], true);
    assert_eq!(
        allowed(&select(&mut project, anon(), "pages").await, "id"),
        Vec::<String>::new()
    );
}

#[tokio::test]
async fn console_080_session_user_is_the_authenticator_and_other_tables_are_under_their_own_rights() {
    let mut project = Project::start(&format!(
        "create table teams (id int primary key, member uuid); alter table teams enable row level security;
         create policy member on teams for select using (member = auth.uid());
         insert into teams values (1, '{ANA}'), (2, '{BEN}');
         create table tasks (id int primary key, team int); alter table tasks enable row level security;
         insert into tasks values (10, 1), (20, 2);
         create policy team on tasks for select using (exists (select from teams where teams.id = tasks.team));
         create policy gateway on tasks as restrictive using (session_user = 'authenticator');"
    ))
    .await;

    let report = select(&mut project, user(ANA), "tasks").await;

    assert_eq!(allowed(&report, "id"), ["10"]);
    assert_eq!(report["agrees"], true, "{report}");
}

#[tokio::test]
async fn console_080_a_function_in_a_schema_without_usage_works_as_in_the_saved_policy() {
    let mut project = Project::start(&format!(
        "create schema private;
         create function private.is_ana() returns boolean language sql stable security definer set search_path = ''
           as $$ select auth.uid() = '{ANA}' $$;
         create table diary (id int primary key); alter table diary enable row level security;
         insert into diary values (1); create policy p on diary using (private.is_ana());"
    ))
    .await;

    let report = select(&mut project, user(ANA), "diary").await;
    assert_eq!(
        (allowed(&report, "id").len(), &report["agrees"]),
        (1, &json!(true)),
        "{report}"
    );
    assert!(report["banners"].to_string().contains("session_user"));

    let report = select(&mut project, user(BEN), "diary").await;
    assert_eq!(
        (allowed(&report, "id").len(), &report["agrees"]),
        (0, &json!(true))
    );

    project
        .sql("revoke execute on function private.is_ana from public")
        .await;
    let report = select(&mut project, user(ANA), "diary").await;
    assert_eq!(report["rows"][0]["verdicts"][0]["verdict"], "error", "{report}");
    assert_eq!(
        (&report["truth"]["error"]["code"], &report["agrees"]),
        (&json!("42501"), &json!(true))
    );
}

#[tokio::test]
async fn console_082_banners_name_what_may_differ() {
    let mut project = Project::start(
        "create table t (id int primary key); alter table t enable row level security; insert into t values (1);
         create table base (id int); create view v as select id from base; insert into base values (1);
         create policy dice on t using (random() < 2);
         create policy viewed on t using (id in (select id from v));
         create policy place on t using (ctid is not null);",
    )
    .await;

    let report = select(&mut project, anon(), "t").await;

    let banners = report["banners"].to_string();
    for part in [
        "\\\"dice\\\" calls a volatile function",
        "\\\"viewed\\\" reads a view",
        "\\\"place\\\" uses a system column",
    ] {
        assert!(banners.contains(part), "{part} is not in {banners}");
    }
}

#[tokio::test]
async fn console_084_an_unsaved_policy_shows_the_rows_that_appear_and_vanish() {
    let mut project = Project::start(&notes()).await;
    let table = project.oid("notes").await;
    let request = json!({"kind": "verb", "verb": "select", "table": table});
    let unsaved = json!([
        {"name": "shared", "command": "select", "using": "title = 'his' -- for a day"},
    ]);

    let report = project
        .try_simulate(user(ANA), request.clone(), unsaved)
        .await
        .unwrap();

    assert_eq!(allowed(&report, "title"), ["hers", "ours"]);
    let with: Vec<_> = report["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row["allowed_unsaved"])
        .collect();
    assert_eq!(json!(with), json!([true, true, false, false]));
    assert_eq!(
        (&report["agrees"], &report["policies"][1]["replaced"]),
        (&json!(true), &json!(true))
    );

    let broken = json!([{"name": "new", "command": "select", "using": "no_such_column"}]);
    let report = project
        .try_simulate(user(ANA), request.clone(), broken)
        .await
        .unwrap();
    assert!(report.to_string().contains("no_such_column"));
    assert_eq!(report["agrees"], true);

    project.options.run_for_real = false;
    let refused = json!([{"name": "new", "command": "select", "using": "true"}]);
    assert!(
        project
            .try_simulate(user(ANA), request.clone(), refused)
            .await
            .is_err()
    );
    let report = project.simulate(user(ANA), request).await;
    assert_eq!(
        (&report["truth"], &report["agrees"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(allowed(&report, "title"), ["hers", "ours"]);
}

#[tokio::test]
async fn console_080_a_rest_request_and_an_sql_text_are_explained() {
    let mut project = Project::start(&notes()).await;

    let request =
        json!({"kind": "rest", "method": "GET", "path": "/rest/v1/notes?select=id,title&id=gt.1&limit=5"});
    let report = project.simulate(user(ANA), request).await;
    assert_eq!(
        (allowed(&report, "title"), &report["agrees"]),
        (vec!["ours".to_owned()], &json!(true)),
        "{report}"
    );
    assert_eq!(report["rows"].as_array().unwrap().len(), 3);

    let request = json!({"kind": "sql", "text": "select count(*) from notes"});
    let report = project.simulate(anon(), request).await;
    assert_eq!(report["truth"]["rows"], json!([{"count": "1"}]));
    assert!(
        step(&report, "policies")
            .1
            .starts_with("public.notes: row-level security is on")
    );

    let several = json!({"kind": "sql", "text": "commit; drop table notes"});
    let report = project.simulate(anon(), several).await;
    assert_eq!(report["truth"]["error"]["code"], "42601");

    let unknown = json!({"kind": "rest", "method": "GET", "path": "/rest/v1/nothing"});
    assert!(project.try_simulate(anon(), unknown, json!([])).await.is_err());
}

#[tokio::test]
async fn console_080_rows_of_an_sql_text_keep_columns_of_one_name_and_all_digits() {
    let mut project = Project::start(&notes()).await;

    let text = "select 9007199254740993 as id, null as id, 1.50 as id, '[9007199254740993]'::jsonb as id_2 from notes limit 1";
    let request = json!({"kind": "sql", "text": text});
    let report = project.simulate(user(ANA), request).await;

    assert_eq!(
        report["truth"]["rows"],
        json!([{"id": "9007199254740993", "id_3": null, "id_4": "1.50", "id_2": "[9007199254740993]"}])
    );
}

#[tokio::test]
async fn console_080_limit_offset_and_order_of_a_request_leave_a_part_of_the_allowed_rows() {
    let mut project = Project::start(
        "create table numbers (id int primary key, parity int, kept boolean);
         create table unkeyed (id int);
         revoke all on numbers from anon;
         grant select (id, kept) on numbers to anon;
         grant select on numbers, unkeyed to authenticated;
         alter table numbers enable row level security;
         alter table unkeyed enable row level security;
         create policy kept on numbers for select using (kept);
         create policy everything on unkeyed for select using (true);
         insert into numbers select n, n % 2, n > 20 from generate_series(1, 250) n;
         insert into unkeyed select n from generate_series(1, 250) n;",
    )
    .await;
    let mut ask = async |subject, query: &str| {
        let path = format!("/rest/v1/{query}");
        let request = json!({"kind": "rest", "method": "GET", "path": path});
        project.simulate(subject, request).await
    };
    let ids = |report: &Value| -> Vec<String> {
        let rows = report["truth"]["rows"].as_array().unwrap().iter();
        rows.map(|row| row["id"].as_str().unwrap().to_owned()).collect()
    };

    let first = ask(user(ANA), "numbers?select=id&id=lte.30&order=id.desc&limit=3").await;
    assert_eq!(ids(&first), ["30", "29", "28"]);
    assert_eq!(first["agrees"], true, "{first}");
    assert_eq!(
        step(&first, "limit"),
        (true, "With limit 3, 3 of the 10 allowed rows are returned.")
    );
    assert_eq!(first["rows"].as_array().unwrap().len(), 30);

    // Only ten rows are visible, so an offset of ten leaves none.
    let beyond = ask(user(ANA), "numbers?id=lte.30&limit=5&offset=10").await;
    assert_eq!((ids(&beyond).len(), &beyond["agrees"]), (0, &json!(true)));
    assert!(!step(&beyond, "limit").0);

    // Any three of the ten are a right answer.
    let unordered = ask(user(ANA), "numbers?id=lte.30&limit=3&order=parity").await;
    assert_eq!((ids(&unordered).len(), &unordered["agrees"]), (3, &json!(true)));

    // Of 250 rows those are explained that come first in the order of the request.
    let newest = ask(user(ANA), "numbers?order=id.desc&limit=5").await;
    assert_eq!(ids(&newest), ["250", "249", "248", "247", "246"]);
    assert_eq!(newest["agrees"], true, "{newest}");
    assert_eq!(newest["rows"][0]["values"]["id"], "250");
    let far = ask(user(ANA), "numbers?order=id&limit=5&offset=200").await;
    assert_eq!((ids(&far).len(), &far["agrees"]), (5, &Value::Null));
    let unkeyed = ask(user(ANA), "unkeyed").await;
    assert_eq!((ids(&unkeyed).len(), &unkeyed["agrees"]), (100, &Value::Null));

    let hidden = ask(anon(), "numbers?select=id&order=parity").await;
    assert!(!step(&hidden, "privilege").0);
    assert_eq!(hidden["agrees"], true, "{hidden}");
}

#[tokio::test]
async fn console_080_odd_names_types_and_many_rows_are_handled() {
    let mut project = Project::start(
        r#"create schema "My Schema"; grant usage on schema "My Schema" to anon;
           create table "My Schema"."Odd ""Name" (
             "the id" bigint primary key, "select" text[], data json, gone int, "when" timestamptz, blob bytea,
             doubled bigint generated always as ("the id" * 2) stored);
           alter table "My Schema"."Odd ""Name" drop column gone;
           grant select on "My Schema"."Odd ""Name" to anon;
           alter table "My Schema"."Odd ""Name" enable row level security;
           insert into "My Schema"."Odd ""Name" ("the id", "select", data, "when", blob)
             select n, array['a"b', null, '{,}'], '{"k": "v\""}', now(), '\x00ff' from generate_series(1, 250) n;
           create policy "p ""1" on "My Schema"."Odd ""Name" using
             ("the id" % 2 = 0 and "select"[1] = 'a"b' and (select doubled) = "the id" * 2);"#,
    )
    .await;

    let report = select(&mut project, anon(), r#""My Schema"."Odd ""Name""#).await;

    assert_eq!(report["agrees"], true, "{report}");
    assert_eq!(report["rows"].as_array().unwrap().len(), 100);
    assert_eq!(allowed(&report, "the id").len(), 50);
}
