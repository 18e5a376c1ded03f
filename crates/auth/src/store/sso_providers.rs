//! `auth.sso_providers`, `auth.saml_providers` and `auth.sso_domains`: SAML identity providers and their e-mail
//! domains.
//!
//! Source: Auth contract §2.14, §2.15.

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_postgres::types::Json;
use uuid::Uuid;

use super::{DbResult, escape_like_pattern, execute_statement, find_row, list_rows};

/// A provider as an administrator configures it.
#[derive(Debug, Clone)]
pub(crate) struct SsoProvider {
    pub(crate) id: Uuid,
    /// Id that an administrator chose, as another way to name the provider.
    pub(crate) resource_id: Option<String>,
    pub(crate) disabled: Option<bool>,
    /// The identity provider's name in SAML, read from its metadata; unique.
    pub(crate) entity_id: String,
    pub(crate) metadata_xml: String,
    /// Where the metadata was fetched from; `None` when it was uploaded.
    pub(crate) metadata_url: Option<String>,
    pub(crate) attribute_mapping: Value,
    pub(crate) name_id_format: Option<String>,
    /// E-mail domains whose users sign in with this provider.
    pub(crate) domains: Vec<String>,
}

/// A provider in the JSON that administrators get. Members that are null are left out, except `disabled`.
/// Times are RFC 3339 in UTC.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SsoProviderBody {
    pub(crate) id: Uuid,
    pub(crate) saml: SamlBody,
    pub(crate) domains: Vec<SsoDomainBody>,
    pub(crate) disabled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resource_id: Option<String>,
}

/// The SAML part of a provider.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SamlBody {
    #[serde(default)]
    pub(crate) entity_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) metadata_url: Option<String>,
    /// Left out of lists, because the document may be large.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) metadata_xml: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name_id_format: Option<String>,
    #[serde(default)]
    pub(crate) attribute_mapping: Value,
}

/// An e-mail domain of a provider.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SsoDomainBody {
    pub(crate) domain: String,
}

/// Lists the providers, oldest first, without their metadata documents: the one with this resource id, else those whose
/// resource id begins with the prefix, else all.
pub(crate) async fn list_all(
    db: &impl GenericClient,
    resource_id: &str,
    resource_id_prefix: &str,
) -> DbResult<Vec<SsoProviderBody>> {
    const SQL: &str = concat!(
        include_str!("../../sql/select_sso_provider.sql"),
        "where case when $1::text <> '' then p.resource_id = $1::text ",
        "when $2::text <> '' then p.resource_id like $2::text || '%' else true end order by p.created_at, p.id"
    );
    let prefix = escape_like_pattern(resource_id_prefix);
    let rows = list_rows(db, SQL, &[&resource_id, &prefix]).await?;
    rows.iter()
        .map(|row| {
            let Json(mut body) = row.try_get::<_, Json<SsoProviderBody>>(0)?;
            body.saml.metadata_xml = None;
            Ok(body)
        })
        .collect()
}

/// Finds a provider by its id or its resource id (in any case).
pub(crate) async fn find_body(
    db: &impl GenericClient,
    id: Option<Uuid>,
    resource_id: Option<&str>,
) -> DbResult<Option<SsoProviderBody>> {
    const SQL: &str = concat!(
        include_str!("../../sql/select_sso_provider.sql"),
        "where p.id = $1 or lower(p.resource_id) = lower($2::text)"
    );
    let row = find_row(db, SQL, &[&id, &resource_id]).await?;
    row.map(|row| Ok(row.try_get::<_, Json<_>>(0)?.0)).transpose()
}

/// Finds the id of the provider with this SAML entity id.
pub(crate) async fn find_by_entity(db: &impl GenericClient, entity_id: &str) -> DbResult<Option<Uuid>> {
    const SQL: &str = "select sso_provider_id from auth.saml_providers where entity_id = $1::text";
    find_row(db, SQL, &[&entity_id])
        .await?
        .map(|row| row.try_get(0))
        .transpose()
}

/// Finds the id of the provider of an e-mail domain (in any case).
pub(crate) async fn find_by_domain(db: &impl GenericClient, domain: &str) -> DbResult<Option<Uuid>> {
    const SQL: &str = "select sso_provider_id from auth.sso_domains where lower(domain) = lower($1::text)";
    find_row(db, SQL, &[&domain])
        .await?
        .map(|row| row.try_get(0))
        .transpose()
}

/// Inserts the provider, or replaces all columns and domains of the one with its id. Domains that stay keep their rows
/// and ids.
///
/// # Errors
/// A unique violation when another provider has the entity id, the resource id or one of the domains.
pub(crate) async fn upsert(
    db: &impl GenericClient,
    provider: &SsoProvider,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const UPSERT_PROVIDER: &str = "insert into auth.sso_providers (id, resource_id, disabled, created_at, updated_at) \
                            values ($1, $2::text, $3, $4, $4) on conflict (id) do update \
                            set resource_id = excluded.resource_id, disabled = excluded.disabled, updated_at = $4";
    execute_statement(
        db,
        UPSERT_PROVIDER,
        &[&provider.id, &provider.resource_id, &provider.disabled, &now],
    )
    .await?;
    // Only domains that were added or removed are written, so that the others keep their ids and times.
    const DELETE_DOMAINS: &str =
        "delete from auth.sso_domains where sso_provider_id = $1 and not (domain = any ($2))";
    execute_statement(db, DELETE_DOMAINS, &[&provider.id, &provider.domains]).await?;
    const INSERT_DOMAINS: &str = "insert into auth.sso_domains (id, sso_provider_id, domain, created_at, updated_at) \
                           select gen_random_uuid(), $1, domain, $3, $3 from unnest($2::text[]) domain \
                           where not exists (select from auth.sso_domains known \
                             where known.sso_provider_id = $1 and known.domain = domain.domain)";
    execute_statement(db, INSERT_DOMAINS, &[&provider.id, &provider.domains, &now]).await?;
    execute_statement(
        db,
        include_str!("../../sql/upsert_saml_provider.sql"),
        &[
            &provider.id,
            &provider.entity_id,
            &provider.metadata_xml,
            &provider.metadata_url,
            &provider.attribute_mapping,
            &provider.name_id_format,
            &now,
        ],
    )
    .await
    .map(|_| ())
}

/// Deletes a provider; its domains and metadata are deleted by their foreign keys.
pub(crate) async fn delete(db: &impl GenericClient, id: Uuid) -> DbResult<()> {
    execute_statement(db, "delete from auth.sso_providers where id = $1", &[&id])
        .await
        .map(|_| ())
}
