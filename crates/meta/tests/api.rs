//! The API of postgres-meta on a real PostgreSQL, called as its clients call it.

use std::sync::Arc;
use std::time::Duration;

use actix_web::{App, test, web};
use selvedge_meta::{Meta, MetaConfig, configure};
use selvedge_postgres::{Database, Logins};
use selvedge_testing::TestDatabase;
use serde_json::{Value, json};

const FIXTURE: &str = r#"
    create type mood as enum ('calm', 'wild');
    create table "Or'ders" (
      id bigint generated always as identity primary key,
      "mo od" mood not null default 'calm',
      total numeric check (total > 0),
      code text unique
    );
    comment on table "Or'ders" is 'what was bought';
    alter table "Or'ders" enable row level security;
    create policy "own rows" on "Or'ders" for select to authenticated, anon using (total > 1);
    create table lines (order_id bigint references "Or'ders" (id), place int, primary key (order_id, place));
    create view cheap as select id, total from "Or'ders" where total < 5;
    create materialized view totals as select sum(total) as total from "Or'ders";
    create function touch() returns trigger language plpgsql security definer set search_path = 'a=b'
      as $$ begin return new; end $$;
    create function total_of(of_order bigint, out amount numeric, scale int default 2) language sql stable
      as $$ select 1.0 $$;
    create trigger touched before insert or update on "Or'ders" for each row when (new.total > 2) execute function touch('x', 'y');
    grant select (place) on lines to dashboard_user;
    create publication lines_only for table lines with (publish = 'insert');
"#;

/// The service with a new database.
pub(crate) struct Fixture {
    pub(crate) database: TestDatabase,
    meta: Arc<Meta>,
}

impl Fixture {
    pub(crate) async fn create() -> Self {
        Self::with_result_limit(1024 * 1024).await
    }

    async fn with_result_limit(result_bytes: usize) -> Self {
        let database = TestDatabase::create().await;
        let client = database.connect("postgres").await;
        client.batch_execute(FIXTURE).await.expect("the fixture applies");
        let logins = Logins::with_single_login(database.config("postgres"));
        let config = MetaConfig {
            statement_timeout: Duration::from_secs(30),
            body_bytes: 100_000,
            result_bytes,
        };
        let meta = Meta::new(Database::new(logins), config);
        Self { database, meta }
    }

    pub(crate) async fn send(&self, request: test::TestRequest) -> (u16, Value) {
        let meta = Arc::clone(&self.meta);
        let app = test::init_service(App::new().service(web::scope("/pg").configure(configure(meta)))).await;
        let response = test::call_service(&app, request.to_request()).await;
        let status = response.status().as_u16();
        let body = test::read_body(response).await;
        let body = serde_json::from_slice(&body)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&body).into_owned()));
        (status, body)
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let (status, body) = self.send(test::TestRequest::get().uri(path)).await;
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    async fn post_query(&self, path: &str, body: Value) -> (u16, Value) {
        self.send(test::TestRequest::post().uri(path).set_json(body))
            .await
    }

    async fn query(&self, sql: &str) -> (u16, Value) {
        self.post_query("/pg/query", json!({ "query": sql })).await
    }

    /// The object of a list with this name.
    pub(crate) async fn find(&self, path: &str, name: &str) -> Value {
        let list = self.get(path).await;
        let objects = list.as_array().expect("a list");
        let object = objects.iter().find(|object| object["name"] == name);
        object
            .unwrap_or_else(|| panic!("{name} is missing in {list}"))
            .clone()
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_052_lists_have_nothing_of_this_servers_own() {
    let fixture = Fixture::create().await;

    for list in [
        "schemas",
        "tables",
        "views",
        "materialized-views",
        "foreign-tables",
        "columns",
        "functions",
        "types",
        "triggers",
        "policies",
        "publications",
        "extensions",
        "roles",
        "indexes",
        "table-privileges",
        "column-privileges",
        "generators/typescript",
    ] {
        let text = fixture.get(&format!("/pg/{list}")).await.to_string();

        for own in ["\"_selvedge\"", " _selvedge:", "selvedge_console"] {
            assert!(!text.contains(own), "/pg/{list} names {own}");
        }
    }
    let roles = fixture
        .get("/pg/roles?include_default_roles=true")
        .await
        .to_string();
    assert!(roles.contains("selvedge_console_reader"), "{roles}");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn tables_are_listed_with_columns_keys_and_relationships() {
    let fixture = Fixture::create().await;

    let table = fixture
        .find("/pg/tables?included_schemas=public", "Or'ders")
        .await;

    assert_eq!(table["rls_enabled"], true);
    assert_eq!(table["replica_identity"], "DEFAULT");
    assert_eq!(table["comment"], "what was bought");
    assert_eq!(table["primary_keys"][0]["name"], "id");
    assert_eq!(table["relationships"][0]["source_table_name"], "lines");
    assert_eq!(table["relationships"][0]["target_column_name"], "id");
    let columns = table["columns"].as_array().expect("columns");
    assert_eq!(columns[0]["identity_generation"], "ALWAYS");
    assert_eq!(columns[1]["data_type"], "USER-DEFINED");
    assert_eq!(columns[1]["enums"], json!(["calm", "wild"]));
    assert_eq!(columns[2]["check"], "total > 0::numeric");
    assert_eq!(columns[3]["is_unique"], true);
    let id = &table["id"];
    assert_eq!(
        fixture.get(&format!("/pg/tables/{id}")).await["columns"],
        table["columns"]
    );
    let column = fixture.get(&format!("/pg/columns/{id}.2")).await;
    assert_eq!(column["name"], "mo od");
    let bare = fixture
        .get("/pg/tables?included_schemas=public&include_columns=false")
        .await;
    assert!(bare[0].get("columns").is_none());
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn lists_are_cut_into_pages_and_leave_out_what_belongs_to_postgresql() {
    let fixture = Fixture::create().await;

    let first = fixture.get("/pg/tables?included_schemas=public&limit=1").await;
    let second = fixture
        .get("/pg/tables?included_schemas=public&limit=1&offset=1")
        .await;
    assert_eq!(
        (&first[0]["name"], &second[0]["name"]),
        (&json!("Or'ders"), &json!("lines"))
    );
    let has_system = |list: &Value| {
        list.as_array()
            .expect("a list")
            .iter()
            .any(|o| o["schema"] == "pg_catalog")
    };
    assert!(!has_system(
        &fixture.get("/pg/tables?include_columns=false").await
    ));
    assert!(has_system(
        &fixture
            .get("/pg/tables?include_system_schemas=true&include_columns=false")
            .await
    ));
    let without = fixture.get("/pg/columns?excluded_schemas=public,auth").await;
    let schemas = without.as_array().expect("a list").iter();
    assert!(
        schemas
            .clone()
            .all(|column| column["schema"] != "public" && column["schema"] != "auth")
    );
    assert!(schemas.count() > 0);
    let (status, body) = fixture
        .send(test::TestRequest::get().uri("/pg/tables?limit=x"))
        .await;
    assert_eq!(
        (status, &body["error"]),
        (
            400,
            &json!("querystring/limit must be an integer that is not negative")
        )
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn every_list_answers_and_every_object_of_it_is_found_by_its_id() {
    let fixture = Fixture::create().await;
    let policy = fixture.find("/pg/policies", "own rows").await;
    assert_eq!(policy["roles"], json!(["anon", "authenticated"]));
    assert_eq!(
        (&policy["command"], &policy["action"]),
        (&json!("SELECT"), &json!("PERMISSIVE"))
    );
    let trigger = fixture.find("/pg/triggers", "touched").await;
    assert_eq!(trigger["events"], json!(["INSERT", "UPDATE"]));
    assert_eq!(trigger["function_args"], json!(["x", "y"]));
    assert_eq!(trigger["condition"], "(new.total > (2)::numeric)");
    let function = fixture.find("/pg/functions", "total_of").await;
    let args = function["args"].as_array().expect("arguments");
    let modes: Vec<&Value> = args.iter().map(|argument| &argument["mode"]).collect();
    let defaults: Vec<&Value> = args.iter().map(|argument| &argument["has_default"]).collect();
    assert_eq!(
        json!([modes, defaults]),
        json!([["in", "out", "in"], [false, null, true]])
    );
    let touch = fixture.find("/pg/functions", "touch").await;
    assert_eq!(touch["config_params"], json!({ "search_path": "\"a=b\"" }));
    assert_eq!(
        fixture.find("/pg/types", "mood").await["enums"],
        json!(["calm", "wild"])
    );
    assert_eq!(
        fixture.find("/pg/publications", "lines_only").await["tables"][0]["name"],
        "lines"
    );
    assert_eq!(fixture.find("/pg/views", "cheap").await["is_updatable"], true);
    assert_eq!(
        fixture.find("/pg/materialized-views", "totals").await["is_populated"],
        true
    );
    assert_eq!(
        fixture.find("/pg/extensions", "pgcrypto").await["schema"],
        "extensions"
    );
    assert_eq!(
        fixture.find("/pg/config", "max_connections").await["vartype"],
        "integer"
    );
    assert_eq!(fixture.get("/pg/foreign-tables").await, json!([]));
    assert!(fixture.get("/pg/config/version").await["version_number"].as_i64() > Some(150_000));
    let anon = fixture.find("/pg/roles", "anon").await;
    assert_eq!(anon["config"], json!({ "statement_timeout": "3s" }));
    let of_project = fixture.get("/pg/roles").await.as_array().expect("roles").len();
    let of_all = fixture.get("/pg/roles?include_default_roles=true").await;
    assert!(of_all.as_array().expect("roles").len() > of_project);
    for kind in [
        "tables",
        "views",
        "materialized-views",
        "indexes",
        "policies",
        "functions",
        "triggers",
        "schemas",
        "roles",
        "publications",
    ] {
        let list = fixture.get(&format!("/pg/{kind}")).await;
        let object = &list[0];
        let found = fixture.get(&format!("/pg/{kind}/{}", object["id"])).await;
        assert_eq!(found["name"], object["name"], "{kind}");
        let (status, body) = fixture
            .send(test::TestRequest::get().uri(&format!("/pg/{kind}/1")))
            .await;
        assert_eq!(status, 404, "{kind}: {body}");
        assert!(
            body["error"].as_str().expect("a text").ends_with("with ID 1"),
            "{body}"
        );
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn privileges_are_listed_by_relation_and_by_column() {
    let fixture = Fixture::create().await;

    let table = fixture
        .find("/pg/table-privileges?included_schemas=public", "lines")
        .await;
    assert_eq!(table["kind"], "table");
    let of_owner = json!({ "grantor": "postgres", "grantee": "postgres", "privilege_type": "SELECT", "is_grantable": false });
    let privileges = table["privileges"].as_array().expect("a list");
    assert!(privileges.contains(&of_owner), "{table}");
    let columns = fixture.get("/pg/column-privileges?included_schemas=public").await;
    let of_column = json!({ "grantor": "postgres", "grantee": "dashboard_user", "privilege_type": "SELECT", "is_grantable": false });
    let readable: Vec<&Value> = columns
        .as_array()
        .expect("a list")
        .iter()
        .filter(|column| {
            column["privileges"]
                .as_array()
                .is_some_and(|list| list.contains(&of_column))
        })
        .map(|column| &column["column_name"])
        .collect();
    assert_eq!(json!(readable), json!(["place"]));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn queries_answer_with_the_rows_of_the_last_result_that_has_any() {
    let fixture = Fixture::create().await;

    let rows = fixture.query("select 1 as one, 9007199254740993::int8 as big, '{1,2}'::int[] as list, '{\"a\": 1}'::jsonb as doc, null as nothing").await;
    assert_eq!(
        rows,
        (
            200,
            json!([{ "one": 1, "big": "9007199254740993", "list": [1, 2], "doc": { "a": 1 }, "nothing": null }])
        )
    );
    assert_eq!(
        fixture.query("create table made (id int)").await,
        (200, json!([]))
    );
    let several = fixture
        .query("insert into made values (1), (2); select count(*) from made; insert into made values (3)")
        .await;
    assert_eq!(several, (200, json!([{ "count": 2 }])));
    // VACUUM runs only outside of a transaction.
    assert_eq!(fixture.query("vacuum made").await, (200, json!([])));
    let bound = json!({ "query": "select $1::int + 1 as sum, $2 || $3 as text, $4::text[] as list", "parameters": [1, "a'", "\\b", ["x\"", null]] });
    assert_eq!(
        fixture.post_query("/pg/query", bound).await,
        (200, json!([{ "sum": 2, "text": "a'\\b", "list": ["x\"", null] }]))
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn failing_queries_undo_all_their_statements_and_point_at_the_fault() {
    let fixture = Fixture::create().await;

    let (status, body) = fixture
        .query("insert into lines (place) values (1);\nselect nope")
        .await;
    assert_eq!((status, &body["code"]), (400, &json!("23502")), "{body}");
    let (status, body) = fixture.query("create table gone (id int);\nselect nope").await;
    assert_eq!(
        (status, &body["code"], &body["position"]),
        (400, &json!("42703"), &json!("36")),
        "{body}"
    );
    assert_eq!(
        body["error"],
        "ERROR:  42703: column \"nope\" does not exist\nLINE 2: select nope\n               ^\n"
    );
    let (_, found) = fixture.query("select to_regclass('gone') as gone").await;
    assert_eq!(found, json!([{ "gone": null }]));
    let bound = json!({ "query": "select nope + $1", "parameters": [1] });
    let (_, body) = fixture.post_query("/pg/query", bound).await;
    assert_eq!(body["position"], "8");
    let cases = [
        (json!({}), "query not found"),
        (json!({ "query": "select 'open" }), "is not closed"),
    ];
    for (body, expected) in cases {
        let (status, answer) = fixture.post_query("/pg/query", body).await;
        assert_eq!(status, 400);
        assert!(
            answer["error"].as_str().expect("a text").contains(expected),
            "{answer}"
        );
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn queries_are_limited_in_time_and_size_and_leave_nothing_in_the_session() {
    let fixture = Fixture::with_result_limit(10_000).await;

    let sleep = json!({ "query": "select pg_sleep(20)" });
    let (status, body) = fixture
        .post_query("/pg/query?statementTimeoutSecs=0.2", sleep.clone())
        .await;
    assert_eq!((status, &body["code"]), (400, &json!("57014")));
    let (status, body) = fixture.post_query("/pg/query?queryTimeoutSecs=0.2", sleep).await;
    assert_eq!((status, &body["error"]), (408, &json!("Query read timeout")));
    let (status, body) = fixture
        .query("select repeat('x', 100) from generate_series(1, 1000)")
        .await;
    assert_eq!((status, &body["code"]), (400, &json!("RESULT_SIZE_EXCEEDED")));
    fixture
        .query("set role anon; create temp table left_behind (id int)")
        .await;
    let (_, rows) = fixture
        .query("select current_user::text as who, to_regclass('left_behind') as gone")
        .await;
    assert_eq!(rows, json!([{ "who": "postgres", "gone": null }]));
    let (status, _) = fixture.query(&"x".repeat(200_000)).await;
    assert_eq!(status, 413);
    let from_page = test::TestRequest::post()
        .uri("/pg/query")
        .insert_header(("origin", "https://evil.example"))
        .set_json(json!({ "query": "select 1" }));
    assert_eq!(fixture.send(from_page).await.0, 403);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn service_role_gains_no_rights_of_a_superuser() {
    let fixture = Fixture::create().await;

    assert_eq!(fixture.meta.check_login().await, Ok(()));
    for sql in [
        "set role supabase_admin",
        "copy lines to program 'cat'",
        "copy lines to '/tmp/lines'",
        "select pg_read_file('/etc/passwd')",
        "alter role postgres superuser",
    ] {
        let (status, body) = fixture.query(sql).await;
        assert_eq!((status, &body["code"]), (400, &json!("42501")), "{sql}: {body}");
    }
    let logins = Logins::with_single_login(fixture.database.config("supabase_admin"));
    let superuser = Meta::new(Database::new(logins), fixture.meta.config());
    assert!(superuser.check_login().await.is_err());
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn types_are_generated_in_four_languages() {
    let fixture = Fixture::create().await;

    for (language, expected) in [
        ("typescript", "\"calm\" | \"wild\""),
        ("go", "type PublicLinesSelect struct {"),
        ("python", "PublicMood: TypeAlias = Literal[\"calm\", \"wild\"]"),
        ("swift?access_control=public", "public enum PublicSchema {"),
    ] {
        let (path, query) = language.split_once('?').unwrap_or((language, ""));
        let types = fixture
            .get(&format!("/pg/generators/{path}?included_schemas=public&{query}"))
            .await;
        let text = types.as_str().expect("a text");
        assert!(text.contains(expected), "{text}");
    }
    for (path, expected) in [("swift?access_control=x", 400), ("cobol", 404)] {
        let request = test::TestRequest::get().uri(&format!("/pg/generators/{path}"));
        assert_eq!(fixture.send(request).await.0, expected);
    }
    let (status, body) = fixture.send(test::TestRequest::get().uri("/pg/nonsense")).await;
    assert_eq!((status, body), (404, json!({ "error": "Not found" })));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_failed_change_is_rolled_back_and_requests_with_origin_are_refused() {
    let fixture = Fixture::create().await;
    let id = fixture.find("/pg/tables", "lines").await["id"].clone();
    let patch = |body: Value| {
        test::TestRequest::patch()
            .uri(&format!("/pg/tables/{id}"))
            .set_json(body)
    };

    let changes = json!({ "rls_enabled": true, "comment": "x", "primary_keys": [], "name": "Or'ders" });
    let (status, body) = fixture.send(patch(changes)).await;
    assert_eq!(
        (status, body),
        (400, json!({ "error": "relation \"Or'ders\" already exists" }))
    );
    let table = fixture.get(&format!("/pg/tables/{id}")).await;
    let state = [
        &table["rls_enabled"],
        &table["comment"],
        &table["primary_keys"][1]["name"],
    ];
    assert_eq!(json!(state), json!([false, null, "place"]));
    // SQL fragments of a request cannot contain further statements.
    let policy =
        json!({ "name": "p", "table": "lines", "definition": "true); commit; drop table lines; --" });
    let (status, body) = fixture
        .send(test::TestRequest::post().uri("/pg/policies").set_json(policy))
        .await;
    assert_eq!(
        (status, body),
        (
            400,
            json!({ "error": "cannot insert multiple commands into a prepared statement" })
        )
    );
    let from_page = |request: test::TestRequest| request.insert_header(("origin", "https://evil.example"));
    for request in [
        test::TestRequest::post()
            .uri("/pg/schemas")
            .set_json(json!({ "name": "made" })),
        test::TestRequest::delete().uri(&format!("/pg/tables/{id}")),
        patch(json!({ "comment": "x" })),
        test::TestRequest::post()
            .uri("/pg/table-privileges")
            .set_json(json!([])),
    ] {
        assert_eq!(fixture.send(from_page(request)).await.0, 403);
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn publications_of_all_tables_and_bypassrls_roles_can_be_created() {
    let fixture = Fixture::create().await;
    let post = |path: &str, body: Value| test::TestRequest::post().uri(path).set_json(body);

    let all = json!({ "name": "everything", "publish_insert": true });
    let (status, publication) = fixture.send(post("/pg/publications", all)).await;
    assert_eq!(
        (status, &publication["tables"]),
        (200, &Value::Null),
        "{publication}"
    );
    let path = format!("/pg/publications/{}", publication["id"]);
    let some = test::TestRequest::patch()
        .uri(&path)
        .set_json(json!({ "tables": ["lines"] }));
    let (status, publication) = fixture.send(some).await;
    assert_eq!(
        (status, &publication["tables"][0]["name"]),
        (200, &json!("lines")),
        "{publication}"
    );
    assert_eq!(publication["publish_insert"], true);
    let role = json!({ "name": "meta_bypass", "can_bypass_rls": true, "password": "not in the log" });
    let (status, role) = fixture.send(post("/pg/roles", role)).await;
    assert_eq!((status, &role["can_bypass_rls"]), (200, &json!(true)), "{role}");
    let client = fixture.database.superuser().await;
    let stored = "select rolpassword from pg_authid where rolname = 'meta_bypass'";
    let password: String = client.query_one(stored, &[]).await.expect("the role").get(0);
    assert!(password.starts_with("SCRAM-SHA-256$4096:"));
    let delete = test::TestRequest::delete().uri(&format!("/pg/roles/{}", role["id"]));
    assert_eq!(fixture.send(delete).await.0, 200);
    let superuser = json!({ "name": "meta_super", "is_superuser": true });
    assert_eq!(fixture.send(post("/pg/roles", superuser)).await.0, 400);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn patching_a_function_body_keeps_its_other_properties() {
    let fixture = Fixture::create().await;
    fixture
        .query("create function strict_one(a int default 1) returns int language sql strict parallel safe cost 7 set work_mem = '4MB' as 'select $1';
            create function atomic_one() returns int language sql begin atomic select 1; end")
        .await;

    for (name, expected) in [
        (
            "strict_one",
            "PARALLEL SAFE STRICT COST 7\n SET work_mem TO '4MB'\nAS $function$select 2$function$",
        ),
        ("atomic_one", "AS $function$select 2$function$"),
    ] {
        let id = fixture.find("/pg/functions", name).await["id"].clone();
        let request = test::TestRequest::patch().uri(&format!("/pg/functions/{id}"));
        let (status, function) = fixture
            .send(request.set_json(json!({ "definition": "select 2" })))
            .await;
        assert_eq!((status, &function["id"]), (200, &id), "{function}");
        let statement = function["complete_statement"].as_str().expect("a text");
        assert!(statement.contains(expected), "{statement}");
    }
}
