//! What generated SQL must know of one table: its true names, the types of its columns, and what tells its rows apart.

use selvedge_postgres::quote_identifier;
use tokio_postgres::{Error, GenericClient, Row};

/// A table, view or foreign table as the catalog describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableShape {
    /// Its oid as text.
    pub oid: String,
    /// Its schema.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: TableKind,
    /// Rows as PostgreSQL estimates them; none before the first ANALYZE.
    pub estimated_rows: Option<i64>,
    /// Its columns in their order.
    pub columns: Vec<ColumnShape>,
    /// Indexes into `columns` of the key that tells rows apart; empty without one.
    pub key: Vec<usize>,
    /// Whether the current role may read all of it, system columns included. Otherwise it may read single columns at most.
    pub readable: bool,
    /// Columns of each index that can return rows in an order.
    pub indexes: Vec<Vec<String>>,
}

/// What a relation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableKind {
    /// An ordinary table.
    Table,
    /// A partitioned table.
    Partitioned,
    /// A view.
    View,
    /// A materialized view.
    MaterializedView,
    /// A table of another server.
    Foreign,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnShape {
    /// Its name.
    pub name: String,
    /// Its number in the table.
    pub attribute: i16,
    /// The type for people, with modifiers.
    pub r#type: String,
    /// The type as a quoted name for a cast, without modifiers: with them a cast would shorten values silently.
    pub cast_type: String,
    /// How its value becomes PostgreSQL's text in an expression.
    pub form: TextForm,
    /// Whether null is allowed.
    pub nullable: bool,
    /// Whether only `overriding system value` lets a value be inserted.
    pub always_identity: bool,
    /// Whether PostgreSQL computes it.
    pub generated: bool,
    /// Whether the current role may read it.
    pub readable: bool,
}

/// How a value becomes the text that PostgreSQL itself prints for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextForm {
    /// Text of any length: a part can be read without the rest.
    Text,
    /// Bytes, printed as hexadecimal digits: a part can be read without the rest.
    Bytes,
    /// A cast to text is not what PostgreSQL prints (`true` for `t`, missing blanks of `char(n)`, `/32` of an address).
    Printed,
    /// Of limited length.
    Short,
    /// Anything else of any length.
    Long,
}

impl TableShape {
    /// Reads the shape of the relation with this oid; none when there is no such relation, also for text that is no oid.
    ///
    /// # Errors
    /// When a query fails.
    pub async fn load(client: &impl GenericClient, oid: &str) -> Result<Option<Self>, Error> {
        if oid.parse::<u32>().is_err() {
            return Ok(None);
        }
        // One row per column, each with what is known of the table; a table without columns counts as none.
        let rows = client.query(include_str!("shape.sql"), &[&oid]).await?;
        let Some(first) = rows.first() else {
            return Ok(None);
        };
        let columns: Vec<ColumnShape> = rows.iter().map(read_column).collect();
        // Indexes come with the primary key first, so the first one that tells rows apart is the best.
        let mut key = Vec::new();
        let mut indexes = Vec::new();
        for row in client.query(include_str!("indexes.sql"), &[&oid]).await? {
            let names: Vec<String> = row.get("columns");
            if key.is_empty() && row.get("is_key") {
                key = names
                    .iter()
                    .filter_map(|name| columns.iter().position(|column| column.name == *name))
                    .collect();
            }
            indexes.push(names);
        }
        Ok(Some(Self {
            oid: first.get("oid"),
            schema: first.get("schema"),
            name: first.get("name"),
            kind: match first.get("kind") {
                "p" => TableKind::Partitioned,
                "v" => TableKind::View,
                "m" => TableKind::MaterializedView,
                "f" => TableKind::Foreign,
                _ => TableKind::Table,
            },
            estimated_rows: first.get("rows"),
            readable: first.get("readable"),
            columns,
            key,
            indexes,
        }))
    }

    /// Its qualified name, quoted.
    #[must_use]
    pub fn quoted_name(&self) -> String {
        format!(
            "{}.{}",
            quote_identifier(&self.schema),
            quote_identifier(&self.name)
        )
    }

    /// The column with this name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&ColumnShape> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The columns of the key.
    pub fn key_columns(&self) -> impl Iterator<Item = &ColumnShape> {
        self.key.iter().map(|index| &self.columns[*index])
    }

    /// Whether `ctid` and `xmin` exist, because rows lie in this database, and the current role may read them.
    #[must_use]
    pub fn has_system_columns(&self) -> bool {
        let is_stored = matches!(
            self.kind,
            TableKind::Table | TableKind::Partitioned | TableKind::MaterializedView
        );
        is_stored && self.readable
    }
}

fn read_column(row: &Row) -> ColumnShape {
    let base: u32 = row.get("base_oid");
    let length: i16 = row.get("length");
    let identity: &str = row.get("identity");
    ColumnShape {
        name: row.get("column"),
        attribute: row.get("attribute"),
        r#type: row.get("type"),
        cast_type: row.get("cast_type"),
        form: text_form(base, length, row.get("category")),
        nullable: row.get("nullable"),
        always_identity: identity == "a",
        generated: row.get("generated"),
        readable: row.get("column_readable"),
    }
}

/// The form for a base type, by its oid, which for PostgreSQL's own types is the same everywhere.
fn text_form(base: u32, length: i16, category: &str) -> TextForm {
    const BOOL: u32 = 16;
    const BYTEA: u32 = 17;
    const INET: u32 = 869;
    const CIDR: u32 = 650;
    const BPCHAR: u32 = 1042;
    match base {
        BOOL | INET | CIDR | BPCHAR => TextForm::Printed,
        BYTEA => TextForm::Bytes,
        _ if length > 0 => TextForm::Short,
        // text, varchar, citext and whatever else counts as a string and is stored as one.
        _ if category == "S" => TextForm::Text,
        _ => TextForm::Long,
    }
}
