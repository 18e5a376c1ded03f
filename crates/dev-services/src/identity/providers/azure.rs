//! Azure (Microsoft Entra ID). Source:
//! <https://learn.microsoft.com/entra/identity-platform/id-token-claims-reference>.

use serde_json::{Value, json};

use crate::identity::provider::{Account, DEFAULT, IdToken, Provider, RefreshTokens};
use crate::identity::subject::SubjectStyle;

/// Id of the tenant of all personal Microsoft accounts; the accounts of this provider belong to it.
const PERSONAL_TENANT: &str = "9188040d-6c67-4c5b-b112-36a304b66dad";

pub(super) static PROVIDER: Provider = Provider {
    name: "azure",
    title: "Microsoft",
    authorize_path: "/oauth2/v2.0/authorize",
    token_path: "/oauth2/v2.0/token",
    subject: SubjectStyle::Mixed(43),
    access_token_prefix: "EwB",
    token_type: "Bearer",
    expires_in: Some(3600),
    refresh_tokens: RefreshTokens::WithScope("offline_access"),
    id_token: Some(IdToken {
        issuer: find_issuer,
        claims: read_claims,
        is_issued: |account| account.has_scope("openid"),
        userinfo_path: None,
    }),
    ..DEFAULT
};

/// Returns `https://login.microsoftonline.com/<tenant>/v2.0`. `common`, `organizations` and `consumers` are not tenants, so
/// they are replaced by a tenant's id.
fn find_issuer(url: Option<&str>) -> String {
    let base = url
        .unwrap_or("https://login.microsoftonline.com/common")
        .trim_end_matches('/');
    let shared = ["/common", "/organizations", "/consumers"];
    match shared.iter().find_map(|tenants| base.strip_suffix(tenants)) {
        Some(host) => format!("{host}/{PERSONAL_TENANT}/v2.0"),
        None => format!("{base}/v2.0"),
    }
}

/// Azure sends the address for the scope `email` and names for `profile`. `xms_edov`, whether the owner of the domain has verified
/// the address, is an optional claim of the app registration; here it is always sent, because Auth takes an address of any
/// tenant for unverified without it.
fn read_claims(account: &Account<'_>) -> Value {
    let person = account.person;
    let has_profile = account.has_scope("profile");
    let email = person.email.as_ref().filter(|_| account.has_scope("email"));
    json!({
        "nbf": account.issued_at,
        "ver": "2.0",
        "tid": PERSONAL_TENANT,
        "name": has_profile.then_some(&person.name),
        "preferred_username": person.email.as_ref().filter(|_| has_profile),
        "oid": has_profile.then(|| SubjectStyle::Uuid.make_id("azure-oid", &person.id)),
        "email": email,
        "xms_edov": email.map(|_| person.email_verified),
    })
}
