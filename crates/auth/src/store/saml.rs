//! `auth.saml_relay_states` with their flows, the SAML side of `auth.saml_providers`, and the assertions that were used.
//!
//! Source: SAML contract §3, §4.

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio_postgres::Row;
use uuid::Uuid;

use super::{DbResult, execute_statement, find_row, run_statement};
use crate::crypto::pkce::CodeChallenge;

/// A SAML provider as sign-in needs it.
#[derive(Debug, Clone)]
pub(crate) struct SamlProvider {
    pub(crate) id: Uuid,
    pub(crate) is_disabled: bool,
    pub(crate) entity_id: String,
    pub(crate) metadata_xml: String,
    /// Where the metadata was fetched from; `None` when it was uploaded.
    pub(crate) metadata_url: Option<String>,
    pub(crate) attribute_mapping: Value,
    pub(crate) name_id_format: Option<String>,
    /// When the metadata was stored.
    pub(crate) updated_at: DateTime<Utc>,
}

impl SamlProvider {
    fn from_row(row: &Row) -> DbResult<Self> {
        Ok(Self {
            id: row.try_get("id")?,
            is_disabled: row.try_get("is_disabled")?,
            entity_id: row.try_get("entity_id")?,
            metadata_xml: row.try_get("metadata_xml")?,
            metadata_url: row.try_get("metadata_url")?,
            attribute_mapping: row.try_get("attribute_mapping")?,
            name_id_format: row.try_get("name_id_format")?,
            updated_at: row.try_get("updated_at")?,
        })
    }
}

/// What identifies a provider in a lookup.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ProviderKey<'a> {
    Id(Uuid),
    /// An e-mail domain, in any case.
    Domain(&'a str),
    EntityId(&'a str),
}

/// Finds a provider.
pub(crate) async fn find_provider(
    db: &impl GenericClient,
    key: ProviderKey<'_>,
) -> DbResult<Option<SamlProvider>> {
    const SQL: &str = "select p.id, coalesce(p.disabled, false) as is_disabled, s.entity_id, s.metadata_xml, s.metadata_url, \
                       coalesce(s.attribute_mapping, '{}') as attribute_mapping, s.name_id_format, \
                       coalesce(s.updated_at, 'epoch') as updated_at \
                       from auth.sso_providers p join auth.saml_providers s on s.sso_provider_id = p.id \
                       where p.id = $1 or s.entity_id = $3::text \
                       or p.id = (select sso_provider_id from auth.sso_domains where lower(domain) = lower($2::text))";
    let (id, domain, entity_id) = match key {
        ProviderKey::Id(id) => (Some(id), None, None),
        ProviderKey::Domain(domain) => (None, Some(domain), None),
        ProviderKey::EntityId(entity_id) => (None, None, Some(entity_id)),
    };
    find_row(db, SQL, &[&id, &domain, &entity_id])
        .await?
        .as_ref()
        .map(SamlProvider::from_row)
        .transpose()
}

/// Stores metadata that were fetched anew.
pub(crate) async fn set_metadata(
    db: &impl GenericClient,
    provider: Uuid,
    metadata_xml: &str,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str =
        "update auth.saml_providers set metadata_xml = $2::text, updated_at = $3 where sso_provider_id = $1";
    run_statement(db, SQL, &[&provider, &metadata_xml, &now]).await
}

/// The rows of a new sign-in.
#[derive(Debug)]
pub(crate) struct NewSamlFlow<'a> {
    pub(crate) relay_state: Uuid,
    pub(crate) provider: Uuid,
    pub(crate) request_id: &'a str,
    /// Where the application wants the browser to be sent; it is compared with the allow list at the end only.
    pub(crate) redirect_to: &'a str,
    pub(crate) challenge: Option<&'a CodeChallenge>,
}

/// Stores a new sign-in.
pub(crate) async fn insert_flow(
    db: &impl GenericClient,
    flow: &NewSamlFlow<'_>,
    now: DateTime<Utc>,
) -> DbResult<()> {
    let method = flow.challenge.map(|challenge| challenge.method.as_str());
    let challenge = flow.challenge.map(|challenge| challenge.challenge.as_str());
    let params: super::Params<'_> = &[
        &Uuid::new_v4(),
        &method,
        &challenge,
        &flow.redirect_to,
        &flow.relay_state,
        &flow.provider,
        &flow.request_id,
        &now,
    ];
    run_statement(db, include_str!("../../sql/insert_saml_flow.sql"), params).await
}

/// A sign-in that waits for the identity provider's response.
#[derive(Debug, Clone)]
pub(crate) struct RelayState {
    pub(crate) id: Uuid,
    pub(crate) provider: Uuid,
    pub(crate) request_id: String,
    /// Empty when the application named none.
    pub(crate) redirect_to: String,
    pub(crate) created_at: DateTime<Utc>,
    /// The flow, if it is one of PKCE.
    pub(crate) pkce_flow: Option<Uuid>,
}

/// Finds a sign-in by its relay state.
pub(crate) async fn find_relay_state(db: &impl GenericClient, id: Uuid) -> DbResult<Option<RelayState>> {
    const SQL: &str = "select r.id, r.sso_provider_id, r.request_id, coalesce(r.redirect_to, '') as redirect_to, \
                       coalesce(r.created_at, 'epoch') as created_at, f.id as pkce_flow \
                       from auth.saml_relay_states r left join auth.flow_state f \
                       on f.id = r.flow_state_id and f.code_challenge is not null where r.id = $1";
    let Some(row) = find_row(db, SQL, &[&id]).await? else {
        return Ok(None);
    };
    Ok(Some(RelayState {
        id: row.try_get("id")?,
        provider: row.try_get("sso_provider_id")?,
        request_id: row.try_get("request_id")?,
        redirect_to: row.try_get("redirect_to")?,
        created_at: row.try_get("created_at")?,
        pkce_flow: row.try_get("pkce_flow")?,
    }))
}

/// Deletes a relay state; false when another request has deleted it first, so that of two uses at once only one
/// succeeds.
pub(crate) async fn take_relay_state(db: &impl GenericClient, id: Uuid) -> DbResult<bool> {
    const SQL: &str = "delete from auth.saml_relay_states where id = $1";
    Ok(execute_statement(db, SQL, &[&id]).await? == 1)
}

/// Remembers that an assertion was used; false when it was used before, on whichever node. A concurrent use waits here
/// until this transaction ends.
pub(crate) async fn use_assertion(
    db: &impl GenericClient,
    provider: Uuid,
    assertion_id: &str,
    expires_at: DateTime<Utc>,
) -> DbResult<bool> {
    const SQL: &str = "insert into _selvedge.selvedge_saml_used_assertions (sso_provider_id, assertion_hash, expires_at) \
                       values ($1, $2, $3) on conflict do nothing";
    // The hash bounds the size of the key: the id is chosen by the identity provider.
    let hash = Sha256::digest(assertion_id);
    let inserted = execute_statement(db, SQL, &[&provider, &hash.as_slice(), &expires_at]).await?;
    Ok(inserted == 1)
}

/// Stores the user and the end of the session of a PKCE flow, until the client exchanges the code. Returns the code;
/// `None` when the flow is gone or has a user already.
pub(crate) async fn finish_pkce_flow(
    db: &impl GenericClient,
    flow: Uuid,
    user_id: Uuid,
    not_after: Option<DateTime<Utc>>,
    now: DateTime<Utc>,
) -> DbResult<Option<String>> {
    const SQL: &str = "update auth.flow_state set user_id = $2, updated_at = $3 \
                       where id = $1 and user_id is null returning auth_code";
    let Some(row) = find_row(db, SQL, &[&flow, &user_id, &now]).await? else {
        return Ok(None);
    };
    if let Some(not_after) = not_after {
        const END: &str = "insert into _selvedge.selvedge_saml_session_ends (flow_state_id, not_after, created_at) \
                           values ($1, $2, $3)";
        run_statement(db, END, &[&flow, &not_after, &now]).await?;
    }
    row.try_get(0)
}

/// Takes the end of the session that [`finish_pkce_flow`] has stored.
pub(crate) async fn take_session_end(db: &impl GenericClient, flow: Uuid) -> DbResult<Option<DateTime<Utc>>> {
    const SQL: &str =
        "delete from _selvedge.selvedge_saml_session_ends where flow_state_id = $1 returning not_after";
    let row = find_row(db, SQL, &[&flow]).await?;
    row.map(|row| row.try_get(0)).transpose()
}

/// Replaces the address of a user of single sign-on, whose provider names another one now. Several such users may have the same.
pub(crate) async fn set_email(
    db: &impl GenericClient,
    id: Uuid,
    email: &str,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = "update auth.users set email = $2::text, updated_at = $3 where id = $1 and is_sso_user";
    run_statement(db, SQL, &[&id, &email, &now]).await
}

/// Records whether the domain of the address that an identity names is its provider's at this sign-in.
pub(crate) async fn set_proven(
    db: &impl GenericClient,
    identity: Uuid,
    is_proven: bool,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const PROVEN: &str = "insert into _selvedge.selvedge_sso_proven_identities (identity_id, proven_at) values ($1, $2) \
                          on conflict (identity_id) do update set proven_at = $2";
    const CLAIMED: &str = "delete from _selvedge.selvedge_sso_proven_identities where identity_id = $1";
    match is_proven {
        true => execute_statement(db, PROVEN, &[&identity, &now]).await,
        false => execute_statement(db, CLAIMED, &[&identity]).await,
    }
    .map(|_| ())
}

/// Lists the users who have an identity of this provider with this address (in lowercase), the oldest identity first. The domain
/// must have been the provider's when the identity signed in: before, its user may have chosen the address.
pub(crate) async fn list_users_by_email(
    db: &impl GenericClient,
    provider: &str,
    email: &str,
) -> DbResult<Vec<Uuid>> {
    const SQL: &str = "select i.user_id from auth.identities i \
                       join _selvedge.selvedge_sso_proven_identities p on p.identity_id = i.id \
                       join auth.users u on u.id = i.user_id and u.deleted_at is null \
                       where i.provider = $1::text and i.email = $2::text group by i.user_id order by min(i.created_at)";
    let rows = super::list_rows(db, SQL, &[&provider, &email]).await?;
    rows.iter().map(|row| row.try_get(0)).collect()
}
