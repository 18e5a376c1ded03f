//! `[db]`: the database, its migrations, seeds and settings.

use std::time::Duration;

use secrecy::SecretString;

use super::section::Section;

/// `[db]`.
#[derive(Debug, Clone)]
pub struct DatabaseConfig {
    /// Port of the embedded PostgreSQL. Default 54322.
    pub port: u16,
    /// How long a start waits for PostgreSQL. Default 2m.
    pub health_timeout: Duration,
    /// PostgreSQL's major version the project was made for: 13 to 18. Default 17. Only compared: a
    /// server of another version is used, with a warning.
    pub major_version: MajorVersion,
    /// `[db.migrations]`.
    pub migrations: MigrationsConfig,
    /// `[db.seed]`.
    pub seed: SeedConfig,
    /// `[db.settings]`: PostgreSQL parameters of the embedded cluster, by name.
    pub settings: Vec<(String, String)>,
    /// `[db.vault]`: secrets by name.
    pub vault: Vec<(String, SecretString)>,
}

/// The version a project asks for, and whether it asked at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MajorVersion {
    /// Default 17.
    pub number: u16,
    /// False when the default stands in.
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
    pub(super) fn read(section: &Section<'_>) -> Self {
        section.accept(&["shadow_port", "root_key"]);
        for hosted in ["pooler", "network_restrictions", "ssl_enforcement"] {
            section.section(hosted).accept_all();
        }
        let migrations = section.section("migrations");
        migrations.accept(&["schema_paths"]);
        let seed = section.section("seed");
        Self {
            port: section.port("port", 54322),
            health_timeout: section.duration("health_timeout", Duration::from_secs(120)),
            major_version: major_version(section),
            migrations: MigrationsConfig {
                enabled: migrations.enabled(true),
            },
            seed: SeedConfig {
                enabled: seed.enabled(true),
                sql_paths: seed.strings("sql_paths", &["./seed.sql"]),
            },
            settings: section.section("settings").pairs(),
            vault: vault(&section.section("vault")),
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

fn vault(section: &Section<'_>) -> Vec<(String, SecretString)> {
    let names = section.names();
    names
        .into_iter()
        .filter_map(|name| section.optional_secret(&name).map(|value| (name, value)))
        .collect()
}
