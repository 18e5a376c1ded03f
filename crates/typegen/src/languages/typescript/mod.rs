//! The text of `database.types.ts`: schemas with tables, views, functions, enums and composite types.

mod column_types;
mod format;
mod functions;

use crate::catalog::{Catalog, Column, Relation, RelationKind, Relationship, Schema, Type};
use column_types::{TypeNames, boolean};
use format::{Expression, Member, TypeNode, print_constant, print_type_alias};
use functions::{FunctionTypes, is_callable};

const JSON_TYPE: &str = "\
export type Json =
  | string
  | number
  | boolean
  | null
  | { [key: string]: Json | undefined }
  | Json[]
";

/// Writes the types of all schemas of `catalog`.
pub(crate) fn write_types(catalog: &Catalog, detects_one_to_one: bool) -> String {
    let writer = SchemaWriter {
        catalog,
        detects_one_to_one,
    };
    let schemas = catalog
        .schemas
        .iter()
        .map(|schema| Member::new(&schema.name, writer.schema(schema)))
        .collect();
    [
        JSON_TYPE,
        "\n",
        &print_type_alias("Database", &TypeNode::expanded(schemas)),
        "\n",
        include_str!("helpers.ts"),
        "\n",
        &print_constant("Constants", &enum_constants(catalog)),
    ]
    .concat()
}

/// The labels of every enum as values, by schema.
fn enum_constants(catalog: &Catalog) -> Expression {
    let labels = |one: &Type| (one.name.clone(), Expression::Texts(one.enums.clone()));
    let schemas = catalog.schemas.iter().map(|schema| {
        let enums = Expression::Object(schema.enums.iter().map(labels).collect());
        let entry = Expression::Object(vec![("Enums".to_owned(), enums)]);
        (schema.name.clone(), entry)
    });
    Expression::Object(schemas.collect())
}

/// An object type that accepts no name when it has no members.
fn listing(members: Vec<Member>) -> TypeNode {
    if members.is_empty() {
        TypeNode::NoMembers
    } else {
        TypeNode::expanded(members)
    }
}

struct SchemaWriter<'c> {
    catalog: &'c Catalog,
    detects_one_to_one: bool,
}

impl SchemaWriter<'_> {
    fn schema(&self, schema: &Schema) -> TypeNode {
        let names = TypeNames::new(self.catalog, schema);
        let functions = FunctionTypes::new(names);
        let relations = |relations: &[Relation]| {
            let members = relations
                .iter()
                .map(|one| Member::new(&one.name, self.relation(one, &functions)));
            listing(members.collect())
        };
        let enums = schema.enums.iter().map(|one| {
            let labels = one.enums.iter().cloned().map(TypeNode::Literal).collect();
            Member::new(&one.name, column_types::union(labels))
        });
        let composite_types = schema.composite_types.iter().map(|one| {
            let attributes = one
                .attributes
                .iter()
                .map(|attribute| Member::new(&attribute.name, names.by_id(attribute.type_id).or_null()));
            Member::new(&one.name, TypeNode::expanded(attributes.collect()))
        });
        TypeNode::expanded(vec![
            Member::new("Tables", relations(&schema.tables)),
            Member::new("Views", relations(&schema.views)),
            Member::new("Functions", listing(functions.members())),
            Member::new("Enums", listing(enums.collect())),
            Member::new("CompositeTypes", listing(composite_types.collect())),
        ])
    }

    fn relation(&self, relation: &Relation, functions: &FunctionTypes<'_>) -> TypeNode {
        let names = functions.names;
        let mut row: Vec<Member> = relation
            .columns
            .iter()
            .map(|column| names.column(column, column.is_nullable))
            .collect();
        // Computed fields follow the columns in their own order, although both are sorted by name.
        row.extend(computed_fields(relation, functions));
        let mut members = vec![Member::new("Row", TypeNode::expanded(row))];
        let mut add_writes = |insert: fn(&TypeNames<'_>, &Column) -> Member,
                              update: fn(&TypeNames<'_>, &Column) -> Member| {
            for (name, write) in [("Insert", insert), ("Update", update)] {
                let columns = relation.columns.iter().map(|column| write(&names, column));
                members.push(Member::new(name, TypeNode::expanded(columns.collect())));
            }
        };
        match relation.kind {
            RelationKind::Table | RelationKind::ForeignTable => add_writes(insert_column, update_column),
            // Columns of a view may always be omitted from an insert, because their defaults are those of the table.
            RelationKind::View { is_updatable: true } => {
                add_writes(write_view_column, write_view_column);
            }
            RelationKind::View { is_updatable: false } | RelationKind::MaterializedView => {}
        }
        let relationships = relation.relationships.iter().map(|one| self.relationship(one));
        members.push(Member::new(
            "Relationships",
            TypeNode::Tuple(relationships.collect()),
        ));
        TypeNode::expanded(members)
    }

    fn relationship(&self, relationship: &Relationship) -> TypeNode {
        let texts =
            |texts: &[String]| TypeNode::Tuple(texts.iter().cloned().map(TypeNode::Literal).collect());
        let literal = |text: &str| TypeNode::Literal(text.to_owned());
        let mut members = vec![
            Member::new("foreignKeyName", literal(&relationship.foreign_key)),
            Member::new("columns", texts(&relationship.columns)),
        ];
        if self.detects_one_to_one {
            members.push(Member::new("isOneToOne", boolean(relationship.is_one_to_one)));
        }
        members.extend([
            Member::new("referencedRelation", literal(&relationship.referenced_relation)),
            Member::new("referencedColumns", texts(&relationship.referenced_columns)),
        ]);
        TypeNode::expanded(members)
    }
}

/// Functions with the relation's row as their only argument, unnamed: PostgREST shows them as columns.
fn computed_fields(relation: &Relation, functions: &FunctionTypes<'_>) -> Vec<Member> {
    functions
        .schema()
        .functions
        .iter()
        .filter(|one| is_callable(functions.names.catalog(), one) && one.argument_types == relation.name)
        .map(|one| Member::new(&one.name, functions.result(one).or_null()))
        .collect()
}

fn insert_column(names: &TypeNames<'_>, column: &Column) -> Member {
    if column.is_always_generated {
        return never_written(column);
    }
    Member {
        is_optional: column.is_nullable || column.is_identity || column.has_default,
        ..names.column(column, column.is_nullable)
    }
}

fn update_column(names: &TypeNames<'_>, column: &Column) -> Member {
    if column.is_always_generated {
        return never_written(column);
    }
    Member {
        is_optional: true,
        ..names.column(column, column.is_nullable)
    }
}

fn write_view_column(names: &TypeNames<'_>, column: &Column) -> Member {
    if !column.is_updatable {
        return never_written(column);
    }
    Member {
        is_optional: true,
        ..names.column(column, true)
    }
}

/// A column that no statement may set.
fn never_written(column: &Column) -> Member {
    Member {
        is_optional: true,
        ..Member::new(&column.name, TypeNode::Keyword("never"))
    }
}
