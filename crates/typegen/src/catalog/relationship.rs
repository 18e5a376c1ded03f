//! Relationships: foreign keys of tables, and those of views that select all columns of a foreign key.

/// A many-to-one or one-to-one relationship from `relation` to `referenced_relation`.
#[derive(Debug, Clone)]
pub(crate) struct Relationship {
    pub(crate) foreign_key: String,
    pub(super) schema: String,
    pub(super) relation: String,
    pub(crate) columns: Vec<String>,
    pub(crate) is_one_to_one: bool,
    pub(super) referenced_schema: String,
    pub(crate) referenced_relation: String,
    pub(crate) referenced_columns: Vec<String>,
}

/// A view that selects all columns of one end of a foreign key.
#[derive(Debug)]
pub(super) struct ViewKey {
    pub(super) view_schema: String,
    pub(super) view_name: String,
    /// True when the view selects the referenced columns, false when it selects the referencing ones.
    pub(super) is_referenced: bool,
    /// The view's columns that stand for the key's columns, one list per combination if the view selects a column twice.
    pub(super) column_choices: Vec<Vec<String>>,
}

impl ViewKey {
    /// Returns the relationship with the view in the place of the table that has the foreign key.
    fn replace_source(&self, relationship: &Relationship) -> Vec<Relationship> {
        let replace = |columns| Relationship {
            schema: self.view_schema.clone(),
            relation: self.view_name.clone(),
            columns,
            ..relationship.clone()
        };
        self.column_choices.iter().cloned().map(replace).collect()
    }

    /// Returns the relationship with the view in the place of the table that the foreign key refers to.
    fn replace_target(&self, relationship: &Relationship) -> Vec<Relationship> {
        let replace = |referenced_columns| Relationship {
            referenced_schema: self.view_schema.clone(),
            referenced_relation: self.view_name.clone(),
            referenced_columns,
            ..relationship.clone()
        };
        self.column_choices.iter().cloned().map(replace).collect()
    }
}

/// Returns the relationships of tables and those derived from them for views. Each relationship comes with the views that
/// select one of its ends.
pub(super) fn add_views(tables: Vec<(Relationship, Vec<ViewKey>)>) -> Vec<Relationship> {
    let mut added = Vec::new();
    for (relationship, views) in &tables {
        let from_views: Vec<Relationship> = views
            .iter()
            .filter(|view| !view.is_referenced)
            .flat_map(|view| view.replace_source(relationship))
            .collect();
        let to_views = |from: &Relationship| -> Vec<Relationship> {
            views
                .iter()
                .filter(|view| view.is_referenced)
                .flat_map(|view| view.replace_target(from))
                .collect()
        };
        // In this order: table to view, view to view, view to table.
        added.extend(to_views(relationship));
        added.extend(from_views.iter().flat_map(to_views));
        added.extend(from_views);
    }
    let of_tables = tables.into_iter().map(|(relationship, _)| relationship);
    of_tables.chain(added).collect()
}
