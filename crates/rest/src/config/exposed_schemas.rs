//! Which schemas are exposed: by name, or by a pattern such as `tenant_*`.

use serde_json::{Map, Value};

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

    /// The schema of the tenant that these claims name, whether it exists or not. `None` where no claim is configured, or no
    /// schemas are exposed by a pattern.
    pub(crate) fn schema_of_tenant(&self, claims: &Map<String, Value>) -> Option<String> {
        let tenant = self.tenant_claim.as_ref()?.find_unless_null(claims)?;
        let prefix = self.schemas.iter().find_map(|entry| pattern_prefix(entry))?;
        Some(format!("{prefix}{tenant}"))
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
    use serde_json::json;

    use super::*;
    use crate::config::ClaimPath;

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

    #[test]
    fn the_schema_of_a_tenant_is_the_first_pattern_with_its_claim() {
        let schema = |schemas: &[&str], claims: Value| {
            let config = RestConfig {
                schemas: schemas.iter().map(|schema| (*schema).to_owned()).collect(),
                tenant_claim: Some(ClaimPath::parse("$.app_metadata.tenant").expect("a path")),
                ..RestConfig::default()
            };
            config.schema_of_tenant(claims.as_object().expect("an object"))
        };
        let of = |tenant: Value| json!({ "app_metadata": { "tenant": tenant } });
        let exposed = ["public", "tenant_*", "shop_*"];

        assert_eq!(
            schema(&exposed, of(json!("acme"))).as_deref(),
            Some("tenant_acme")
        );
        assert_eq!(schema(&exposed, of(json!(7))).as_deref(), Some("tenant_7"));
        assert_eq!(schema(&exposed, of(Value::Null)), None);
        assert_eq!(schema(&exposed, json!({ "tenant": "acme" })), None);
        assert_eq!(schema(&["public"], of(json!("acme"))), None);
    }
}
