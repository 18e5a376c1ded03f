//! The table of lists below `/pg`: path, query and filters of each.

use crate::error::MetaError;

/// The list of one kind of object.
pub(crate) struct Listing {
    /// The path of the list below `/pg`.
    pub(crate) path: &'static str,
    /// The object in the 404 message `Cannot find a table with ID 1`, without the id.
    pub(crate) described_as: &'static str,
    /// Pattern of an id in the path; `None` when single objects have no path.
    pub(crate) id_pattern: Option<&'static str>,
    /// The SQL query of the list.
    pub(crate) sql: &'static str,
    /// The query that also returns each relation's columns; `None` for other kinds of objects.
    pub(crate) sql_with_columns: Option<&'static str>,
    /// Whether columns are included when the request has no `include_columns`.
    pub(crate) includes_columns: bool,
    /// Whether the query takes `$7` and `$8`: the row types of tables, and array types, are listed, too.
    pub(crate) has_type_flags: bool,
    /// The query parameter that adds PostgreSQL's own objects and this server's.
    pub(crate) system_flag: &'static str,
}

/// Whether a schema is PostgreSQL's own or this server's, which the original does not have and no project uses.
macro_rules! is_system_schema {
    ($schema:literal) => {
        concat!(
            $schema,
            " in ('information_schema', 'pg_catalog', 'pg_toast', '_selvedge', 'selvedge_console')"
        )
    };
}

/// Wraps a query that returns every object in the filters of a list. Parameters: `$1` included schemas, `$2` excluded schemas,
/// `$3` ids, `$4` whether PostgreSQL's own objects and this server's are included, `$5` limit, `$6` offset.
macro_rules! list_query {
    ($objects:expr, schema $schema:literal, id $id:literal, system $system:expr, order $order:literal) => {
        concat!(
            "select row_to_json(object)::text from (\n",
            $objects,
            "\n) object where ($1::text[] is null or ",
            $schema,
            " = any ($1))",
            " and ($2::text[] is null or ",
            $schema,
            " <> all ($2))",
            " and ($3::text[] is null or ",
            $id,
            " = any ($3))",
            " and ($4::bool or not ",
            $system,
            ")",
            " order by ",
            $order,
            " limit $5::int8 offset $6::int8"
        )
    };
}

/// [`list_query`] for objects that belong to a schema.
macro_rules! list_in_schemas {
    ($objects:expr, id $id:literal, order $order:literal) => {
        list_query!(
            $objects,
            schema "object.schema",
            id $id,
            system is_system_schema!("object.schema"),
            order $order
        )
    };
}

/// [`list_query`] for relations with their columns. The filters are repeated for the columns, because PostgreSQL would otherwise
/// read the columns of every relation before it filters.
macro_rules! list_with_columns {
    ($relations:literal) => {
        list_in_schemas!(
            concat!(
                "select relation.*, coalesce(listed.columns, '[]'::json) as columns from (\n",
                include_str!($relations),
                "\n) relation left join (select c.table_id, json_agg(row_to_json(c) order by c.ordinal_position) as columns from (\n",
                include_str!("sql/columns.sql"),
                "\n) c where ($1::text[] is null or c.schema = any ($1)) and ($2::text[] is null or c.schema <> all ($2))",
                " and ($3::text[] is null or c.table_id::text = any ($3))",
                " and ($4::bool or not ",
                is_system_schema!("c.schema"),
                ")",
                " group by c.table_id) listed on listed.table_id = relation.id"
            ),
            id "object.id::text",
            order "object.schema, object.name"
        )
    };
}

impl Listing {
    /// Returns the 404 error for an id that no object has.
    pub(crate) fn not_found(&self, id: &str) -> MetaError {
        MetaError::NotFound(format!("Cannot find {} {id}", self.described_as))
    }
}

/// Returns the list at a path of [`LISTINGS`].
///
/// # Panics
/// When there is none.
pub(crate) fn find_listing(path: &str) -> &'static Listing {
    let found = LISTINGS.iter().find(|listing| listing.path == path);
    found.expect("every kind of object that can be changed has a list")
}

/// Default values of a [`Listing`].
const COMMON: Listing = Listing {
    path: "",
    described_as: "",
    id_pattern: Some(r"\d+"),
    sql: "",
    sql_with_columns: None,
    includes_columns: true,
    has_type_flags: false,
    system_flag: "include_system_schemas",
};

/// A [`Listing`] of objects that have an oid, a name and a schema.
macro_rules! schema_listing {
    ($path:literal, $described_as:literal, $file:literal) => {
        Listing {
            path: $path,
            described_as: $described_as,
            sql: list_in_schemas!(
                include_str!($file),
                id "object.id::text",
                order "object.schema, object.name, object.id"
            ),
            ..COMMON
        }
    };
}

/// A [`Listing`] of relations, which can include their columns.
macro_rules! relation_listing {
    ($path:literal, $described_as:literal, $file:literal) => {
        Listing {
            sql_with_columns: Some(list_with_columns!($file)),
            ..schema_listing!($path, $described_as, $file)
        }
    };
}

/// [`list_query`] for objects that belong to no schema.
macro_rules! global_query {
    ($file:literal, id $id:literal, system $system:literal, order $order:literal) => {
        list_query!(
            include_str!($file),
            schema "null::text",
            id $id,
            system $system,
            order $order
        )
    };
}

/// Every list of the API, as `GET /pg/<name>`.
pub(crate) const LISTINGS: &[Listing] = &[
    relation_listing!("/tables", "a table with ID", "sql/tables.sql"),
    relation_listing!("/views", "a view with ID", "sql/views.sql"),
    Listing {
        includes_columns: false,
        ..relation_listing!(
            "/materialized-views",
            "a materialized view with ID",
            "sql/materialized_views.sql"
        )
    },
    relation_listing!(
        "/foreign-tables",
        "a foreign table with ID",
        "sql/foreign_tables.sql"
    ),
    schema_listing!("/policies", "a policy with ID", "sql/policies.sql"),
    schema_listing!("/functions", "a function with ID", "sql/functions.sql"),
    schema_listing!("/triggers", "a trigger with ID", "sql/triggers.sql"),
    Listing {
        id_pattern: None,
        has_type_flags: true,
        ..schema_listing!("/types", "a type with ID", "sql/types.sql")
    },
    Listing {
        path: "/columns",
        described_as: "a column with ID",
        id_pattern: Some(r"\d+\.\d+"),
        sql: list_in_schemas!(
            include_str!("sql/columns.sql"),
            id "object.id",
            order "object.schema, object.table, object.ordinal_position"
        ),
        ..COMMON
    },
    Listing {
        path: "/indexes",
        described_as: "a index with ID",
        sql: list_in_schemas!(
            include_str!("sql/indexes.sql"),
            id "object.id::text",
            order "object.schema, object.table_id, object.id"
        ),
        ..COMMON
    },
    Listing {
        path: "/table-privileges",
        id_pattern: None,
        sql: list_in_schemas!(
            include_str!("sql/table_privileges.sql"),
            id "object.relation_id::text",
            order "object.schema, object.name"
        ),
        ..COMMON
    },
    Listing {
        path: "/column-privileges",
        id_pattern: None,
        sql: list_query!(
            include_str!("sql/column_privileges.sql"),
            schema "object.relation_schema",
            id "object.column_id",
            system is_system_schema!("object.relation_schema"),
            order "object.relation_schema, object.relation_name, object.column_id"
        ),
        ..COMMON
    },
    Listing {
        path: "/schemas",
        described_as: "a schema with ID",
        sql: list_query!(
            include_str!("sql/schemas.sql"),
            schema "object.name",
            id "object.id::text",
            system "(starts_with(object.name, 'pg_') or object.name in ('information_schema', '_selvedge', 'selvedge_console'))",
            order "object.name"
        ),
        ..COMMON
    },
    Listing {
        path: "/roles",
        described_as: "a role with ID",
        sql: global_query!("sql/roles.sql", id "object.id::text", system "(starts_with(object.name, 'pg_') or object.name ~ '^selvedge_(console_(reader(_[0-9]+)?|operator|service|members)|replication|user_counts)$')", order "object.name"),
        system_flag: "include_default_roles",
        ..COMMON
    },
    Listing {
        path: "/publications",
        described_as: "a publication with ID",
        sql: global_query!("sql/publications.sql", id "object.id::text", system "false", order "object.name"),
        ..COMMON
    },
    Listing {
        path: "/extensions",
        described_as: "an extension named",
        id_pattern: Some("[^/]+"),
        sql: global_query!("sql/extensions.sql", id "object.name::text", system "false", order "object.name"),
        ..COMMON
    },
    Listing {
        path: "/config",
        id_pattern: None,
        sql: global_query!("sql/config.sql", id "object.name", system "false", order "object.category, object.name"),
        ..COMMON
    },
];
