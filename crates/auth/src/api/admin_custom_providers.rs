//! `/admin/custom-providers`: OAuth 2.0 and OpenID Connect providers that administrators add while the server runs.
//!
//! URLs are checked strictly, because the server calls them: only https, and no private addresses. Source: Auth
//! contract §2.15.

use actix_web::{HttpResponse, web};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio_postgres::error::DbError;
use uuid::Uuid;

use super::response_bodies::CustomProviderBody;
use crate::error::{AuthError, FederationError};
use crate::providers::{Issuer, RESERVED_PARAMS, is_callable, is_internal};
use crate::request::{Admin, Json, Query};
use crate::state::AuthState;
use crate::store::custom_providers::{self, CustomProvider};

/// Longest `identifier`, prefix included, in characters.
const LONGEST_IDENTIFIER: usize = 50;
/// Longest `name`, in characters.
const LONGEST_NAME: usize = 100;
/// Longest `client_id`, in characters.
const LONGEST_CLIENT_ID: usize = 512;
/// Longest URL, and longest `client_secret`.
const LONGEST_URL: usize = 2048;

/// Members of a user that `attribute_mapping` may not target: otherwise a provider could choose, for example, the
/// role of its users.
const BLOCKED_TARGETS: [&str; 13] = [
    "id",
    "aud",
    "role",
    "app_metadata",
    "created_at",
    "updated_at",
    "confirmed_at",
    "email_confirmed_at",
    "phone_confirmed_at",
    "email_verified",
    "phone_verified",
    "banned_until",
    "is_super_admin",
];

/// Body of `POST` and `PUT`; on PUT a missing member keeps its value. `issuer`, `discovery_url` and
/// `skip_nonce_check` are read for `oidc` only, the four endpoint URLs for `oauth2` only.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ProviderBody {
    provider_type: Option<String>,
    identifier: Option<String>,
    name: Option<String>,
    client_id: Option<String>,
    client_secret: Option<String>,
    acceptable_client_ids: Option<Vec<String>>,
    scopes: Option<Vec<String>>,
    pkce_enabled: Option<bool>,
    attribute_mapping: Option<Value>,
    custom_claims_allowlist: Option<Vec<String>>,
    authorization_params: Option<Value>,
    enabled: Option<bool>,
    email_optional: Option<bool>,
    issuer: Option<String>,
    discovery_url: Option<String>,
    skip_nonce_check: Option<bool>,
    authorization_url: Option<String>,
    token_url: Option<String>,
    userinfo_url: Option<String>,
    jwks_uri: Option<String>,
}

/// Query of the list: `type` is `oauth2`, `oidc` or missing.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ListQuery {
    #[serde(rename = "type")]
    kind: String,
}

/// Body of the list; secrets are never returned.
#[derive(Serialize)]
struct CustomProviderList<'a> {
    providers: Vec<CustomProviderBody<'a>>,
}

/// `GET /admin/custom-providers?type=` → 200 `{providers: […]}`.
///
/// # Errors
/// 400 `validation_failed` for any other type.
pub(crate) async fn list_providers(
    state: web::Data<AuthState>,
    _: Admin,
    query: Query<ListQuery>,
) -> Result<HttpResponse, AuthError> {
    let kind = match query.kind.as_str() {
        "" => None,
        kind @ ("oauth2" | "oidc") => Some(kind),
        _ => return Err(AuthError::invalid("type must be either 'oauth2' or 'oidc'")),
    };
    let client = state.connect().await?;
    let all = custom_providers::list_all(&client, kind).await?;
    let providers = all.iter().map(CustomProviderBody::new).collect();
    Ok(HttpResponse::Ok().json(CustomProviderList { providers }))
}

/// Refuses an identifier without the prefix `custom:`, which keeps custom names apart from those of built-in
/// providers.
///
/// # Errors
/// 400 `validation_failed`.
fn check_identifier(identifier: &str) -> Result<(), AuthError> {
    if identifier.is_empty() {
        return Err(AuthError::invalid("identifier is required"));
    }
    let is_name = |name: &str| {
        let is_plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b':');
        name.ends_with(|last: char| last.is_ascii_alphanumeric()) && name.bytes().all(is_plain)
    };
    if identifier.len() > LONGEST_IDENTIFIER || !identifier.strip_prefix("custom:").is_some_and(is_name) {
        return Err(AuthError::invalid(format!(
            "identifier must start with 'custom:' prefix, e.g. 'custom:{}', followed by lowercase letters, digits, '-' or \
             ':', at most {LONGEST_IDENTIFIER} characters in all",
            identifier.trim_start_matches("custom:").to_lowercase()
        )));
    }
    Ok(())
}

/// The provider that the path names.
///
/// # Errors
/// 400 `validation_failed` for a malformed identifier, 404 `custom_provider_not_found`.
async fn find_provider(state: &AuthState, identifier: &str) -> Result<CustomProvider, AuthError> {
    check_identifier(identifier)?;
    let client = state.connect().await?;
    let found = custom_providers::find_by_identifier(&client, identifier).await?;
    found.ok_or(NOT_FOUND)
}

const NOT_FOUND: AuthError = AuthError::Federation(FederationError::CustomProviderNotFound);

/// `GET /admin/custom-providers/{identifier}` → 200 with the provider, without its secret.
pub(crate) async fn get_provider(
    state: web::Data<AuthState>,
    _: Admin,
    identifier: web::Path<String>,
) -> Result<HttpResponse, AuthError> {
    Ok(HttpResponse::Ok().json(CustomProviderBody::new(
        &find_provider(&state, &identifier).await?,
    )))
}

/// `POST /admin/custom-providers` → 201 with the provider. An OpenID Connect provider must be reachable at that
/// moment.
///
/// # Errors
/// 400 `validation_failed` for a missing or invalid member or a failed discovery, 400 `conflict` for a taken
/// identifier.
pub(crate) async fn create_provider(
    state: web::Data<AuthState>,
    _: Admin,
    Json(body): Json<ProviderBody>,
) -> Result<HttpResponse, AuthError> {
    let kind = match body.provider_type.as_deref() {
        Some(kind @ ("oauth2" | "oidc")) => kind.to_owned(),
        _ => {
            return Err(AuthError::invalid(
                "provider_type must be either 'oauth2' or 'oidc'",
            ));
        }
    };
    let identifier = body.identifier.clone().unwrap_or_default();
    check_identifier(&identifier)?;
    check_required(&kind, &body)?;
    let mut new = new_provider(kind, identifier, state.now());
    {
        let client = state.connect().await?;
        if custom_providers::find_by_identifier(&client, &new.identifier)
            .await?
            .is_some()
        {
            return Err(identifier_taken());
        }
    }
    apply_changes(&state, &mut new, body)?;
    fetch_discovery(&state, &mut new).await?;
    let client = state.connect().await?;
    let put = custom_providers::upsert(&client, &new).await;
    put.map_err(map_constraint_violation)?;
    Ok(HttpResponse::Created().json(CustomProviderBody::new(&new)))
}

/// Refuses a new provider without a member that its type needs.
///
/// # Errors
/// 400 `validation_failed`.
fn check_required(kind: &str, body: &ProviderBody) -> Result<(), AuthError> {
    let required: &[(&str, &Option<String>)] = if kind == "oidc" {
        &[("issuer", &body.issuer)]
    } else {
        &[
            ("authorization_url", &body.authorization_url),
            ("token_url", &body.token_url),
            ("userinfo_url", &body.userinfo_url),
        ]
    };
    let always = [
        ("name", &body.name),
        ("client_id", &body.client_id),
        ("client_secret", &body.client_secret),
    ];
    let is_missing = |(_, value): &&(&str, &Option<String>)| value.as_deref().unwrap_or_default().is_empty();
    if let Some((member, _)) = always.iter().find(is_missing) {
        return Err(AuthError::invalid(format!("{member} is required")));
    }
    if let Some((member, _)) = required.iter().find(is_missing) {
        let family = if kind == "oidc" { "OIDC" } else { "OAuth2" };
        return Err(AuthError::invalid(format!(
            "{member} is required for {family} providers"
        )));
    }
    Ok(())
}

/// A provider with every setting at its default.
fn new_provider(provider_type: String, identifier: String, now: DateTime<Utc>) -> CustomProvider {
    CustomProvider {
        id: Uuid::new_v4(),
        provider_type,
        identifier,
        name: String::new(),
        client_id: String::new(),
        client_secret: String::new(),
        acceptable_client_ids: Vec::new(),
        scopes: Vec::new(),
        pkce_enabled: true,
        attribute_mapping: json!({}),
        custom_claims_allowlist: Vec::new(),
        authorization_params: json!({}),
        enabled: true,
        email_optional: false,
        issuer: None,
        discovery_url: None,
        skip_nonce_check: false,
        discovery: None,
        authorization_url: None,
        token_url: None,
        userinfo_url: None,
        jwks_uri: None,
        created_at: now,
        updated_at: now,
    }
}

/// Maps violations of the table's constraints to errors: an identifier that was taken since the check, a URL that is
/// not https, and others.
fn map_constraint_violation(error: tokio_postgres::Error) -> AuthError {
    let constraint = error
        .as_db_error()
        .and_then(DbError::constraint)
        .unwrap_or_default();
    match error.code().map(tokio_postgres::error::SqlState::code) {
        // 23505 is a unique violation: another request has created the provider since the check. 23514 is a CHECK
        // constraint.
        Some("23505") => identifier_taken(),
        Some("23514") if constraint.ends_with("_https") => AuthError::invalid("URL must use HTTPS"),
        Some("23514") => AuthError::invalid("The provider's configuration is not valid"),
        _ => error.into(),
    }
}

fn identifier_taken() -> AuthError {
    AuthError::from(FederationError::CustomProviderExists)
}

/// `PUT /admin/custom-providers/{identifier}` → 200 with the provider. Type and identifier cannot change.
///
/// # Errors
/// 400 `validation_failed`, 404 `custom_provider_not_found`.
pub(crate) async fn update_provider(
    state: web::Data<AuthState>,
    _: Admin,
    identifier: web::Path<String>,
    Json(body): Json<ProviderBody>,
) -> Result<HttpResponse, AuthError> {
    let mut known = find_provider(&state, &identifier).await?;
    let old_issuer = known.issuer.clone().unwrap_or_default();
    let changes_issuer = body.issuer.is_some() || body.discovery_url.is_some();
    apply_changes(&state, &mut known, body)?;
    if changes_issuer {
        // The cache would otherwise keep the document and the keys of the old issuer.
        state.issuers.forget_issuer(&old_issuer);
        fetch_discovery(&state, &mut known).await?;
    }
    known.updated_at = state.now();
    let client = state.connect().await?;
    custom_providers::upsert(&client, &known)
        .await
        .map_err(map_constraint_violation)?;
    Ok(HttpResponse::Ok().json(CustomProviderBody::new(&known)))
}

/// `DELETE /admin/custom-providers/{identifier}` → 204. Users and identities of the provider stay.
///
/// # Errors
/// 404 `custom_provider_not_found`.
pub(crate) async fn delete_provider(
    state: web::Data<AuthState>,
    _: Admin,
    identifier: web::Path<String>,
) -> Result<HttpResponse, AuthError> {
    let known = find_provider(&state, &identifier).await?;
    let client = state.connect().await?;
    if !custom_providers::delete(&client, &known.identifier).await? {
        return Err(NOT_FOUND);
    }
    state.issuers.forget_issuer(&known.issuer.unwrap_or_default());
    Ok(HttpResponse::NoContent().finish())
}

/// Replaces the members that the body gives, after checking them.
///
/// # Errors
/// 400 `validation_failed`.
fn apply_changes(
    state: &AuthState,
    provider: &mut CustomProvider,
    body: ProviderBody,
) -> Result<(), AuthError> {
    check_params(body.authorization_params.as_ref())?;
    check_mapping(body.attribute_mapping.as_ref())?;
    if provider.is_oidc() {
        set_url(state, &mut provider.issuer, body.issuer)?;
        set_url(state, &mut provider.discovery_url, body.discovery_url)?;
        provider.skip_nonce_check = body.skip_nonce_check.unwrap_or(provider.skip_nonce_check);
    } else {
        set_url(state, &mut provider.authorization_url, body.authorization_url)?;
        set_url(state, &mut provider.token_url, body.token_url)?;
        set_url(state, &mut provider.userinfo_url, body.userinfo_url)?;
        set_url(state, &mut provider.jwks_uri, body.jwks_uri)?;
    }
    set_text(&mut provider.name, body.name, ("name", LONGEST_NAME))?;
    set_text(
        &mut provider.client_id,
        body.client_id,
        ("client_id", LONGEST_CLIENT_ID),
    )?;
    set_text(
        &mut provider.client_secret,
        body.client_secret,
        ("client_secret", LONGEST_URL),
    )?;
    provider.scopes = body.scopes.unwrap_or_else(|| provider.scopes.clone());
    if provider.is_oidc() && !provider.scopes.iter().any(|scope| scope == "openid") {
        // Without the scope `openid` a provider returns no ID token (OpenID Connect Core §3.1.2.1).
        provider.scopes.insert(0, "openid".to_owned());
    }
    if let Some(ids) = body.acceptable_client_ids {
        provider.acceptable_client_ids = ids;
    }
    if let Some(names) = body.custom_claims_allowlist {
        provider.custom_claims_allowlist = names;
    }
    if let Some(mapping) = body.attribute_mapping.filter(|value| !value.is_null()) {
        provider.attribute_mapping = mapping;
    }
    if let Some(params) = body.authorization_params.filter(|value| !value.is_null()) {
        provider.authorization_params = params;
    }
    provider.pkce_enabled = body.pkce_enabled.unwrap_or(provider.pkce_enabled);
    provider.enabled = body.enabled.unwrap_or(provider.enabled);
    provider.email_optional = body.email_optional.unwrap_or(provider.email_optional);
    Ok(())
}

/// Replaces a URL if one is given. It must be https and outside of private networks: otherwise an administrator of
/// the project could make the server call internal services. Development configurations may lift both rules.
///
/// # Errors
/// 400 `validation_failed`.
fn set_url(state: &AuthState, url: &mut Option<String>, given: Option<String>) -> Result<(), AuthError> {
    let insecure = state.config.insecure_providers;
    match given.filter(|url| !url.is_empty()) {
        Some(given) if given.len() > LONGEST_URL => Err(AuthError::invalid(format!(
            "URL cannot exceed {LONGEST_URL} characters"
        ))),
        Some(given) if !is_callable(&given, insecure) => Err(AuthError::invalid("URL must use HTTPS")),
        Some(given) if !insecure && is_internal(&given) => Err(AuthError::invalid(
            "URL cannot point to localhost or a private address",
        )),
        Some(given) => {
            *url = Some(given);
            Ok(())
        }
        None => Ok(()),
    }
}

/// Replaces a text if one is given that is not empty; `limit` is the member's name and its greatest length in
/// characters.
///
/// # Errors
/// 400 `validation_failed` for a longer text.
fn set_text(text: &mut String, given: Option<String>, limit: (&str, usize)) -> Result<(), AuthError> {
    let (member, most) = limit;
    let Some(given) = given.filter(|given| !given.is_empty()) else {
        return Ok(());
    };
    if given.chars().count() > most {
        return Err(AuthError::invalid(format!(
            "{member} cannot exceed {most} characters"
        )));
    }
    *text = given;
    Ok(())
}

/// Refuses additional authorization parameters that would replace those of the protocol, such as `state`, or that are
/// not strings.
///
/// # Errors
/// 400 `validation_failed`.
fn check_params(params: Option<&Value>) -> Result<(), AuthError> {
    let params = params.filter(|value| !value.is_null());
    let Some(params) = params else { return Ok(()) };
    let params = params
        .as_object()
        .ok_or_else(|| AuthError::invalid("authorization_params must be an object"))?;
    for (name, value) in params {
        // A fixed nonce would be the same for all sign-ins and protect none of them.
        if RESERVED_PARAMS.contains(&name.as_str()) || name == "nonce" {
            return Err(AuthError::invalid(format!(
                "Cannot override reserved OAuth parameter: {name}"
            )));
        }
        if !value.is_string() {
            return Err(AuthError::invalid(format!(
                "Authorization parameter {name:?} must be a string"
            )));
        }
    }
    Ok(())
}

/// Refuses an `attribute_mapping` that targets one of [`BLOCKED_TARGETS`].
///
/// # Errors
/// 400 `validation_failed`.
fn check_mapping(mapping: Option<&Value>) -> Result<(), AuthError> {
    let mapping = mapping.filter(|value| !value.is_null());
    let Some(mapping) = mapping else { return Ok(()) };
    let mapping = mapping
        .as_object()
        .ok_or_else(|| AuthError::invalid("attribute_mapping must be an object"))?;
    match mapping
        .keys()
        .find(|target| BLOCKED_TARGETS.contains(&target.as_str()))
    {
        Some(target) => Err(AuthError::invalid(format!(
            "Attribute mapping cannot target protected field: {target}"
        ))),
        None => Ok(()),
    }
}

/// Fetches the discovery document of an OpenID Connect provider and keeps its main members. The document
/// must be reachable and name the given issuer (OpenID Connect Discovery §4.3).
///
/// # Errors
/// 400 `validation_failed`.
async fn fetch_discovery(state: &AuthState, provider: &mut CustomProvider) -> Result<(), AuthError> {
    let Some(issuer) = Issuer::from_custom(provider).filter(|_| provider.is_oidc()) else {
        return Ok(());
    };
    let document = state
        .issuers
        .fetch_document(&state.restricted_http, &issuer)
        .await;
    let document = document.map_err(|error| {
        AuthError::invalid(format!("OIDC discovery of {:?} failed: {error}", issuer.name))
    })?;
    const KEPT: [&str; 9] = [
        "issuer",
        "authorization_endpoint",
        "token_endpoint",
        "userinfo_endpoint",
        "jwks_uri",
        "scopes_supported",
        "response_types_supported",
        "grant_types_supported",
        "subject_types_supported",
    ];
    let kept = KEPT.iter().filter(|name| !document[**name].is_null());
    provider.discovery = Some(
        kept.map(|name| ((*name).to_owned(), document[*name].clone()))
            .collect(),
    );
    Ok(())
}
