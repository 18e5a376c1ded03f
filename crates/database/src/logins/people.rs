//! Logins to the database of a home for people and their programs. Each is a role of its own, so that PostgreSQL's log says who has done what,
//! and is a member of one of two roles that have the rights: to read the project's tables, or to change their rows as well.

use anyhow::{Result, bail};
use secrecy::SecretString;
use selvedge_postgres::migrate::scram_verifier;
use selvedge_postgres::{PrivilegedSession, quote_identifier, quote_literal};
use selvedge_terminal::show_foreign;
use tokio_postgres::Client;

/// The roles that have the rights.
const READERS: &str = "selvedge_readers";
const WRITERS: &str = "selvedge_writers";

/// Revokes memberships of the two roles that `login add` did not grant. Returns a sentence for each (`sql/platform/0240_logins_of_people.sql`).
const SETTLE: &str = "select * from _selvedge.settle_database_logins()";
const CLOSE_TO_PUBLIC: &str = "select _selvedge.close_schemas_to_public()";

/// Grants both roles their rights, also on tables that are made later. Run by `postgres`, which owns the project's objects. Tables of the platform
/// are left out: users with the hashes of their passwords, secrets of the vault, objects, applied migrations.
const GRANT: &str = "
    do $$
    declare
      found record;
    begin
      for found in
        select n.nspname from pg_catalog.pg_namespace as n
        where n.nspname = 'public' or (n.nspowner = current_user::pg_catalog.regrole
          and n.nspname <> all (array['supabase_migrations', 'extensions']))
      loop
        execute pg_catalog.format('grant usage on schema %I to selvedge_readers, selvedge_writers', found.nspname);
      end loop;
      for found in
        select n.nspname, c.relname, c.relkind from pg_catalog.pg_class as c
        join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
        where c.relowner = current_user::pg_catalog.regrole and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
          and (n.nspname = 'public' or (n.nspowner = current_user::pg_catalog.regrole
            and n.nspname <> all (array['supabase_migrations', 'extensions'])))
      loop
        if found.relkind = 'S' then
          execute pg_catalog.format('grant usage on sequence %I.%I to selvedge_writers', found.nspname, found.relname);
        else
          execute pg_catalog.format('grant select on %I.%I to selvedge_readers, selvedge_writers', found.nspname, found.relname);
          execute pg_catalog.format('grant insert, update, delete on %I.%I to selvedge_writers', found.nspname, found.relname);
        end if;
      end loop;
      alter default privileges grant select on tables to selvedge_readers, selvedge_writers;
      alter default privileges grant insert, update, delete on tables to selvedge_writers;
      alter default privileges grant usage on sequences to selvedge_writers;
    end
    $$";

const EXISTS: &str = "select exists (select from pg_catalog.pg_roles where rolname operator(pg_catalog.=) $1::pg_catalog.text)";
/// Functions that run with the rights of their owners, and that everybody may run.
const DEFINER_FUNCTIONS: &str = "
    select p.oid::pg_catalog.regprocedure::pg_catalog.text from pg_catalog.pg_proc as p
    where p.prosecdef and p.proowner operator(pg_catalog.=) 'postgres'::pg_catalog.regrole
      and pg_catalog.has_function_privilege('selvedge_readers', p.oid, 'execute')
      and pg_catalog.has_schema_privilege('selvedge_readers', p.pronamespace, 'usage')
    order by 1";
const LIST: &str = "
    select r.rolname::pg_catalog.text, l.writes, r.rolcanlogin,
      (select pg_catalog.count(*) from pg_catalog.pg_stat_activity as a where a.usesysid operator(pg_catalog.=) r.oid),
      _selvedge.further_memberships(r.oid)
    from _selvedge.selvedge_database_logins as l
    join pg_catalog.pg_roles as r on r.oid operator(pg_catalog.=) l.role and r.rolname::pg_catalog.text operator(pg_catalog.=) l.name
    order by 1";
/// Whether a role owns anything, in whichever database.
const OWNS: &str = "
    select exists (
      select from pg_catalog.pg_shdepend as d join pg_catalog.pg_roles as r on r.oid operator(pg_catalog.=) d.refobjid
      where d.refclassid operator(pg_catalog.=) 'pg_catalog.pg_authid'::pg_catalog.regclass::pg_catalog.oid
        and d.deptype operator(pg_catalog.=) 'o'::pg_catalog.\"char\" and r.rolname operator(pg_catalog.=) $1::pg_catalog.text
    )";
const NUMBER: &str =
    "select oid from pg_catalog.pg_roles where rolname operator(pg_catalog.=) $1::pg_catalog.text";
const END_SESSIONS: &str = "
    select pg_catalog.pg_terminate_backend(a.pid, 5000) from pg_catalog.pg_stat_activity as a
    where a.usename operator(pg_catalog.=) $1::pg_catalog.text";

/// How roles of the platform and of PostgreSQL begin.
const RESERVED: [&str; 3] = ["pg_", "selvedge_", "supabase_"];
const LONGEST_NAME: usize = 40;

/// A login, as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonLogin {
    pub name: String,
    pub writes: bool,
    /// False for one whose removal did not end.
    pub may_log_in: bool,
    pub sessions: i64,
    /// Statements that revoke memberships in other roles, because of which the gate refuses the login.
    pub further_memberships: Option<String>,
}

/// Adds a login with this password, after [`settle_logins`]. `superuser` makes the role, `owner` is a session of `postgres`.
///
/// # Errors
/// When the name is no name or taken, or the database refuses it.
pub async fn add_login(
    superuser: &PrivilegedSession,
    owner: &Client,
    name: &str,
    writes: bool,
    password: &SecretString,
) -> Result<()> {
    check_name(name)?;
    superuser.batch_execute(CLOSE_TO_PUBLIC).await?;
    owner.batch_execute(GRANT).await?;
    if superuser.query_one(EXISTS, &[&name]).await?.try_get(0)? {
        bail!(
            "there is a role {name} already\n  another password:  selvedge database login remove {name}, and add it again"
        );
    }
    Ok(superuser.batch_execute(&creation(name, writes, password)).await?)
}

/// Revokes what makes the gate refuse all logins: members of the two roles that are no logins, and memberships of the two roles in others, whose rights
/// nobody has decided to give. Returns a sentence for each.
///
/// # Errors
/// When PostgreSQL refuses.
pub async fn settle_logins(superuser: &PrivilegedSession) -> Result<Vec<String>> {
    let rows = superuser.query(SETTLE, &[]).await?;
    rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
}

/// Lists the logins.
///
/// # Errors
/// When the query fails.
pub async fn list_logins(superuser: &PrivilegedSession) -> Result<Vec<PersonLogin>> {
    let rows = superuser.query(LIST, &[]).await?;
    rows.iter()
        .map(|row| {
            Ok(PersonLogin {
                name: row.try_get(0)?,
                writes: row.try_get(1)?,
                may_log_in: row.try_get(2)?,
                sessions: row.try_get(3)?,
                further_memberships: row.try_get(4)?,
            })
        })
        .collect()
}

/// Lists the project's functions by which a login that only reads may write.
///
/// # Errors
/// When the query fails.
pub async fn list_definer_functions(superuser: &PrivilegedSession) -> Result<Vec<String>> {
    let rows = superuser.query(DEFINER_FUNCTIONS, &[]).await?;
    rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
}

/// Removes a login, and ends its sessions. `owner` is a session of `postgres`: functions of the project that run upon such a change have its rights
/// then, and not the superuser's.
///
/// What the login owns stays with its role under another name, which is returned: nobody logs in as that role, it has the rights that were granted to
/// it by its name, and `postgres` is a member. PostgreSQL runs expressions of a table's indexes as the table's owner, for example when autovacuum analyzes it, so
/// nobody becomes the owner of a table without having looked at them. Functions and views, which have had the login's rights for whoever calls or reads them, have the
/// rights of these from then on.
///
/// # Errors
/// When there is no such login, or it has rights in another database.
pub async fn remove_login(
    superuser: &PrivilegedSession,
    owner: &Client,
    name: &str,
) -> Result<Option<String>> {
    let logins = list_logins(superuser).await?;
    if !logins.iter().any(|login| login.name == name) {
        bail!(
            "there is no login {} that `selvedge database login add` has made",
            show_foreign(name)
        );
    }
    let role = quote_identifier(name);
    superuser
        .batch_execute(&format!("alter role {role} nologin"))
        .await?;
    superuser.query(END_SESSIONS, &[&name]).await?;
    superuser.batch_execute(&ending_memberships(name)).await?;
    superuser
        .batch_execute(&format!("grant {role} to postgres"))
        .await?;
    let forget = format!(
        "delete from _selvedge.selvedge_database_logins where name operator(pg_catalog.=) {}",
        quote_literal(name)
    );
    if superuser.query_one(OWNS, &[&name]).await?.try_get(0)? {
        owner.batch_execute(&lowering(name)).await?;
        return Ok(Some(keep_role(superuser, name, &forget).await?));
    }
    // It owns nothing, so that its rights are dropped alone.
    owner.batch_execute(&format!("drop owned by {role}")).await?;
    match superuser
        .batch_execute(&format!("drop role {role}; {forget}"))
        .await
    {
        Err(error) if error.code().is_some_and(|code| code.code() == "2BP01") => bail!(
            "{name} can no longer log in, but has rights in another database, so the role stays\n  as postgres there:  \
             drop owned by {role}; then remove it again"
        ),
        dropped => dropped.map(|()| None).map_err(Into::into),
    }
}

/// Leaves what a login owns to its role, under another name, which is returned. `forget` are the statements by which it is no login any more.
async fn keep_role(superuser: &PrivilegedSession, name: &str, forget: &str) -> Result<String> {
    let number: u32 = superuser.query_one(NUMBER, &[&name]).await?.try_get(0)?;
    let former = format!("former_{name}_{number}");
    // Who has the admin option may drop the role.
    let rename = format!(
        "alter role {role} nobypassrls password null; alter role {role} reset all; alter role {role} rename to {kept}; \
         grant {kept} to postgres with admin option; {forget}",
        role = quote_identifier(name),
        kept = quote_identifier(&former)
    );
    superuser.batch_execute(&rename).await?;
    Ok(former)
}

/// Ends the memberships of a role in others, and those of others in it.
fn ending_memberships(name: &str) -> String {
    let name = quote_literal(name);
    format!(
        "do $ending$
         declare statement pg_catalog.text;
         begin
           for statement in
             select pg_catalog.format('revoke %I from %I%s cascade', role.rolname, member.rolname,
               case when pg_catalog.current_setting('server_version_num')::pg_catalog.int4 operator(pg_catalog.>=) 160000
                 then pg_catalog.format(' granted by %I', grantor.rolname) end)
             from pg_catalog.pg_auth_members as m
             join pg_catalog.pg_roles as role on role.oid operator(pg_catalog.=) m.roleid
             join pg_catalog.pg_roles as member on member.oid operator(pg_catalog.=) m.member
             left join pg_catalog.pg_roles as grantor on grantor.oid operator(pg_catalog.=) m.grantor
             where {name}::pg_catalog.name operator(pg_catalog.=) any (array[role.rolname, member.rolname])
           loop
             execute statement;
           end loop;
         end $ending$"
    )
}

/// Takes the owner's rights from its functions and views.
fn lowering(name: &str) -> String {
    let name = quote_literal(name);
    format!(
        "do $lowering$
         declare statement pg_catalog.text;
         begin
           for statement in
             select pg_catalog.format('alter routine %s security invoker', p.oid::pg_catalog.regprocedure)
             from pg_catalog.pg_proc as p join pg_catalog.pg_roles as r on r.oid operator(pg_catalog.=) p.proowner
             where p.prosecdef and p.prokind operator(pg_catalog.<>) 'a'::pg_catalog.\"char\"
               and r.rolname operator(pg_catalog.=) {name}::pg_catalog.name
             union all
             select pg_catalog.format('alter view %s set (security_invoker = true)', c.oid::pg_catalog.regclass)
             from pg_catalog.pg_class as c join pg_catalog.pg_roles as r on r.oid operator(pg_catalog.=) c.relowner
             where c.relkind operator(pg_catalog.=) 'v'::pg_catalog.\"char\"
               and r.rolname operator(pg_catalog.=) {name}::pg_catalog.name
           loop
             execute statement;
           end loop;
         end $lowering$"
    )
}

/// The statements that make the role, as one transaction: all of it, or nothing. They take no parameters.
fn creation(name: &str, writes: bool, password: &SecretString) -> String {
    let (role, group) = (quote_identifier(name), if writes { WRITERS } else { READERS });
    let read_only = match writes {
        true => String::new(),
        false => format!("alter role {role} set default_transaction_read_only = on;\n"),
    };
    format!(
        "create role {role} login bypassrls connection limit 5 password '{verifier}';\n\
         grant {group} to {role};\n\
         delete from _selvedge.selvedge_database_logins where name operator(pg_catalog.=) {literal};\n\
         insert into _selvedge.selvedge_database_logins select {literal}, oid, {writes} from pg_catalog.pg_roles \
         where rolname operator(pg_catalog.=) {literal};\n\
         alter role {role} set statement_timeout = '60s';\n\
         alter role {role} set idle_in_transaction_session_timeout = '5min';\n\
         alter role {role} set idle_session_timeout = '5min';\n\
         alter role {role} set log_statement = 'all';\n\
         {read_only}",
        literal = quote_literal(name),
        verifier = scram_verifier(password)
    )
}

fn check_name(name: &str) -> Result<()> {
    let begins = name.starts_with(|first: char| first.is_ascii_lowercase());
    let is_word = name
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if !begins || !is_word || name.len() > LONGEST_NAME {
        bail!(
            "{name:?} is no name of a login: small letters, digits and underscores, at most {LONGEST_NAME}"
        );
    }
    if RESERVED.iter().any(|reserved| name.starts_with(reserved)) {
        bail!(
            "names that begin with {} are those of others",
            RESERVED.join(", ")
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prod_011_names_are_words_that_nobody_else_has() {
        for name in ["ana", "bi_tool2"] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        for name in [
            "",
            "Ana",
            "2ana",
            "a b",
            "a;b",
            "a\"b",
            "pg_ana",
            "selvedge_readers",
            "supabase_admin",
            "ä",
        ] {
            assert!(check_name(name).is_err(), "{name}");
        }
        assert!(check_name(&"a".repeat(LONGEST_NAME + 1)).is_err());
    }

    #[test]
    fn prod_011_a_password_is_in_no_statement_as_it_is() {
        let password = SecretString::from("hunter2-hunter2".to_owned());

        let reads = creation("ana", false, &password);
        let writes = creation("ana", true, &password);

        assert!(!reads.contains("hunter2") && reads.contains("SCRAM-SHA-256$"));
        assert!(reads.contains("grant selvedge_readers") && reads.contains("read_only = on"));
        assert!(writes.contains("grant selvedge_writers") && !writes.contains("read_only"));
        assert!(writes.contains("connection limit 5") && writes.contains("statement_timeout = '60s'"));
    }
}
