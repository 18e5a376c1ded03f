//! Functions as supabase-js calls them by `rpc()` or embeds them: arguments, result, and where the result's columns are.

use super::column_types::{TypeNames, boolean, union};
use super::format::{Member, TypeNode};
use crate::catalog::{Argument, Catalog, Function, Schema};

/// Oids of json, text and jsonb: PostgREST passes a request's body to a function with one unnamed argument of these.
const BODY_TYPES: [u32; 3] = [114, 25, 3802];

/// Whether PostgREST can call the function or show it as a column: all arguments have names, or the only one is the body
/// or a row.
pub(super) fn is_callable(catalog: &Catalog, function: &Function) -> bool {
    let inputs: Vec<&Argument> = function.inputs().collect();
    let is_body = |one: &Argument| BODY_TYPES.contains(&one.type_id);
    inputs
        .iter()
        .all(|one| !one.name.is_empty() || one.has_default && is_body(one))
        || matches!(inputs[..], [only] if is_body(only) || catalog.types.row_type(only.type_id).is_some())
}

/// The functions of one schema.
pub(super) struct FunctionTypes<'c> {
    pub(super) names: TypeNames<'c>,
}

impl<'c> FunctionTypes<'c> {
    /// Creates the types of the functions in the schema of `names`.
    pub(super) fn new(names: TypeNames<'c>) -> Self {
        Self { names }
    }

    /// Returns the schema of the functions.
    pub(super) fn schema(&self) -> &'c Schema {
        self.names.schema()
    }

    /// One member per name: the signature, or a union of those of all functions of that name.
    pub(super) fn members(&self) -> Vec<Member> {
        let functions: Vec<&Function> = self
            .schema()
            .functions
            .iter()
            .filter(|one| is_callable(self.names.catalog(), one))
            .collect();
        functions
            .chunk_by(|left, right| left.name == right.name)
            .map(|overloads| {
                let signatures = overloads.iter().map(|one| self.signature(one, overloads));
                Member::new(&overloads[0].name, union(signatures.collect()))
            })
            .collect()
    }

    fn signature(&self, function: &Function, overloads: &[&Function]) -> TypeNode {
        let error = self
            .find_conflict(function, overloads)
            .or_else(|| self.find_row_error(function));
        let result = match error {
            Some(message) => TypeNode::Intersection(
                Box::new(TypeNode::inline(vec![Member::new("error", boolean(true))])),
                Box::new(TypeNode::Literal(message)),
            ),
            None => self.result(function),
        };
        let options = self.embedding(function);
        // A function `rows 1` returns an array to a direct call and an object where it is embedded. supabase-js restores
        // the array from SetofOptions, so it is only left out where those are written.
        let is_one_row = !function.returns_many_rows && self.result_relation(function).is_some();
        let result = if function.is_set_returning && !is_one_row {
            result.with_brackets()
        } else {
            result
        };
        let mut members = vec![
            Member::new("Args", self.arguments(function)),
            Member::new("Returns", result),
        ];
        members.extend(options.map(|options| Member::new("SetofOptions", options)));
        TypeNode::inline(members)
    }

    fn arguments(&self, function: &Function) -> TypeNode {
        let members: Vec<Member> = function
            .inputs()
            .map(|one| Member {
                is_optional: one.has_default,
                ..Member::new(&one.name, self.names.by_id(one.type_id))
            })
            .collect();
        if members.is_empty() {
            return TypeNode::Keyword("never");
        }
        TypeNode::inline(members)
    }

    /// One row or value of the result.
    pub(super) fn result(&self, function: &Function) -> TypeNode {
        let columns: Vec<Member> = function
            .arguments
            .iter()
            .filter(|one| one.is_table_column())
            .map(|one| Member::new(&one.name, self.names.by_id(one.type_id)))
            .collect();
        if !columns.is_empty() {
            return TypeNode::expanded(columns);
        }
        // Columns are written out for relations of this schema; one of another schema is referred to by its name.
        let schema = self.schema();
        let relation = function.return_relation_id.and_then(|id| {
            let mut relations = schema.tables.iter().chain(&schema.views);
            relations.find(|one| one.id == id)
        });
        if let Some(relation) = relation {
            let columns = relation.columns.iter();
            let columns = columns.map(|column| self.names.column(column, column.is_nullable));
            return TypeNode::expanded(columns.collect());
        }
        self.names.by_id(function.return_type_id)
    }

    /// The relation or composite type whose fields a caller may select from the result.
    fn result_relation(&self, function: &Function) -> Option<String> {
        let id = function.return_relation_id?;
        let catalog = self.names.catalog();
        // A relation in a schema that was not requested has no generated name, so its row type is used.
        if let Some(name) = catalog.find_relation_name(id) {
            return Some(name.to_owned());
        }
        let row_type = catalog.types.row_type(function.return_type_id)?;
        Some(row_type.name.clone())
    }

    /// How supabase-js types a selection from the result: from which relation the function is embedded, to which it leads.
    fn embedding(&self, function: &Function) -> Option<TypeNode> {
        let target = self.result_relation(function)?;
        let types = &self.names.catalog().types;
        let source = match &function.arguments[..] {
            [only] => types.row_type(only.type_id).map_or("*", |row| &row.format),
            _ => "*",
        };
        Some(TypeNode::expanded(vec![
            Member::new("from", TypeNode::Literal(source.to_owned())),
            Member::new("to", TypeNode::Literal(target)),
            Member::new("isOneToOne", boolean(!function.returns_many_rows)),
            Member::new("isSetofReturn", boolean(function.is_set_returning)),
        ]))
    }

    /// A function that takes a row and returns a value is a column, and no call.
    fn find_row_error(&self, function: &Function) -> Option<String> {
        let inputs: Vec<&Argument> = function.inputs().collect();
        let [only] = inputs[..] else {
            return None;
        };
        let takes_row = only.name.is_empty() && self.names.catalog().types.row_type(only.type_id).is_some();
        (takes_row && self.result_relation(function).is_none()).then(|| {
            format!(
                "the function {}.{} with parameter or with a single unnamed json/jsonb parameter, but no matches were \
                 found in the schema cache",
                self.schema().name,
                function.name
            )
        })
    }

    /// PostgREST's message when a call fits several functions of the name.
    fn find_conflict(&self, function: &Function, overloads: &[&Function]) -> Option<String> {
        let inputs: Vec<&Argument> = function.inputs().collect();
        let others = overloads.iter().filter(|other| !std::ptr::eq(**other, function));
        let name = format!("{}.{}", self.schema().name, function.name);
        let candidates = match inputs[..] {
            // A call without arguments also fits a function whose only argument may be left out.
            [] => {
                let other = others.into_iter().find(|other| {
                    let inputs: Vec<&Argument> = other.inputs().collect();
                    matches!(inputs[..], [only] if only.name.is_empty() && only.has_default)
                })?;
                let result = self.type_name(other.return_type_id);
                format!("{name}(), {name}( => {result})")
            }
            // JSON has fewer types than PostgreSQL, so a call cannot distinguish functions that differ only in a parameter's
            // type.
            [only] if !only.name.is_empty() => {
                let mut candidates: Vec<&Argument> = others
                    .filter_map(|other| {
                        let inputs: Vec<&Argument> = other.inputs().collect();
                        match inputs[..] {
                            [one] if one.name == only.name && one.type_id != only.type_id => Some(one),
                            _ => None,
                        }
                    })
                    .collect();
                if candidates.is_empty() {
                    return None;
                }
                candidates.push(only);
                candidates.sort_by_key(|one| one.type_id);
                let texts: Vec<String> = candidates
                    .iter()
                    .map(|one| format!("{name}({} => {})", one.name, self.type_name(one.type_id)))
                    .collect();
                texts.join(", ")
            }
            _ => return None,
        };
        Some(format!(
            "Could not choose the best candidate function between: {candidates}. Try renaming the parameters or the \
             function itself in the database so function overloading can be resolved"
        ))
    }

    fn type_name(&self, id: u32) -> &str {
        let found = self.names.catalog().types.get(id);
        found.map_or("unknown", |one| &one.name)
    }
}
