//! A project's folder applied to a real database: migrations, history, extensions, roles and seeds (gateway.md §8,
//! §10).

mod extensions;
mod history;
mod seeds;
mod superuser_statements;

use std::path::{Path, PathBuf};

use selvedge_postgres::migrate::{MigrateError, Migration, apply_pending, discover_migrations};
use selvedge_testing::TestDatabase;
use tokio_postgres::Client;

/// A project folder and a database, connected as `postgres`.
pub(crate) struct Project {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) database: TestDatabase,
    pub(crate) client: Client,
}

impl Project {
    pub(crate) async fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let database = TestDatabase::create().await;
        let client = database.connect("postgres").await;
        let project = Self {
            folder,
            database,
            client,
        };
        for (path, text) in files {
            project.write(path, text);
        }
        project
    }

    pub(crate) fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("below the project")).expect("created");
        std::fs::write(&path, text).expect("written");
        path
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Applies pending migrations and returns their names.
    pub(crate) async fn migrate(&self) -> Result<Vec<String>, MigrateError> {
        self.migrate_with_warnings().await.map(|(ran, _)| ran)
    }

    pub(crate) async fn migrate_with_warnings(&self) -> Result<(Vec<String>, Vec<String>), MigrateError> {
        let local: Vec<Migration> = discover_migrations(&self.path().join("migrations"))?.migrations;
        let mut warnings = Vec::new();
        let ran = apply_pending(&self.client, &local, |warning| warnings.push(warning)).await?;
        Ok((
            ran.iter().map(|migration| migration.name.clone()).collect(),
            warnings,
        ))
    }

    pub(crate) async fn query_value(&self, sql: &str) -> String {
        let row = self
            .client
            .query_one(&format!("select ({sql})::text"), &[])
            .await
            .expect("a value");
        row.get::<_, Option<String>>(0)
            .unwrap_or_else(|| "null".to_owned())
    }
}
