//! `GET /admin/users?page=&per_page=&filter=&sort=`. Source: Auth contract §2.15, AUTH-058.

use actix_web::HttpResponse;
use serde::{Deserialize, Serialize};
use url::form_urlencoded;

use crate::error::AuthError;
use crate::request::{Admin, AuthRequest, Query};
use crate::store::user_list;
use crate::user::UserBody;

/// Page size when `per_page` is missing or empty, as with upstream.
const DEFAULT_PER_PAGE: i64 = 50;
/// Larger page sizes are reduced to this, so that one request cannot load the whole table into memory.
const LARGEST_PER_PAGE: i64 = 10_000;

/// Query of the list. `filter` is a substring of the e-mail address or of the full name; `sort` is `created_at` with
/// an optional `asc` or `desc`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ListQuery {
    page: String,
    per_page: String,
    filter: String,
    sort: String,
}

/// Body of the response: one page of the users of an audience. Compat: `identities` of a user is null here.
#[derive(Serialize)]
struct UserPage<'a> {
    users: Vec<UserBody<'a>>,
    aud: &'a str,
}

/// One page of a list, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) number: i64,
    pub(crate) size: i64,
}

impl Page {
    /// Reads `page` and `per_page`; empty means the default, and 0 counts as 1.
    ///
    /// # Errors
    /// 400 `validation_failed` for anything but a number from 0.
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

    /// How many entries come before this page.
    pub(crate) fn offset(self) -> i64 {
        (self.number - 1).saturating_mul(self.size)
    }

    /// The `Link` header (RFC 8288) with `next`, unless this is the last page, and `last`. The links keep the other
    /// parameters of the request, `kept`, where they are not empty. Compat: the client takes one character behind the
    /// first `=` as the page number, so `page` comes first.
    pub(crate) fn build_link_header(self, url: &str, kept: &[(&str, &str)], total: i64) -> String {
        let last = ((total + self.size - 1) / self.size).max(1);
        let link = |page: i64, relation: &str| {
            let mut query = form_urlencoded::Serializer::new(String::new());
            query.append_pair("page", &page.to_string());
            query.append_pair("per_page", &self.size.to_string());
            query.extend_pairs(kept.iter().filter(|(_, value)| !value.is_empty()));
            format!("<{url}?{}>; rel=\"{relation}\"", query.finish())
        };
        let next = (self.number < last).then(|| link(self.number + 1, "next"));
        let links: Vec<String> = next.into_iter().chain([link(last, "last")]).collect();
        links.join(", ")
    }
}

/// `GET /admin/users`, administrators only → 200 `{users: […], aud}` with the headers `X-Total-Count` and `Link`.
///
/// # Errors
/// 400 `validation_failed` for a bad page number or sort order.
pub(crate) async fn list_users(
    request: AuthRequest,
    _: Admin,
    query: Query<ListQuery>,
) -> Result<HttpResponse, AuthError> {
    let page = Page::parse(&query.page, &query.per_page)?;
    let ascending = parse_sort(&query.sort)?;
    let listed = user_list::UserPage {
        aud: &request.info.audience,
        filter: &query.filter,
        ascending,
        limit: page.size,
        offset: page.offset(),
    };
    let client = request.connect().await?;
    let (found, total) = user_list::list_page(&client, &listed).await?;
    let bodies = found.iter().map(|user| user.body().without_identities());
    let page_body = UserPage {
        users: bodies.collect(),
        aud: &request.info.audience,
    };
    let url = format!("{}/admin/users", request.config().external_url);
    let kept = [("filter", query.filter.as_str()), ("sort", &query.sort)];
    Ok(HttpResponse::Ok()
        .insert_header(("X-Total-Count", total.to_string()))
        .insert_header(("Link", page.build_link_header(&url, &kept, total)))
        .json(page_body))
}

/// Reads `created_at`, `created_at asc` or `created_at desc` (the default). Returns whether the oldest come first.
///
/// # Errors
/// 400 `validation_failed`.
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
            first.build_link_header("u", &[], 60),
            "<u?page=2&per_page=50>; rel=\"next\", <u?page=2&per_page=50>; rel=\"last\""
        );
        assert_eq!(
            second.build_link_header("u", &[("filter", "a b&c"), ("sort", "")], 60),
            "<u?page=2&per_page=50&filter=a+b%26c>; rel=\"last\""
        );
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
