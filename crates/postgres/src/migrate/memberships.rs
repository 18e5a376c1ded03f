//! Memberships of `postgres` that are a superuser's rights in all but name, and that earlier versions let it take.

use tokio_postgres::Client;

use super::error::MigrateError;
use crate::quote_identifier;

/// Roles whose members read and write files, run programs or write every table, and superusers, where `postgres` is the only member that is
/// no superuser; once for each role that has granted the membership.
const TAKEN: &str = "
    select r.rolname::pg_catalog.text, p.rolname::pg_catalog.text, g.rolname::pg_catalog.text,
      pg_catalog.current_setting('server_version_num')::pg_catalog.int4 operator(pg_catalog.>=) 160000
    from pg_catalog.pg_auth_members as m
    join pg_catalog.pg_authid as r on r.oid operator(pg_catalog.=) m.roleid
    join pg_catalog.pg_authid as p on p.oid operator(pg_catalog.=) m.member
    left join pg_catalog.pg_authid as g on g.oid operator(pg_catalog.=) m.grantor
    where not p.rolsuper and (
      p.rolname operator(pg_catalog.=) 'postgres'::pg_catalog.name
      and (r.rolsuper or r.rolname operator(pg_catalog.=) any (array[
        'pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files', 'pg_write_all_data'
      ]::pg_catalog.name[]))
      and not exists (
        select from pg_catalog.pg_auth_members as o
        join pg_catalog.pg_authid as x on x.oid operator(pg_catalog.=) o.member
        where o.roleid operator(pg_catalog.=) m.roleid and not x.rolsuper
          and x.oid operator(pg_catalog.<>) p.oid
      )
      -- Nobody is a member of these. Somebody who has made a role of the name before the platform did is its administrator.
      or r.rolname operator(pg_catalog.~) '^selvedge_(replication|console_[a-z]+)$'::pg_catalog.text
      or r.rolname operator(pg_catalog.=) 'supabase_replication_admin'::pg_catalog.name
    )
    order by 1, 2, 3";

/// Roles that do not log in as they are, whatever an administrator has made of them.
const WITHOUT_LOGIN: &str = "
    select a.rolname::pg_catalog.text from pg_catalog.pg_authid as a
    where a.rolname operator(pg_catalog.=) any (array['selvedge_replication', 'selvedge_console_members']::pg_catalog.name[])
      and (a.rolcanlogin or a.rolpassword is not null)";

/// Roles with passwords that others know, or that the API becomes, and that have REPLICATION. PostgreSQL 15 lets `postgres` rename a role
/// that has it to such a name. That of `postgres` stays while there are slots (`sql/platform/0101_replication_slots.sql`).
const REPLICATION: &str = "
    select r.rolname::pg_catalog.text from pg_catalog.pg_authid as r
    where r.rolreplication and not r.rolsuper and (
      r.rolname operator(pg_catalog.=) any (array[
        'anon', 'authenticated', 'service_role', 'authenticator', 'pgbouncer', 'supabase_auth_admin', 'supabase_storage_admin',
        'supabase_functions_admin', 'supabase_realtime_admin', 'supabase_read_only_user', 'selvedge_console_reader',
        'selvedge_console_operator', 'selvedge_console_service', 'selvedge_console_members'
      ]::pg_catalog.name[])
      or r.rolname operator(pg_catalog.=) 'postgres'::pg_catalog.name and not exists (
        select from pg_catalog.pg_replication_slots as s where not s.temporary
      ) and not exists (
        select from pg_catalog.pg_stat_replication as r where r.usename operator(pg_catalog.=) 'postgres'::pg_catalog.name
      )
    )
    order by 1";

/// Revokes them, and takes REPLICATION from roles that log in with a known password. Returns a sentence for each. Where other roles are
/// members, too, somebody has planned it: [`find_role_faults`](super::find_role_faults) names these.
///
/// # Errors
/// When PostgreSQL refuses; `client` must be a superuser's.
pub async fn take_back_memberships(client: &Client) -> Result<Vec<String>, MigrateError> {
    let mut revoked: Vec<String> = Vec::new();
    for row in client.query(TAKEN, &[]).await? {
        let (role, member, grantor): (String, String, Option<String>) = (row.get(0), row.get(1), row.get(2));
        // Older versions have one membership, whoever has granted it.
        let granted_by = match grantor.filter(|_| row.get(3)) {
            Some(grantor) => format!(" granted by {}", quote_identifier(&grantor)),
            None => String::new(),
        };
        let (quoted, quoted_member) = (quote_identifier(&role), quote_identifier(&member));
        let revoke = format!("revoke {quoted} from {quoted_member}{granted_by} cascade");
        client.batch_execute(&revoke).await?;
        let sentence = format!(
            "{member} was a member of {role}, and is not any more: its members have more rights than postgres"
        );
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
