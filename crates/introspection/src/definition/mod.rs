//! The SQL that makes an object again, and all else that a screen shows of one object.

mod table;

use serde::Serialize;

use crate::{CatalogReader, Dependant, IntrospectionError, ObjectKind};

/// The definition of one object, and the objects that need it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ObjectDescription {
    /// Statements that make the object again in a database without it.
    pub definition: String,
    /// The objects that depend on it directly.
    pub dependants: Vec<Dependant>,
}

impl CatalogReader<'_> {
    /// Describes the object of `kind` with this oid.
    ///
    /// # Errors
    /// [`IntrospectionError::NotFound`] when there is none, or PostgreSQL's error.
    pub async fn describe_object(
        &self,
        kind: ObjectKind,
        oid: &str,
    ) -> Result<ObjectDescription, IntrospectionError> {
        // An oid from an address may be any text; PostgreSQL's own error for it would be a fault of the server.
        if kind != ObjectKind::Grants && oid.parse::<u32>().is_err() {
            return Err(IntrospectionError::NotFound);
        }
        let definition = match kind {
            ObjectKind::Tables => self.define_table(oid).await?,
            ObjectKind::Grants => self.define_grant(oid).await?,
            simple => self.define_by_query(simple, oid).await?,
        };
        Ok(ObjectDescription {
            definition: definition.ok_or(IntrospectionError::NotFound)?,
            dependants: self.list_dependants(kind, oid).await?,
        })
    }

    /// Returns the definition of an object whose SQL one query can write.
    pub(crate) async fn define_by_query(
        &self,
        kind: ObjectKind,
        oid: &str,
    ) -> Result<Option<String>, IntrospectionError> {
        let sql = match kind {
            ObjectKind::Constraints => include_str!("sql/constraint.sql"),
            ObjectKind::Indexes => include_str!("sql/index.sql"),
            ObjectKind::Triggers => include_str!("sql/trigger.sql"),
            ObjectKind::Functions => include_str!("sql/function.sql"),
            ObjectKind::Types => include_str!("sql/type.sql"),
            ObjectKind::Views => include_str!("sql/view.sql"),
            ObjectKind::Extensions => include_str!("sql/extension.sql"),
            ObjectKind::Publications => include_str!("sql/publication.sql"),
            ObjectKind::Roles => include_str!("sql/role.sql"),
            ObjectKind::Policies => include_str!("sql/policy.sql"),
            ObjectKind::Tables | ObjectKind::Grants => return Ok(None),
        };
        let row = self.transaction.query_opt(sql, &[&oid]).await?;
        Ok(row.and_then(|row| row.get(0)))
    }

    /// A grant is addressed by the kind and oid of its object and the oid of the grantee.
    async fn define_grant(&self, address: &str) -> Result<Option<String>, IntrospectionError> {
        // The address may come from a list of grants, or be typed by a user.
        let parts: Vec<&str> = address.split('.').collect();
        let [kind, object, grantee] = parts[..] else {
            return Ok(None);
        };
        if object.parse::<u32>().is_err() || grantee.parse::<u32>().is_err() {
            return Ok(None);
        }
        let row = self
            .transaction
            .query_opt(include_str!("sql/grant.sql"), &[&kind, &object, &grantee])
            .await?;
        Ok(row.and_then(|row| row.get(0)))
    }
}
