//! From the select list to nodes: parameters find their node by path, relationships are chosen, names are given.

use super::Planner;
use super::read::{Condition, Join, ReadNode, SelectColumn, SortKey, SortTarget, Source, Spread, fields};
use super::resolve::Resolver;
use crate::catalog::{Cardinality, Relationship};
use crate::error::{RequestError, RestError};
use crate::identifier::QualifiedName;
use crate::request::Action;
use crate::request::ast::{
    Field, Filter, IsValue, JoinKind, LogicTree, Operation, OrderTerm, SelectField, SelectItem,
};
use crate::request::range::RowRange;
use std::collections::HashSet;
use std::sync::Arc;

/// PostgreSQL cuts longer identifiers, which could make two of them equal.
const LONGEST_IDENTIFIER_BYTES: usize = 63;

/// A node before its relationship is known.
#[derive(Debug, Default)]
pub(super) struct Draft {
    target: String,
    alias: Option<String>,
    hint: Option<String>,
    join: Option<JoinKind>,
    spread: bool,
    fields: Vec<SelectField>,
    filters: Vec<LogicTree>,
    order: Vec<OrderTerm>,
    range: Option<RowRange>,
    legacy_name_used: bool,
    children: Vec<Draft>,
}

impl Draft {
    /// The tree of a select list.
    pub(super) fn of_select(items: &[SelectItem], target: &str) -> Self {
        Self {
            target: target.to_owned(),
            fields: fields(items).cloned().collect(),
            children: items
                .iter()
                .filter_map(|item| match item {
                    SelectItem::Embed(embed) => Some(Self {
                        alias: embed.alias.clone(),
                        hint: embed.hint.clone(),
                        join: embed.join,
                        spread: embed.spread,
                        ..Self::of_select(&embed.items, &embed.target)
                    }),
                    SelectItem::Field(_) => None,
                })
                .collect(),
            ..Self::default()
        }
    }

    /// Gives every filter, order and range to the node that its path names.
    pub(super) fn attach_parameters(&mut self, planner: &Planner<'_>) -> Result<(), RequestError> {
        let query = &planner.request.query;
        let legacy = planner.config.legacy_target_names;
        // Filters of the root decide what a write touches; its answer shows all of that.
        let is_write = matches!(planner.request.action, Action::Mutate { .. });
        for (path, filter) in &query.filters {
            if !(is_write && path.is_empty()) {
                self.node_at(path, legacy)?
                    .filters
                    .push(LogicTree::Filter(filter.clone()));
            }
        }
        for (path, terms) in &query.orders {
            self.node_at(path, legacy)?.order = terms.clone();
        }
        if !is_write {
            for (path, range) in &query.ranges {
                self.node_at(path, legacy)?.range = Some(*range);
            }
            self.range = Some(planner.request.range);
        }
        for (path, tree) in &query.logic {
            if !(is_write && path.is_empty()) {
                self.node_at(path, legacy)?.filters.push(tree.clone());
            }
        }
        Ok(())
    }

    fn node_at(&mut self, path: &[String], legacy: bool) -> Result<&mut Self, RequestError> {
        let Some((first, rest)) = path.split_first() else {
            return Ok(self);
        };
        let by_client_name = |child: &Self| child.alias.as_deref().unwrap_or(&child.target) == first.as_str();
        let by_any_name =
            |child: &Self| child.target == *first || child.alias.as_deref() == Some(first.as_str());
        let found = self.children.iter().position(|child| {
            if legacy {
                by_any_name(child)
            } else {
                by_client_name(child)
            }
        });
        let Some(index) = found else {
            let aliased = self
                .children
                .iter()
                .find(|child| child.target == *first && child.alias.is_some());
            return Err(RequestError::NotEmbedded {
                target: first.clone(),
                alias: aliased.filter(|_| !legacy).and_then(|child| child.alias.clone()),
            });
        };
        let child = &mut self.children[index];
        if child.alias.as_ref().is_some_and(|alias| alias != first) && child.target == *first {
            child.legacy_name_used = true;
        }
        child.node_at(rest, legacy)
    }
}

/// Chooses relationships and resolves columns, parents first.
pub(super) fn build(
    planner: &Planner<'_>,
    draft: Draft,
    root: &QualifiedName,
    source: Source,
) -> Result<ReadNode, RestError> {
    let mut builder = Builder {
        planner,
        schema: &root.schema,
        used: HashSet::new(),
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
    builder.node(draft, place, false)
}

struct Builder<'a> {
    planner: &'a Planner<'a>,
    schema: &'a str,
    /// SQL aliases given so far.
    used: HashSet<String>,
}

/// What a node's relationship made of it.
struct Place {
    table: QualifiedName,
    alias: Option<String>,
    source: Source,
    join: Option<Join>,
    spread: Spread,
    depth: usize,
}

impl Place {
    /// What the original calls an embed's rows in SQL, and people see in its messages.
    fn result_name(&self, child: &Draft) -> Option<String> {
        let origin = &self.join.as_ref()?.relationship.origin.name;
        let client_name = child.alias.as_deref().unwrap_or(&child.target);
        Some(format!("{origin}_{client_name}_{}", self.depth))
    }
}

impl Builder<'_> {
    fn node(&mut self, draft: Draft, place: Place, ancestor_aggregates: bool) -> Result<ReadNode, RestError> {
        let resolver = Resolver::new(self.planner.catalog, &place.table);
        let aggregates = ancestor_aggregates
            || place.spread == Spread::ToMany
            || draft.fields.iter().any(|field| field.aggregate.is_some());
        let select: Vec<SelectColumn> =
            resolver.select(&draft.fields, place.spread != Spread::No, aggregates);
        let names: Vec<(String, Option<String>)> = draft
            .children
            .iter()
            .map(|child| (child.target.clone(), child.alias.clone()))
            .collect();
        let embeds = Embeds { names: &names };
        let filters = draft
            .filters
            .into_iter()
            .map(|tree| embeds.condition(&resolver, tree))
            .collect();
        let order_terms = draft.order;
        let mut siblings = HashSet::new();
        let children = draft
            .children
            .into_iter()
            .map(|child| {
                let below = self.place(&child, &place)?;
                if let Some(twice) = below.result_name(&child)
                    && !siblings.insert(twice.clone())
                {
                    return Err(RequestError::EmbeddedTwice(twice).into());
                }
                self.node(child, below, aggregates)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let order = order_terms
            .into_iter()
            .map(|term| embeds.sort_key(&resolver, term))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(ReadNode {
            source: place.source,
            table: place.table,
            alias: place.alias,
            target: draft.target,
            client_alias: draft.alias,
            legacy_name_used: draft.legacy_name_used,
            select,
            filters,
            order,
            range: draft.range.unwrap_or(RowRange::ALL),
            join: place.join,
            spread: place.spread,
            children,
            outputs: Vec::new(),
        })
    }

    /// Finds a child's relationship and names it in SQL.
    fn place(&mut self, child: &Draft, parent: &Place) -> Result<Place, RestError> {
        let origin = QualifiedName::new(self.schema, &parent.table.name);
        let relationship: Arc<Relationship> =
            self.planner
                .catalog
                .choose_relationship(&origin, &child.target, child.hint.as_deref())?;
        let depth = parent.depth + 1;
        let client_name = child.alias.as_deref().unwrap_or(&child.target);
        let alias = self.fresh(format!("{}_{depth}", relationship.target.name), true);
        let lateral = self.fresh(
            format!("{}_{client_name}_{depth}", relationship.origin.name),
            false,
        );
        let junction = match &relationship.cardinality {
            Cardinality::ManyToMany(junction) => {
                self.fresh(format!("{}_{depth}", junction.table.name), false)
            }
            _ => String::new(),
        };
        let spread = match (child.spread, relationship.is_to_one()) {
            (false, _) => Spread::No,
            (true, true) => Spread::ToOne,
            (true, false) => Spread::ToMany,
        };
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
            }),
            spread,
            depth,
        })
    }

    /// A name that no other node has. Siblings live in subqueries of their own, so one may share a table's alias,
    /// which keeps PostgreSQL's messages as people know them.
    fn fresh(&mut self, wanted: String, may_repeat: bool) -> String {
        let mut name = wanted;
        if name.len() > LONGEST_IDENTIFIER_BYTES {
            name = format!("t{}", self.used.len());
        }
        if !may_repeat {
            let base = name.clone();
            let mut number = 1;
            while self.used.contains(&name) {
                number += 1;
                name = format!("{base}_{number}");
            }
        }
        self.used.insert(name.clone());
        name
    }
}

/// Children by the name that clients use.
struct Embeds<'a> {
    names: &'a [(String, Option<String>)],
}

impl Embeds<'_> {
    fn find(&self, name: &str) -> Option<usize> {
        self.names
            .iter()
            .position(|(target, alias)| alias.as_ref().unwrap_or(target) == name)
    }

    fn condition(&self, resolver: &Resolver<'_>, tree: LogicTree) -> Condition {
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
                    .map(|child| self.condition(resolver, child))
                    .collect(),
            },
            LogicTree::Filter(Filter {
                field,
                negated,
                operation,
            }) => {
                let is_null = operation == Operation::Is(IsValue::Null) && field.path.is_empty();
                match self.find(&field.name).filter(|_| is_null) {
                    Some(child) => Condition::Embed {
                        child,
                        present: negated,
                    },
                    None => resolver.filter(&Filter {
                        field,
                        negated,
                        operation,
                    }),
                }
            }
        }
    }

    fn sort_key(&self, resolver: &Resolver<'_>, term: OrderTerm) -> Result<SortKey, RequestError> {
        let OrderTerm {
            embed,
            field,
            direction,
            nulls,
        } = term;
        let target = match embed {
            None => SortTarget::Own(resolver.plain(&field)),
            Some(name) => match self.find(&name) {
                Some(child) => {
                    let Field { name, path } = field;
                    let column = super::read::ColumnRef {
                        name,
                        path,
                        ..Default::default()
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
