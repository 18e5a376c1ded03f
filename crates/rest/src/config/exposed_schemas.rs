//! Which schemas are exposed: by their names, and by patterns such as `tenant_*` for many schemas of one kind.

use super::rest_config::RestConfig;

/// Schemas of the platform. A pattern stands for none of them, so that `s*` does not expose `storage`.
const PLATFORM: [&str; 15] = [
    "_realtime",
    "_selvedge",
    "auth",
    "cron",
    "extensions",
    "graphql",
    "graphql_public",
    "information_schema",
    "net",
    "pgbouncer",
    "realtime",
    "storage",
    "supabase_functions",
    "supabase_migrations",
    "vault",
];

/// What the names begin with that a pattern stands for; `None` for the name of one schema.
fn pattern_prefix(entry: &str) -> Option<&str> {
    entry.strip_suffix('*')
}

impl RestConfig {
    /// Whether a schema may be named by a profile header. Says nothing about whether it exists.
    pub fn exposes(&self, schema: &str) -> bool {
        self.schemas.iter().any(|entry| match pattern_prefix(entry) {
            Some(prefix) => schema.starts_with(prefix) && !is_of_platform(schema),
            None => entry == schema,
        })
    }

    /// The exposed schemas that are named one by one.
    pub fn named_schemas(&self) -> Vec<String> {
        let entries = self.schemas.iter();
        entries
            .filter(|entry| pattern_prefix(entry).is_none())
            .cloned()
            .collect()
    }

    /// What the names of the schemas begin with that are exposed by patterns.
    pub fn schema_prefixes(&self) -> Vec<String> {
        let prefixes = self.schemas.iter().filter_map(|entry| pattern_prefix(entry));
        prefixes.map(str::to_owned).collect()
    }
}

fn is_of_platform(schema: &str) -> bool {
    schema.starts_with("pg_") || PLATFORM.contains(&schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_exposes_what_begins_like_it_but_nothing_of_the_platform() {
        let config = RestConfig {
            schemas: ["api", "tenant_*", "s*", "p*"].map(str::to_owned).to_vec(),
            ..RestConfig::default()
        };

        for exposed in ["api", "tenant_1", "tenant_", "shop"] {
            assert!(config.exposes(exposed), "{exposed}");
        }
        for hidden in [
            "public2x",
            "storage",
            "supabase_migrations",
            "pg_catalog",
            "tenant",
            "other",
        ] {
            assert_eq!(config.exposes(hidden), hidden == "public2x", "{hidden}");
        }
        assert_eq!(config.named_schemas(), ["api"]);
        assert_eq!(config.schema_prefixes(), ["tenant_", "s", "p"]);
    }
}
