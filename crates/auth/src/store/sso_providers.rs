//! `auth.sso_providers` with their SAML part and their domains.

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use serde_json::Value;
use uuid::Uuid;

use super::{DbResult, execute, find, list};

/// A provider as administrators set it up.
#[derive(Debug, Clone)]
pub(crate) struct SsoProvider {
    pub(crate) id: Uuid,
    pub(crate) resource_id: Option<String>,
    pub(crate) disabled: Option<bool>,
    pub(crate) entity_id: String,
    pub(crate) metadata_xml: String,
    pub(crate) metadata_url: Option<String>,
    pub(crate) attribute_mapping: Value,
    pub(crate) name_id_format: Option<String>,
    pub(crate) domains: Vec<String>,
}

/// All providers as clients see them, oldest first; without their documents.
pub(crate) async fn list_all(db: &impl GenericClient) -> DbResult<Vec<Value>> {
    const SQL: &str = concat!(
        include_str!("../../sql/select_sso_provider.sql"),
        "order by p.created_at, p.id"
    );
    let rows = list(db, SQL, &[]).await?;
    rows.iter()
        .map(|row| {
            let mut body: Value = row.try_get(0)?;
            if let Some(saml) = body["saml"].as_object_mut() {
                saml.shift_remove("metadata_xml");
            }
            Ok(body)
        })
        .collect()
}

/// One provider as clients see it, by its id or its resource id.
pub(crate) async fn find_body(
    db: &impl GenericClient,
    id: Option<Uuid>,
    resource_id: Option<&str>,
) -> DbResult<Option<Value>> {
    const SQL: &str = concat!(
        include_str!("../../sql/select_sso_provider.sql"),
        "where p.id = $1 or lower(p.resource_id) = lower($2::text)"
    );
    find(db, SQL, &[&id, &resource_id])
        .await?
        .map(|row| row.try_get(0))
        .transpose()
}

/// Which provider has this entity id.
pub(crate) async fn find_by_entity(db: &impl GenericClient, entity_id: &str) -> DbResult<Option<Uuid>> {
    const SQL: &str = "select sso_provider_id from auth.saml_providers where entity_id = $1::text";
    find(db, SQL, &[&entity_id])
        .await?
        .map(|row| row.try_get(0))
        .transpose()
}

/// Which provider has this domain.
pub(crate) async fn find_by_domain(db: &impl GenericClient, domain: &str) -> DbResult<Option<Uuid>> {
    const SQL: &str = "select sso_provider_id from auth.sso_domains where lower(domain) = lower($1::text)";
    find(db, SQL, &[&domain])
        .await?
        .map(|row| row.try_get(0))
        .transpose()
}

/// Inserts the provider, or replaces everything of the one with its id.
pub(crate) async fn put(db: &impl GenericClient, provider: &SsoProvider, now: DateTime<Utc>) -> DbResult<()> {
    const PROVIDER: &str = "insert into auth.sso_providers (id, resource_id, disabled, created_at, updated_at) \
                            values ($1, $2::text, $3, $4, $4) on conflict (id) do update \
                            set resource_id = excluded.resource_id, disabled = excluded.disabled, updated_at = $4";
    execute(
        db,
        PROVIDER,
        &[&provider.id, &provider.resource_id, &provider.disabled, &now],
    )
    .await?;
    const GONE: &str = "delete from auth.sso_domains where sso_provider_id = $1 and not (domain = any ($2))";
    execute(db, GONE, &[&provider.id, &provider.domains]).await?;
    const DOMAINS: &str = "insert into auth.sso_domains (id, sso_provider_id, domain, created_at, updated_at) \
                           select gen_random_uuid(), $1, domain, $3, $3 from unnest($2::text[]) domain \
                           where not exists (select from auth.sso_domains known \
                             where known.sso_provider_id = $1 and known.domain = domain.domain)";
    execute(db, DOMAINS, &[&provider.id, &provider.domains, &now]).await?;
    execute(
        db,
        include_str!("../../sql/put_saml_provider.sql"),
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

pub(crate) async fn delete(db: &impl GenericClient, id: Uuid) -> DbResult<()> {
    execute(db, "delete from auth.sso_providers where id = $1", &[&id])
        .await
        .map(|_| ())
}
