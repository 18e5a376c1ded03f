//! `GET /admin/users?page=&per_page=&filter=&sort=`. Source: Auth contract §2.15, AUTH-058.

use actix_web::{HttpResponse, web};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::AuthError;
use crate::request::{Admin, Query, RequestInfo};
use crate::state::AuthState;
use crate::store::users;

const DEFAULT_PER_PAGE: i64 = 50;
const LARGEST_PER_PAGE: i64 = 10_000;

/// The query of a list.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ListQuery {
    page: String,
    per_page: String,
    filter: String,
    sort: String,
}

/// One page of a list, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) number: i64,
    pub(crate) size: i64,
}

impl Page {
    /// Reads the two parameters; empty means the default.
    ///
    /// # Errors
    /// 400 `validation_failed` for what is not a positive number.
    pub(crate) fn parse(page: &str, per_page: &str) -> Result<Self, AuthError> {
        let number = |text: &str, default: i64| match text {
            "" => Ok(default),
            text => text
                .parse()
                .ok()
                .filter(|number| *number >= 0)
                .ok_or_else(|| AuthError::invalid(format!("Bad Pagination Parameters: {text:?}"))),
        };
        let (number, size) = (number(page, 1)?, number(per_page, DEFAULT_PER_PAGE)?);
        Ok(Self {
            number: number.max(1),
            size: size.clamp(1, LARGEST_PER_PAGE),
        })
    }

    pub(crate) fn offset(self) -> i64 {
        (self.number - 1).saturating_mul(self.size)
    }

    /// The `Link` header. Compat: the client takes one character behind the first `=`, so `page` comes first.
    pub(crate) fn links(self, url: &str, total: i64) -> String {
        let last = ((total + self.size - 1) / self.size).max(1);
        let link = |page: i64, relation: &str| {
            format!("<{url}?page={page}&per_page={}>; rel=\"{relation}\"", self.size)
        };
        let next = (self.number < last).then(|| link(self.number + 1, "next"));
        let links: Vec<String> = next.into_iter().chain([link(last, "last")]).collect();
        links.join(", ")
    }
}

/// `GET /admin/users`
pub(crate) async fn list_users(
    state: web::Data<AuthState>,
    info: RequestInfo,
    _: Admin,
    query: Query<ListQuery>,
) -> Result<HttpResponse, AuthError> {
    let page = Page::parse(&query.page, &query.per_page)?;
    let ascending = parse_sort(&query.sort)?;
    let client = state.client().await?;
    let (found, total) = futures_util::try_join!(
        users::list_page(
            &client,
            &info.audience,
            &query.filter,
            ascending,
            page.size,
            page.offset()
        ),
        users::count(&client, &info.audience, &query.filter),
    )?;
    let bodies: Vec<Value> = found
        .iter()
        .map(|user| {
            let mut body = user.body();
            // Compat: lists carry null here, as upstream does not load identities for them.
            body.insert("identities".to_owned(), Value::Null);
            Value::Object(body)
        })
        .collect();
    let url = format!("{}/admin/users", state.config.external_url);
    Ok(HttpResponse::Ok()
        .insert_header(("X-Total-Count", total.to_string()))
        .insert_header(("Link", page.links(&url, total)))
        .json(json!({ "users": bodies, "aud": info.audience })))
}

/// Reads `created_at`, `created_at asc` or `created_at desc`: whether the oldest come first.
fn parse_sort(sort: &str) -> Result<bool, AuthError> {
    let (field, direction) = sort.split_once(' ').unwrap_or((sort, "desc"));
    if !matches!(field, "" | "created_at") {
        return Err(AuthError::invalid(format!(
            "Bad Sort Parameters: bad field for sort '{field}'"
        )));
    }
    match direction.to_ascii_lowercase().as_str() {
        "asc" => Ok(true),
        "desc" => Ok(false),
        _ => Err(AuthError::invalid(format!(
            "Bad Sort Parameters: bad direction for sort '{direction}', only 'asc' and 'desc' allowed"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_058_links_lead_to_the_next_and_the_last_page() {
        let first = Page::parse("", "").expect("defaults");
        let second = Page::parse("2", "50").expect("numbers");

        assert_eq!(
            first.links("u", 60),
            "<u?page=2&per_page=50>; rel=\"next\", <u?page=2&per_page=50>; rel=\"last\""
        );
        assert_eq!(second.links("u", 60), "<u?page=2&per_page=50>; rel=\"last\"");
        assert!(Page::parse("x", "").is_err());
    }

    #[test]
    fn auth_058_lists_are_sorted_by_age_either_way() {
        assert!(!parse_sort("").expect("the default"));
        assert!(parse_sort("created_at ASC").expect("a direction"));
        assert!(!parse_sort("created_at").expect("the default direction"));
        assert!(parse_sort("email").is_err());
        assert!(parse_sort("created_at sideways").is_err());
    }
}
