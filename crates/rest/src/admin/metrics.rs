//! Counters and gauges by PostgREST's names, in the text form that Prometheus scrapes.

use std::fmt::Write;

use selvedge_postgres::Database;

use crate::schema_cache::SchemaCache;

/// Renders all metrics; `pool_max` is the number of connections that requests may use.
pub(super) fn render_metrics(cache: &SchemaCache, database: &Database, pool_max: usize) -> String {
    let mut text = MetricsText::default();
    write_schema_cache(&mut text, cache);
    write_pool(&mut text, database, i64::try_from(pool_max).unwrap_or(i64::MAX));
    write_jwt_cache(&mut text, cache);
    text.0
}

/// Loads of the schema cache.
fn write_schema_cache(text: &mut MetricsText, cache: &SchemaCache) {
    let health = cache.health();
    text.describe(
        "pgrst_schema_cache_query_time_seconds",
        "gauge",
        "The query time in seconds of the last schema cache load",
    );
    text.write_value(
        "pgrst_schema_cache_query_time_seconds",
        health.load_time.as_secs_f64(),
    );
    text.describe(
        "pgrst_schema_cache_loads_total",
        "counter",
        "The total number of times the schema cache was loaded",
    );
    text.write_value("pgrst_schema_cache_loads_total{status=\"SUCCESS\"}", health.loads);
    text.write_value("pgrst_schema_cache_loads_total{status=\"FAIL\"}", health.failures);
}

/// Connections that requests use, wait for, or waited for in vain.
fn write_pool(text: &mut MetricsText, database: &Database, pool_max: i64) {
    let pool = database.pool_metrics().snapshot();
    text.write_counter(
        "pgrst_db_pool_timeouts_total",
        "The total number of pool connection timeouts",
        pool.timeouts,
    );
    text.write_gauge(
        "pgrst_db_pool_available",
        "Available connections in the pool",
        pool_max.saturating_sub(pool.running),
    );
    text.write_gauge(
        "pgrst_db_pool_waiting",
        "Requests waiting to acquire a pool connection",
        pool.waiting,
    );
    text.write_gauge("pgrst_db_pool_max", "Max pool connections", pool_max);
}

/// Use of the cache of verified tokens.
fn write_jwt_cache(text: &mut MetricsText, cache: &SchemaCache) {
    let tokens = cache.token_cache();
    text.write_counter(
        "pgrst_jwt_cache_requests_total",
        "The total number of JWT cache lookups",
        tokens.lookups,
    );
    text.write_counter(
        "pgrst_jwt_cache_hits_total",
        "The total number of JWT cache hits",
        tokens.hits,
    );
    text.write_counter(
        "pgrst_jwt_cache_evictions_total",
        "The total number of JWT cache evictions",
        tokens.evictions,
    );
}

/// Metrics being written. `writeln!` to a string cannot fail, so its results are dropped.
#[derive(Default)]
struct MetricsText(String);

impl MetricsText {
    /// `# HELP` and `# TYPE` of a metric, whose values follow.
    fn describe(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// One value; labels are part of the name.
    fn write_value(&mut self, name: &str, value: impl std::fmt::Display) {
        let _ = writeln!(self.0, "{name} {value}");
    }

    /// A counter with its description.
    fn write_counter(&mut self, name: &str, help: &str, value: u64) {
        self.describe(name, "counter", help);
        self.write_value(name, value);
    }

    /// Gauges are differences of counters that are read one after the other, so they may be negative for a moment.
    fn write_gauge(&mut self, name: &str, help: &str, value: i64) {
        self.describe(name, "gauge", help);
        self.write_value(name, value.max(0));
    }
}
