//! `/mails/v1/unsubscribe?token=…`: ends mails of a project by one request, without a session (RFC 8058).
//!
//! | method | effect |
//! |---|---|
//! | `GET` | a page with a button that sends the `POST`: mail programs and virus scanners open links by themselves |
//! | `POST` | calls the project's function with the token; 200, 404 for a token that it does not know, 503 to try again |
//!
//! Mail programs send the `POST` with the body `List-Unsubscribe=One-Click`, in either form of HTML's forms. It is not read: the
//! token alone says what ends.

use std::sync::Arc;
use std::time::Duration;

use actix_web::http::{StatusCode, header};
use actix_web::{HttpRequest, HttpResponse, web};
use deadpool_postgres::Pool;
use selvedge_gateway::Caller;
use selvedge_limits::Turns;
use selvedge_postgres::{Database, Login, TableName};
use serde::Deserialize;

use crate::error::QueueError;
use crate::queue::query_as_service;
use crate::text::{escape, is_token};

/// Strangers choose when it is called, and it is one short statement.
const CONNECTIONS: usize = 1;
/// Requests of one client that wait for the connection at the same time. Mail services send those of many people.
const AT_ONCE: usize = 4;
/// How long a request waits for the database, turn and connection included.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// The project's function that ends mails: `function(token text) returns boolean`, false for a token that it does not know.
pub struct Unsubscribe {
    database: Arc<Database>,
    pool: Pool,
    call: String,
    site_url: String,
    turns: Turns,
}

impl Unsubscribe {
    /// `function` is called as `service_role`; the page leads to `site_url`.
    pub fn new(function: &TableName, database: Arc<Database>, site_url: &str) -> Arc<Self> {
        Arc::new(Self {
            pool: database.pool(Login::Authenticator, CONNECTIONS),
            database,
            call: format!("select {}($1::text)", function.quoted()),
            site_url: site_url.to_owned(),
            turns: Turns::new(AT_ONCE),
        })
    }

    async fn end_mails(&self, request: &HttpRequest) -> Outcome {
        // What cannot be a token costs no statement.
        let Some(token) = token_of(request) else {
            return Outcome::Unknown;
        };
        let call = async {
            let _turn = self.turns.wait(Caller::client_of(request)).await;
            let rows = query_as_service(&self.database, &self.pool, &self.call, &[&token]).await?;
            let known: Option<bool> = rows.first().map(|row| row.try_get(0)).transpose()?.flatten();
            Ok::<_, QueueError>(known.unwrap_or(false))
        };
        match tokio::time::timeout(TIME_LIMIT, call).await {
            Ok(Ok(true)) => Outcome::Ended,
            Ok(Ok(false)) => Outcome::Unknown,
            Ok(Err(error)) => {
                tracing::warn!(%error, "the function of selvedge.jobs.unsubscribe failed");
                Outcome::Unavailable
            }
            Err(_) => Outcome::Unavailable,
        }
    }

    fn page(&self, status: StatusCode, heading: &str, text: &str, action: &str) -> HttpResponse {
        let page = include_str!("unsubscribe.html")
            .replace("{heading}", heading)
            .replace("{text}", text)
            .replace("{action}", action)
            .replace("{site_url}", &escape(&self.site_url));
        HttpResponse::build(status)
            .content_type("text/html; charset=utf-8")
            .insert_header((header::CACHE_CONTROL, "no-store"))
            .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
            // The address has the token, which other sites and search engines must not learn.
            .insert_header((header::REFERRER_POLICY, "no-referrer"))
            .insert_header(("X-Robots-Tag", "noindex"))
            .insert_header((
                header::CONTENT_SECURITY_POLICY,
                "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
            ))
            .body(page)
    }
}

enum Outcome {
    Ended,
    Unknown,
    Unavailable,
}

#[derive(Deserialize)]
struct TokenQuery {
    token: String,
}

/// The token in the address; `None` where there is nothing that could be one.
fn token_of(request: &HttpRequest) -> Option<String> {
    let query = web::Query::<TokenQuery>::from_query(request.query_string()).ok()?;
    Some(query.into_inner().token).filter(|token| is_token(token))
}

/// Mounts the route; the server gives it the prefix `/mails/v1`.
pub fn configure(unsubscribe: Arc<Unsubscribe>) -> Box<dyn FnOnce(&mut web::ServiceConfig)> {
    Box::new(move |service| {
        service.app_data(web::Data::from(unsubscribe)).service(
            web::resource("/unsubscribe")
                .route(web::get().to(ask))
                .route(web::head().to(ask))
                .route(web::post().to(end)),
        );
    })
}

/// `GET`: asks. It does not look whether the token is known, and changes nothing.
async fn ask(unsubscribe: web::Data<Unsubscribe>) -> HttpResponse {
    unsubscribe.page(
        StatusCode::OK,
        "Unsubscribe?",
        "You will get no more mails of this kind.",
        "<form method=\"post\"><input type=\"hidden\" name=\"List-Unsubscribe\" value=\"One-Click\"><button>Unsubscribe</button></form>",
    )
}

/// `POST`: ends the mails.
async fn end(unsubscribe: web::Data<Unsubscribe>, request: HttpRequest) -> HttpResponse {
    match unsubscribe.end_mails(&request).await {
        Outcome::Ended => unsubscribe.page(
            StatusCode::OK,
            "You have unsubscribed",
            "You get no more mails of this kind. The settings of your account switch them on again.",
            "",
        ),
        Outcome::Unknown => unsubscribe.page(
            StatusCode::NOT_FOUND,
            "This link does not work",
            "It may have been cut off. After you have signed in, the settings of your account say which mails you get.",
            "",
        ),
        Outcome::Unavailable => {
            let mut response = unsubscribe.page(
                StatusCode::SERVICE_UNAVAILABLE,
                "That did not work",
                "Please try again in a minute.",
                "<form method=\"post\"><button>Try again</button></form>",
            );
            let seconds = header::HeaderValue::from_static("60");
            response.headers_mut().insert(header::RETRY_AFTER, seconds);
            response
        }
    }
}
