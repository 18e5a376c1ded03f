//! `POST /pg/extensions` and `PATCH`, `DELETE /pg/extensions/{name}`.
//!
//! Bodies: [`NewExtension`] and [`ExtensionChanges`]. Source: postgres-meta 0.99, recorded in `e2e/golden/pg/extensions.json`.

use selvedge_postgres::{quote_identifier, quote_literal};
use serde::Deserialize;

use super::kind::ObjectKind;
use super::table::drop_behavior;
use super::transaction::Change;
use crate::error::MetaError;

/// Extensions, whose ids are their names.
pub(super) struct Extensions;

/// Body of `POST /pg/extensions`.
#[derive(Deserialize)]
pub(super) struct NewExtension {
    name: String,
    schema: Option<String>,
    version: Option<String>,
    /// Whether the extensions that it requires are created, too.
    #[serde(default)]
    cascade: bool,
}

/// Body of `PATCH /pg/extensions/{name}`.
#[derive(Deserialize)]
pub(super) struct ExtensionChanges {
    /// Whether the extension is updated: to `version`, or to the default version.
    #[serde(default)]
    update: bool,
    version: Option<String>,
    schema: Option<String>,
}

/// The member of an extension in `GET /pg/extensions` that its statements need.
#[derive(Deserialize)]
pub(super) struct Extension {
    name: String,
}

impl ObjectKind for Extensions {
    const PATH: &'static str = "/extensions";
    type New = NewExtension;
    type Changes = ExtensionChanges;
    type Object = Extension;

    async fn create(change: &Change<'_>, new: NewExtension) -> Result<String, MetaError> {
        let mut statement = format!("create extension {}", quote_identifier(&new.name));
        if let Some(schema) = &new.schema {
            statement.push_str(&format!(" schema {}", quote_identifier(schema)));
        }
        if let Some(version) = &new.version {
            statement.push_str(&format!(" version {}", quote_literal(version)));
        }
        if new.cascade {
            statement.push_str(" cascade");
        }
        change.run(&statement).await?;
        // The id of an extension is its name.
        Ok(new.name)
    }

    async fn alter(
        change: &Change<'_>,
        extension: Extension,
        changes: ExtensionChanges,
    ) -> Result<String, MetaError> {
        let name = quote_identifier(&extension.name);
        // Compat: postgres-meta ignores `version` without `update`.
        if changes.update {
            let version = changes.version.iter();
            let version: String = version
                .map(|version| format!(" to {}", quote_literal(version)))
                .collect();
            change
                .run(&format!("alter extension {name} update{version}"))
                .await?;
        }
        if let Some(schema) = &changes.schema {
            let schema = quote_identifier(schema);
            change
                .run(&format!("alter extension {name} set schema {schema}"))
                .await?;
        }
        Ok(extension.name)
    }

    fn drop_statement(extension: &Extension, cascades: bool) -> String {
        let name = quote_identifier(&extension.name);
        format!("drop extension {name} {}", drop_behavior(cascades))
    }
}
