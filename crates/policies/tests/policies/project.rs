//! Runs the simulator on a database with the platform's schema.

use std::sync::Arc;

use selvedge_policies::{Connections, Options, Request, SimulationError, Subject, UnsavedPolicy, simulate};
use selvedge_postgres::{Database, Login, Logins};
use selvedge_testing::TestDatabase;
use serde_json::{Value, json};
use tokio_postgres::Client;

/// The id of a user who owns rows in the tests' tables.
pub(crate) const ANA: &str = "11111111-1111-4111-8111-111111111111";
pub(crate) const BEN: &str = "22222222-2222-4222-8222-222222222222";

pub(crate) struct Project {
    pub(crate) owner: Client,
    caller: deadpool_postgres::Pool,
    database: Arc<Database>,
    pub(crate) options: Options,
    test: TestDatabase,
}

impl Project {
    pub(crate) async fn start(sql: &str) -> Self {
        let test = TestDatabase::create().await;
        let owner = test.connect("postgres").await;
        owner.batch_execute(sql).await.expect("the project's SQL applies");
        let login = test.config("authenticator");
        let database = Database::connect(Logins::with_single_login(login))
            .await
            .expect("a login");
        Self {
            owner,
            caller: database.pool(Login::Authenticator, 1),
            database,
            options: Options {
                exposed_schemas: vec!["public".into()],
                search_path: r#""public", "extensions""#.into(),
                run_for_real: true,
                fire_triggers: true,
            },
            test,
        }
    }

    pub(crate) async fn sql(&self, sql: &str) {
        self.owner.batch_execute(sql).await.expect("the statement runs");
    }

    /// Opens another connection of the owner.
    pub(crate) async fn open(&self) -> Client {
        self.test.connect("postgres").await
    }

    pub(crate) async fn oid(&self, table: &str) -> String {
        let sql = "select $1::text::regclass::oid::text";
        self.owner
            .query_one(sql, &[&table])
            .await
            .expect("a table")
            .get(0)
    }

    /// Simulates a request and returns the report as JSON.
    pub(crate) async fn simulate(&mut self, subject: Subject, request: Value) -> Value {
        self.try_simulate(subject, request, json!([]))
            .await
            .expect("a report")
    }

    pub(crate) async fn try_simulate(
        &mut self,
        subject: Subject,
        request: Value,
        unsaved: Value,
    ) -> Result<Value, SimulationError> {
        let request: Request = serde_json::from_value(request).expect("a request");
        let unsaved: Vec<UnsavedPolicy> = serde_json::from_value(unsaved).expect("policies");
        let mut caller = self.caller.get().await.expect("a connection");
        let connections = Connections {
            owner: &mut self.owner,
            caller: &mut caller,
            roles: &self.database.role_settings(),
        };
        let report = simulate(connections, &self.options, subject, request, &unsaved).await?;
        Ok(serde_json::to_value(report).expect("a report is JSON"))
    }
}

pub(crate) fn anon() -> Subject {
    subject("anon", json!({}))
}

pub(crate) fn user(id: &str) -> Subject {
    subject("authenticated", json!({"sub": id, "aal": "aal1"}))
}

pub(crate) fn subject(role: &str, mut claims: Value) -> Subject {
    claims["role"] = role.into();
    Subject {
        role: role.into(),
        claims,
    }
}

/// Returns the values of a column in all reported rows that are allowed.
pub(crate) fn allowed(report: &Value, column: &str) -> Vec<String> {
    report["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .filter(|row| row["allowed"] == true)
        .map(|row| row["values"][column].as_str().expect("a text").to_owned())
        .collect()
}

/// Returns the outcome of a step, and its text.
pub(crate) fn step<'r>(report: &'r Value, name: &str) -> (bool, &'r str) {
    let step = report["steps"]
        .as_array()
        .and_then(|steps| steps.iter().find(|step| step["step"] == name))
        .unwrap_or_else(|| panic!("no step {name} in {report}"));
    (step["ok"] == true, step["text"].as_str().expect("a text"))
}
