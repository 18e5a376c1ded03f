//! The configuration files of a restored database. Those of the backup are not used: they may name programs (`archive_command`,
//! `ssl_passphrase_command`), libraries, other files, and who logs in without a password.

use std::collections::BTreeSet;

/// The files of a data directory that configure PostgreSQL, or say how it starts.
const SETTINGS: [&str; 4] = [
    "postgresql.conf",
    "postgresql.auto.conf",
    "selvedge.conf",
    "pg_ident.conf",
];
const ACCESS: &str = "pg_hba.conf";
const LEFT_OUT: [&str; 8] = [
    "recovery.signal",
    "standby.signal",
    "tablespace_map",
    "postmaster.pid",
    "postmaster.opts",
    "backup_label.old",
    "selvedge.conf.earlier",
    "current_logfiles",
];

/// What `initdb` chooses for the data and the server never sets; texts of these settings decide nothing but forms and languages.
const KEPT: [&str; 7] = [
    "datestyle",
    "intervalstyle",
    "lc_messages",
    "lc_monetary",
    "lc_numeric",
    "lc_time",
    "default_text_search_config",
];

/// As `initdb --auth=scram-sha-256` writes it.
pub(super) const ACCESS_RULES: &str = "# Written by selvedge restore.
local all all scram-sha-256
host all all 127.0.0.1/32 scram-sha-256
host all all ::1/128 scram-sha-256
local replication all scram-sha-256
host replication all 127.0.0.1/32 scram-sha-256
host replication all ::1/128 scram-sha-256
";

/// What happens with a file of a backup.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Treatment {
    /// It is restored as it is.
    Restore,
    /// Its settings are read, and the file is not restored.
    ReadSettings,
    /// It is left out.
    Drop,
}

/// Decides by a file's path in the data directory.
pub(super) fn treat(path: &str) -> Treatment {
    let is_slot = path
        .split_once('/')
        .is_some_and(|(top, _)| ["pg_replslot", "pg_tblspc"].contains(&top));
    if SETTINGS.contains(&path) {
        Treatment::ReadSettings
    } else if path == ACCESS || LEFT_OUT.contains(&path) || is_slot {
        Treatment::Drop
    } else {
        Treatment::Restore
    }
}

/// The settings that a backup brings.
#[derive(Debug, Default)]
pub(super) struct BroughtSettings {
    kept: Vec<(&'static str, String)>,
    dropped: BTreeSet<String>,
}

impl BroughtSettings {
    /// Reads the text of one of the files. `selvedge.conf` is written anew at each start, so nothing of it is missed.
    pub(super) fn read(&mut self, path: &str, text: &str) {
        for line in text.lines() {
            let line = line.trim();
            let name_end = line.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'));
            let Some((name, rest)) = name_end.filter(|end| *end > 0).map(|end| line.split_at(end)) else {
                continue;
            };
            let name = name.to_ascii_lowercase();
            let value = rest.trim_start_matches([' ', '\t', '=']);
            match KEPT
                .iter()
                .find(|kept| **kept == name)
                .zip(read_plain_value(value))
            {
                Some((kept, value)) => self.kept.push((kept, value)),
                // What ALTER SYSTEM has set is a choice of somebody, and all else of `postgresql.conf` is initdb's.
                None if path == "postgresql.auto.conf" => drop(self.dropped.insert(name)),
                None => {}
            }
        }
    }

    /// The text of `postgresql.conf`; later values win, as in PostgreSQL.
    pub(super) fn render(&self) -> String {
        let mut text = "# Written by selvedge restore.\n".to_owned();
        for (name, value) in &self.kept {
            text.push_str(&format!("{name} = '{value}'\n"));
        }
        text.push_str("\n# Written by selvedge at each start.\ninclude_if_exists = 'selvedge.conf'\n");
        text
    }

    /// Names of settings of ALTER SYSTEM that were left out.
    pub(super) fn dropped(&self) -> Vec<&str> {
        self.dropped.iter().map(String::as_str).collect()
    }
}

/// The value of a setting between quotes or without them, if it has nothing but letters, digits and a few signs.
fn read_plain_value(text: &str) -> Option<String> {
    let value = match text.strip_prefix('\'') {
        Some(quoted) => quoted.split_once('\'')?.0,
        None => text.split([' ', '\t', '#']).next()?,
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | ',' | '.' | '-' | '_' | '@');
    (!value.is_empty() && value.chars().all(is_plain)).then(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_015_of_a_backups_settings_only_forms_and_languages_are_kept() {
        let mut brought = BroughtSettings::default();
        let conf = "lc_messages = 'C.UTF-8'\t# locale\ndatestyle = 'iso, mdy'\narchive_command = 'touch /tmp/x'\n\
                    include '/etc/passwd'\nlc_time='a\\'b'\nLC_Numeric C\nhba_file = '/tmp/hba'\n";
        brought.read("postgresql.conf", conf);
        brought.read(
            "postgresql.auto.conf",
            "work_mem = '8MB'\nshared_preload_libraries = '/tmp/evil.so'\n",
        );

        assert_eq!(
            brought.render(),
            "# Written by selvedge restore.\nlc_messages = 'C.UTF-8'\ndatestyle = 'iso, mdy'\nlc_numeric = 'C'\n\n\
             # Written by selvedge at each start.\ninclude_if_exists = 'selvedge.conf'\n"
        );
        assert_eq!(brought.dropped(), ["shared_preload_libraries", "work_mem"]);
    }

    #[test]
    fn gw_015_files_that_say_how_postgresql_starts_are_not_restored() {
        for path in [
            "standby.signal",
            "pg_hba.conf",
            "postmaster.pid",
            "selvedge.conf.earlier",
            "pg_replslot/x/state",
            "pg_tblspc/16400",
        ] {
            assert_eq!(treat(path), Treatment::Drop, "{path}");
        }
        for path in [
            "backup_label",
            "base/5/1259",
            "pg_wal/000000010000000000000001",
            "base/postgresql.conf",
        ] {
            assert_eq!(treat(path), Treatment::Restore, "{path}");
        }
        assert_eq!(treat("postgresql.auto.conf"), Treatment::ReadSettings);
    }
}
