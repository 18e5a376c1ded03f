//! `/pg/extensions`: POST, PATCH, DELETE.

use selvedge_postgres::{quote_identifier, quote_literal};
use serde::Deserialize;

use super::kind::ObjectKind;
use super::table::drop_behavior;
use super::transaction::Change;
use crate::error::MetaError;

pub(super) struct Extensions;

#[derive(Deserialize)]
pub(super) struct NewExtension {
    name: String,
    schema: Option<String>,
    version: Option<String>,
    #[serde(default)]
    cascade: bool,
}

#[derive(Deserialize)]
pub(super) struct ExtensionChanges {
    #[serde(default)]
    update: bool,
    version: Option<String>,
    schema: Option<String>,
}

/// A listed extension, installed or not.
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
        // Extensions are found by their names.
        Ok(new.name)
    }

    async fn alter(
        change: &Change<'_>,
        extension: Extension,
        changes: ExtensionChanges,
    ) -> Result<String, MetaError> {
        let name = quote_identifier(&extension.name);
        // A version counts only along with `update`, as in the original.
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
