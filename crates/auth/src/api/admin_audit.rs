//! `GET /admin/audit?page=&per_page=&query=author:x|action:x|type:x`: newest first. Source: Auth contract §2.15.

use actix_web::{HttpResponse, web};
use serde::Deserialize;

use super::admin_list_users::Page;
use crate::error::AuthError;
use crate::request::{Admin, Query};
use crate::state::AuthState;
use crate::store::audit;

/// Query of the list: page numbers from 1, and a search `author:<text>`, `action:<text>` or `type:<text>`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct AuditQuery {
    page: String,
    per_page: String,
    query: String,
}

/// `GET /admin/audit`, administrators only → 200 with an array of `{id, payload, created_at, ip_address}`, and the
/// headers `X-Total-Count` and `Link`.
///
/// # Errors
/// 400 `validation_failed` for a bad page number or an unknown search scope.
pub(crate) async fn list_audit_entries(
    state: web::Data<AuthState>,
    _: Admin,
    query: Query<AuditQuery>,
) -> Result<HttpResponse, AuthError> {
    let page = Page::parse(&query.page, &query.per_page)?;
    let (members, text) = parse_search(&query.query)?;
    let client = state.connect().await?;
    let (entries, total) = audit::list_page(&client, members, text, page.size, page.offset()).await?;
    let url = format!("{}/admin/audit", state.config.external_url);
    Ok(HttpResponse::Ok()
        .insert_header(("X-Total-Count", total.to_string()))
        .insert_header((
            "Link",
            page.build_link_header(&url, &[("query", &query.query)], total),
        ))
        .json(entries))
}

/// Reads the members of an entry's `payload` to search, and the text to find. Without a search there are no members.
///
/// # Errors
/// 400 `validation_failed`.
fn parse_search(query: &str) -> Result<(&'static [&'static str], &str), AuthError> {
    if query.is_empty() {
        return Ok((&[], ""));
    }
    let invalid = || AuthError::invalid("Invalid scope: must be one of author, action or type");
    let (scope, text) = query.split_once(':').ok_or_else(invalid)?;
    let members: &[&str] = match scope {
        "author" => &["actor_username", "actor_name"],
        "action" => &["action"],
        "type" => &["log_type"],
        _ => return Err(invalid()),
    };
    Ok((members, text))
}
