//! Reading the catalog: a few queries in one read-only transaction.
//!
//! The search path is empty, so that PostgreSQL writes the names of types qualified. The queries are not prepared by
//! name: behind a transaction pooler, a name could be taken by another client on the same connection.

use std::collections::HashMap;
use std::sync::Arc;

use selvedge_postgres::{Isolation, ViewColumns, trace_views};
use tokio_postgres::types::{Json, ToSql, Type};
use tokio_postgres::{Client, Error, IsolationLevel, Row, Transaction};

use super::derive_relationships::{Constraint, ConstraintKind, KeyRelation, Keys};
use super::function::{Function, Parameter, ReturnType, Volatility};
use super::relation::{Column, Columns, Distribution, Relation};
use super::relationship::{Cardinality, Relationship};
use super::snapshot::{Catalog, HandlerTarget, Names};
use crate::config::RestConfig;
use crate::identifier::QualifiedName;
use crate::request::media::MediaType;

/// Which schemas are read into a catalog.
pub(crate) struct CatalogScope {
    /// Schemas whose relations and functions have endpoints.
    pub(crate) exposed: Vec<String>,
    /// Further schemas whose views are read, because views of exposed schemas may select from them.
    pub(crate) traced: Vec<String>,
    /// Prefixes of schemas that are not read, because each of them has its own catalog.
    pub(crate) left_out: Vec<String>,
}

impl CatalogScope {
    /// The scope of the schemas that are exposed by name.
    pub(crate) fn of_named_schemas(config: &RestConfig) -> Self {
        Self {
            exposed: config.named_schemas(),
            traced: config.extra_search_path.clone(),
            left_out: config.schema_prefixes(),
        }
    }

    /// The scope of one schema that a pattern exposes.
    pub(crate) fn of_schema(schema: &str, config: &RestConfig) -> Self {
        let mut traced = config.named_schemas();
        traced.extend(config.extra_search_path.iter().cloned());
        Self {
            exposed: vec![schema.to_owned()],
            traced,
            left_out: config.schema_prefixes(),
        }
    }

    /// Returns the exposed schemas and those whose views are traced to their tables.
    fn list_schemas(&self) -> Vec<String> {
        self.exposed.iter().chain(&self.traced).cloned().collect()
    }
}

/// Lists the schemas that patterns expose.
///
/// # Errors
/// PostgreSQL's error when a query fails.
pub(crate) async fn list_schemas_by_pattern(
    client: &Client,
    config: &RestConfig,
) -> Result<Vec<String>, Error> {
    let prefixes = config.schema_prefixes();
    if prefixes.is_empty() {
        return Ok(Vec::new());
    }
    let named = config.named_schemas();
    let rows = client
        .query_typed(
            include_str!("sql/schemas_by_prefix.sql"),
            &[(&prefixes, Type::TEXT_ARRAY)],
        )
        .await?;
    let names = rows.into_iter().map(|row| row.get(0));
    Ok(names
        .filter(|name: &String| config.exposes(name) && !named.contains(name))
        .collect())
}

impl Catalog {
    /// Reads the catalog as the connection's role sees it.
    ///
    /// # Errors
    /// PostgreSQL's own, and those of the connection.
    pub(crate) async fn load(
        client: &mut Client,
        scope: &CatalogScope,
        hoisted_settings: &[String],
    ) -> Result<Self, Error> {
        let transaction = begin_reading(client).await?;
        let keys = load_keys(&transaction, scope).await?;
        let citus = load_citus_tables(&transaction).await?;
        let catalog = Self {
            has_citus: citus.is_some(),
            relations: load_relations(&transaction, scope, &keys, citus.unwrap_or_default()).await?,
            relationships: keys
                .relationships(&scope.exposed)
                .into_iter()
                .map(|(key, list)| (key, list.into_iter().map(Arc::new).collect()))
                .collect(),
            functions: load_functions(&transaction, scope, hoisted_settings).await?,
            representations: load_representations(&transaction).await?,
            handlers: load_handlers(&transaction, scope).await?,
        };
        transaction.commit().await?;
        Ok(catalog)
    }
}

/// Begins a transaction in which all queries see the same catalog.
pub(super) async fn begin_reading(client: &mut Client) -> Result<Transaction<'_>, Error> {
    let transaction = client
        .build_transaction()
        // One snapshot for all queries: no relation can appear between them.
        .isolation_level(IsolationLevel::RepeatableRead)
        .read_only(true)
        .start()
        .await?;
    // With a search path, types in it would be written unqualified, and mean something else to other roles.
    transaction.batch_execute("set local search_path to ''").await?;
    Ok(transaction)
}

/// Everything that relationships are derived from.
async fn load_keys(transaction: &Transaction<'_>, scope: &CatalogScope) -> Result<Keys, Error> {
    let seen = scope.list_schemas();
    let schemas: [(&(dyn ToSql + Sync), Type); 2] =
        [(&seen, Type::TEXT_ARRAY), (&scope.left_out, Type::TEXT_ARRAY)];
    let relations: HashMap<u32, KeyRelation> = transaction
        .query_typed(include_str!("sql/attributes.sql"), &schemas)
        .await?
        .into_iter()
        .map(|row| {
            let numbers: Vec<i16> = row.get("numbers");
            let names: Vec<String> = row.get("names");
            let relation = KeyRelation {
                name: read_qualified_name(&row, "schema", "name"),
                is_view: row.get("is_view"),
                columns: numbers.into_iter().zip(names).collect(),
            };
            (row.get("oid"), relation)
        })
        .collect();
    let constraints = transaction
        .query_typed(include_str!("sql/constraints.sql"), &schemas)
        .await?
        .iter()
        .map(read_constraint)
        .collect();
    let views = load_views(transaction, scope, &relations).await?;
    let computed = transaction
        .query_typed(include_str!("sql/computed_relationships.sql"), &[])
        .await?
        .iter()
        .map(computed_relationship)
        .collect();
    Ok(Keys {
        relations,
        constraints,
        views,
        computed,
    })
}

/// Views of the exposed schemas with the origins of their columns. Views of the extra search path are traced through: an
/// exposed view may select from them.
async fn load_views(
    transaction: &Transaction<'_>,
    scope: &CatalogScope,
    relations: &HashMap<u32, KeyRelation>,
) -> Result<Vec<(u32, ViewColumns)>, Error> {
    let schemas = scope.list_schemas();
    let rules: HashMap<u32, String> = transaction
        .query_typed(include_str!("sql/views.sql"), &[(&schemas, Type::TEXT_ARRAY)])
        .await?
        .into_iter()
        .map(|row| (row.get("oid"), row.get("rule")))
        .collect();
    let mut views: Vec<_> = trace_views(&rules)
        .into_iter()
        .filter(|(view, _)| {
            relations
                .get(view)
                .is_some_and(|relation| scope.exposed.contains(&relation.name.schema))
        })
        .collect();
    // The order of a hash map changes from load to load; relationships should be found in the same order each time.
    views.sort_by_key(|(view, _)| *view);
    Ok(views)
}

/// A name from two columns of a row.
fn read_qualified_name(row: &Row, schema: &str, name: &str) -> QualifiedName {
    QualifiedName {
        schema: row.get(schema),
        name: row.get(name),
    }
}

/// A row of `constraints.sql`.
fn read_constraint(row: &Row) -> Constraint {
    let kind: String = row.get("kind");
    Constraint {
        name: row.get("name"),
        kind: match kind.as_str() {
            "p" => ConstraintKind::Primary,
            "u" => ConstraintKind::Unique,
            _ => ConstraintKind::Foreign {
                relation: row.get::<_, Option<u32>>("foreign_relation").unwrap_or_default(),
                columns: row.get("foreign_columns"),
            },
        },
        relation: row.get("relation"),
        columns: row.get("columns"),
    }
}

/// A row of `computed_relationships.sql`.
fn computed_relationship(row: &Row) -> Relationship {
    let origin = read_qualified_name(row, "origin_schema", "origin_name");
    let target = read_qualified_name(row, "target_schema", "target_name");
    Relationship {
        is_self: origin == target,
        origin,
        target,
        cardinality: Cardinality::Computed {
            function: read_qualified_name(row, "schema", "name"),
            single: row.get("single"),
        },
        origin_is_view: false,
        target_is_view: false,
    }
}

/// Relations with their columns and primary keys.
async fn load_relations(
    transaction: &Transaction<'_>,
    scope: &CatalogScope,
    keys: &Keys,
    mut citus: CitusTables,
) -> Result<Names<QualifiedName, Arc<Relation>>, Error> {
    let mut primary_keys = keys.primary_keys();
    let relations = read_relations(transaction, scope, None, |oid, relation| {
        relation.primary_key = primary_keys.remove(&relation.name).unwrap_or_default();
        relation.distribution = citus.distributions.get(&oid).copied().unwrap_or_default();
        relation.computed_columns = citus.computed_columns.remove(&oid).unwrap_or_default();
    })
    .await?;
    Ok(relations
        .into_iter()
        .map(|relation| (relation.name.clone(), Arc::new(relation)))
        .collect())
}

/// Reads the exposed relations, or those of them that have one of these oids. `complete` adds what is not of the relations themselves.
pub(super) async fn read_relations(
    transaction: &Transaction<'_>,
    scope: &CatalogScope,
    only: Option<&[u32]>,
    mut complete: impl FnMut(u32, &mut Relation),
) -> Result<Vec<Relation>, Error> {
    let mut columns = load_columns(transaction, scope, only).await?;
    let rows = transaction
        .query_typed(
            include_str!("sql/relations.sql"),
            &[(&scope.exposed, Type::TEXT_ARRAY), (&only, Type::OID_ARRAY)],
        )
        .await?;
    let read = |row: Row| {
        let oid: u32 = row.get("oid");
        let mut relation = Relation {
            name: read_qualified_name(&row, "schema", "name"),
            comment: row.get("comment"),
            is_view: row.get("is_view"),
            insertable: row.get("insertable"),
            updatable: row.get("updatable"),
            deletable: row.get("deletable"),
            inserts_plainly: row.get("inserts_plainly"),
            primary_key: Vec::new(),
            columns: columns.remove(&oid).unwrap_or_default(),
            distribution: Distribution::default(),
            computed_columns: HashMap::new(),
        };
        complete(oid, &mut relation);
        relation
    };
    Ok(rows.into_iter().map(read).collect())
}

/// The columns of the exposed relations, or of those with one of these oids, by the relations' oids.
async fn load_columns(
    transaction: &Transaction<'_>,
    scope: &CatalogScope,
    only: Option<&[u32]>,
) -> Result<HashMap<u32, Columns>, Error> {
    let rows = transaction
        .query_typed(
            include_str!("sql/columns.sql"),
            &[(&scope.exposed, Type::TEXT_ARRAY), (&only, Type::OID_ARRAY)],
        )
        .await?;
    let mut columns: HashMap<u32, Columns> = HashMap::new();
    for row in rows {
        let name: String = row.get("name");
        let column = Column {
            name: name.clone(),
            comment: row.get("comment"),
            nullable: row.get("nullable"),
            data_type: row.get("data_type"),
            declared_type: row.get("declared_type"),
            base_type: row.get("base_type"),
            base_type_oid: row.get("base_type_oid"),
            max_length: row.get("max_length"),
            default: row.get("default_value"),
            enum_labels: row.get("labels"),
        };
        columns
            .entry(row.get("relation"))
            .or_default()
            .insert(name, column);
    }
    Ok(columns)
}

/// What the catalog of Citus says about tables, by their oids.
#[derive(Default)]
struct CitusTables {
    distributions: HashMap<u32, Distribution>,
    computed_columns: HashMap<u32, HashMap<String, QualifiedName>>,
}

/// Reads where Citus stores the rows of tables, and their computed columns; `None` without Citus.
async fn load_citus_tables(transaction: &Transaction<'_>) -> Result<Option<CitusTables>, Error> {
    let citus = "select to_regclass('pg_catalog.pg_dist_partition') is not null \
                 from pg_catalog.pg_extension where extname = 'citus'";
    let found = transaction.query_typed(citus, &[]).await?;
    let Some(has_tables) = found.first().map(|row| row.get::<_, bool>(0)) else {
        return Ok(None);
    };
    let mut tables = CitusTables::default();
    // The extension is listed but its tables are missing: Citus is being installed, and no table is distributed yet.
    if !has_tables {
        return Ok(Some(tables));
    }
    let rows = transaction
        .query_typed(include_str!("sql/distribution.sql"), &[])
        .await?;
    let read = |row: Row| {
        let distribution = match row.get::<_, &str>("distribution") {
            "sharded" => Distribution::Sharded,
            "reference" => Distribution::Reference,
            _ => Distribution::SingleNode,
        };
        (row.get::<_, u32>("oid"), distribution)
    };
    tables.distributions = rows.into_iter().map(read).collect();
    let rows = transaction
        .query_typed(include_str!("sql/computed_columns.sql"), &[])
        .await?;
    for row in rows {
        let columns = tables.computed_columns.entry(row.get("relation")).or_default();
        columns.insert(row.get("name"), read_qualified_name(&row, "schema", "name"));
    }
    Ok(Some(tables))
}

/// Functions by name; overloads with fewer parameters first.
async fn load_functions(
    transaction: &Transaction<'_>,
    scope: &CatalogScope,
    hoisted_settings: &[String],
) -> Result<Names<QualifiedName, Vec<Arc<Function>>>, Error> {
    let mut functions: Names<QualifiedName, Vec<Arc<Function>>> = Names::default();
    let rows = transaction
        .query_typed(
            include_str!("sql/functions.sql"),
            &[
                (&scope.exposed, Type::TEXT_ARRAY),
                (&hoisted_settings, Type::TEXT_ARRAY),
            ],
        )
        .await?;
    for row in rows {
        let name = read_qualified_name(&row, "schema", "name");
        functions
            .entry(name.clone())
            .or_default()
            .push(Arc::new(read_function(name, &row)));
    }
    for overloads in functions.values_mut() {
        // PGRST203 lists overloads in this order.
        overloads.sort_by(|a, b| {
            a.parameters
                .len()
                .cmp(&b.parameters.len())
                .then_with(|| a.parameters.cmp(&b.parameters))
        });
    }
    Ok(functions)
}

/// A row of `functions.sql`.
fn read_function(name: QualifiedName, row: &Row) -> Function {
    let Json(parameters): Json<Vec<Parameter>> = row.get("parameters");
    let Json(settings): Json<Vec<(String, String)>> = row.get("settings");
    let volatility: String = row.get("volatility");
    let isolation: Option<String> = row.get("isolation");
    Function {
        oid: row.get("oid"),
        name,
        comment: row.get("comment"),
        parameters,
        returns: ReturnType {
            name: read_qualified_name(row, "return_schema", "return_name"),
            is_set: row.get("returns_set"),
            is_composite: row.get("returns_composite"),
            only_column: row.get("only_column"),
        },
        volatility: match volatility.as_str() {
            "i" => Volatility::Immutable,
            "s" => Volatility::Stable,
            _ => Volatility::Volatile,
        },
        isolation: isolation.as_deref().and_then(|level| match level {
            "serializable" => Some(Isolation::Serializable),
            "repeatable read" => Some(Isolation::RepeatableRead),
            "read committed" | "read uncommitted" => Some(Isolation::ReadCommitted),
            _ => None,
        }),
        // The isolation level belongs into BEGIN: as a setting inside of the transaction it would come too late.
        settings: settings
            .into_iter()
            .filter(|(name, _)| name != "default_transaction_isolation")
            .collect(),
    }
}

/// Functions behind the casts between domains and json or text.
async fn load_representations(
    transaction: &Transaction<'_>,
) -> Result<HashMap<(String, String), String>, Error> {
    let rows = transaction
        .query_typed(include_str!("sql/representations.sql"), &[])
        .await?;
    Ok(rows
        .into_iter()
        .map(|row| ((row.get("source"), row.get("target")), row.get("function")))
        .collect())
}

/// Custom media type handlers.
async fn load_handlers(
    transaction: &Transaction<'_>,
    scope: &CatalogScope,
) -> Result<HashMap<(HandlerTarget, MediaType), QualifiedName>, Error> {
    let rows = transaction
        .query_typed(
            include_str!("sql/media_handlers.sql"),
            &[(&scope.exposed, Type::TEXT_ARRAY)],
        )
        .await?;
    Ok(rows
        .into_iter()
        .map(|row| {
            let target = read_qualified_name(&row, "target_schema", "target_name");
            // An aggregate over `anyelement` renders the rows of every relation.
            let target = if target.schema == "pg_catalog" && target.name == "anyelement" {
                HandlerTarget::AnyElement
            } else {
                HandlerTarget::Object(target)
            };
            let media: String = row.get("media_type");
            (
                (target, MediaType::parse(&media)),
                read_qualified_name(&row, "handler_schema", "handler_name"),
            )
        })
        .collect())
}
