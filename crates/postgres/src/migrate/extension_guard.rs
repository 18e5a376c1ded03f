//! Keeps what `postgres` has made out of the scripts of extensions in every database of a cluster: the checks of the platform schema are in
//! the project's database alone, and `postgres` may create others, in which PostgreSQL runs the scripts of trusted extensions as a superuser.
//! Copies of the project that an earlier version has made also lose its functions that run as a superuser. Options of connections that are a
//! superuser's are refused in all of them.

use sha2::{Digest, Sha256};
use tokio_postgres::Client;

use super::error::MigrateError;

const GUARD: &str = include_str!("extension_guard.sql");

/// A copy of a project of earlier days may have functions of the project in pg_catalog, which the guard's own statements would call.
const DISARM: &str = include_str!("disarm.sql");

/// Switches off event triggers of others until the guard is there. In a copy of a project those of the project could refuse it, and before
/// PostgreSQL 17 a session cannot do without event triggers.
const SILENCE: &str = "
    select pg_catalog.set_config('selvedge.silenced', coalesce(pg_catalog.string_agg(pg_catalog.concat(t.oid, ':', t.evtenabled), ' '), ''), true)
    from pg_catalog.pg_event_trigger as t
    join pg_catalog.pg_roles as o on o.oid operator(pg_catalog.=) t.evtowner and not o.rolsuper;
    update pg_catalog.pg_event_trigger as t set evtenabled = 'D'::pg_catalog.\"char\"
    from pg_catalog.pg_roles as o where o.oid operator(pg_catalog.=) t.evtowner and not o.rolsuper;";
/// The functions call each other, and are made in the order of their names.
const UNCHECKED_BODIES: &str = "
    select pg_catalog.set_config('check_function_bodies', 'off', true);";
const END_SILENCE: &str = ";
    update pg_catalog.pg_event_trigger as t set evtenabled = pg_catalog.split_part(s.setting, ':', 2)::pg_catalog.\"char\"
    from pg_catalog.string_to_table(pg_catalog.current_setting('selvedge.silenced'), ' ') as s (setting)
    where t.oid operator(pg_catalog.=) pg_catalog.split_part(s.setting, ':', 1)::pg_catalog.oid;";

/// Functions of the platform that the guard calls, read where the platform schema is. Copies lie in pg_catalog, which nobody else can write.
const FUNCTIONS: &str = "
    select pg_catalog.pg_get_functiondef(p.oid)
    from pg_catalog.pg_proc as p
    join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) p.pronamespace
    join pg_catalog.pg_roles as o on o.oid operator(pg_catalog.=) p.proowner and o.rolsuper
    where n.nspname operator(pg_catalog.=) '_selvedge'::pg_catalog.name and p.proname operator(pg_catalog.=) any (array[
      'read_extension_statement', 'read_extension_scripts', 'read_script_statements', 'builds_names', 'split_extension_script',
      'find_extension_schemas', 'find_named_types',
      'find_callable_names', 'wait_for_callable_names', 'require_current_snapshot', 'check_extension_statement',
      'is_allowed_connection_option', 'find_refused_option', 'refuse_option', 'find_misleading_servers', 'check_connection',
      'close_connection_functions', 'move_grants', 'find_refused_server_options', 'check_changed_connections', 'check_connections', 'check_subscription', 'mend_connections'
    ]::pg_catalog.name[])
    order by p.proname";

/// Tells the applied files of the platform schema from others.
const FILES: &str = "
    select pg_catalog.md5(pg_catalog.string_agg(pg_catalog.concat(m.version, ' ', m.sha256), ';'::pg_catalog.text order by m.version))
    from _selvedge.platform_migrations as m";

/// Tells the functions of the platform schema from others.
const FUNCTIONS_DIGEST: &str = "
    select pg_catalog.md5(pg_catalog.string_agg(
      pg_catalog.concat_ws(
        ' '::pg_catalog.text, f.signature, p.prosecdef, p.proconfig::pg_catalog.text, p.prosrc, pg_catalog.pg_get_function_sqlbody(p.oid)
      ),
      ';'::pg_catalog.text order by f.signature
    ))
    from pg_catalog.pg_proc as p
    join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) p.pronamespace
    join pg_catalog.pg_roles as o on o.oid operator(pg_catalog.=) p.proowner and o.rolsuper
    cross join lateral (
      select pg_catalog.concat(p.proname, ' ', pg_catalog.pg_get_function_identity_arguments(p.oid)) collate pg_catalog.\"C\"
    ) as f (signature)
    where n.nspname operator(pg_catalog.=) '_selvedge'::pg_catalog.name
      and p.proname operator(pg_catalog.!~) '^event_trigger_[0-9]'::pg_catalog.text";

/// The statements that make the guard in a database. They are in ASCII, as PostgreSQL translates them to the encoding of the database.
#[derive(Debug, Clone)]
pub struct ExtensionGuard {
    statements: String,
}

impl ExtensionGuard {
    /// Reads what the guard consists of. `client` is connected to the database with the platform schema, as in [`Self::install`] with the search
    /// path of privileged sessions, by which PostgreSQL writes the names in functions.
    ///
    /// # Errors
    /// When the query fails.
    pub async fn read(client: &Client) -> Result<Self, MigrateError> {
        let mut statements = [DISARM, SILENCE, UNCHECKED_BODIES].concat();
        for row in client.query(FUNCTIONS, &[]).await? {
            let definition: String = row.get(0);
            statements += &definition.replace("_selvedge.", "pg_catalog.selvedge_");
            statements += ";\n";
        }
        let files: String = client.query_one(FILES, &[]).await?.get(0);
        let functions: String = client.query_one(FUNCTIONS_DIGEST, &[]).await?.get(0);
        statements += &GUARD
            .replace("{files_query}", FILES)
            .replace("{files}", &files)
            .replace("{functions_query}", FUNCTIONS_DIGEST)
            .replace("{functions}", &functions);
        statements += END_SILENCE;
        debug_assert!(
            statements.is_ascii(),
            "there are databases that have no other letters"
        );
        Ok(Self { statements })
    }

    /// A digest of the statements, by which a later start knows whether a database has them.
    #[must_use]
    pub fn digest(&self) -> String {
        hex::encode(Sha256::digest(self.statements.as_bytes()))
    }

    /// Makes the guard in the database that `superuser` is connected to, or replaces that of an earlier version.
    ///
    /// # Errors
    /// When PostgreSQL refuses; `superuser` must be one.
    pub async fn install(&self, superuser: &Client) -> Result<(), MigrateError> {
        Ok(superuser.batch_execute(&self.statements).await?)
    }
}
