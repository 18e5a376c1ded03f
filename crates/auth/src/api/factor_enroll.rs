//! `POST /factors`: adds a second factor, unverified until its first code. Source: Auth contract §2.12, AUTH-075, AUTH-077.

use actix_web::{HttpResponse, web};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::accounts;
use crate::error::AuthError;
use crate::machine::enrollment::{self, Refusal};
use crate::mfa;
use crate::request::{Json, RequestInfo, SignedIn, text};
use crate::rules::address::parse_phone;
use crate::rules::totp;
use crate::state::AuthState;
use crate::store::audit::{Action, Actor};
use crate::store::factors::{self, Factor, FactorType, NewFactor};
use crate::store::users;

const LONGEST_NAME: usize = 255;

/// What a client sends.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct EnrollBody {
    #[serde(deserialize_with = "text")]
    friendly_name: String,
    #[serde(deserialize_with = "text")]
    factor_type: String,
    #[serde(deserialize_with = "text")]
    issuer: String,
    #[serde(deserialize_with = "text")]
    phone: String,
}

/// `POST /factors` → the factor's id, and what its owner needs to set it up.
pub(crate) async fn enroll_factor(
    state: web::Data<AuthState>,
    info: RequestInfo,
    caller: SignedIn,
    Json(body): Json<EnrollBody>,
) -> Result<HttpResponse, AuthError> {
    mfa::session_of(&caller)?;
    let kind = FactorType::parse(&body.factor_type)
        .ok_or_else(|| AuthError::invalid("factor_type needs to be totp, phone, or webauthn"))?;
    mfa::check_enroll(&state, kind)?;
    if body.friendly_name.chars().count() > LONGEST_NAME {
        return Err(AuthError::invalid("friendly_name is too long"));
    }
    let id = Uuid::new_v4();
    let mut answer = json!({"id": id, "type": kind.as_str(), "friendly_name": body.friendly_name});
    let (mut secret, mut phone) = (None, None);
    match kind {
        FactorType::Totp => {
            let key = totp::new_secret();
            answer["totp"] = set_up(&state, &caller, &key, &body.issuer)?;
            secret = Some(key);
        }
        FactorType::Phone if body.phone.is_empty() => {
            return Err(AuthError::invalid("Phone number required to enroll Phone factor"));
        }
        FactorType::Phone => {
            phone = Some(parse_phone(&body.phone)?);
            answer["phone"] = json!(body.phone);
        }
        FactorType::Webauthn => {}
    }
    let new = NewFactor {
        id,
        kind,
        friendly_name: &body.friendly_name,
        secret: secret.as_deref(),
        phone: phone.as_deref(),
    };
    add(&state, &info, &caller, &new).await?;
    Ok(HttpResponse::Ok().json(answer))
}

/// Key, address and picture for an authenticator app.
fn set_up(state: &AuthState, caller: &SignedIn, key: &str, issuer: &str) -> Result<Value, AuthError> {
    let site = url::Url::parse(&state.config.site_url).ok();
    let host = site.as_ref().and_then(|site| {
        let host = site.host_str()?;
        Some(
            site.port()
                .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")),
        )
    });
    let issuer = if issuer.is_empty() {
        host.unwrap_or_default()
    } else {
        issuer.to_owned()
    };
    let uri = totp::uri(key, &issuer, &caller.user.email);
    let picture = totp::qr_svg(&uri).ok_or_else(|| AuthError::invalid("issuer is too long"))?;
    Ok(json!({"qr_code": picture, "secret": key, "uri": uri}))
}

/// Adds the factor if rules and limits allow it; the user's row is the lock, so that two calls at once do not pass both.
async fn add(
    state: &AuthState,
    info: &RequestInfo,
    caller: &SignedIn,
    new: &NewFactor<'_>,
) -> Result<(), AuthError> {
    let now = state.now();
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    let user = users::lock_by_id(&db, caller.user.id)
        .await?
        .ok_or(AuthError::TokenUserNotFound)?;
    factors::delete_expired(&db, user.id, now - state.config.mfa.factor_expiry).await?;
    let mut known = factors::list_of_user(&db, user.id).await?;
    if let Some(phone) = new.phone {
        let same: Vec<Factor> = known
            .iter()
            .filter(|factor| factor.phone == phone)
            .cloned()
            .collect();
        for factor in same {
            if factor.is_verified {
                return Err(AuthError::coded(
                    422,
                    "mfa_verified_factor_exists",
                    "A verified phone factor already exists, unenroll the existing factor to continue",
                ));
            }
            factors::delete(&db, factor.id).await?;
            known.retain(|other| other.id != factor.id);
        }
    }
    let shows = !caller.lacks_second_factor();
    enrollment::check(&known, new.friendly_name, shows, &state.config.mfa)
        .map_err(|refusal| refused(refusal, new.friendly_name))?;
    factors::insert(&db, user.id, new, now).await?;
    let traits = json!({"factor_id": new.id, "factor_type": new.kind.as_str()});
    accounts::log_as(
        state,
        &db,
        info,
        Actor::User(&user),
        Action::FactorInProgress,
        traits,
    )
    .await?;
    Ok(db.commit().await?)
}

fn refused(refusal: Refusal, name: &str) -> AuthError {
    match refusal {
        Refusal::NameConflict => AuthError::coded(
            422,
            "mfa_factor_name_conflict",
            format!("A factor with the friendly name {name:?} for this user already exists"),
        ),
        Refusal::TooMany => AuthError::coded(
            422,
            "too_many_enrolled_mfa_factors",
            "Maximum number of verified factors reached, unenroll to continue",
        ),
        Refusal::NeedsSecondFactor => {
            AuthError::coded(403, "insufficient_aal", "AAL2 required to enroll a new factor")
        }
    }
}
