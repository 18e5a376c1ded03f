//! Memberships of `postgres` that are a superuser's rights in all but name, and that earlier versions let it take.

use tokio_postgres::Client;

use super::error::MigrateError;
use crate::quote_identifier;

/// Roles whose members read and write files, run programs or write every table, and superusers, where `postgres` is the only member that is
/// no superuser; once for each role that has granted the membership.
const TAKEN: &str = "
    select r.rolname::pg_catalog.text, g.rolname::pg_catalog.text,
      pg_catalog.current_setting('server_version_num')::pg_catalog.int4 operator(pg_catalog.>=) 160000
    from pg_catalog.pg_auth_members as m
    join pg_catalog.pg_authid as r on r.oid operator(pg_catalog.=) m.roleid
    join pg_catalog.pg_authid as p on p.oid operator(pg_catalog.=) m.member
    left join pg_catalog.pg_authid as g on g.oid operator(pg_catalog.=) m.grantor
    where p.rolname operator(pg_catalog.=) 'postgres'::pg_catalog.name and not p.rolsuper
      and (r.rolsuper or r.rolname operator(pg_catalog.=) any (array[
        'pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files', 'pg_write_all_data'
      ]::pg_catalog.name[]))
      and not exists (
        select from pg_catalog.pg_auth_members as o
        join pg_catalog.pg_authid as x on x.oid operator(pg_catalog.=) o.member
        where o.roleid operator(pg_catalog.=) m.roleid and not x.rolsuper
          and x.oid operator(pg_catalog.<>) p.oid
      )
    order by 1, 2";

/// Revokes them, and returns a sentence for each. Where other roles are members, too, somebody has planned it:
/// [`find_privilege_faults`](super::find_privilege_faults) names these.
///
/// # Errors
/// When PostgreSQL refuses; `client` must be a superuser's.
pub async fn take_back_memberships(client: &Client) -> Result<Vec<String>, MigrateError> {
    let mut revoked: Vec<String> = Vec::new();
    for row in client.query(TAKEN, &[]).await? {
        let (role, grantor, has_grantors): (String, Option<String>, bool) =
            (row.get(0), row.get(1), row.get(2));
        // Older versions have one membership, whoever has granted it.
        let granted_by = match grantor.filter(|_| has_grantors) {
            Some(grantor) => format!(" granted by {}", quote_identifier(&grantor)),
            None => String::new(),
        };
        let revoke = format!(
            "revoke {} from postgres{granted_by} cascade",
            quote_identifier(&role)
        );
        client.batch_execute(&revoke).await?;
        let sentence = format!(
            "postgres was a member of {role}, and is not any more: its members have rights of a superuser"
        );
        if !revoked.contains(&sentence) {
            revoked.push(sentence);
        }
    }
    Ok(revoked)
}
