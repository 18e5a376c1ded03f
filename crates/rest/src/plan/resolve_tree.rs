//! From a draft to the select tree: relationships are chosen, columns resolved, SQL aliases given; parents first.

use std::collections::HashSet;
use std::sync::Arc;

use super::draft::Draft;
use super::resolve_column::Resolver;
use super::tree::{ColumnRef, Condition, Join, JoinForm, ReadNode, SortKey, SortTarget, Source, Spread};
use crate::catalog::{Cardinality, Catalog, Relationship};
use crate::error::{RequestError, RestError};
use crate::identifier::QualifiedName;
use crate::request::ast::{Field, Filter, IsValue, JoinKind, LogicTree, Operation, OrderTerm};
use crate::request::range::RowRange;

/// PostgreSQL cuts longer identifiers (NAMEDATALEN - 1), which could make two aliases equal.
const MAX_IDENTIFIER_BYTES: usize = 63;

/// Chooses the relationship of every embed and resolves every column.
///
/// # Errors
/// PGRST200 and 201 where no relationship or several fit, PGRST108 for an order by something that is not embedded,
/// 42712 for two embeds of one name.
pub(super) fn resolve_tree(
    catalog: &Catalog,
    draft: Draft,
    root: &QualifiedName,
    source: Source,
) -> Result<ReadNode, RestError> {
    let mut builder = TreeBuilder {
        catalog,
        schema: &root.schema,
        used_aliases: HashSet::new(),
    };
    let alias = (source == Source::Result).then(|| root.name.clone());
    let place = Place {
        table: root.clone(),
        alias,
        source,
        join: None,
        spread: Spread::No,
        depth: 0,
    };
    builder.build_node(draft, place, false)
}

/// A tree being built.
struct TreeBuilder<'a> {
    catalog: &'a Catalog,
    schema: &'a str,
    /// SQL aliases given so far, in the whole statement.
    used_aliases: HashSet<String>,
}

/// The position of a node in the statement: its relation, its SQL names, and its join with the parent.
struct Place {
    table: QualifiedName,
    alias: Option<String>,
    source: Source,
    join: Option<Join>,
    spread: Spread,
    depth: usize,
}

impl Place {
    /// The name that PostgREST gives to an embed's rows in SQL; PostgreSQL's error messages show it to clients.
    fn result_name(&self, child: &Draft) -> Option<String> {
        let origin = &self.join.as_ref()?.relationship.origin.name;
        Some(format!("{origin}_{}_{}", child.client_name(), self.depth))
    }
}

impl TreeBuilder<'_> {
    /// Builds a node. `ancestor_aggregates` says whether a node above groups its rows: then `*` is written as columns,
    /// because `GROUP BY *` is not valid.
    fn build_node(
        &mut self,
        draft: Draft,
        place: Place,
        ancestor_aggregates: bool,
    ) -> Result<ReadNode, RestError> {
        let resolver = Resolver::new(self.catalog, &place.table);
        let aggregates = ancestor_aggregates
            || place.spread == Spread::ToMany
            || draft.fields.iter().any(|field| field.aggregate.is_some());
        let embeds = Embeds(&draft.children);
        let filters = draft
            .filters
            .into_iter()
            .map(|tree| embeds.resolve_condition(&resolver, tree))
            .collect();
        let order = embeds.resolve_order(&resolver, draft.order);
        let select = resolver.resolve_select(draft.fields, place.spread != Spread::No, aggregates);
        let children = self.build_children(draft.children, &place, aggregates)?;
        Ok(ReadNode {
            source: place.source,
            table: place.table,
            alias: place.alias,
            target: draft.target,
            client_alias: draft.alias,
            legacy_name_used: draft.legacy_name_used,
            select,
            filters,
            // Compat: a wrong relationship is reported before a wrong order.
            order: order?,
            range: draft.range.unwrap_or(RowRange::ALL),
            join: place.join,
            spread: place.spread,
            children,
            outputs: Vec::new(),
        })
    }

    /// Builds the embeds of a node, each with a distinct key.
    fn build_children(
        &mut self,
        children: Vec<Draft>,
        parent: &Place,
        aggregates: bool,
    ) -> Result<Vec<ReadNode>, RestError> {
        let mut siblings = HashSet::new();
        children
            .into_iter()
            .map(|child| {
                let place = self.choose_place(&child, parent)?;
                // Two siblings of one key would overwrite each other in the row's JSON object.
                if let Some(name) = place.result_name(&child)
                    && !siblings.insert(name.clone())
                {
                    return Err(RequestError::EmbeddedTwice(name).into());
                }
                self.build_node(child, place, aggregates)
            })
            .collect()
    }

    /// Finds a child's relationship and names it in SQL.
    fn choose_place(&mut self, child: &Draft, parent: &Place) -> Result<Place, RestError> {
        // Compat: relationships are looked up in the active schema, also for an embed whose target has another.
        let origin = QualifiedName::new(self.schema, &parent.table.name);
        let relationship: Arc<Relationship> =
            self.catalog
                .choose_relationship(&origin, &child.target, child.hint.as_deref())?;
        let depth = parent.depth + 1;
        let client_name = child.client_name();
        let alias = self.give_alias(format!("{}_{depth}", relationship.target.name), true);
        let lateral = self.give_alias(
            format!("{}_{client_name}_{depth}", relationship.origin.name),
            false,
        );
        let junction = match &relationship.cardinality {
            Cardinality::ManyToMany(junction) => {
                self.give_alias(format!("{}_{depth}", junction.table.name), false)
            }
            _ => String::new(),
        };
        let spread = match (child.is_spread, relationship.is_to_one()) {
            (false, _) => Spread::No,
            (true, true) => Spread::ToOne,
            (true, false) => Spread::ToMany,
        };
        // A left join keeps parents without a match; `!inner` drops them.
        let kind = child.join.unwrap_or(JoinKind::Left);
        Ok(Place {
            table: relationship.target.clone(),
            alias: Some(alias),
            source: Source::Relation,
            join: Some(Join {
                relationship,
                kind,
                lateral,
                junction,
                form: JoinForm::Lateral,
            }),
            spread,
            depth,
        })
    }

    /// Returns an alias that no other node has. With `may_repeat` two siblings may share a table's alias, because they are
    /// in separate subqueries; the aliases in PostgreSQL's messages are then the same as PostgREST's.
    fn give_alias(&mut self, wanted: String, may_repeat: bool) -> String {
        let mut alias = wanted;
        // A number is unique without the text that PostgreSQL would cut off.
        if alias.len() > MAX_IDENTIFIER_BYTES {
            alias = format!("t{}", self.used_aliases.len());
        }
        if !may_repeat {
            let base = alias.clone();
            let mut number = 1;
            while self.used_aliases.contains(&alias) {
                number += 1;
                alias = format!("{base}_{number}");
            }
        }
        self.used_aliases.insert(alias.clone());
        alias
    }
}

/// A node's embeds, found by the name that clients use.
struct Embeds<'a>(&'a [Draft]);

impl Embeds<'_> {
    /// The index of the embed that clients address by `name`.
    fn position_of(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|child| child.client_name() == name)
    }

    /// A condition of the node. `name=is.null` means the embed of that name, if there is one.
    fn resolve_condition(&self, resolver: &Resolver<'_>, tree: LogicTree) -> Condition {
        match tree {
            LogicTree::Group {
                negated,
                operator,
                children,
            } => Condition::Group {
                negated,
                operator,
                children: children
                    .into_iter()
                    .map(|child| self.resolve_condition(resolver, child))
                    .collect(),
            },
            LogicTree::Filter(filter) => match self.find_null_test(&filter) {
                Some(child) => Condition::Embed {
                    child,
                    present: filter.negated,
                },
                None => resolver.resolve_filter(filter),
            },
        }
    }

    /// The embed that a filter tests for having no row.
    fn find_null_test(&self, filter: &Filter) -> Option<usize> {
        let is_null = filter.operation == Operation::Is(IsValue::Null) && filter.field.path.is_empty();
        is_null.then(|| self.position_of(&filter.field.name)).flatten()
    }

    /// The sort keys of a node.
    fn resolve_order(
        &self,
        resolver: &Resolver<'_>,
        terms: Vec<OrderTerm>,
    ) -> Result<Vec<SortKey>, RequestError> {
        terms
            .into_iter()
            .map(|term| self.resolve_sort_key(resolver, term))
            .collect()
    }

    /// A sort key of the node, or of one of its embeds: `order=author(name)`.
    fn resolve_sort_key(&self, resolver: &Resolver<'_>, term: OrderTerm) -> Result<SortKey, RequestError> {
        let OrderTerm {
            embed,
            field,
            direction,
            nulls,
        } = term;
        let target = match embed {
            None => SortTarget::Own(resolver.resolve_field(field)),
            Some(name) => match self.position_of(&name) {
                Some(child) => {
                    let Field { name, path } = field;
                    let column = ColumnRef {
                        name,
                        path,
                        ..ColumnRef::default()
                    };
                    SortTarget::Related { child, column }
                }
                None => {
                    return Err(RequestError::NotEmbedded {
                        target: name,
                        alias: None,
                    });
                }
            },
        };
        Ok(SortKey {
            target,
            direction,
            nulls,
        })
    }
}
