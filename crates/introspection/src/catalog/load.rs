//! Reads the catalog with one query per list.

use std::collections::HashMap;

use tokio_postgres::{Error, Row};

use super::{Catalog, Columns, Enums, ForeignKey, FunctionEntry, RoleEntry, SchemaEntry, Tables};
use crate::CatalogReader;
use crate::citus::load_citus_sizes;

impl CatalogReader<'_> {
    /// Reads the whole catalog. `exposed` are the schemas that the REST service serves.
    ///
    /// # Errors
    /// When a query fails.
    pub async fn load_catalog(&self, exposed: &[String]) -> Result<Catalog, Error> {
        let tables = self.load_tables().await?;
        let columns = self.load_columns(&tables).await?;
        Ok(Catalog {
            schemas: self.load_schemas(exposed).await?,
            foreign_keys: self.load_foreign_keys().await?,
            enums: self.load_enums().await?,
            roles: self.load_roles().await?,
            functions: self.load_functions().await?,
            tables,
            columns,
        })
    }

    async fn load_tables(&self) -> Result<Tables, Error> {
        let mut tables = Tables::default();
        let every_table = None::<String>;
        let rows = self
            .transaction
            .query(include_str!("sql/tables.sql"), &[&every_table])
            .await?;
        let citus = load_citus_sizes(&self.transaction).await?;
        for row in rows {
            let size = citus.get(row.get::<_, &str>("oid"));
            tables
                .rows
                .push(size.map_or_else(|| row.get("rows"), |size| size.rows));
            tables
                .bytes
                .push(size.map_or_else(|| row.get("bytes"), |size| size.bytes));
            tables.oid.push(row.get("oid"));
            tables.schema.push(row.get("schema"));
            tables.name.push(row.get("name"));
            tables.kind.push(row.get("kind"));
            tables.rls.push(row.get("rls"));
            tables.comment.push(row.get("comment"));
            tables.key.push(row.get("key"));
            tables.rights.push(row.get("rights"));
        }
        Ok(tables)
    }

    async fn load_columns(&self, tables: &Tables) -> Result<Columns, Error> {
        let by_oid: HashMap<&str, usize> = tables
            .oid
            .iter()
            .enumerate()
            .map(|(index, oid)| (oid.as_str(), index))
            .collect();
        let mut columns = Columns::default();
        for row in self
            .transaction
            .query(include_str!("sql/columns.sql"), &[])
            .await?
        {
            // Both queries see the same moment, so a column without its table does not occur.
            let Some(table) = by_oid.get(row.get::<_, &str>("table")) else {
                continue;
            };
            columns.table.push(*table);
            columns.name.push(row.get("name"));
            columns.r#type.push(row.get("type"));
            columns.nullable.push(row.get("nullable"));
            columns.default.push(row.get("default"));
            columns.identity.push(row.get("identity"));
            columns.generated.push(row.get("generated"));
            columns.comment.push(row.get("comment"));
        }
        Ok(columns)
    }

    async fn load_schemas(&self, exposed: &[String]) -> Result<Vec<SchemaEntry>, Error> {
        let sql = "select nspname::text from pg_namespace
            where nspname !~ '^pg_' and nspname <> 'information_schema' order by nspname";
        let rows = self.transaction.query(sql, &[]).await?;
        Ok(rows
            .iter()
            .map(|row| {
                let name: String = row.get(0);
                let exposed = exposed.contains(&name);
                SchemaEntry { name, exposed }
            })
            .collect())
    }

    async fn load_foreign_keys(&self) -> Result<Vec<ForeignKey>, Error> {
        let rows = self
            .transaction
            .query(include_str!("sql/foreign_keys.sql"), &[])
            .await?;
        Ok(rows.iter().map(read_foreign_key).collect())
    }

    async fn load_enums(&self) -> Result<Vec<Enums>, Error> {
        let rows = self.transaction.query(include_str!("sql/enums.sql"), &[]).await?;
        Ok(rows
            .iter()
            .map(|row| Enums {
                schema: row.get("schema"),
                name: row.get("name"),
                values: row.get("values"),
            })
            .collect())
    }

    async fn load_roles(&self) -> Result<Vec<RoleEntry>, Error> {
        let sql = "select rolname::text, rolcanlogin, rolbypassrls, pg_has_role(oid, 'usage') from pg_roles
            where rolname !~ '^pg_' order by rolname";
        let rows = self.transaction.query(sql, &[]).await?;
        Ok(rows
            .iter()
            .map(|row| RoleEntry {
                name: row.get(0),
                login: row.get(1),
                bypassrls: row.get(2),
                member: row.get(3),
            })
            .collect())
    }

    async fn load_functions(&self) -> Result<Vec<FunctionEntry>, Error> {
        let rows = self
            .transaction
            .query(include_str!("sql/functions.sql"), &[])
            .await?;
        Ok(rows
            .iter()
            .map(|row| FunctionEntry {
                oid: row.get("oid"),
                schema: row.get("schema"),
                name: row.get("name"),
                arguments: row.get("arguments"),
                returns: row.get("returns"),
                kind: row.get("kind"),
            })
            .collect())
    }
}

fn read_foreign_key(row: &Row) -> ForeignKey {
    ForeignKey {
        name: row.get("name"),
        table: row.get("table"),
        columns: row.get("columns"),
        target: row.get("target"),
        target_columns: row.get("target_columns"),
        on_delete: name_action(row.get("on_delete")),
        on_update: name_action(row.get("on_update")),
    }
}

/// Names the action of a foreign key, for which `pg_constraint` stores a letter.
fn name_action(letter: &str) -> &'static str {
    match letter {
        "r" => "restrict",
        "c" => "cascade",
        "n" => "set null",
        "d" => "set default",
        _ => "no action",
    }
}
