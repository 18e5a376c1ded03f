//! Reads the system catalog by one query per kind of object, and sorts the result.

use std::collections::{BTreeSet, HashMap};

use selvedge_postgres::{ViewColumns, trace_views};
use serde::de::DeserializeOwned;
use tokio_postgres::{Client, Error, Row};

use super::order::NameOrder;
use super::relationship::{Relationship, ViewKey, add_views};
use super::{Attribute, Catalog, Column, Function, Relation, RelationKind, Schema, Type, Types};

/// Objects with the names of their schemas, unsorted.
type InSchema<T> = Vec<(String, T)>;

/// Reads the schemas in `names` that exist.
///
/// # Errors
/// PostgreSQL's error when a query fails.
pub(crate) async fn load_catalog(client: &Client, names: &[String]) -> Result<Catalog, Error> {
    let mut relations = load_relations(client, names).await?;
    let mut relationships = load_relationships(client).await?;
    let mut functions = load_functions(client, names).await?;
    let types = load_types(client).await?;
    let mut schemas: Vec<String> = client
        .query(include_str!("sql/schemas.sql"), &[&names])
        .await?
        .iter()
        .map(|row| row.get("name"))
        .collect();

    // PostgreSQL sorts all names that are compared below, because this binary does not contain ICU's collation.
    let compared = list_compared_names(&schemas, &relations, &relationships, &functions, &types);
    let order = NameOrder::load(client, compared).await?;
    schemas.sort_by(|left, right| order.compare(left, right));
    sort_relationships(&mut relationships, &order);
    for (_, relation) in &mut relations {
        relation
            .columns
            .sort_by(|left, right| order.compare(&left.name, &right.name));
    }
    relations.sort_by(|(_, left), (_, right)| order.compare(&left.name, &right.name));
    sort_functions(&mut functions, &order);
    // `types` stays in the order of creation, so that a lookup by name finds the oldest type.
    let mut named_types: Vec<Type> = types.iter().map(|(_, one)| one.clone()).collect();
    named_types.sort_by(|left, right| order.compare(&left.name, &right.name));

    let ids_in_order = sort_types(&types, &order);
    add_relationships(&mut relations, &relationships);
    Ok(Catalog {
        schemas: group_by_schema(schemas, relations, functions, &named_types),
        types: Types::collect(types, ids_in_order),
    })
}

async fn load_relations(client: &Client, names: &[String]) -> Result<InSchema<Relation>, Error> {
    let mut columns: HashMap<u32, Vec<Column>> = HashMap::new();
    for row in client.query(include_str!("sql/columns.sql"), &[&names]).await? {
        columns
            .entry(row.get("table_id"))
            .or_default()
            .push(read_column(&row));
    }
    let mut read = |row: &Row, kind| {
        let id = row.get("id");
        let relation = Relation {
            id,
            name: row.get("name"),
            kind,
            columns: columns.remove(&id).unwrap_or_default(),
            relationships: Vec::new(),
        };
        (row.get("schema"), relation)
    };
    let mut relations = Vec::new();
    for row in client.query(include_str!("sql/tables.sql"), &[&names]).await? {
        let kind = match row.get("is_foreign") {
            true => RelationKind::ForeignTable,
            false => RelationKind::Table,
        };
        relations.push(read(&row, kind));
    }
    for row in client.query(include_str!("sql/views.sql"), &[&names]).await? {
        let kind = match row.get("is_materialized") {
            true => RelationKind::MaterializedView,
            false => RelationKind::View {
                is_updatable: row.get("is_updatable"),
            },
        };
        relations.push(read(&row, kind));
    }
    Ok(relations)
}

fn read_column(row: &Row) -> Column {
    Column {
        name: row.get("name"),
        format: row.get("format"),
        is_identity: row.get("is_identity"),
        is_always_generated: row.get("is_always_generated"),
        has_default: row.get("has_default"),
        is_nullable: row.get("is_nullable"),
        is_updatable: row.get("is_updatable"),
    }
}

async fn load_relationships(client: &Client) -> Result<Vec<Relationship>, Error> {
    let views = View::load_all(client).await?;
    let foreign_keys = client.query(include_str!("sql/foreign_keys.sql"), &[]).await?;
    let with_views = |row: &Row| {
        let relationship = Relationship {
            foreign_key: row.get("name"),
            schema: row.get("schema"),
            relation: row.get("relation"),
            columns: row.get("columns"),
            is_one_to_one: row.get("is_one_to_one"),
            referenced_schema: row.get("referenced_schema"),
            referenced_relation: row.get("referenced_relation"),
            referenced_columns: row.get("referenced_columns"),
        };
        let own: KeyEnd = (row.get("relation_id"), row.get("column_numbers"));
        let referenced: KeyEnd = (
            row.get("referenced_relation_id"),
            row.get("referenced_column_numbers"),
        );
        let keys = views.iter().flat_map(|view| {
            let own = view.show_key(&own, false);
            own.into_iter().chain(view.show_key(&referenced, true))
        });
        (relationship, keys.collect())
    };
    Ok(add_views(foreign_keys.iter().map(with_views).collect()))
}

/// One end of a foreign key: a relation and the numbers of its columns.
type KeyEnd = (u32, Vec<i16>);

/// A view of any schema: a view in a chosen schema may select from a view in another one.
struct View {
    schema: String,
    name: String,
    /// Names of its columns by their numbers.
    names: HashMap<i16, String>,
    columns: ViewColumns,
}

impl View {
    async fn load_all(client: &Client) -> Result<Vec<Self>, Error> {
        let rows = client.query(include_str!("sql/view_rules.sql"), &[]).await?;
        let rules = rows.iter().map(|row| (row.get("id"), row.get("rule"))).collect();
        let mut columns = trace_views(&rules);
        rows.iter()
            .map(|row| {
                Ok(Self {
                    schema: row.get("schema"),
                    name: row.get("name"),
                    names: get_json::<Option<_>>(row, "columns")?.unwrap_or_default(),
                    columns: columns.remove(&row.get("id")).unwrap_or_default(),
                })
            })
            .collect()
    }

    /// Returns the view's columns for one end of a foreign key; `None` unless it selects all of the key's columns.
    fn show_key(&self, (relation, numbers): &KeyEnd, is_referenced: bool) -> Option<ViewKey> {
        let choices = self.columns.combinations(*relation, numbers)?;
        let name = |number: &i16| self.names.get(number).cloned();
        Some(ViewKey {
            view_schema: self.schema.clone(),
            view_name: self.name.clone(),
            is_referenced,
            column_choices: choices
                .iter()
                .filter_map(|choice| choice.iter().map(name).collect())
                .collect(),
        })
    }
}

async fn load_functions(client: &Client, names: &[String]) -> Result<InSchema<Function>, Error> {
    let mut functions = Vec::new();
    for row in client.query(include_str!("sql/functions.sql"), &[&names]).await? {
        let function = Function {
            name: row.get("name"),
            arguments: get_json(&row, "arguments")?,
            argument_types: row.get("argument_types"),
            return_type: row.get("return_type"),
            return_type_id: row.get("return_type_id"),
            return_relation_id: row.get("return_type_relation_id"),
            is_set_returning: row.get("is_set_returning"),
            returns_many_rows: row.get("returns_many_rows"),
        };
        functions.push((row.get("schema"), function));
    }
    Ok(functions)
}

async fn load_types(client: &Client) -> Result<Vec<(u32, Type)>, Error> {
    let mut types = Vec::new();
    for row in client.query(include_str!("sql/types.sql"), &[]).await? {
        let one = Type {
            name: row.get("name"),
            schema: row.get("schema"),
            format: row.get("format"),
            enums: row.get("enums"),
            attributes: get_json::<Vec<Attribute>>(&row, "attributes")?,
            is_row_type: row.get("is_row_type"),
        };
        types.push((row.get("id"), one));
    }
    Ok(types)
}

/// Deserializes a column of type jsonb.
fn get_json<T: DeserializeOwned>(row: &Row, column: &str) -> Result<T, Error> {
    let value: postgres_types::Json<T> = row.try_get(column)?;
    Ok(value.0)
}

/// Lists every text that the sorting below compares.
fn list_compared_names(
    schemas: &[String],
    relations: &[(String, Relation)],
    relationships: &[Relationship],
    functions: &[(String, Function)],
    types: &[(u32, Type)],
) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = schemas.iter().cloned().collect();
    for (_, relation) in relations {
        names.insert(relation.name.clone());
        names.extend(relation.columns.iter().map(|column| column.name.clone()));
    }
    for relationship in relationships {
        names.insert(relationship.foreign_key.clone());
        names.insert(relationship.referenced_relation.clone());
        names.insert(columns_key(&relationship.referenced_columns));
    }
    for (_, function) in functions {
        names.insert(function.name.clone());
        names.insert(function.argument_types.clone());
        names.insert(function.return_type.clone());
        names.extend(function.arguments.iter().map(|argument| argument.name.clone()));
    }
    names.extend(
        types
            .iter()
            .flat_map(|(_, one)| [one.name.clone(), one.schema.clone()]),
    );
    names
}

/// Joins column names to the text by which lists of columns are sorted.
fn columns_key(columns: &[String]) -> String {
    serde_json::Value::from(columns).to_string()
}

fn sort_relationships(relationships: &mut [Relationship], order: &NameOrder) {
    relationships.sort_by(|left, right| {
        order
            .compare(&left.foreign_key, &right.foreign_key)
            .then_with(|| order.compare(&left.referenced_relation, &right.referenced_relation))
            .then_with(|| {
                let keys = [left, right].map(|one| columns_key(&one.referenced_columns));
                order.compare(&keys[0], &keys[1])
            })
    });
}

fn sort_functions(functions: &mut InSchema<Function>, order: &NameOrder) {
    for (_, function) in &mut *functions {
        function
            .arguments
            .sort_by(|left, right| order.compare(&left.name, &right.name));
    }
    functions.sort_by(|(_, left), (_, right)| {
        order
            .compare(&left.name, &right.name)
            .then_with(|| order.compare(&left.argument_types, &right.argument_types))
            .then_with(|| order.compare(&left.return_type, &right.return_type))
    });
}

/// Returns the oids of all types, sorted by schema and name. The sort is stable, so of two with one name the older comes first.
fn sort_types(types: &[(u32, Type)], order: &NameOrder) -> Vec<u32> {
    let mut sorted: Vec<&(u32, Type)> = types.iter().collect();
    sorted.sort_by(|(_, left), (_, right)| {
        order
            .compare(&left.schema, &right.schema)
            .then_with(|| order.compare(&left.name, &right.name))
    });
    sorted.into_iter().map(|(id, _)| *id).collect()
}

/// Stores each relationship at its relation. Those to another schema are left out, because PostgREST embeds within one schema.
fn add_relationships(relations: &mut InSchema<Relation>, relationships: &[Relationship]) {
    for (schema, relation) in relations {
        relation.relationships = relationships
            .iter()
            .filter(|one| {
                one.relation == relation.name && one.schema == *schema && one.referenced_schema == *schema
            })
            .cloned()
            .collect();
    }
}

fn group_by_schema(
    names: Vec<String>,
    relations: InSchema<Relation>,
    functions: InSchema<Function>,
    types: &[Type],
) -> Vec<Schema> {
    let mut schemas: Vec<Schema> = names
        .into_iter()
        .map(|name| {
            let own_types = |condition: fn(&&Type) -> bool| -> Vec<Type> {
                types
                    .iter()
                    .filter(|one| one.schema == name)
                    .filter(condition)
                    .cloned()
                    .collect()
            };
            Schema {
                enums: own_types(|one| !one.enums.is_empty()),
                composite_types: own_types(|one| !one.attributes.is_empty()),
                tables: Vec::new(),
                views: Vec::new(),
                functions: Vec::new(),
                name,
            }
        })
        .collect();
    for (schema, relation) in relations {
        let Some(schema) = schemas.iter_mut().find(|one| one.name == schema) else {
            continue;
        };
        match relation.kind {
            RelationKind::Table | RelationKind::ForeignTable => schema.tables.push(relation),
            RelationKind::View { .. } | RelationKind::MaterializedView => schema.views.push(relation),
        }
    }
    for (schema, function) in functions {
        if let Some(schema) = schemas.iter_mut().find(|one| one.name == schema) {
            schema.functions.push(function);
        }
    }
    schemas
}
