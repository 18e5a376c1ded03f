//! `POST /factors`: adds a second factor, which stays unverified until its first challenge is answered. Source: Auth
//! contract §2.12, AUTH-075, AUTH-077.

use actix_web::HttpResponse;
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use crate::crypto::totp;
use crate::error::{AuthError, MfaError};
use crate::flows::accounts;
use crate::flows::decisions::enrollment::{self, EnrollmentRefusal};
use crate::flows::{locked_caller, mfa};
use crate::request::{AuthRequest, Json, SignedIn, read_text};
use crate::state::AuthState;
use crate::store::audit::{Action, Actor};
use crate::store::factors::{self, Factor, FactorType, NewFactor};
use crate::validation::address::parse_phone;

/// Longest `friendly_name`, in characters.
const LONGEST_NAME: usize = 1024;

/// Body of `POST /factors`: `{factor_type, friendly_name?, issuer?, phone?}`. `factor_type` is `totp`, `phone` or
/// `webauthn`; `issuer` counts for TOTP only, and `phone` is required for phone factors.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct EnrollBody {
    #[serde(deserialize_with = "read_text")]
    friendly_name: String,
    #[serde(deserialize_with = "read_text")]
    factor_type: String,
    #[serde(deserialize_with = "read_text")]
    issuer: String,
    #[serde(deserialize_with = "read_text")]
    phone: String,
}

/// Body of the response; `totp` and `phone` are present for their factor types only.
#[derive(Serialize)]
struct EnrollResponse<'a> {
    id: Uuid,
    #[serde(rename = "type")]
    kind: &'static str,
    friendly_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    totp: Option<TotpSetup>,
    /// Compat: the number as the client has sent it, not in its stored form.
    #[serde(skip_serializing_if = "Option::is_none")]
    phone: Option<&'a str>,
}

/// What an authenticator app is set up with. `qr_code` is the text of an SVG that shows `uri`, an `otpauth://` URI,
/// which holds `secret` in base 32.
#[derive(Serialize)]
struct TotpSetup {
    qr_code: String,
    secret: String,
    uri: String,
}

/// `POST /factors` → 200 `{id, type, friendly_name, totp?, phone?}`.
///
/// # Errors
/// 400 `validation_failed` for an unknown type, a missing number, or a long name or issuer; 403 `no_authorization`
/// for anonymous users, `session_not_found` without a session, `insufficient_aal` when the session lacks an existing
/// second factor; 422 `mfa_…_enroll_not_enabled`, `mfa_factor_name_conflict`, `too_many_enrolled_mfa_factors` or
/// `mfa_verified_factor_exists`.
pub(crate) async fn enroll_factor(
    request: AuthRequest,
    caller: SignedIn,
    Json(body): Json<EnrollBody>,
) -> Result<HttpResponse, AuthError> {
    mfa::require_session(&caller)?;
    let kind = FactorType::parse(&body.factor_type)
        .filter(|kind| *kind != FactorType::RecoveryCode)
        .ok_or_else(|| AuthError::invalid(mfa::UNKNOWN_FACTOR_TYPE))?;
    mfa::check_enroll_enabled(&request.state, kind)?;
    if body.friendly_name.chars().count() > LONGEST_NAME {
        return Err(AuthError::invalid("friendly_name is too long"));
    }
    let id = Uuid::new_v4();
    let (mut secret, mut phone, mut totp) = (None, None, None);
    match kind {
        FactorType::Totp => {
            let key = totp::generate_secret();
            totp = Some(set_up_totp(&request.state, &caller, &key, &body.issuer)?);
            secret = Some(key);
        }
        FactorType::Phone if body.phone.is_empty() => {
            return Err(AuthError::invalid("Phone number required to enroll Phone factor"));
        }
        FactorType::Phone => {
            phone = Some(parse_phone(&body.phone)?);
        }
        FactorType::Webauthn | FactorType::RecoveryCode => {}
    }
    let new = NewFactor {
        id,
        kind,
        friendly_name: &body.friendly_name,
        secret: secret.as_deref(),
        phone: phone.as_deref(),
    };
    add_factor(&request, &caller, &new).await?;
    Ok(HttpResponse::Ok().json(EnrollResponse {
        id,
        kind: kind.as_str(),
        friendly_name: &body.friendly_name,
        totp,
        phone: new.phone.map(|_| body.phone.as_str()),
    }))
}

/// Draws the QR code for a new TOTP secret. The issuer, which the app shows, defaults to host and port of the site.
///
/// # Errors
/// 400 `validation_failed` for an issuer that makes the URI too long for a QR code.
fn set_up_totp(
    state: &AuthState,
    caller: &SignedIn,
    key: &str,
    issuer: &str,
) -> Result<TotpSetup, AuthError> {
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
    let uri = totp::build_uri(key, &issuer, &caller.user.email);
    let picture = totp::draw_qr_code(&uri).ok_or_else(|| AuthError::invalid("issuer is too long"))?;
    Ok(TotpSetup {
        qr_code: picture,
        secret: key.to_owned(),
        uri,
    })
}

/// Adds the factor if the project's limits allow it. The user's row is locked, so that two requests at once cannot
/// both pass the limit.
///
/// # Errors
/// See [`enroll_factor`].
async fn add_factor(request: &AuthRequest, caller: &SignedIn, new: &NewFactor<'_>) -> Result<(), AuthError> {
    let now = request.now();
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let locked = locked_caller::lock_caller(request, &db, caller).await?;
    let user = &locked.user;
    // Enrolments that were abandoned would otherwise use up the user's limit of factors.
    factors::delete_expired(&db, user.id, now - request.config().mfa.factor_expiry).await?;
    let mut known = factors::list_by_user(&db, user.id).await?;
    if let Some(phone) = new.phone {
        let same: Vec<Factor> = known
            .iter()
            .filter(|factor| factor.phone == phone)
            .cloned()
            .collect();
        for factor in same {
            if factor.is_verified {
                return Err(MfaError::VerifiedPhoneFactorExists.into());
            }
            // An unverified factor with the same number belongs to an abandoned enrolment, which the new one
            // replaces.
            factors::delete(&db, factor.id).await?;
            known.retain(|other| other.id != factor.id);
        }
    }
    // Otherwise a stolen password would be enough to add a factor of one's own and reach `aal2` with it.
    let has_second_factor_session = !locked.lacks_second_factor();
    enrollment::check_new_factor(
        &known,
        new.friendly_name,
        has_second_factor_session,
        &request.config().mfa,
    )
    .map_err(|refusal| map_refusal(refusal, new.friendly_name))?;
    factors::insert(&db, user.id, new, now).await?;
    let traits = json!({"factor_id": new.id, "factor_type": new.kind.as_str()});
    accounts::log_action_with_traits(request, &db, Actor::User(user), Action::FactorInProgress, traits)
        .await?;
    Ok(db.commit().await?)
}

/// Maps a refusal of the enrolment rules to its error.
fn map_refusal(refusal: EnrollmentRefusal, name: &str) -> MfaError {
    match refusal {
        EnrollmentRefusal::NameConflict => MfaError::NameConflict(name.to_owned()),
        EnrollmentRefusal::TooMany => MfaError::TooManyFactors,
        EnrollmentRefusal::NeedsSecondFactor => MfaError::EnrollNeedsAal2,
    }
}
