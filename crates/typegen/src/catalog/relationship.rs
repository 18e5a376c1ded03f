//! Relationships of tables by foreign keys, and of views that show the columns of such a key.

/// A relationship to one row of `referenced_relation`.
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

/// A view that shows all columns of one end of a foreign key.
#[derive(Debug)]
pub(super) struct ViewKey {
    pub(super) table_schema: String,
    pub(super) table_name: String,
    pub(super) view_schema: String,
    pub(super) view_name: String,
    pub(super) foreign_key: String,
    /// Whether it shows the columns that the key refers to, and not those of the key itself.
    pub(super) is_referenced: bool,
    /// For each column of the key, the view's columns that show it.
    pub(super) view_columns: Vec<Vec<String>>,
}

impl ViewKey {
    /// Every choice of view columns for the columns of the key: a view may show a column twice.
    fn column_choices(&self) -> Vec<Vec<String>> {
        self.view_columns.iter().fold(vec![Vec::new()], |choices, names| {
            choices
                .iter()
                .flat_map(|chosen| {
                    names
                        .iter()
                        .map(|name| chosen.iter().chain([name]).cloned().collect())
                })
                .collect()
        })
    }

    /// Puts the view in the place of the table that has the foreign key.
    fn replace_source(&self, relationship: &Relationship) -> Vec<Relationship> {
        let replace = |columns| Relationship {
            schema: self.view_schema.clone(),
            relation: self.view_name.clone(),
            columns,
            ..relationship.clone()
        };
        self.column_choices().into_iter().map(replace).collect()
    }

    /// Puts the view in the place of the table that the foreign key refers to.
    fn replace_target(&self, relationship: &Relationship) -> Vec<Relationship> {
        let replace = |referenced_columns| Relationship {
            referenced_schema: self.view_schema.clone(),
            referenced_relation: self.view_name.clone(),
            referenced_columns,
            ..relationship.clone()
        };
        self.column_choices().into_iter().map(replace).collect()
    }
}

/// Adds the relationships of views to those of tables.
pub(super) fn add_views(tables: Vec<Relationship>, keys: &[ViewKey]) -> Vec<Relationship> {
    let mut added = Vec::new();
    for relationship in &tables {
        let sources: Vec<&ViewKey> = keys
            .iter()
            .filter(|key| {
                !key.is_referenced
                    && key.foreign_key == relationship.foreign_key
                    && key.table_schema == relationship.schema
                    && key.table_name == relationship.relation
            })
            .collect();
        let targets: Vec<&ViewKey> = keys
            .iter()
            .filter(|key| {
                key.is_referenced
                    && key.foreign_key == relationship.foreign_key
                    && key.table_schema == relationship.referenced_schema
                    && key.table_name == relationship.referenced_relation
            })
            .collect();
        let from_views: Vec<Relationship> = sources
            .iter()
            .flat_map(|source| source.replace_source(relationship))
            .collect();
        let to_views = |from: &Relationship| -> Vec<Relationship> {
            targets
                .iter()
                .flat_map(|target| target.replace_target(from))
                .collect()
        };
        // From the table to views of the other table, from views to views, and from views to the other table.
        added.extend(to_views(relationship));
        added.extend(from_views.iter().flat_map(to_views));
        added.extend(from_views);
    }
    tables.into_iter().chain(added).collect()
}
