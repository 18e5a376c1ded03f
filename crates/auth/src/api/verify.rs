//! `/verify`: redeems the link of a mail (GET, answers by redirect) or its code (POST, answers a session).
//!
//! Source: Auth contract §2.6, AUTH-021, AUTH-025, AUTH-026, AUTH-067, AUTH-068, AUTH-070.

use actix_web::http::header;
use actix_web::{HttpResponse, web};
use serde::Deserialize;
use serde_json::json;

use crate::error::AuthError;
use crate::limits::Limited;
use crate::machine::verify::VerifyType;
use crate::redemption::{BAD_CODE, Outcome, Presented, redeem};
use crate::request::{Json, Query, RequestInfo, text};
use crate::rules::address::{parse_email, parse_phone};
use crate::rules::one_time_code::{self, PKCE_PREFIX, PresentedToken};
use crate::rules::redirect::{with_fragment, with_query};
use crate::state::AuthState;

const FIRST_HALF: &str = "Confirmation link accepted. Please proceed to confirm link sent to the other email";

/// The query of a link.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct LinkQuery {
    token: String,
    #[serde(rename = "type")]
    kind: String,
}

/// What a client sends with a code or a token hash.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct VerifyBody {
    #[serde(rename = "type", deserialize_with = "text")]
    kind: String,
    #[serde(deserialize_with = "text")]
    token: String,
    #[serde(deserialize_with = "text")]
    token_hash: String,
    #[serde(deserialize_with = "text")]
    email: String,
    #[serde(deserialize_with = "text")]
    phone: String,
    #[serde(deserialize_with = "text")]
    redirect_to: String,
}

/// `GET /verify?token=…&type=…&redirect_to=…` → 303. HEAD is not served: link scanners must not use tokens up.
pub(crate) async fn verify_link(
    state: web::Data<AuthState>,
    info: RequestInfo,
    query: Query<LinkQuery>,
) -> Result<HttpResponse, AuthError> {
    info.limit(&state, Limited::Verify)?;
    if query.kind.is_empty() {
        return Err(AuthError::invalid("Verify requires a verification type"));
    }
    if query.token.is_empty() {
        return Err(AuthError::invalid("Verify requires a token or a token hash"));
    }
    let is_pkce = query.token.starts_with(PKCE_PREFIX);
    // Links go out by mail only.
    let kind = VerifyType::parse(&query.kind).filter(|kind| !kind.is_by_phone());
    let outcome = match kind {
        Some(kind) => {
            let presented = Presented {
                kind,
                token: PresentedToken::Link(query.token.clone()),
                address: None,
                typed: String::new(),
                wants_code: is_pkce,
            };
            redeem(&state, &info, &presented).await
        }
        None => Err(AuthError::invalid("Invalid email verification type")),
    };
    if let Err(error @ (AuthError::Internal { .. } | AuthError::Overloaded)) = &outcome {
        tracing::error!(%error, "verification failed");
    }
    let location = location(&info.redirect_to, is_pkce, outcome);
    Ok(HttpResponse::SeeOther()
        .insert_header((header::LOCATION, location))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .finish())
}

/// `POST /verify` `{type, token, email}` or `{type, token_hash}` → a session.
pub(crate) async fn verify_code(
    state: web::Data<AuthState>,
    info: RequestInfo,
    Json(body): Json<VerifyBody>,
) -> Result<HttpResponse, AuthError> {
    info.limit(&state, Limited::Verify)?;
    let presented = read(body)?;
    match redeem(&state, &info, &presented).await? {
        Outcome::Session(tokens, _) => Ok(tokens.response([])),
        // Compat: the code is a string here.
        _ => Ok(HttpResponse::Ok().json(json!({ "msg": FIRST_HALF, "code": "200" }))),
    }
}

/// Checks what was sent with a code or hash.
fn read(body: VerifyBody) -> Result<Presented, AuthError> {
    if body.kind.is_empty() {
        return Err(AuthError::invalid("Verify requires a verification type"));
    }
    let typed = body.token.clone();
    let (token, address) = match (body.token.is_empty(), body.token_hash.is_empty()) {
        (false, true) => read_code(&body)?,
        (true, false) if body.email.is_empty() && body.phone.is_empty() && body.redirect_to.is_empty() => {
            (PresentedToken::Link(body.token_hash.clone()), None)
        }
        (true, false) => {
            return Err(AuthError::invalid(
                "Only the token_hash and type should be provided",
            ));
        }
        _ => {
            return Err(AuthError::invalid(
                "Verify requires either a token or a token hash",
            ));
        }
    };
    let kind = match (VerifyType::parse(&body.kind), &address) {
        (Some(kind), None) if kind.is_by_phone() => None,
        (None, Some(_)) => return Err(BAD_CODE),
        (kind, _) => kind,
    };
    Ok(Presented {
        kind: kind.ok_or_else(|| AuthError::invalid("Invalid email verification type"))?,
        token,
        address,
        typed,
        wants_code: false,
    })
}

/// A typed code, hashed with the one address that it was sent to.
fn read_code(body: &VerifyBody) -> Result<(PresentedToken, Option<String>), AuthError> {
    let address = match (body.email.is_empty(), body.phone.is_empty()) {
        (false, true) => {
            parse_email(&body.email).map_err(|_| AuthError::Unprocessable("Invalid email format"))?
        }
        (true, false) => parse_phone(&body.phone)?,
        _ => {
            return Err(AuthError::invalid(
                "Only an email address or phone number should be provided on verify",
            ));
        }
    };
    Ok((
        PresentedToken::Code(one_time_code::hash(&address, &body.token)),
        Some(address),
    ))
}

/// Where the browser goes next, with what it must know.
fn location(target: &str, is_pkce: bool, outcome: Result<Outcome, AuthError>) -> String {
    match outcome {
        Ok(Outcome::AuthCode(code)) => with_query(target, &[("code", &code)]),
        Ok(Outcome::FirstHalf) => {
            let target = if is_pkce {
                with_query(target, &[("message", FIRST_HALF)])
            } else {
                target.to_owned()
            };
            with_fragment(&target, &[("message", FIRST_HALF), ("sb", "")])
        }
        Ok(Outcome::Session(tokens, kind)) => {
            let (expires_at, expires_in) = (tokens.expires_at.to_string(), tokens.expires_in.to_string());
            let pairs = [
                ("access_token", tokens.access_token.as_str()),
                ("expires_at", &expires_at),
                ("expires_in", &expires_in),
                ("refresh_token", &tokens.refresh_token),
                ("sb", ""),
                ("token_type", "bearer"),
                ("type", kind.as_str()),
            ];
            with_fragment(target, &pairs)
        }
        Err(error) => error_location(target, is_pkce, &error),
    }
}

fn error_location(target: &str, is_pkce: bool, error: &AuthError) -> String {
    let (status, code, description) = error.redirect_parts();
    let name = match status {
        400 => Some("invalid_request"),
        401 => Some("unauthorized_client"),
        403 => Some("access_denied"),
        500 => Some("server_error"),
        503 => Some("temporarily_unavailable"),
        _ => None,
    };
    let mut pairs: Vec<(&str, &str)> = name.map(|name| ("error", name)).into_iter().collect();
    pairs.extend([("error_code", code), ("error_description", description.as_ref())]);
    let target = if is_pkce {
        with_query(target, &pairs)
    } else {
        target.to_owned()
    };
    pairs.push(("sb", ""));
    with_fragment(&target, &pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redemption::BAD_LINK;

    #[test]
    fn auth_026_a_bad_link_leads_back_with_the_error_in_the_fragment() {
        let location = location("https://site/auth?x=1", false, Err(BAD_LINK));

        assert_eq!(
            location,
            "https://site/auth?x=1#error=access_denied&error_code=otp_expired\
             &error_description=Email+link+is+invalid+or+has+expired&sb="
        );
    }

    #[test]
    fn a_bad_pkce_link_says_so_in_the_query_too() {
        let location = location(
            "https://site",
            true,
            Err(AuthError::FlowStateNotFound { status: 400 }),
        );

        assert!(location.starts_with("https://site?error=invalid_request&error_code=flow_state_not_found&"));
        assert!(location.contains("#error=invalid_request&") && location.ends_with("&sb="));
    }

    #[test]
    fn auth_068_a_hash_comes_alone() {
        let body = |kind: &str, token: &str, hash: &str, email: &str, phone: &str| {
            let own = str::to_owned;
            read(VerifyBody {
                kind: own(kind),
                token: own(token),
                token_hash: own(hash),
                email: own(email),
                phone: own(phone),
                redirect_to: String::new(),
            })
        };
        assert!(body("email", "", "abc", "", "").is_ok());
        assert!(body("email", "", "abc", "a@b.c", "").is_err());
        assert!(body("email", "123456", "", "a@b.c", "").is_ok());
        assert!(body("email", "123456", "", "", "").is_err());
        assert!(body("email", "123456", "", "a@b.c", "1").is_err());
        assert!(body("email", "123456", "abc", "", "").is_err());
        assert!(body("", "123456", "", "a@b.c", "").is_err());
        assert!(matches!(
            body("email", "1", "", "nonsense", ""),
            Err(AuthError::Unprocessable(_))
        ));
    }
}
