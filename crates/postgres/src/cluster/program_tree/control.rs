//! Control files of extensions, with the rights that Supabase's image gives to `postgres`. Pure.

/// Extensions that `postgres` may create at Supabase although it is not a superuser (the setting
/// `supautils.privileged_extensions` of its image), as far as they exist outside of that image. PGroonga loads libraries whose paths its users name,
/// and PL/Java keeps no user from files since Java has no security manager: only a superuser creates these.
const PRIVILEGED: [&str; 62] = [
    "address_standardizer",
    "address_standardizer_data_us",
    "autoinc",
    "bloom",
    "btree_gin",
    "btree_gist",
    "citext",
    "cube",
    "dblink",
    "dict_int",
    "dict_xsyn",
    "earthdistance",
    "fuzzystrmatch",
    "hstore",
    "http",
    "hypopg",
    "index_advisor",
    "insert_username",
    "intarray",
    "isn",
    "ltree",
    "moddatetime",
    "pg_buffercache",
    "pg_graphql",
    "pg_hashids",
    "pg_jsonschema",
    "pg_prewarm",
    "pg_repack",
    "pg_stat_monitor",
    "pg_stat_statements",
    "pg_tle",
    "pg_trgm",
    "pg_walinspect",
    "pgaudit",
    "pgcrypto",
    "pgrouting",
    "pgrowlocks",
    "pgsodium",
    "pgstattuple",
    "plcoffee",
    "plls",
    "plpgsql_check",
    "plv8",
    "postgis",
    "postgis_raster",
    "postgis_sfcgal",
    "postgis_tiger_geocoder",
    "postgis_topology",
    "postgres_fdw",
    "refint",
    "rum",
    "seg",
    "sslinfo",
    "tablefunc",
    "tcn",
    "timescaledb",
    "tsm_system_rows",
    "tsm_system_time",
    "unaccent",
    "uuid-ossp",
    "vector",
    "wrappers",
];

/// The extension that a file of the folder `extension` belongs to, when the file is a control file: the name in
/// `name.control` and in `name--version.control`.
pub(super) fn extension_of_control_file(file_name: &str) -> Option<&str> {
    let stem = file_name.strip_suffix(".control")?;
    Some(stem.split_once("--").map_or(stem, |(name, _)| name))
}

/// Whether a file is the control file or a script of the extension `name`.
pub(super) fn belongs_to(file_name: &str, name: &str) -> bool {
    file_name.strip_prefix(name).is_some_and(|rest| {
        rest == ".control"
            || (rest.starts_with("--") && (rest.ends_with(".sql") || rest.ends_with(".control")))
    })
}

/// Whether `postgres` may create the extension at Supabase.
pub(super) fn is_privileged(name: &str) -> bool {
    PRIVILEGED.contains(&name)
}

/// Returns the control file with `superuser = true` and `trusted = true`: every role with CREATE on the database may then
/// create the extension. Its script runs as the bootstrap superuser, who owns its objects.
pub(super) fn grant_trust(control: &str) -> String {
    let mut text: String = control
        .lines()
        .filter(|line| {
            let name = line.split('=').next().unwrap_or_default().trim();
            !["superuser", "trusted"].contains(&name)
        })
        .flat_map(|line| [line, "\n"])
        .collect();
    text.push_str("superuser = true\ntrusted = true\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_018_trust_replaces_the_rights_that_a_control_file_names() {
        let control =
            "# pgTAP\ndefault_version = '1.3.5'\nsuperuser = false\ntrusted=false\nrelocatable = true";

        assert_eq!(
            grant_trust(control),
            "# pgTAP\ndefault_version = '1.3.5'\nrelocatable = true\nsuperuser = true\ntrusted = true\n"
        );
    }

    #[test]
    fn gw_018_files_are_matched_to_extensions_by_their_whole_name() {
        assert_eq!(extension_of_control_file("uuid-ossp.control"), Some("uuid-ossp"));
        assert_eq!(extension_of_control_file("pg_tle--1.0.control"), Some("pg_tle"));
        assert_eq!(extension_of_control_file("pgtap--1.3.5.sql"), None);
        assert!(belongs_to("pg_net--0.1--0.2.sql", "pg_net"));
        assert!(belongs_to("pg_net.control", "pg_net"));
        assert!(!belongs_to("pg_net_more.control", "pg_net"));
        assert!(!belongs_to("pgtap-core.sql", "pgtap"));
    }

    #[test]
    fn gw_012_extensions_that_load_libraries_of_their_users_are_left_to_superusers() {
        assert!(is_privileged("vector"));
        for name in ["pgroonga", "pgroonga_database", "pljava"] {
            assert!(!is_privileged(name), "{name}");
        }
    }
}
