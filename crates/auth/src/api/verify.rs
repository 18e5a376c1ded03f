//! `GET /verify` verifies the link of a mail and responds with a redirect; `POST /verify` verifies a code or token
//! hash and responds with a session.
//!
//! Source: Auth contract §2.6, AUTH-021, AUTH-025, AUTH-026, AUTH-067, AUTH-068, AUTH-070.

use actix_web::HttpResponse;
use actix_web::http::header;
use serde::{Deserialize, Serialize};

use super::session_response::respond_with_session;
use crate::crypto::one_time_code::{PKCE_PREFIX, PresentedToken};
use crate::error::AuthError;
use crate::flows::verify_token::{BAD_CODE, VerifyOutcome, VerifyRequest, verify_token};
use crate::request::{AuthRequest, Json, Query, read_text};
use crate::state::rate_limits::LimitedEndpoint;
use crate::validation::address::{parse_email, parse_phone};
use crate::validation::redirect::{append_query, replace_fragment};
use crate::validation::verify_type::VerifyType;

/// Message after the first of two confirmations of an e-mail change; applications show it.
const FIRST_CONFIRMATION: &str =
    "Confirmation link accepted. Please proceed to confirm link sent to the other email";

/// Query of a mailed link; `token` is what clients call the token hash, with the prefix `pkce_` in the PKCE flow.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct LinkQuery {
    token: String,
    #[serde(rename = "type")]
    kind: String,
}

/// Body of `POST /verify`: `{type, token, email}`, `{type, token, phone}` or `{type, token_hash}`. `redirect_to` is
/// read only to refuse it beside a token hash.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct VerifyBody {
    #[serde(rename = "type", deserialize_with = "read_text")]
    kind: String,
    #[serde(deserialize_with = "read_text")]
    token: String,
    #[serde(deserialize_with = "read_text")]
    token_hash: String,
    #[serde(deserialize_with = "read_text")]
    email: String,
    #[serde(deserialize_with = "read_text")]
    phone: String,
    #[serde(deserialize_with = "read_text")]
    redirect_to: String,
}

/// `GET /verify?token=&type=&redirect_to=` → 303 to the redirect target, with the session in the fragment, or with
/// `?code=` in the PKCE flow. Failures are redirected, too, with `error`, `error_code` and `error_description` in the
/// fragment, and for PKCE also in the query.
///
/// HEAD is not served: link scanners of mail providers must not use tokens up.
///
/// # Errors
/// As JSON only: 400 `validation_failed` without `token` or `type`, 429 `over_request_rate_limit`.
pub(crate) async fn verify_link(
    request: AuthRequest,
    query: Query<LinkQuery>,
) -> Result<HttpResponse, AuthError> {
    request.check_rate_limit(LimitedEndpoint::Verify)?;
    if query.kind.is_empty() {
        return Err(AuthError::invalid("Verify requires a verification type"));
    }
    if query.token.is_empty() {
        return Err(AuthError::invalid("Verify requires a token or a token hash"));
    }
    // The mail of a PKCE flow holds a prefixed token, so the link alone tells which response the application expects.
    let is_pkce = query.token.starts_with(PKCE_PREFIX);
    // The types of text messages are refused here: text messages carry codes to type, not links.
    let kind = VerifyType::parse(&query.kind).filter(|kind| !kind.is_by_phone());
    let outcome = match kind {
        Some(kind) => {
            let presented = VerifyRequest {
                kind,
                token: PresentedToken::Link(query.token.clone()),
                wants_auth_code: is_pkce,
            };
            verify_token(&request, &presented).await
        }
        None => Err(AuthError::invalid("Invalid email verification type")),
    };
    // The middleware logs faults that become a 500 response; here the response is a redirect, so the fault is logged
    // here.
    if let Err(
        error @ (AuthError::Internal { .. } | AuthError::Overloaded | AuthError::DatabaseUnavailable(_)),
    ) = &outcome
    {
        tracing::error!(%error, "verification failed");
    }
    let location = build_location(&request.info.redirect_to, is_pkce, outcome);
    Ok(HttpResponse::SeeOther()
        .insert_header((header::LOCATION, location))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .finish())
}

/// Response to the first of two confirmations of an e-mail change. Compat: `code` is the string `"200"`.
#[derive(Serialize)]
struct FirstConfirmationBody {
    msg: &'static str,
    code: &'static str,
}

/// `POST /verify` → 200 with a session whose `amr` is `otp`, or with [`FirstConfirmationBody`]. It never returns an
/// authorization code, not even for a token of the PKCE flow.
///
/// # Errors
/// 400 `validation_failed` for a wrong combination of members; 422 `validation_failed` for a malformed e-mail
/// address; 403 `otp_expired` for a token that is wrong, used or expired and for an unknown user; 403 `user_banned`;
/// 429 `over_request_rate_limit`.
pub(crate) async fn verify_code(
    request: AuthRequest,
    Json(body): Json<VerifyBody>,
) -> Result<HttpResponse, AuthError> {
    request.check_rate_limit(LimitedEndpoint::Verify)?;
    let presented = parse_body(body)?;
    match verify_token(&request, &presented).await? {
        VerifyOutcome::Session(tokens, _) => Ok(respond_with_session(&tokens)),
        _ => Ok(HttpResponse::Ok().json(FirstConfirmationBody {
            msg: FIRST_CONFIRMATION,
            code: "200",
        })),
    }
}

/// Checks which members were sent, and reads type and token.
///
/// # Errors
/// 400 or 422 `validation_failed`, 403 `otp_expired` for an unknown type beside a code, as with upstream.
fn parse_body(body: VerifyBody) -> Result<VerifyRequest, AuthError> {
    if body.kind.is_empty() {
        return Err(AuthError::invalid("Verify requires a verification type"));
    }
    let token = match (body.token.is_empty(), body.token_hash.is_empty()) {
        (false, true) => read_typed_code(&body)?,
        (true, false) if body.email.is_empty() && body.phone.is_empty() && body.redirect_to.is_empty() => {
            PresentedToken::Link(body.token_hash.clone())
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
    let kind = match (VerifyType::parse(&body.kind), token.address()) {
        (Some(kind), None) if kind.is_by_phone() => None,
        (None, Some(_)) => return Err(AuthError::OtpExpired(BAD_CODE)),
        (kind, _) => kind,
    };
    Ok(VerifyRequest {
        kind: kind.ok_or_else(|| AuthError::invalid("Invalid email verification type"))?,
        token,
        // The prefix `pkce_` of a token hash is ignored: a POST comes from the application itself and gets a session.
        wants_auth_code: false,
    })
}

/// Reads a typed code with the address that it was sent to.
///
/// # Errors
/// 400 `validation_failed` unless exactly one address is given, 422 `validation_failed` for a malformed e-mail
/// address.
fn read_typed_code(body: &VerifyBody) -> Result<PresentedToken, AuthError> {
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
    Ok(PresentedToken::Code {
        address,
        otp: body.token.clone(),
    })
}

/// The URL that the browser is redirected to, with session, code or error. Compat: keys are in alphabetical order,
/// and `sb` is an empty marker.
fn build_location(target: &str, is_pkce: bool, outcome: Result<VerifyOutcome, AuthError>) -> String {
    match outcome {
        Ok(VerifyOutcome::AuthCode(code)) => append_query(target, &[("code", &code)]),
        Ok(VerifyOutcome::FirstConfirmation) => {
            let target = if is_pkce {
                append_query(target, &[("message", FIRST_CONFIRMATION)])
            } else {
                target.to_owned()
            };
            replace_fragment(&target, &[("message", FIRST_CONFIRMATION), ("sb", "")])
        }
        Ok(VerifyOutcome::Session(tokens, kind)) => {
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
            replace_fragment(target, &pairs)
        }
        Err(error) => build_error_location(target, is_pkce, &error),
    }
}

/// The redirect target with the error. `error` is an OAuth code chosen by the status (RFC 6749 §4.1.2.1) and left out
/// for other statuses.
fn build_error_location(target: &str, is_pkce: bool, error: &AuthError) -> String {
    let (status, code) = error.status_and_code();
    let description = error.message();
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
        append_query(target, &pairs)
    } else {
        target.to_owned()
    };
    pairs.push(("sb", ""));
    replace_fragment(&target, &pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flows::verify_token::BAD_LINK;

    #[test]
    fn auth_026_an_invalid_link_redirects_with_the_error_in_the_fragment() {
        let location = build_location(
            "https://site/auth?x=1",
            false,
            Err(AuthError::OtpExpired(BAD_LINK)),
        );

        assert_eq!(
            location,
            "https://site/auth?x=1#error=access_denied&error_code=otp_expired\
             &error_description=Email+link+is+invalid+or+has+expired&sb="
        );
    }

    #[test]
    fn auth_026_an_invalid_pkce_link_has_the_error_in_the_query_too() {
        let location = build_location(
            "https://site",
            true,
            Err(AuthError::FlowStateNotFound { status: 400 }),
        );

        assert!(location.starts_with("https://site?error=invalid_request&error_code=flow_state_not_found&"));
        assert!(location.contains("#error=invalid_request&") && location.ends_with("&sb="));
    }

    #[test]
    fn auth_068_verify_rejects_a_token_hash_with_an_email() {
        let body = |kind: &str, token: &str, hash: &str, email: &str, phone: &str| {
            let own = str::to_owned;
            parse_body(VerifyBody {
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
