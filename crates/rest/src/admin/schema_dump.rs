//! The catalog as JSON, by PostgREST's field names.

use serde_json::{Value, json};

use crate::catalog::{Catalog, Column, Function, Relation, Relationship};

/// All relations, relationships and functions of the catalog.
pub(super) fn dump_catalog(catalog: &Catalog) -> Value {
    let tables = catalog.all_relations().into_iter();
    let relationships = catalog.all_relationships().into_iter();
    let routines = catalog.all_functions().into_iter();
    json!({
        "dbTables": tables.map(|relation| dump_relation(relation)).collect::<Vec<_>>(),
        "dbRelationships": relationships.map(|relationship| dump_relationship(relationship)).collect::<Vec<_>>(),
        "dbRoutines": routines.map(|function| dump_function(function)).collect::<Vec<_>>(),
    })
}

/// A relation with its columns.
fn dump_relation(relation: &Relation) -> Value {
    json!({
        "tableSchema": relation.name.schema,
        "tableName": relation.name.name,
        "tableDescription": relation.comment,
        "tableIsView": relation.is_view,
        "tableInsertable": relation.insertable,
        "tableUpdatable": relation.updatable,
        "tableDeletable": relation.deletable,
        "tablePKCols": relation.primary_key,
        "tableColumns": relation.columns.values().map(dump_column).collect::<Vec<_>>(),
    })
}

fn dump_column(column: &Column) -> Value {
    json!({
        "colName": column.name,
        "colDescription": column.comment,
        "colNullable": column.nullable,
        "colType": column.data_type,
        "colNominalType": column.declared_type,
        "colMaxLen": column.max_length,
        "colDefault": column.default,
        "colEnum": column.enum_labels,
    })
}

/// A relationship between two relations.
fn dump_relationship(relationship: &Relationship) -> Value {
    json!({
        "relTable": relationship.origin.to_string(),
        "relForeignTable": relationship.target.to_string(),
        "relIsSelf": relationship.is_self,
        "relTableIsView": relationship.origin_is_view,
        "relFTableIsView": relationship.target_is_view,
        "relCardinality": format!("{:?}", relationship.cardinality),
    })
}

/// A function with its parameters.
fn dump_function(function: &Function) -> Value {
    let parameters = function.parameters.iter().map(|parameter| {
        json!({
            "ppName": parameter.name,
            "ppType": parameter.type_name,
            "ppReq": parameter.required,
            "ppVar": parameter.variadic,
        })
    });
    json!({
        "pdSchema": function.name.schema,
        "pdName": function.name.name,
        "pdDescription": function.comment,
        "pdParams": parameters.collect::<Vec<_>>(),
        "pdReturnType": function.returns.name.to_string(),
        "pdReturnsSet": function.returns.is_set,
        "pdVolatility": format!("{:?}", function.volatility),
    })
}
