//! Sends the requests of `e2e/golden/pg` to `/pg` and compares with the recorded responses of postgres-meta 0.99.

mod case;
mod normalize;
mod original;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use actix_web::{App, test, web};
use selvedge_meta::{Meta, MetaConfig, configure};
use selvedge_postgres::{Database, Logins};
use selvedge_testing::TestDatabase;
use serde_json::Value;

use self::case::{Answer, Step, Variables};
use self::normalize::{Normalizer, without_console_rights};
use self::original::Original;

fn corpus(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../e2e/golden/pg/{name}.json"))
}

fn start_service(database: &TestDatabase) -> Arc<Meta> {
    let logins = Logins::with_single_login(database.config("postgres"));
    let config = MetaConfig {
        statement_timeout: Duration::from_secs(30),
        body_bytes: 100_000,
        result_bytes: 1024 * 1024,
    };
    Meta::new(Database::new(logins), config)
}

async fn send(meta: &Arc<Meta>, step: &Step, variables: &Variables) -> Answer {
    let app =
        test::init_service(App::new().service(web::scope("/pg").configure(configure(Arc::clone(meta)))))
            .await;
    let path = format!("/pg{}", variables.fill_path(&step.path));
    let mut request = test::TestRequest::with_uri(&path).method(step.method.parse().expect("a method"));
    if let Some(body) = &step.body {
        request = request.set_json(variables.fill(body));
    }
    let response = test::call_service(&app, request.to_request()).await;
    let status = response.status().as_u16();
    let body = test::read_body(response).await;
    let answer = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Answer { status, answer }
}

/// Sends the requests of a file in order. With `RECORD_POSTGRES_META=<address of a postgres-meta>` they go there instead, and
/// its responses are written to the file.
async fn replay(name: &str) {
    let database = TestDatabase::create().await;
    let client = database.connect("postgres").await;
    let original = Original::find(&database);
    let meta = start_service(&database);
    let text = std::fs::read_to_string(corpus(name)).expect("the corpus is complete");
    let mut steps: Vec<Step> = serde_json::from_str(&text).expect("the corpus is JSON");
    let mut variables = Variables::default();
    let mut normalizer = Normalizer::default();
    let mut differences = Vec::new();
    for step in &mut steps {
        if let Some(sql) = &step.sql {
            client
                .batch_execute(sql)
                .await
                .expect("the statements of a file run");
            continue;
        }
        let answer = match &original {
            Some(original) => original.send(step, &variables).await,
            None => send(&meta, step, &variables).await,
        };
        variables.remember(step, &answer.answer);
        let answer = normalizer.normalize(answer);
        if original.is_some() {
            step.record(answer);
            continue;
        }
        let mut expected = step.expected();
        expected.answer = without_console_rights(expected.answer);
        if answer != expected {
            let (method, path) = (&step.method, &step.path);
            let body = step.body.as_ref().unwrap_or(&Value::Null);
            differences.push(format!(
                "{method} {path} {body}\n  recorded {expected}\n  answered {answer}"
            ));
        }
    }
    if original.is_some() {
        std::fs::write(corpus(name), case::print(&steps)).expect("the recording is written");
    }
    assert!(differences.is_empty(), "{name}\n{}", differences.join("\n"));
}

macro_rules! recorded {
    ($($test:ident $file:literal)*) => {
        $(
            #[actix_web::rt::test(system = "selvedge_testing::System")]
            async fn $test() {
                replay($file).await;
            }
        )*
    };
}

recorded! {
    tables_are_created_changed_and_dropped_as_recorded "tables"
    columns_are_created_changed_and_dropped_as_recorded "columns"
    policies_are_created_changed_and_dropped_as_recorded "policies"
    functions_are_created_changed_and_dropped_as_recorded "functions"
    triggers_are_created_changed_and_dropped_as_recorded "triggers"
    publications_are_created_changed_and_dropped_as_recorded "publications"
    roles_are_created_changed_and_dropped_as_recorded "roles"
    extensions_are_created_changed_and_dropped_as_recorded "extensions"
    schemas_are_created_changed_and_dropped_as_recorded "schemas"
    privileges_are_granted_and_revoked_as_recorded "privileges"
    failing_queries_are_described_as_recorded "queries"
    objects_are_listed_as_recorded "lists"
}
