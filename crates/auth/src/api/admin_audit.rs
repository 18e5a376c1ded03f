//! `GET /admin/audit?page=&per_page=&query=author:x|action:x|type:x`: newest first. Source: Auth contract §2.15.

use actix_web::{HttpResponse, web};
use serde::Deserialize;

use super::admin_list_users::Page;
use crate::error::AuthError;
use crate::request::{Admin, Query};
use crate::state::AuthState;
use crate::store::audit;

/// The query of the list.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct AuditQuery {
    page: String,
    per_page: String,
    query: String,
}

/// `GET /admin/audit`
pub(crate) async fn list_audit_entries(
    state: web::Data<AuthState>,
    _: Admin,
    query: Query<AuditQuery>,
) -> Result<HttpResponse, AuthError> {
    let page = Page::parse(&query.page, &query.per_page)?;
    let (members, pattern) = search(&query.query)?;
    let client = state.client().await?;
    let (entries, total) = audit::list_page(&client, members, &pattern, page.size, page.offset()).await?;
    let url = format!("{}/admin/audit", state.config.external_url);
    Ok(HttpResponse::Ok()
        .insert_header(("X-Total-Count", total.to_string()))
        .insert_header(("Link", page.links(&url, total)))
        .json(entries))
}

/// Which members of an entry must contain what.
fn search(query: &str) -> Result<(&'static [&'static str], String), AuthError> {
    if query.is_empty() {
        return Ok((&[], String::new()));
    }
    let invalid = || AuthError::invalid("Invalid scope: must be one of author, action or type");
    let (scope, text) = query.split_once(':').ok_or_else(invalid)?;
    let members: &[&str] = match scope {
        "author" => &["actor_username", "actor_name"],
        "action" => &["action"],
        "type" => &["log_type"],
        _ => return Err(invalid()),
    };
    Ok((members, format!("%{text}%")))
}
