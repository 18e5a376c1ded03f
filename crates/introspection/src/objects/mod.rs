//! Lists the objects of one kind, each with the properties that a screen shows.

use serde::Serialize;
use serde_json::{Map, Value};
use tokio_postgres::{Error, Row};

use crate::CatalogReader;
use crate::citus::load_citus_sizes;

/// A kind of database object that the console lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of SQL")]
pub enum ObjectKind {
    Tables,
    Constraints,
    Indexes,
    Triggers,
    Functions,
    Types,
    Views,
    Extensions,
    Publications,
    Roles,
    Grants,
    Policies,
}

impl ObjectKind {
    /// All kinds, in the order in which they are declared.
    pub const ALL: [Self; 12] = [
        Self::Tables,
        Self::Constraints,
        Self::Indexes,
        Self::Triggers,
        Self::Functions,
        Self::Types,
        Self::Views,
        Self::Extensions,
        Self::Publications,
        Self::Roles,
        Self::Grants,
        Self::Policies,
    ];

    /// Finds a kind by the name that addresses use.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the name that addresses use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tables => "tables",
            Self::Constraints => "constraints",
            Self::Indexes => "indexes",
            Self::Triggers => "triggers",
            Self::Functions => "functions",
            Self::Types => "types",
            Self::Views => "views",
            Self::Extensions => "extensions",
            Self::Publications => "publications",
            Self::Roles => "roles",
            Self::Grants => "grants",
            Self::Policies => "policies",
        }
    }

    /// Returns the system catalog table of the kind, as pg_depend names it; `None` for grants, which are not objects.
    pub(crate) fn catalog(self) -> Option<&'static str> {
        Some(match self {
            Self::Tables | Self::Indexes | Self::Views => "pg_class",
            Self::Constraints => "pg_constraint",
            Self::Triggers => "pg_trigger",
            Self::Functions => "pg_proc",
            Self::Types => "pg_type",
            Self::Extensions => "pg_extension",
            Self::Publications => "pg_publication",
            Self::Roles => "pg_authid",
            Self::Policies => "pg_policy",
            Self::Grants => return None,
        })
    }

    fn list_sql(self) -> &'static str {
        match self {
            Self::Tables => include_str!("sql/tables.sql"),
            Self::Constraints => include_str!("sql/constraints.sql"),
            Self::Indexes => include_str!("sql/indexes.sql"),
            Self::Triggers => include_str!("sql/triggers.sql"),
            Self::Functions => include_str!("sql/functions.sql"),
            Self::Types => include_str!("sql/types.sql"),
            Self::Views => include_str!("sql/views.sql"),
            Self::Extensions => include_str!("sql/extensions.sql"),
            Self::Publications => include_str!("sql/publications.sql"),
            Self::Roles => include_str!("sql/roles.sql"),
            Self::Grants => include_str!("sql/grants.sql"),
            Self::Policies => include_str!("sql/policies.sql"),
        }
    }
}

/// An object in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Object {
    /// Identifier within its kind: PostgreSQL's oid, for grants the object's oid and the grantee's, joined by a dot.
    pub oid: String,
    /// The schema of the object or of its table; `None` for roles and other objects that belong to the whole database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The name without its schema and without quotes.
    pub name: String,
    /// The name of the table to which the object belongs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// Further properties, which differ from kind to kind.
    #[serde(flatten)]
    pub details: Map<String, Value>,
}

impl CatalogReader<'_> {
    /// Lists the objects of a kind in one schema, or in all schemas that are not PostgreSQL's own.
    ///
    /// # Errors
    /// When the query fails.
    pub async fn list_objects(&self, kind: ObjectKind, schema: Option<&str>) -> Result<Vec<Object>, Error> {
        let rows = self.transaction.query(kind.list_sql(), &[&schema]).await?;
        let mut objects: Vec<Object> = rows.iter().map(read_object).collect();
        if kind == ObjectKind::Tables {
            let citus = load_citus_sizes(&self.transaction).await?;
            for object in &mut objects {
                if let Some(size) = citus.get(&object.oid) {
                    object.details.insert("rows".to_owned(), Value::from(size.rows));
                }
            }
        }
        Ok(objects)
    }
}

fn read_object(row: &Row) -> Object {
    let details: &str = row.get("details");
    Object {
        oid: row.get("oid"),
        schema: row.get("schema"),
        name: row.get("name"),
        table: row.get("table_name"),
        details: serde_json::from_str(details).expect("the query builds a JSON object"),
    }
}
