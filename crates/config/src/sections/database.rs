//! `[db]`: the database, its migrations, seeds and settings.

use std::time::Duration;

use secrecy::SecretString;
use selvedge_postgres::cluster::DATABASE;

use crate::reader::section::Section;

/// `[db]`.
#[derive(Debug, Clone)]
pub struct DatabaseConfig {
    /// Port of the embedded PostgreSQL. Default 54322.
    pub port: u16,
    /// Name of the database in the embedded cluster: `postgres`, except in `stack`, where every stack has another one.
    pub name: String,
    /// How long a start waits for PostgreSQL. Default 2m.
    pub health_timeout: Duration,
    /// The major version of PostgreSQL that the project was made for: 13 to 18. Default 17. A server of another version is used all
    /// the same, with a note.
    pub major_version: MajorVersion,
    /// `[db.migrations]`.
    pub migrations: MigrationsConfig,
    /// `[db.seed]`.
    pub seed: SeedConfig,
    /// `[db.settings]`: PostgreSQL parameters of the embedded cluster, by name. Those that run programs or open files are in variables of the process.
    pub settings: Vec<(String, String)>,
    /// `[db.vault]`: names and values of secrets.
    pub vault: Vec<(String, SecretString)>,
}

/// The value of `major_version`, and whether the project sets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MajorVersion {
    /// Default 17.
    pub number: u16,
    /// False for the default.
    pub is_explicit: bool,
}

/// `[db.migrations]`.
#[derive(Debug, Clone)]
pub struct MigrationsConfig {
    /// Whether `migrations/` is applied. Default true.
    pub enabled: bool,
}

/// `[db.seed]`.
#[derive(Debug, Clone)]
pub struct SeedConfig {
    /// Whether a fresh database is seeded. Default true.
    pub enabled: bool,
    /// Seed files in order, as glob patterns relative to the project. Default `./seed.sql`.
    pub sql_paths: Vec<String>,
}

impl DatabaseConfig {
    pub(crate) fn read(section: &Section<'_>) -> Self {
        section.ignore(&["shadow_port", "root_key"]);
        if section.optional_string("orioledb_version").is_some() {
            section.report_warning(
                "orioledb_version",
                "has no effect: tables are stored by PostgreSQL's own engine",
            );
        }
        for hosted in ["pooler", "network_restrictions", "ssl_enforcement"] {
            section.section(hosted).ignore_all();
        }
        let migrations = section.section("migrations");
        migrations.ignore(&["schema_paths"]);
        let seed = section.section("seed");
        Self {
            port: section.port("port", 54322),
            name: DATABASE.to_owned(),
            health_timeout: section.duration("health_timeout", Duration::from_secs(120)),
            major_version: major_version(section),
            migrations: MigrationsConfig {
                enabled: migrations.is_enabled(true),
            },
            seed: SeedConfig {
                enabled: seed.is_enabled(true),
                sql_paths: seed.strings("sql_paths", &["./seed.sql"]),
            },
            settings: section.section("settings").text_entries_and_variables(),
            vault: section.section("vault").secret_entries(),
        }
    }
}

fn major_version(section: &Section<'_>) -> MajorVersion {
    let given = section.optional_integer("major_version", 13..=18);
    MajorVersion {
        number: given.unwrap_or(17),
        is_explicit: given.is_some(),
    }
}
