//! Which schemas are exposed: by name, or by a pattern such as `tenant_*`.

use super::rest_config::RestConfig;

/// Platform schemas, which no pattern matches, so that `s*` does not expose `storage`.
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

/// Returns a pattern's prefix, such as `tenant_` of `tenant_*`; `None` for the name of a schema.
fn pattern_prefix(entry: &str) -> Option<&str> {
    entry.strip_suffix('*')
}

impl RestConfig {
    /// Whether `Accept-Profile` or `Content-Profile` may name the schema, which may not exist.
    pub fn exposes(&self, schema: &str) -> bool {
        self.schemas.iter().any(|entry| match pattern_prefix(entry) {
            Some(prefix) => schema.starts_with(prefix) && !is_of_platform(schema),
            None => entry == schema,
        })
    }

    /// The schemas that are exposed by name.
    pub fn named_schemas(&self) -> Vec<String> {
        let entries = self.schemas.iter();
        entries
            .filter(|entry| pattern_prefix(entry).is_none())
            .cloned()
            .collect()
    }

    /// The prefixes of the patterns.
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
    fn a_pattern_exposes_schemas_with_its_prefix_except_platform_schemas() {
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
