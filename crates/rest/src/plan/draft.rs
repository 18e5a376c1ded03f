//! The select tree before relationships are chosen: every filter, order and limit is at the node that its path names.

use crate::error::RequestError;
use crate::request::ast::{
    EmbedPath, Filter, JoinKind, LogicTree, OrderTerm, SelectEmbed, SelectField, SelectItem,
};
use crate::request::query::QueryParams;
use crate::request::range::RowRange;

/// The parts of a query string that shape the select tree, moved out of the request.
#[derive(Debug)]
pub(super) struct TreeParameters {
    select: Vec<SelectItem>,
    filters: Vec<(EmbedPath, Filter)>,
    logic: Vec<(EmbedPath, LogicTree)>,
    orders: Vec<(EmbedPath, Vec<OrderTerm>)>,
    ranges: Vec<(EmbedPath, RowRange)>,
    /// Range of the root's rows; `None` for writes, whose response shows every written row.
    pub(super) root_range: Option<RowRange>,
}

/// Filters of a write's root relation: they decide which rows are written.
#[derive(Debug)]
pub(super) struct RootFilters {
    pub(super) filters: Vec<Filter>,
    pub(super) logic: Vec<LogicTree>,
}

impl TreeParameters {
    /// The parameters of a read or call.
    pub(super) fn take_for_read(query: &mut QueryParams, range: RowRange) -> Self {
        Self {
            select: std::mem::take(&mut query.select),
            filters: std::mem::take(&mut query.filters),
            logic: std::mem::take(&mut query.logic),
            orders: std::mem::take(&mut query.orders),
            ranges: std::mem::take(&mut query.ranges),
            root_range: Some(range),
        }
    }

    /// The parameters of a write. Its root filters choose what is written, not what of that is shown, so they are
    /// returned apart; limits have no effect on writes.
    pub(super) fn take_for_write(query: &mut QueryParams) -> (Self, RootFilters) {
        let mut parameters = Self {
            root_range: None,
            ranges: Vec::new(),
            ..Self::take_for_read(query, RowRange::ALL)
        };
        let root = RootFilters {
            filters: split_root(&mut parameters.filters),
            logic: split_root(&mut parameters.logic),
        };
        (parameters, root)
    }
}

/// Moves what has an empty path out of the list, in order.
fn split_root<T>(list: &mut Vec<(EmbedPath, T)>) -> Vec<T> {
    list.extract_if(.., |(path, _)| path.is_empty())
        .map(|(_, item)| item)
        .collect()
}

/// A node before its relationship is known.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) target: String,
    pub(super) alias: Option<String>,
    pub(super) hint: Option<String>,
    pub(super) join: Option<JoinKind>,
    pub(super) is_spread: bool,
    pub(super) fields: Vec<SelectField>,
    pub(super) filters: Vec<LogicTree>,
    pub(super) order: Vec<OrderTerm>,
    pub(super) range: Option<RowRange>,
    pub(super) legacy_name_used: bool,
    pub(super) children: Vec<Draft>,
}

impl Draft {
    /// The tree of a request. `legacy_names` lets parameters address an aliased embed by its target's name.
    ///
    /// # Errors
    /// PGRST108 for parameters of something that is not embedded.
    pub(super) fn new(
        parameters: TreeParameters,
        target: &str,
        legacy_names: bool,
    ) -> Result<Self, RequestError> {
        let mut root = Self::from_items(parameters.select);
        target.clone_into(&mut root.target);
        root.check_paths(&parameters.filters, legacy_names)?;
        for (path, filter) in parameters.filters {
            let node = root.find_node(&path, legacy_names)?;
            node.filters.push(LogicTree::Filter(filter));
        }
        root.check_paths(&parameters.orders, legacy_names)?;
        for (path, terms) in parameters.orders {
            root.find_node(&path, legacy_names)?.order = terms;
        }
        root.check_paths(&parameters.ranges, legacy_names)?;
        for (path, range) in parameters.ranges {
            root.find_node(&path, legacy_names)?.range = Some(range);
        }
        // The root's limit and offset are combined with the Range header, so they come separately.
        root.range = parameters.root_range;
        root.check_paths(&parameters.logic, legacy_names)?;
        for (path, tree) in parameters.logic {
            root.find_node(&path, legacy_names)?.filters.push(tree);
        }
        Ok(root)
    }

    /// Checks that every path names a node. Compat: of several that do not, PostgREST reports the last.
    fn check_paths<T>(&mut self, list: &[(EmbedPath, T)], legacy_names: bool) -> Result<(), RequestError> {
        let mut paths = list.iter().rev().map(|(path, _)| path);
        paths.try_for_each(|path| self.find_node(path, legacy_names).map(drop))
    }

    /// A node with these select items and no name yet.
    fn from_items(items: Vec<SelectItem>) -> Self {
        let mut node = Self::default();
        for item in items {
            match item {
                SelectItem::Field(field) => node.fields.push(field),
                SelectItem::Embed(embed) => node.children.push(Self::from_embed(embed)),
            }
        }
        node
    }

    /// The node of an embed.
    fn from_embed(embed: SelectEmbed) -> Self {
        Self {
            target: embed.target,
            alias: embed.alias,
            hint: embed.hint,
            join: embed.join,
            is_spread: embed.spread,
            ..Self::from_items(embed.items)
        }
    }

    /// The name by which parameters address the node, and its output key.
    pub(super) fn client_name(&self) -> &str {
        self.alias.as_deref().unwrap_or(&self.target)
    }

    /// The node that a path names, from this one on.
    fn find_node(&mut self, path: &[String], legacy_names: bool) -> Result<&mut Self, RequestError> {
        let Some((first, rest)) = path.split_first() else {
            return Ok(self);
        };
        let found = self.children.iter().position(|child| {
            child.client_name() == first.as_str() || (legacy_names && child.target == *first)
        });
        let Some(index) = found else {
            let aliased = self.children.iter().find(|child| child.target == *first);
            return Err(RequestError::NotEmbedded {
                target: first.clone(),
                alias: aliased.and_then(|child| child.alias.clone()),
            });
        };
        let child = &mut self.children[index];
        child.legacy_name_used |= child.client_name() != first.as_str();
        child.find_node(rest, legacy_names)
    }
}
