//! Compares what two databases of the platform consist of, and makes one equal to the other: for `db reset`, after which a running database
//! has to be as a fresh one is. A list of the kinds of objects that projects make is never complete, so the whole catalog is compared.

use std::collections::{BTreeMap, BTreeSet};

use tokio_postgres::Client;

use super::added_objects::{check_types, take_out_members};
use super::change_statements::{
    end_transaction, is_missing_object, lock_tables, run_in_rounds, run_in_savepoint,
};
use super::clear::check_unlocked;
use super::error::MigrateError;

const QUERY: &str = include_str!("database_state.sql");
const EMPTY_TABLES: &str = include_str!("empty_tables.sql");

/// Those of these tables that are there: a project may have dropped an extension with its tables.
const EXISTING: &str = "
    select t.name from pg_catalog.unnest($1::pg_catalog.text[]) as t (name)
    where pg_catalog.to_regclass(t.name) is not null";

/// Names are written and found as in a session of [`crate::PrivilegedLogin`]. Neither triggers nor foreign keys fire, and functions may name
/// what is made after them. Nothing waits for others' transactions without end.
const BEGIN: &str =
    "begin; set local session_replication_role = replica; set local check_function_bodies = off;
    set local lock_timeout = '10s'; set local search_path = pg_catalog, pg_temp";

/// Keeps roles from being renamed while attributes are set by name: PostgreSQL 15 lets `postgres` rename nearly every role.
const LOCK_ROLES: &str = "lock table pg_catalog.pg_authid in share row exclusive mode";

/// Tables of the services, by their SQL names. Their owners may attach code to them, which runs as whoever empties or changes them.
const TABLES_OF_SERVICES: &str = "
    select c.oid::pg_catalog.regclass::pg_catalog.text
    from pg_catalog.pg_class as c
    join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) c.relnamespace
    join pg_catalog.pg_roles as s on s.oid operator(pg_catalog.=) n.nspowner and s.rolsuper
    join pg_catalog.pg_roles as o on o.oid operator(pg_catalog.=) c.relowner and not o.rolsuper
    where c.relkind operator(pg_catalog.=) any (array['r', 'p']::pg_catalog.\"char\"[]) and not c.relispartition
      and n.nspname operator(pg_catalog.!~) '^pg_'::pg_catalog.text
    order by 1";

/// Tables by their SQL names, each with its number and whether its schema is a superuser's. In such a one nobody else can give the name of a
/// table that is locked to another one.
const PLACES: &str = "
    select t.name, c.oid, s.rolsuper
    from pg_catalog.unnest($1::pg_catalog.text[]) as t (name)
    join pg_catalog.pg_class as c on c.oid operator(pg_catalog.=) pg_catalog.to_regclass(t.name)::pg_catalog.oid
    join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) c.relnamespace
    join pg_catalog.pg_roles as s on s.oid operator(pg_catalog.=) n.nspowner";

/// What belongs to `postgres` in the database, as [`Part::name`] has it.
const OBJECTS_OF_POSTGRES: &str = "
    select pg_catalog.concat(i.type, ' '::pg_catalog.text, i.identity)
    from pg_catalog.pg_shdepend as d
    join pg_catalog.pg_database as b on b.oid operator(pg_catalog.=) d.dbid
      and b.datname operator(pg_catalog.=) pg_catalog.current_database()
    cross join lateral pg_catalog.pg_identify_object(d.classid, d.objid, d.objsubid) as i
    where d.refclassid operator(pg_catalog.=) 'pg_catalog.pg_authid'::pg_catalog.regclass::pg_catalog.oid
      and d.refobjid operator(pg_catalog.=) 'postgres'::pg_catalog.regrole::pg_catalog.oid
      and d.deptype operator(pg_catalog.=) 'o'::pg_catalog.\"char\" and i.identity is not null";

/// How often a database is compared while others replace its tables. Where nobody does, the second time finds what an extension that was
/// missing has brought.
const PASSES: usize = 3;

/// Parts up to this rank belong to the server: roles with their memberships and settings.
const LAST_RANK_OF_ROLES: i32 = 3;

/// Parts from this rank on say something of objects: owners, rights, comments.
const FIRST_RANK_OF_PROPERTIES: i32 = 110;

/// Tables, of which only attributes are made, such as row-level security.
const RANK_OF_TABLES: i32 = 51;

/// Keys and checks of tables, references to other tables, and indexes. PostgreSQL evaluates what they say when they are made.
const EVALUATED_RANKS: [i32; 3] = [75, RANK_OF_REFERENCES, 80];

/// References to other tables.
const RANK_OF_REFERENCES: i32 = 77;

/// Comments on objects.
const RANK_OF_COMMENTS: i32 = 140;

/// Extensions themselves, without what is in them.
pub(super) const RANK_OF_EXTENSIONS: i32 = 30;

/// Parts up to this rank are made first: roles, schemas and extensions.
const LAST_RANK_OF_EXTENSIONS: i32 = RANK_OF_EXTENSIONS;

/// What a database and the roles of its server consist of, but for passwords.
#[derive(Debug, Clone)]
pub struct DatabaseState {
    parts: Vec<Part>,
    /// The tables that are empty in a fresh database, by their SQL names.
    empty_tables: Vec<String>,
}

/// An object, or what can be said of one, such as its owner.
#[derive(Debug, Clone)]
pub(super) struct Part {
    /// Its place in the order in which parts can be made.
    pub(super) rank: i32,
    /// By what it is found in the other database: `table auth.users`, `owner of table auth.users`.
    pub(super) name: String,
    value: Option<String>,
    /// The statement that gives it this value in another database of the platform.
    make: Option<String>,
    /// The statement that drops it in the database of this state, or makes it as if it had never been set.
    remove: Option<String>,
    /// The role that owns the object, or the object that it belongs to; none for parts of the server.
    pub(super) owner: Option<String>,
    /// Whether a part of another value has to be removed before it can be made, as an index has.
    is_remade: bool,
}

/// Tables by their SQL names: the number of each, and whether a superuser owns its schema.
type Places = BTreeMap<String, (u32, bool)>;

/// What becomes of changes when the database refuses one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnRefusal {
    /// All are given up.
    Fail,
    /// It is left out.
    Skip,
}

impl Part {
    /// Whether making it runs nothing that a project could have written, as making an index or a check does.
    pub(super) fn is_property(&self) -> bool {
        self.rank >= FIRST_RANK_OF_PROPERTIES || self.rank == RANK_OF_TABLES
    }

    /// Whether making the part runs its expressions, such as a default or a check, and its table belongs to none of these superusers: the project may
    /// have put code of its own behind them, so `postgres` makes it.
    fn is_evaluated(&self, superusers: &BTreeSet<String>) -> bool {
        EVALUATED_RANKS.contains(&self.rank)
            && !self
                .owner
                .as_ref()
                .is_some_and(|owner| superusers.contains(owner))
    }

    /// Whether the part is a foreign key or a comment, for which another part may have to be made before.
    fn may_wait_for_keys(&self) -> bool {
        [RANK_OF_REFERENCES, RANK_OF_COMMENTS].contains(&self.rank)
    }

    /// Whether it says who may do what: owners, rights and default rights.
    pub(super) fn is_right(&self) -> bool {
        (FIRST_RANK_OF_PROPERTIES..RANK_OF_COMMENTS).contains(&self.rank)
    }
}

impl DatabaseState {
    /// Reads the state of a database in which the platform schema was just applied, and nothing else. `client` must be a superuser's,
    /// opened by [`crate::PrivilegedLogin`]: expressions are written with the names that its search path does not find.
    ///
    /// # Errors
    /// When a query fails.
    pub async fn of_fresh_database(client: &Client) -> Result<Self, MigrateError> {
        let tables = client.query(EMPTY_TABLES, &[]).await?;
        Ok(Self {
            parts: read_parts(client).await?,
            empty_tables: tables.iter().map(|row| row.get(0)).collect(),
        })
    }

    /// Reads the state of a database of a project, to compare it. `client` as for [`DatabaseState::of_fresh_database`].
    ///
    /// # Errors
    /// When a query fails.
    pub async fn of_database(client: &Client) -> Result<Self, MigrateError> {
        Ok(Self {
            parts: read_parts(client).await?,
            empty_tables: Vec::new(),
        })
    }

    /// Names of the parts that only one of the two has, or that they have with other values.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let different = differing(&self.parts, &other.parts).chain(differing(&other.parts, &self.parts));
        let names: BTreeSet<&str> = different.map(|(part, _)| part.name.as_str()).collect();
        names.into_iter().map(str::to_owned).collect()
    }

    /// Makes the roles of the connected server as those of this state, as far as both have them: rights, memberships and settings. After
    /// that `postgres` can do again what it can do in a fresh project, and still drop the roles that it has made.
    ///
    /// # Errors
    /// When a statement fails; then nothing has changed.
    pub async fn restore_roles(&self, client: &Client) -> Result<(), MigrateError> {
        let is_meant = |part: &Part| part.rank <= LAST_RANK_OF_ROLES && !self.lets_postgres_drop_a_role(part);
        client.batch_execute(BEGIN).await?;
        let outcome = match client.batch_execute(LOCK_ROLES).await {
            Ok(()) => self.change(client, is_meant, OnRefusal::Fail).await,
            Err(error) => Err(error.into()),
        };
        end_transaction(client, outcome).await
    }

    /// Refuses while somebody's open transaction has locked one of the tables that [`Self::restore`] empties. Nothing is changed.
    ///
    /// # Errors
    /// [`MigrateError::Locked`] when it has for longer than a reset waits.
    pub async fn check_unlocked(&self, superuser: &Client) -> Result<(), MigrateError> {
        let rows = superuser.query(EXISTING, &[&self.empty_tables]).await?;
        let tables: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        check_unlocked(superuser, &tables).await
    }

    /// Makes the connected database equal to this state. Returns the parts that still differ, such as a column of a
    /// table of Auth that has another type, or an object of an older version of this program. `superuser` must be one's session, and nothing
    /// of a project may be left that could run in it. What PostgreSQL evaluates on tables of others, such as checks, is made by
    /// `postgres`, a session of that role, when the superuser's transaction has ended; it may call what somebody has made meanwhile.
    ///
    /// # Errors
    /// When a statement fails, and [`MigrateError::Replaced`] when somebody replaces tables meanwhile; then nothing has changed.
    pub async fn restore(&self, superuser: &Client, postgres: &Client) -> Result<Vec<String>, MigrateError> {
        self.restore_as_superuser(superuser).await?;
        let superusers = self.list_superusers();
        let is_left = |part: &Part| part.is_evaluated(&superusers) || part.may_wait_for_keys();
        let (_, left) = self.list_differing(superuser, is_left).await?;
        if !left.is_empty() {
            self.restore_objects(postgres, |part| part.is_evaluated(&superusers))
                .await?;
            // Foreign keys to keys that were made just now, and comments on them. They may fail, as somebody may have changed the tables meanwhile.
            self.restore_as_superuser(superuser).await?;
        }
        Ok(self.differences(&Self::of_database(superuser).await?))
    }

    /// Does the superuser's part of [`Self::restore`], in a transaction of its own.
    async fn restore_as_superuser(&self, superuser: &Client) -> Result<(), MigrateError> {
        superuser.batch_execute(BEGIN).await?;
        let outcome = self.change_and_empty(superuser).await;
        end_transaction(superuser, outcome).await
    }

    /// The superusers of this state, by their names.
    fn list_superusers(&self) -> BTreeSet<String> {
        let roles = self.parts.iter().filter(|part| {
            part.rank <= LAST_RANK_OF_ROLES
                && part
                    .value
                    .as_deref()
                    .is_some_and(|value| value.starts_with("superuser "))
        });
        let names = roles.filter_map(|part| part.name.strip_prefix("role "));
        names.map(|name| name.trim_matches('"').to_owned()).collect()
    }

    /// Makes the parts that `is_meant` accepts as they are in this state, in one transaction of a superuser's session.
    pub(super) async fn restore_objects(
        &self,
        client: &Client,
        is_meant: impl Fn(&Part) -> bool,
    ) -> Result<(), MigrateError> {
        client.batch_execute(BEGIN).await?;
        let outcome = self.change(client, is_meant, OnRefusal::Skip).await;
        end_transaction(client, outcome).await
    }

    /// Makes all parts as they are in this state, but for those that PostgreSQL evaluates, and empties the tables that were empty in it, in the
    /// transaction that is open. What it makes again of tables of superusers, such as references to tables of others, is evaluated while nothing of
    /// others belongs to any of them.
    ///
    /// Whoever owns a table may attach code to it, and whoever owns a schema may give the name of a table there to another one. So tables are
    /// locked by their names before it is looked what belongs to them: whatever others attach is there when the lock is, and is seen and removed,
    /// or comes after the commit. Those that are emptied are the same ones that were locked then.
    async fn change_and_empty(&self, client: &Client) -> Result<(), MigrateError> {
        client.batch_execute(LOCK_ROLES).await?;
        let mut locked = self.lock_all(client).await?;
        let values = self
            .parts
            .iter()
            .map(|part| (part.name.as_str(), part.value.as_deref().unwrap_or_default()));
        let values: BTreeMap<&str, &str> = values.collect();
        check_types(client, &values).await?;
        take_out_members(client, &values).await?;
        let superusers = self.list_superusers();
        let is_made = |part: &Part| !part.is_evaluated(&superusers);
        for _ in 0..PASSES {
            self.remove(client, |_| true, OnRefusal::Fail).await?;
            self.make(client, is_made, Part::may_wait_for_keys).await?;
            let now = self.lock_all(client).await?;
            if now == locked {
                return self.empty(client, &now).await;
            }
            locked = now;
        }
        Err(MigrateError::Replaced(self.empty_tables.clone()))
    }

    /// Locks the tables of the services, then those that were empty, as far as they are there. Returns the latter.
    async fn lock_all(&self, client: &Client) -> Result<Places, MigrateError> {
        let of_services = client.query(TABLES_OF_SERVICES, &[]).await?;
        let mut tables: Vec<String> = of_services.iter().map(|row| row.get(0)).collect();
        for row in client.query(EXISTING, &[&self.empty_tables]).await? {
            let table: String = row.get(0);
            if !tables.contains(&table) {
                tables.push(table);
            }
        }
        lock_tables(client, &tables).await?;
        let rows = client.query(PLACES, &[&self.empty_tables]).await?;
        let places = rows.iter().map(|row| (row.get(0), (row.get(1), row.get(2))));
        Ok(places.collect())
    }

    /// Empties the tables that were empty, which are locked. One that a project has dropped is missing, and is among the differences.
    async fn empty(&self, client: &Client, places: &Places) -> Result<(), MigrateError> {
        let others = places.iter().filter(|(_, (_, is_superusers))| !is_superusers);
        let others: Vec<String> = others.map(|(table, _)| table.clone()).collect();
        if !others.is_empty() {
            return Err(MigrateError::Replaced(others));
        }
        if places.is_empty() {
            return Ok(());
        }
        // In one statement, as the tables refer to each other. Their indexes, which are built anew, are the platform's by now.
        let tables: Vec<&str> = places.keys().map(String::as_str).collect();
        let truncate = format!("truncate {} restart identity", tables.join(", "));
        Ok(client.batch_execute(&truncate).await?)
    }

    /// Removes and makes those of the differing parts that `is_meant` accepts, in the transaction that is open.
    pub(super) async fn change(
        &self,
        client: &Client,
        is_meant: impl Fn(&Part) -> bool,
        on_refusal: OnRefusal,
    ) -> Result<(), MigrateError> {
        self.remove(client, &is_meant, on_refusal).await?;
        self.make(client, is_meant, |_| on_refusal == OnRefusal::Skip)
            .await
    }

    /// Removes those of the differing parts that `is_meant` accepts, and that this state does not have or that cannot be changed.
    async fn remove(
        &self,
        client: &Client,
        is_meant: impl Fn(&Part) -> bool,
        on_refusal: OnRefusal,
    ) -> Result<(), MigrateError> {
        let now = read_parts(client).await?;
        let removed = differing(&now, &self.parts)
            .filter(|(part, is_known)| (part.is_remade || !is_known) && is_meant(part));
        let mut removed: Vec<&Part> = removed.map(|(part, _)| part).collect();
        // What is said of objects comes first, as it names them.
        removed.sort_by_key(|part| part.rank < FIRST_RANK_OF_PROPERTIES);
        for statement in removed.iter().filter_map(|part| part.remove.as_deref()) {
            match on_refusal {
                OnRefusal::Fail => client.batch_execute(statement).await?,
                OnRefusal::Skip => drop(run_in_savepoint(client, statement).await?),
            }
        }
        Ok(())
    }

    /// Makes those of the differing parts that `is_meant` accepts. Parts of one rank may need each other, as a function that another one names in
    /// its body. Left out is what PostgreSQL refuses where `may_fail` says so, and what belongs to something that a project has dropped and that no
    /// statement makes, such as a column.
    async fn make(
        &self,
        client: &Client,
        is_meant: impl Fn(&Part) -> bool,
        may_fail: impl Fn(&Part) -> bool,
    ) -> Result<(), MigrateError> {
        // What was dropped may have taken other things with it, and an extension brings its own.
        for last in [LAST_RANK_OF_EXTENSIONS, i32::MAX] {
            let now = read_parts(client).await?;
            let made = differing(&self.parts, &now).filter(|(part, _)| part.rank <= last && is_meant(part));
            let (parts, statements): (Vec<&Part>, Vec<&str>) = made
                .filter_map(|(part, _)| Some((part, part.make.as_deref()?)))
                .unzip();
            for (place, error) in run_in_rounds(client, &statements).await? {
                if !may_fail(parts[place]) && !is_missing_object(&error) {
                    return Err(error.into());
                }
            }
        }
        Ok(())
    }

    /// The parts that differ in the connected database and that `is_meant` accepts: first those that a fresh one does not have, then the others.
    pub(super) async fn list_differing(
        &self,
        client: &Client,
        is_meant: impl Fn(&Part) -> bool,
    ) -> Result<(Vec<Part>, Vec<Part>), MigrateError> {
        let now = read_parts(client).await?;
        let more = differing(&now, &self.parts).filter(|(part, is_known)| !is_known && is_meant(part));
        let other = differing(&self.parts, &now).filter(|(part, _)| is_meant(part));
        let copy = |(part, _): (&Part, bool)| part.clone();
        Ok((more.map(copy).collect(), other.map(copy).collect()))
    }

    /// The platform's objects that now belong to `postgres`, such as `table auth.users`. Everything else that `postgres` owns is the project's, and is
    /// removed by a reset.
    ///
    /// # Errors
    /// When the query fails.
    pub async fn list_taken_over(&self, client: &Client) -> Result<Vec<String>, MigrateError> {
        let owners = self.parts.iter().filter_map(|part| {
            let object = part.name.strip_prefix("owner of ")?;
            Some((object, part.value.as_deref()?))
        });
        let owners: BTreeMap<&str, &str> = owners.collect();
        let rows = client.query(OBJECTS_OF_POSTGRES, &[]).await?;
        let names = rows.iter().map(|row| row.get::<_, String>(0));
        let is_of_others = |name: &String| {
            owners
                .get(name.as_str())
                .is_some_and(|owner| *owner != "postgres")
        };
        Ok(names.filter(is_of_others).collect())
    }

    /// The tables that are empty in a fresh database, by their SQL names.
    pub(super) fn empty_tables(&self) -> &[String] {
        &self.empty_tables
    }

    /// The extensions of this state, with the schemas of their objects.
    pub(super) fn extensions(&self) -> impl Iterator<Item = (&str, &str)> {
        self.parts.iter().filter_map(|part| {
            let name = part.name.strip_prefix("extension ")?.trim_matches('"');
            let (_, schema) = part.value.as_deref()?.split_once(' ')?;
            (part.rank == RANK_OF_EXTENSIONS).then_some((name, schema))
        })
    }

    /// Whether a part is the membership by which `postgres` may drop a role that is not of this state. PostgreSQL gives it to whoever
    /// makes a role, from version 16 on.
    fn lets_postgres_drop_a_role(&self, part: &Part) -> bool {
        let Some(rest) = part.name.strip_prefix("membership of postgres in ") else {
            return false;
        };
        let is_in = |role: &str| {
            rest.strip_prefix(role)
                .is_some_and(|end| end.is_empty() || end.starts_with(" by "))
        };
        !self
            .parts
            .iter()
            .any(|known| known.name.strip_prefix("role ").is_some_and(is_in))
    }
}

/// Reads the parts of the connected database from its catalogs, in the order of their ranks.
async fn read_parts(client: &Client) -> Result<Vec<Part>, MigrateError> {
    let rows = client.query(QUERY, &[]).await?;
    // A role has a name that is not UTF-8 where it was made in a database of another encoding.
    let parts = rows.iter().map(|row| {
        Ok(Part {
            rank: row.get(0),
            name: row.try_get(1)?,
            value: row.try_get(2)?,
            make: row.try_get(3)?,
            remove: row.try_get(4)?,
            owner: row.try_get(5)?,
            is_remade: row.get(6),
        })
    });
    parts.collect()
}

/// The parts that `others` do not have, or have with another value, each with whether they have one of that name.
fn differing<'a>(parts: &'a [Part], others: &[Part]) -> impl Iterator<Item = (&'a Part, bool)> {
    let others: BTreeMap<String, Option<String>> = others
        .iter()
        .map(|part| (part.name.clone(), part.value.clone()))
        .collect();
    parts.iter().filter_map(move |part| {
        let found = others.get(&part.name);
        let is_equal = found.is_some_and(|value| *value == part.value);
        (!is_equal).then_some((part, found.is_some()))
    })
}
