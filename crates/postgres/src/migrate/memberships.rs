//! Memberships that are a superuser's rights in all but name for `postgres`, which earlier versions and PostgreSQL 15 let it take.

use tokio_postgres::Client;

use super::error::MigrateError;
use super::file_roles::FILE_ROLES;
use crate::quote_identifier;

/// Memberships that are a superuser's rights for `postgres`, its own and those of roles that it is or can become; once for each role that
/// has granted one. On PostgreSQL 15 CREATEROLE is the right to become every role that is no superuser. There the roles `$1` that reach
/// files count only with `$2`.
const TAKEN: &str = "
    with recursive reached (oid) as (
      select p.oid from pg_catalog.pg_authid as p where p.rolname operator(pg_catalog.=) 'postgres'::pg_catalog.name
      union
      select m.roleid from reached as r
      join pg_catalog.pg_auth_members as m on m.member operator(pg_catalog.=) r.oid
    ), version (has_grantors) as (
      select pg_catalog.current_setting('server_version_num')::pg_catalog.int4 operator(pg_catalog.>=) 160000
    )
    select r.rolname::pg_catalog.text, p.rolname::pg_catalog.text, g.rolname::pg_catalog.text, v.has_grantors,
      r.rolname operator(pg_catalog.~) '^selvedge_(replication|user_counts|http|console_[a-z]+(_[0-9]+)?)$'::pg_catalog.text
        or r.rolname operator(pg_catalog.=) 'supabase_replication_admin'::pg_catalog.name
    from pg_catalog.pg_auth_members as m
    join pg_catalog.pg_authid as r on r.oid operator(pg_catalog.=) m.roleid
    join pg_catalog.pg_authid as p on p.oid operator(pg_catalog.=) m.member
    left join pg_catalog.pg_authid as g on g.oid operator(pg_catalog.=) m.grantor
    cross join version as v
    where not p.rolsuper and (
      case
        when r.rolname operator(pg_catalog.=) any ($1::pg_catalog.text[]::pg_catalog.name[]) then v.has_grantors or $2::pg_catalog.bool
        else r.rolsuper
      end and (
        p.oid operator(pg_catalog.=) any (select oid from reached)
        or not v.has_grantors and (
          select s.rolcreaterole from pg_catalog.pg_authid as s where s.rolname operator(pg_catalog.=) 'postgres'::pg_catalog.name
        )
      )
      -- What it writes is guarded where a superuser believes it, so only who `postgres` is counts.
      or r.rolname operator(pg_catalog.=) 'pg_write_all_data'::pg_catalog.name
        and p.oid operator(pg_catalog.=) any (select oid from reached)
      -- Nobody is a member of these, but for the logins of viewers. Somebody who has made a role of the name before the platform did is its administrator.
      or r.rolname operator(pg_catalog.~) '^selvedge_(replication|user_counts|http|console_[a-z]+(_[0-9]+)?)$'::pg_catalog.text
        and not (
          r.rolname operator(pg_catalog.=) 'selvedge_console_reader'::pg_catalog.name
          and p.rolname operator(pg_catalog.~) '^selvedge_console_reader_([0-9]|1[0-6])$'::pg_catalog.text
        )
      or r.rolname operator(pg_catalog.=) 'supabase_replication_admin'::pg_catalog.name
      -- From PostgreSQL 16 on, whoever administers or becomes a role may set its password, and log in as it. REPLICATION then loads any library.
      or v.has_grantors and r.rolreplication and not r.rolsuper and p.oid operator(pg_catalog.=) any (select oid from reached)
    )
    order by 1, 2, 3";

/// Roles that do not log in as they are, whatever an administrator has made of them.
const WITHOUT_LOGIN: &str = "
    select a.rolname::pg_catalog.text from pg_catalog.pg_authid as a
    where a.rolname operator(pg_catalog.=) any (
        array['selvedge_replication', 'selvedge_user_counts', 'selvedge_http', 'selvedge_console_members']::pg_catalog.name[]
      )
      and (a.rolcanlogin or a.rolpassword is not null)";

/// Roles with passwords that others know, or that the API becomes, and that have REPLICATION. PostgreSQL 15 lets `postgres` rename a role
/// that has it to such a name, `postgres` included. From PostgreSQL 16 on that of `postgres` stays while there are slots
/// (`sql/platform/0101_replication_slots.sql`).
const REPLICATION: &str = "
    select r.rolname::pg_catalog.text from pg_catalog.pg_authid as r
    where r.rolreplication and not r.rolsuper and (
      r.rolname operator(pg_catalog.=) any (array[
        'anon', 'authenticated', 'service_role', 'authenticator', 'pgbouncer', 'supabase_auth_admin', 'supabase_storage_admin',
        'supabase_functions_admin', 'supabase_realtime_admin', 'supabase_read_only_user', 'selvedge_console_reader',
        'selvedge_console_operator', 'selvedge_console_service', 'selvedge_console_members', 'selvedge_user_counts', 'selvedge_http'
      ]::pg_catalog.name[])
      or r.rolname operator(pg_catalog.~) '^selvedge_console_reader_[0-9]+$'::pg_catalog.text
      -- The platform gives these roles no passwords. If one has a password, `postgres` may have made another role with its name.
      or r.rolname operator(pg_catalog.=) any (array['supabase_etl_admin', 'dashboard_user']::pg_catalog.name[])
        and r.rolpassword is not null
        and pg_catalog.current_setting('server_version_num')::pg_catalog.int4 operator(pg_catalog.<) 160000
      or r.rolname operator(pg_catalog.=) 'postgres'::pg_catalog.name and (
        pg_catalog.current_setting('server_version_num')::pg_catalog.int4 operator(pg_catalog.<) 160000
        or not exists (
          select from pg_catalog.pg_replication_slots as s where not s.temporary
        ) and not exists (
          select from pg_catalog.pg_stat_replication as r where r.usename operator(pg_catalog.=) 'postgres'::pg_catalog.name
        )
      )
    )
    order by 1";

/// A membership by which `postgres` has, or can get, the rights of a superuser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenMembership {
    /// The role whose members have these rights.
    pub role: String,
    /// Its member: `postgres`, or a role that `postgres` is a member of or can become.
    pub member: String,
    /// Who has granted it, where the server notes that (PostgreSQL 16).
    grantor: Option<String>,
    /// Whether `role` is one that only the platform uses.
    is_of_platform: bool,
}

impl TakenMembership {
    /// Whether another role than `postgres` has it, so that somebody may have meant it.
    #[must_use]
    pub fn is_of_another_role(&self) -> bool {
        self.member != "postgres" && !self.is_of_platform
    }

    /// The statement that ends it.
    #[must_use]
    pub fn revoke_statement(&self) -> String {
        // Older versions have one membership, whoever has granted it.
        let granted_by = match &self.grantor {
            Some(grantor) => format!(" granted by {}", quote_identifier(grantor)),
            None => String::new(),
        };
        let (role, member) = (quote_identifier(&self.role), quote_identifier(&self.member));
        format!("revoke {role} from {member}{granted_by} cascade")
    }

    fn describe_end(&self) -> String {
        let (role, member) = (&self.role, &self.member);
        let reason = match self.is_of_another_role() {
            true => "postgres can become it, and would have more rights than postgres",
            false => "its members have more rights than postgres",
        };
        format!("{member} was a member of {role}, and is not any more: {reason}")
    }
}

/// Lists the memberships by which `postgres` has, or can get, the rights of a superuser. `with_files` says whether those in the
/// three roles that reach files and programs of the server count on PostgreSQL 15, where `postgres` may take them at any time.
///
/// # Errors
/// When the query fails; `client` must be a superuser's.
pub async fn list_taken_memberships(
    client: &Client,
    with_files: bool,
) -> Result<Vec<TakenMembership>, MigrateError> {
    let rows = client
        .query(TAKEN, &[&FILE_ROLES.as_slice(), &with_files])
        .await?;
    Ok(rows
        .iter()
        .map(|row| TakenMembership {
            role: row.get(0),
            member: row.get(1),
            grantor: row.get::<_, Option<String>>(2).filter(|_| row.get(3)),
            is_of_platform: row.get(4),
        })
        .collect())
}

/// Revokes these memberships, takes REPLICATION from roles that log in with a known password, and the login from those that nobody logs
/// in as. Returns a sentence for each.
///
/// # Errors
/// When PostgreSQL refuses; `client` must be a superuser's.
pub async fn take_back_memberships(
    client: &Client,
    memberships: &[TakenMembership],
) -> Result<Vec<String>, MigrateError> {
    let mut revoked: Vec<String> = Vec::new();
    for membership in memberships {
        client.batch_execute(&membership.revoke_statement()).await?;
        let sentence = membership.describe_end();
        if !revoked.contains(&sentence) {
            revoked.push(sentence);
        }
    }
    for row in client.query(WITHOUT_LOGIN, &[]).await? {
        let role: &str = row.get(0);
        client
            .batch_execute(&format!(
                "alter role {} nologin password null",
                quote_identifier(role)
            ))
            .await?;
        revoked.push(format!("{role} could log in, and cannot any more"));
    }
    for row in client.query(REPLICATION, &[]).await? {
        let role: &str = row.get(0);
        client
            .batch_execute(&format!("alter role {} noreplication", quote_identifier(role)))
            .await?;
        revoked.push(format!(
            "{role} had REPLICATION, by which PostgreSQL loads any library, and has it no more"
        ));
    }
    Ok(revoked)
}
