//! Where `selvedge setup` puts what it makes.

/// The user of the server and of its PostgreSQL.
pub(super) const USER: &str = "selvedge";
pub(super) const PROGRAM: &str = "/usr/local/bin/selvedge";
/// The command for people.
pub(super) const COMMAND: &str = "/usr/local/bin/selvedge-server";
pub(super) const FOLDER: &str = "/etc/selvedge";
pub(super) const SETTINGS: &str = "/etc/selvedge/selvedge.env";
/// The variables that people add.
pub(super) const LOCAL_SETTINGS: &str = "/etc/selvedge/local.env";
/// Secrets, which systemd reads as root.
pub(super) const CREDENTIALS: &str = "/etc/selvedge/credentials";
/// What `selvedge trust` has noted.
pub(super) const TRUST: &str = "/etc/selvedge/trust";
pub(super) const RECORD: &str = "/etc/selvedge/setup.json";
/// The programs of PostgreSQL are copied here, and run from here: not in a cache, which people and programs empty.
pub(super) const PROGRAMS: &str = "/var/lib/selvedge-programs";
/// Where commands of people work, and put their files.
pub(super) const BACKUPS: &str = "/var/backups/selvedge";
pub(super) const SERVER_UNIT: &str = "selvedge.service";
pub(super) const POSTGRES_UNIT: &str = "selvedge-postgres.service";
