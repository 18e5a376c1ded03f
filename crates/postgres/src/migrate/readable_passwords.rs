//! Passwords that PostgreSQL stores in plain text, in connection strings and options of user mappings. `postgres` reads all settings and all
//! tables, so it could log in with them.

use tokio_postgres::{Client, Error};

const IN_A_FILE: &str = "passwords of connections that a superuser has made are in a file (passfile)";
const IN_NO_MAPPING: &str = "user mappings of others than postgres have no passwords";

/// What the session may read: stored passwords of roles, the setting of a standby, subscriptions, user mappings. A setting that a session may not see
/// has no row.
const READABLE: &str = "
    select
      pg_catalog.has_table_privilege('pg_catalog.pg_authid'::pg_catalog.text, 'select'::pg_catalog.text),
      exists (select from pg_catalog.pg_settings as s where s.name operator(pg_catalog.=) 'primary_conninfo'::pg_catalog.text),
      pg_catalog.has_column_privilege(
        'pg_catalog.pg_subscription'::pg_catalog.text, 'subconninfo'::pg_catalog.text, 'select'::pg_catalog.text
      ),
      pg_catalog.has_table_privilege('pg_catalog.pg_user_mapping'::pg_catalog.text, 'select'::pg_catalog.text)";

const OF_STANDBY: &str = "
    select s.setting from pg_catalog.pg_settings as s where s.name operator(pg_catalog.=) 'primary_conninfo'::pg_catalog.text";

/// Subscriptions of all databases except those that `postgres` owns: it has written their connection strings itself, so it knows the passwords.
const OF_SUBSCRIPTIONS: &str = "
    select pg_catalog.concat('the subscription ', s.subname, ' of the database ', d.datname), s.subconninfo
    from pg_catalog.pg_subscription as s
    join pg_catalog.pg_database as d on d.oid operator(pg_catalog.=) s.subdbid
    where not exists (
      select from pg_catalog.pg_roles as p
      where p.rolname operator(pg_catalog.=) 'postgres'::pg_catalog.name
        and pg_catalog.pg_has_role(p.oid, s.subowner, 'member'::pg_catalog.text)
    )
    order by 1";

/// User mappings of this database with a password, but for those of roles that `postgres` is, and for everybody's on a server of `postgres`.
const OF_MAPPINGS: &str = "
    select pg_catalog.concat(
      'the user mapping of ', coalesce(r.rolname::pg_catalog.text, 'everybody'::pg_catalog.text), ' for the server ', s.srvname
    )
    from pg_catalog.pg_user_mapping as m
    join pg_catalog.pg_foreign_server as s on s.oid operator(pg_catalog.=) m.umserver
    left join pg_catalog.pg_roles as r on r.oid operator(pg_catalog.=) m.umuser
    where exists (
        select from pg_catalog.unnest(m.umoptions) as o (option)
        where o.option operator(pg_catalog.~) '^password=.'::pg_catalog.text
      )
      and not exists (
        select from pg_catalog.pg_roles as p
        where p.rolname operator(pg_catalog.=) 'postgres'::pg_catalog.name
          and pg_catalog.pg_has_role(p.oid, coalesce(r.oid, s.srvowner), 'member'::pg_catalog.text)
      )
    order by 1";

/// Whether the session may read the logins of Citus between its nodes: a table that is there with Citus alone.
const HAS_NODE_LOGINS: &str = "
    select coalesce(pg_catalog.has_table_privilege(
      pg_catalog.to_regclass('pg_catalog.pg_dist_authinfo'::pg_catalog.text)::pg_catalog.oid, 'select'::pg_catalog.text
    ), false)";

/// The logins between Citus' nodes, except those of roles that `postgres` is a member of anyway.
const OF_NODES: &str = "
    select pg_catalog.concat('the login of ', a.rolename, ' between nodes of Citus'), a.authinfo::pg_catalog.text
    from pg_catalog.pg_dist_authinfo as a
    where not exists (
      select from pg_catalog.pg_roles as p
      join pg_catalog.pg_roles as r on r.rolname operator(pg_catalog.=) a.rolename
      where p.rolname operator(pg_catalog.=) 'postgres'::pg_catalog.name
        and pg_catalog.pg_has_role(p.oid, r.oid, 'member'::pg_catalog.text)
    )
    order by 1";

/// What a session may read of passwords.
#[derive(Debug, Clone, Copy)]
pub struct ReadablePasswords {
    of_roles: bool,
    of_standby: bool,
    of_subscriptions: bool,
    of_mappings: bool,
}

impl ReadablePasswords {
    /// Asks what the session of `client` may read.
    ///
    /// # Errors
    /// When the query fails.
    pub async fn of(client: &Client) -> Result<Self, Error> {
        let row = client.query_one(READABLE, &[]).await?;
        Ok(Self {
            of_roles: row.try_get(0)?,
            of_standby: row.try_get(1)?,
            of_subscriptions: row.try_get(2)?,
            of_mappings: row.try_get(3)?,
        })
    }

    /// Lists what could not be examined, because the session may not read it.
    #[must_use]
    pub fn list_unread(self) -> Vec<&'static str> {
        [
            (self.of_roles, "passwords that are stored by md5 (pg_authid)"),
            (self.of_standby, "a password in primary_conninfo"),
            (self.of_subscriptions, "passwords of subscriptions"),
            (self.of_mappings, "passwords of user mappings"),
        ]
        .into_iter()
        .filter_map(|(is_read, what)| (!is_read).then_some(what))
        .collect()
    }
}

/// Lists the passwords that `postgres` could read and that are not its own, as far as the session may read them: the rule that each breaks, and
/// where it is.
///
/// # Errors
/// When a query fails.
pub(super) async fn find_readable_passwords(client: &Client) -> Result<Vec<(&'static str, String)>, Error> {
    let readable = ReadablePasswords::of(client).await?;
    let mut objects = Vec::new();
    if readable.of_standby && has_standby_password(client).await? == Some(true) {
        objects.push((IN_A_FILE, "primary_conninfo has a password".to_owned()));
    }
    if readable.of_subscriptions {
        for row in client.query(OF_SUBSCRIPTIONS, &[]).await? {
            let (name, text): (String, &str) = (row.try_get(0)?, row.try_get(1)?);
            if has_password(text) {
                objects.push((IN_A_FILE, format!("{name} has a password")));
            }
        }
    }
    if client.query_one(HAS_NODE_LOGINS, &[]).await?.try_get(0)? {
        for row in client.query(OF_NODES, &[]).await? {
            let (name, text): (String, &str) = (row.try_get(0)?, row.try_get(1)?);
            if has_password(text) {
                objects.push((IN_A_FILE, format!("{name} has a password")));
            }
        }
    }
    if readable.of_mappings {
        for row in client.query(OF_MAPPINGS, &[]).await? {
            let name: String = row.try_get(0)?;
            objects.push((IN_NO_MAPPING, format!("{name} has a password")));
        }
    }
    Ok(objects)
}

/// Whether `primary_conninfo` of the server has a password; `None` where the session may not read it.
///
/// # Errors
/// When the query fails.
pub async fn has_standby_password(client: &Client) -> Result<Option<bool>, Error> {
    let row = client.query_opt(OF_STANDBY, &[]).await?;
    row.map(|row| Ok(has_password(row.try_get(0)?))).transpose()
}

/// Whether the text of a connection, a URI or pairs, has a password for libpq. A text that libpq would refuse has one if it has the word.
fn has_password(text: &str) -> bool {
    let uri = ["postgresql://", "postgres://"]
        .iter()
        .find_map(|scheme| text.strip_prefix(scheme));
    match uri {
        Some(uri) => has_uri_password(uri),
        None => list_pairs(text).map_or_else(
            || text.contains("password"),
            |pairs| {
                pairs
                    .iter()
                    .any(|(name, value)| name == "password" && !value.is_empty())
            },
        ),
    }
}

/// As in libpq, everything before the first `@` is user and password, also a question mark, unless a slash comes before.
fn has_uri_password(uri: &str) -> bool {
    let user = uri.split(['@', '/']).next().unwrap_or_default();
    let is_user = uri.as_bytes().get(user.len()) == Some(&b'@');
    let of_user = user
        .split_once(':')
        .is_some_and(|(_, password)| !password.is_empty());
    // All question marks are tried as the beginning of the parameters, because one in brackets belongs to a host.
    let address = if is_user { &uri[user.len()..] } else { uri };
    let is_named = address.split(['?', '&']).skip(1).any(|parameter| {
        let (name, value) = parameter.split_once('=').unwrap_or_default();
        // A parameter whose name has escapes may be `password`, so it counts as one.
        !value.is_empty() && (name == "password" || name.contains('%'))
    });
    is_user && of_user || is_named
}

/// The pairs of a text, as libpq reads them: values end at a blank, or stand between quotes, and a backslash takes the meaning from the next letter.
/// `None` for a text that it refuses.
fn list_pairs(text: &str) -> Option<Vec<(String, String)>> {
    let is_blank = |letter: &char| letter.is_ascii_whitespace() || *letter == '\u{b}';
    let mut pairs = Vec::new();
    let mut letters = text.chars().peekable();
    loop {
        while letters.next_if(is_blank).is_some() {}
        if letters.peek().is_none() {
            return Some(pairs);
        }
        let mut name = String::new();
        while let Some(letter) = letters.next_if(|letter| *letter != '=' && !is_blank(letter)) {
            name.push(letter);
        }
        while letters.next_if(is_blank).is_some() {}
        letters.next_if_eq(&'=')?;
        while letters.next_if(is_blank).is_some() {}
        let is_quoted = letters.next_if_eq(&'\'').is_some();
        let mut value = String::new();
        loop {
            match letters.next() {
                Some('\'') if is_quoted => break,
                None if is_quoted => return None,
                None => break,
                Some(letter) if !is_quoted && is_blank(&letter) => break,
                Some('\\') => value.extend(letters.next()),
                Some(letter) => value.push(letter),
            }
        }
        pairs.push((name, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_012_a_password_is_found_in_every_form_of_a_connections_text() {
        for text in [
            "host=db password=x",
            "password = 'x y' host=db",
            "password='\\''",
            "host='a b'password=x",
            "host=db\npassword\t=\nx",
            "host='unterminated password=x",
            "host=db password= user=rep",
            "postgresql://rep:x@db:5432/postgres",
            "postgres://rep:x@[::1]/",
            "postgresql://db/?user=rep&password=x",
            "postgresql://db?sslmode=require&pass%77ord=x",
            "postgresql://:x@/postgres?host=/run",
            "postgresql://us?er@db/x?password=x",
            "postgresql://us?er:x@db/x",
            "postgresql://us?er=a&b@db?sslmode=require&password=x",
            "postgresql://[a?b]/x?password=x",
        ] {
            assert!(has_password(text), "{text}");
        }
        for text in [
            "",
            "host=db user=rep passfile='/var/lib/postgresql/.pgpass' sslmode=verify-full",
            "host=db application_name='password=x'",
            "host=db application_name=\\'password\\=x",
            "host=db password=''",
            "require_auth=scram-sha-256 sslpassword=x",
            "postgresql://rep@db:5432/postgres?passfile=/x",
            "postgresql://rep:@db/postgres",
            "postgresql://db:5432/postgres",
            "postgresql://db/a:b@c?application_name=password",
            "postgresql://db/?password=",
            "postgresql://us?password=x@db/y?sslmode=require",
        ] {
            assert!(!has_password(text), "{text}");
        }
    }
}
