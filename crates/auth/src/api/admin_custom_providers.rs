//! `/admin/custom-providers`: providers that administrators add while the server runs. Source: Auth contract §2.15.

use actix_web::{HttpResponse, web};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_postgres::error::DbError;
use uuid::Uuid;

use crate::error::AuthError;
use crate::providers::{RESERVED_PARAMS, is_callable, is_internal};
use crate::request::{Admin, Json, Query};
use crate::state::AuthState;
use crate::store::custom_providers::{self, CustomProvider};

const LONGEST_IDENTIFIER: usize = 50;
const LONGEST_NAME: usize = 100;
const LONGEST_CLIENT_ID: usize = 512;
const LONGEST_URL: usize = 2048;

/// What users and the system own: no provider's claim may become it.
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

/// What is added or changed; a missing member stays as it is.
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

/// The query of the list.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ListQuery {
    #[serde(rename = "type")]
    kind: String,
}

/// `GET /admin/custom-providers?type=`
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
    let client = state.client().await?;
    let all = custom_providers::list_all(&client, kind).await?;
    let providers: Vec<Value> = all.iter().map(CustomProvider::body).collect();
    Ok(HttpResponse::Ok().json(json!({ "providers": providers })))
}

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

async fn find(state: &AuthState, identifier: &str) -> Result<CustomProvider, AuthError> {
    check_identifier(identifier)?;
    let client = state.client().await?;
    let found = custom_providers::find_by_identifier(&client, identifier).await?;
    found.ok_or_else(not_found)
}

fn not_found() -> AuthError {
    AuthError::FeatureOff {
        status: 404,
        code: "custom_provider_not_found",
        text: "Custom OAuth provider not found",
    }
}

/// `GET /admin/custom-providers/{identifier}`
pub(crate) async fn get_provider(
    state: web::Data<AuthState>,
    _: Admin,
    identifier: web::Path<String>,
) -> Result<HttpResponse, AuthError> {
    Ok(HttpResponse::Ok().json(find(&state, &identifier).await?.body()))
}

/// `POST /admin/custom-providers` → 201
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
    let now = state.now();
    let mut new = CustomProvider {
        id: Uuid::new_v4(),
        provider_type: kind,
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
    };
    {
        let client = state.client().await?;
        if custom_providers::find_by_identifier(&client, &new.identifier)
            .await?
            .is_some()
        {
            return Err(taken());
        }
    }
    apply(&state, &mut new, body)?;
    discover(&state, &mut new).await?;
    let client = state.client().await?;
    let put = custom_providers::put(&client, &new).await;
    put.map_err(refused)?;
    Ok(HttpResponse::Created().json(new.body()))
}

/// What the table refuses: a name that is taken meanwhile, an address that is no https URL, or what else its rules say.
fn refused(error: tokio_postgres::Error) -> AuthError {
    let constraint = error
        .as_db_error()
        .and_then(DbError::constraint)
        .unwrap_or_default();
    match error.code().map(tokio_postgres::error::SqlState::code) {
        Some("23505") => taken(),
        Some("23514") if constraint.ends_with("_https") => AuthError::invalid("URL must use HTTPS"),
        Some("23514") => AuthError::invalid("The provider's configuration is not valid"),
        _ => error.into(),
    }
}

fn taken() -> AuthError {
    AuthError::FeatureOff {
        status: 400,
        code: "conflict",
        text: "A custom OAuth provider with this identifier already exists",
    }
}

/// `PUT /admin/custom-providers/{identifier}`
pub(crate) async fn update_provider(
    state: web::Data<AuthState>,
    _: Admin,
    identifier: web::Path<String>,
    Json(body): Json<ProviderBody>,
) -> Result<HttpResponse, AuthError> {
    let mut known = find(&state, &identifier).await?;
    let old_issuer = known.issuer.clone().unwrap_or_default();
    let moves = body.issuer.is_some() || body.discovery_url.is_some();
    apply(&state, &mut known, body)?;
    if moves {
        state.issuers.forget(&old_issuer);
        discover(&state, &mut known).await?;
    }
    known.updated_at = state.now();
    let client = state.client().await?;
    custom_providers::put(&client, &known).await.map_err(refused)?;
    Ok(HttpResponse::Ok().json(known.body()))
}

/// `DELETE /admin/custom-providers/{identifier}` → 204
pub(crate) async fn delete_provider(
    state: web::Data<AuthState>,
    _: Admin,
    identifier: web::Path<String>,
) -> Result<HttpResponse, AuthError> {
    let known = find(&state, &identifier).await?;
    let client = state.client().await?;
    if !custom_providers::delete(&client, &known.identifier).await? {
        return Err(not_found());
    }
    state.issuers.forget(&known.issuer.unwrap_or_default());
    Ok(HttpResponse::NoContent().finish())
}

/// Takes over what is given, after checking it.
fn apply(state: &AuthState, provider: &mut CustomProvider, body: ProviderBody) -> Result<(), AuthError> {
    check_params(body.authorization_params.as_ref())?;
    check_mapping(body.attribute_mapping.as_ref())?;
    let insecure = state.config.insecure_providers;
    let url = |slot: &mut Option<String>, given: Option<String>| match given.filter(|url| !url.is_empty()) {
        Some(url) if url.len() > LONGEST_URL => Err(AuthError::invalid(format!(
            "URL cannot exceed {LONGEST_URL} characters"
        ))),
        Some(url) if !is_callable(&url, insecure) => Err(AuthError::invalid("URL must use HTTPS")),
        Some(url) if !insecure && is_internal(&url) => Err(AuthError::invalid(
            "URL cannot point to localhost or a private address",
        )),
        Some(url) => {
            *slot = Some(url);
            Ok(())
        }
        None => Ok(()),
    };
    if provider.is_oidc() {
        url(&mut provider.issuer, body.issuer)?;
        url(&mut provider.discovery_url, body.discovery_url)?;
        provider.skip_nonce_check = body.skip_nonce_check.unwrap_or(provider.skip_nonce_check);
    } else {
        url(&mut provider.authorization_url, body.authorization_url)?;
        url(&mut provider.token_url, body.token_url)?;
        url(&mut provider.userinfo_url, body.userinfo_url)?;
        url(&mut provider.jwks_uri, body.jwks_uri)?;
    }
    let text = |slot: &mut String, given: Option<String>, member: &str, most: usize| {
        let Some(given) = given.filter(|given| !given.is_empty()) else {
            return Ok(());
        };
        if given.chars().count() > most {
            return Err(AuthError::invalid(format!(
                "{member} cannot exceed {most} characters"
            )));
        }
        *slot = given;
        Ok(())
    };
    text(&mut provider.name, body.name, "name", LONGEST_NAME)?;
    text(
        &mut provider.client_id,
        body.client_id,
        "client_id",
        LONGEST_CLIENT_ID,
    )?;
    text(
        &mut provider.client_secret,
        body.client_secret,
        "client_secret",
        LONGEST_URL,
    )?;
    provider.scopes = body.scopes.unwrap_or_else(|| provider.scopes.clone());
    if provider.is_oidc() && !provider.scopes.iter().any(|scope| scope == "openid") {
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

fn check_params(params: Option<&Value>) -> Result<(), AuthError> {
    let params = params.filter(|value| !value.is_null());
    let Some(params) = params else { return Ok(()) };
    let params = params
        .as_object()
        .ok_or_else(|| AuthError::invalid("authorization_params must be an object"))?;
    for (name, value) in params {
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

/// An OpenID Connect provider must be there, and be who it says, before it is kept.
async fn discover(state: &AuthState, provider: &mut CustomProvider) -> Result<(), AuthError> {
    let Some(issuer) = provider.issuer().filter(|_| provider.is_oidc()) else {
        return Ok(());
    };
    let document = state.issuers.read(&state.http, &issuer).await;
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
