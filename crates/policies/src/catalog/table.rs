//! A table with the rights of one role to it and to its columns.

use tokio_postgres::GenericClient;

use crate::SimulationError;

/// A table with everything that decides what the subject's role may do with it.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) oid: u32,
    pub(crate) schema: String,
    pub(crate) name: String,
    /// The letter of `pg_class.relkind`: `r`, `p`, `v`, `m` or `f`.
    pub(crate) kind: String,
    pub(crate) rls_enabled: bool,
    pub(crate) rls_forced: bool,
    /// Whether the role is a superuser or has the attribute `bypassrls`.
    pub(crate) bypasses_rls: bool,
    /// Whether the role is the owner or has the owner's rights.
    pub(crate) is_owner: bool,
    pub(crate) may_use_schema: bool,
    pub(crate) may_delete: bool,
    /// Whether the role may insert into at least one column, which is what `insert … default values` needs.
    pub(crate) may_insert_anything: bool,
    /// The columns of the primary key in its order; the list is empty without one.
    pub(crate) key: Vec<String>,
    pub(crate) has_triggers: bool,
    /// Whether a trigger runs before each inserted or updated row, which may change the row before policies see it.
    pub(crate) has_row_changing_triggers: bool,
    /// Where the role's rights come from, for example `select granted to public`.
    pub(crate) grants: Vec<String>,
    pub(crate) columns: Vec<Column>,
}

/// A column, and the role's rights to it (those on the whole table included).
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// The type as `format_type` prints it without a search path, for example `character varying(10)` or `app.mood`.
    pub(crate) data_type: String,
    pub(crate) is_generated: bool,
    /// The expression of the column's default, or the one by which a generated column is computed.
    pub(crate) default: Option<String>,
    /// The sequence that numbers the column, quoted and qualified.
    pub(crate) sequence: Option<String>,
    pub(crate) may_select: bool,
    pub(crate) may_insert: bool,
    pub(crate) may_update: bool,
}

/// A right that can be granted for single columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnRight {
    Select,
    Insert,
    Update,
}

impl Column {
    pub(crate) fn allows(&self, right: ColumnRight) -> bool {
        match right {
            ColumnRight::Select => self.may_select,
            ColumnRight::Insert => self.may_insert,
            ColumnRight::Update => self.may_update,
        }
    }
}

impl ColumnRight {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Select => "select",
            Self::Insert => "insert",
            Self::Update => "update",
        }
    }
}

impl Table {
    /// Whether PostgreSQL applies policies to this role (`check_enable_rls` in its source).
    pub(crate) fn is_row_security_active(&self) -> bool {
        self.rls_enabled && !self.bypasses_rls && (self.rls_forced || !self.is_owner)
    }

    pub(crate) fn column(&self, name: &str) -> Result<&Column, SimulationError> {
        self.columns
            .iter()
            .find(|column| column.name == name)
            .ok_or_else(|| SimulationError::unknown_column(name))
    }

    /// Whether the relation can have policies; views and foreign tables cannot.
    pub(crate) fn can_have_policies(&self) -> bool {
        matches!(self.kind.as_str(), "r" | "p")
    }
}

/// Reads a table and its columns. The search path must be empty, so that all names come qualified.
///
/// # Errors
/// [`SimulationError::NoTable`] and [`SimulationError::NoRole`], and PostgreSQL's errors.
pub(crate) async fn load_table(
    owner: &impl GenericClient,
    oid: u32,
    role: &str,
) -> Result<Table, SimulationError> {
    let known = owner
        .query_opt("select from pg_roles where rolname = $1", &[&role])
        .await?;
    if known.is_none() {
        return Err(SimulationError::NoRole(role.to_owned()));
    }
    let row = owner
        .query_opt(include_str!("table.sql"), &[&oid, &role])
        .await?
        .ok_or(SimulationError::NoTable)?;
    let columns = owner.query(include_str!("columns.sql"), &[&oid, &role]).await?;
    let columns = columns.iter().map(|row| Column {
        name: row.get(0),
        data_type: row.get(1),
        is_generated: row.get(2),
        default: row.get(3),
        sequence: row.get(4),
        may_select: row.get(5),
        may_insert: row.get(6),
        may_update: row.get(7),
    });
    Ok(Table {
        oid,
        schema: row.get(0),
        name: row.get(1),
        kind: row.get(2),
        rls_enabled: row.get(3),
        rls_forced: row.get(4),
        bypasses_rls: row.get(5),
        is_owner: row.get(6),
        may_use_schema: row.get(7),
        may_delete: row.get(8),
        may_insert_anything: row.get(9),
        key: row.get(10),
        has_triggers: row.get(11),
        has_row_changing_triggers: row.get(12),
        grants: row.get(13),
        columns: columns.collect(),
    })
}
