//! The extensions that this program brings along: control file and script of each, compiled into the binary.
//!
//! They are SQL, as the library of an original cannot be shipped for every PostgreSQL; what needs a process beside the
//! database runs in the server (crates/jobs). The embedded cluster installs them as files, so that `create extension`
//! finds them; in other databases the migrations run the scripts. What differs from the originals is in
//! docs/extensions.md.

/// One extension: its files as `create extension` reads them.
#[derive(Debug, Clone, Copy)]
pub struct ShippedExtension {
    /// Name of the extension, as in `CREATE EXTENSION`.
    pub name: &'static str,
    /// The version that the control file names as default; part of the script's file name.
    pub version: &'static str,
    /// Older versions that projects may name; the same script is used for them.
    pub older_versions: &'static [&'static str],
    /// Content of `<name>.control`.
    pub control: &'static str,
    /// Content of `<name>--<version>.sql`.
    pub script: &'static str,
}

impl ShippedExtension {
    /// Whether the script can only be run by a superuser: it makes functions of a library, or functions that run with a superuser's
    /// rights. Where PostgreSQL does not find the extension's files, the script of any other runs as `postgres`.
    #[must_use]
    pub fn needs_superuser(&self) -> bool {
        self.control.lines().any(|line| line == "superuser = true")
    }

    /// Whether the script runs as the role that creates the extension, which then owns its objects. All others run as the
    /// superuser.
    #[must_use]
    pub fn runs_as_creator(&self) -> bool {
        self.control.lines().any(|line| line == "trusted = false")
    }
}

/// A package of database.dev that tests of projects use.
const TEST_HELPERS: ShippedExtension = ShippedExtension {
    name: "basejump-supabase_test_helpers",
    version: "0.0.6",
    older_versions: &["0.0.1", "0.0.2", "0.0.3", "0.0.4", "0.0.5"],
    control: include_str!("../extensions/test_helpers/test_helpers.control"),
    script: include_str!("../extensions/test_helpers/test_helpers--0.0.6.sql"),
};

/// Every extension that is built into the server.
pub const SHIPPED: &[ShippedExtension] = &[
    ShippedExtension {
        name: "supabase_vault",
        version: "0.3.1",
        older_versions: &[],
        control: include_str!("../extensions/supabase_vault/supabase_vault.control"),
        script: include_str!("../extensions/supabase_vault/supabase_vault--0.3.1.sql"),
    },
    ShippedExtension {
        name: "pg_net",
        version: "0.20.4",
        older_versions: &[],
        control: include_str!("../extensions/pg_net/pg_net.control"),
        script: include_str!("../extensions/pg_net/pg_net--0.20.4.sql"),
    },
    ShippedExtension {
        name: "pg_cron",
        version: "1.6",
        older_versions: &[],
        control: include_str!("../extensions/pg_cron/pg_cron.control"),
        script: include_str!("../extensions/pg_cron/pg_cron--1.6.sql"),
    },
    ShippedExtension {
        name: "pg_jsonschema",
        version: "0.3.4",
        older_versions: &[],
        control: include_str!("../extensions/pg_jsonschema/pg_jsonschema.control"),
        script: include_str!("../extensions/pg_jsonschema/pg_jsonschema--0.3.4.sql"),
    },
    ShippedExtension {
        name: "pgjwt",
        version: "0.2.0",
        older_versions: &[],
        control: include_str!("../extensions/pgjwt/pgjwt.control"),
        script: include_str!("../extensions/pgjwt/pgjwt--0.2.0.sql"),
    },
    ShippedExtension {
        name: "pgmq",
        version: "1.5.1",
        older_versions: &[],
        control: include_str!("../extensions/pgmq/pgmq.control"),
        script: include_str!("../extensions/pgmq/pgmq--1.5.1.sql"),
    },
    ShippedExtension {
        name: "http",
        version: "1.6",
        older_versions: &["1.5"],
        control: include_str!("../extensions/http/http.control"),
        script: include_str!("../extensions/http/http--1.6.sql"),
    },
    ShippedExtension {
        name: "pg_tle",
        version: "1.4.0",
        older_versions: &[],
        control: include_str!("../extensions/pg_tle/pg_tle.control"),
        script: include_str!("../extensions/pg_tle/pg_tle--1.4.0.sql"),
    },
    ShippedExtension {
        name: "supabase-dbdev",
        version: "0.0.5",
        older_versions: &["0.0.2", "0.0.3", "0.0.4"],
        control: include_str!("../extensions/dbdev/dbdev.control"),
        script: include_str!("../extensions/dbdev/dbdev--0.0.5.sql"),
    },
    TEST_HELPERS,
    // The name under which newer clients of database.dev install the same package.
    ShippedExtension {
        name: "basejump@supabase_test_helpers",
        ..TEST_HELPERS
    },
    // Upstream's own files (https://pgtap.org), with their licence beside them.
    ShippedExtension {
        name: "pgtap",
        version: "1.3.5",
        older_versions: &[],
        control: include_str!("../extensions/pgtap/pgtap.control"),
        script: include_str!("../extensions/pgtap/pgtap--1.3.5.sql"),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_018_control_files_of_shipped_extensions_name_the_version_of_their_script() {
        for extension in SHIPPED {
            let line = format!("default_version = '{}'", extension.version);

            assert!(
                extension.control.lines().any(|text| text == line),
                "{}",
                extension.name
            );
        }
    }
}
