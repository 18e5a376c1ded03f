//! What generated SQL needs to know about a table: its real names, the types of its columns, and how its rows are
//! identified.

use selvedge_postgres::quote_identifier;
use tokio_postgres::{Error, GenericClient, Row};

/// A table, view or foreign table as the catalog describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableShape {
    /// Oid of the relation, in decimal digits.
    pub oid: String,
    /// The table's schema.
    pub schema: String,
    /// The name as stored in the catalog, without quotes.
    pub name: String,
    /// Whether the relation is a table, a view or a foreign table.
    pub kind: TableKind,
    /// The number of rows as PostgreSQL estimates it, or `None` before the first ANALYZE.
    pub estimated_rows: Option<i64>,
    /// The columns in their order, without those that were dropped.
    pub columns: Vec<ColumnShape>,
    /// The key that identifies rows, as indexes into `columns`; the list is empty without one.
    pub key: Vec<usize>,
    /// Whether the current role may read all of it, system columns included. Otherwise it may read single columns at most.
    pub readable: bool,
    /// The columns of each index that can return rows in an order.
    pub indexes: Vec<Vec<String>>,
}

/// The kind of a relation that has rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableKind {
    /// The relation is an ordinary table.
    Table,
    /// The relation is a partitioned table, whose rows lie in its partitions.
    Partitioned,
    /// A view, whose rows have no ctid.
    View,
    /// The relation is a materialized view, whose rows cannot be edited.
    MaterializedView,
    /// The relation is a foreign table, whose rows lie on another server.
    Foreign,
}

/// A column of a relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnShape {
    /// The name as stored in the catalog, without quotes.
    pub name: String,
    /// The column's number in `pg_attribute`.
    pub attribute: i16,
    /// The type with its modifiers, as people read it.
    pub r#type: String,
    /// The quoted name of the type for a cast, without modifiers, because with them a cast would shorten values
    /// silently.
    pub cast_type: String,
    /// How an expression turns the column's value into the text that PostgreSQL prints.
    pub form: TextForm,
    /// Whether the column accepts null.
    pub nullable: bool,
    /// Whether only `overriding system value` lets a value be inserted.
    pub always_identity: bool,
    /// Whether it is a generated column, which cannot be written.
    pub generated: bool,
    /// Whether the current role may read the column.
    pub readable: bool,
}

/// How an expression turns a value of a type into the text that PostgreSQL prints for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextForm {
    /// The type is text of any length, of which a part can be read without the rest.
    Text,
    /// The type is bytes, printed as hexadecimal digits, of which a part can be read without the rest.
    Bytes,
    /// A cast to text differs from what PostgreSQL prints (`true` for `t`, missing blanks of `char(n)`, `/32` of an
    /// address).
    Printed,
    /// The text of every value is short, so it never has to be cut.
    Short,
    /// The type is another one whose text can be long, and which must be read whole to be cut.
    Long,
}

impl TableShape {
    /// Reads the shape of the relation with this oid; `None` when there is no such relation, or the text is not an oid.
    ///
    /// # Errors
    /// PostgreSQL's error when a query fails.
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
        // The primary key's index is the first, so the first suitable index is the best.
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

    /// Returns the qualified name with quotes, for use in SQL.
    #[must_use]
    pub fn quoted_name(&self) -> String {
        format!(
            "{}.{}",
            quote_identifier(&self.schema),
            quote_identifier(&self.name)
        )
    }

    /// Finds a column by its name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&ColumnShape> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Returns the columns of the key in the key's order.
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

/// Chooses the text form by the base type's oid, which is the same in every database for built-in types.
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
