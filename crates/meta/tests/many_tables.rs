//! Lists of databases with many tables: what they read does not grow with the square of the tables. Plans are compared, not times.

use actix_web::test::TestRequest;
use serde_json::Value;

use crate::api::Fixture;

/// Tables of which each refers to the one before, and a table that refers to itself.
const TABLES: &str = "
    do $$ begin
      for n in 1..150 loop
        execute format(
          'create table public.many_%s (id int primary key, name text not null default ''x'' check (name <> ''''), parent int %s)',
          n, case when n > 1 then format('references public.many_%s', n - 1) else '' end);
      end loop;
    end $$;
    create table public.tree (id int, part int, up_id int, up_part int, primary key (part, id),
      foreign key (up_part, up_id) references public.tree (part, id));
    comment on column public.tree.up_id is 'the one above';
    comment on table public.tree is 'trees'";

/// How often each scan of a catalog as a whole ran, from `actual … loops=N`.
fn whole_scans(plan: &[String]) -> Vec<(u64, &str)> {
    plan.iter()
        // There are few schemas, and a scan of them costs what an index would.
        .filter(|line| line.contains("Seq Scan on pg_") && !line.contains("pg_namespace"))
        .filter_map(|line| {
            let (_, loops) = line.rsplit_once("loops=")?;
            Some((loops.trim_end_matches(')').parse().ok()?, line.trim()))
        })
        .collect()
}

async fn make_tables(fixture: &Fixture) -> tokio_postgres::Client {
    let postgres = fixture.database.connect("postgres").await;
    postgres.batch_execute(TABLES).await.expect("the tables are made");
    let superuser = fixture.database.superuser().await;
    superuser.batch_execute("analyze").await.expect("a superuser may");
    postgres
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_052_no_catalog_is_read_as_a_whole_for_each_table_or_column() {
    let fixture = Fixture::create().await;
    let postgres = make_tables(&fixture).await;

    for sql in [
        include_str!("../src/lists/sql/tables.sql"),
        include_str!("../src/lists/sql/columns.sql"),
    ] {
        let sql = sql
            .replace("$1", "null")
            .replace("$2", "null")
            .replace("$3", "null");
        let explain =
            format!("explain (analyze, timing off) select row_to_json(object)::text from ({sql}) object");
        let rows = postgres.query(&explain, &[]).await.expect("a plan");
        let plan: Vec<String> = rows.iter().map(|row| row.get(0)).collect();

        let repeated: Vec<_> = whole_scans(&plan)
            .into_iter()
            .filter(|(loops, _)| *loops > 100)
            .collect();

        assert!(repeated.is_empty(), "{repeated:#?}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_052_a_key_to_its_own_table_is_listed_once_for_each_pair_of_columns() {
    let fixture = Fixture::create().await;
    make_tables(&fixture).await;

    let tree = fixture.find("/pg/tables?included_schemas=public", "tree").await;
    let middle = fixture.find("/pg/tables?included_schemas=public", "many_7").await;

    let pairs = |table: &Value| -> Vec<String> {
        let list = table["relationships"].as_array().expect("a list");
        let text = |key: &Value, name: &str| key[name].as_str().expect("a name").to_owned();
        list.iter()
            .map(|key| {
                format!(
                    "{}.{} {}.{}",
                    text(key, "source_table_name"),
                    text(key, "source_column_name"),
                    text(key, "target_table_name"),
                    text(key, "target_column_name")
                )
            })
            .collect()
    };
    assert_eq!(pairs(&tree), ["tree.up_part tree.part", "tree.up_id tree.id"]);
    assert_eq!(
        pairs(&middle),
        ["many_7.parent many_6.id", "many_8.parent many_7.id"]
    );
    let keys: Vec<&Value> = tree["primary_keys"]
        .as_array()
        .expect("keys")
        .iter()
        .map(|key| &key["name"])
        .collect();
    assert_eq!(keys, ["part", "id"]);
    assert_eq!(tree["columns"][2]["comment"], "the one above");
    let id = &tree["id"];
    assert_eq!(fixture.get(&format!("/pg/tables/{id}")).await, tree);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_052_names_with_a_zero_byte_are_the_callers_fault() {
    let fixture = Fixture::create().await;

    for path in ["/pg/tables?included_schemas=%00", "/pg/extensions/%00"] {
        let (status, body) = fixture.send(TestRequest::get().uri(path)).await;
        assert_eq!(status, 400, "{path}: {body}");
    }
}
