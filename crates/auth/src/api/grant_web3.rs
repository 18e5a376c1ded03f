//! `POST /token?grant_type=web3`: the owner of a crypto wallet signs in with a message that the wallet has signed
//! (EIP-4361 for Ethereum, the same form for Solana). Source: Auth contract §2.4.

use actix_web::HttpResponse;
use serde::Deserialize;
use serde_json::json;

use super::session_response::respond_with_session;
use crate::error::{AuthError, FeatureError};
use crate::flows::accounts;
use crate::flows::external_accounts::{self, ExternalUser, SignInOutcome};
use crate::flows::sign_in::start_session;
use crate::providers::Profile;
use crate::request::{AuthRequest, read_text};
use crate::state::AuthState;
use crate::store::audit::Action;
use crate::validation::wallet_message::{Chain, WalletMessage};

/// Shortest message in bytes, as with upstream.
const SHORTEST_MESSAGE: usize = 64;
/// Longest message in bytes, as with upstream.
const LONGEST_MESSAGE: usize = 20 * 1024;

/// Body of the grant: `{chain, message, signature}`. `chain` is `ethereum` or `solana`; the signature is hexadecimal
/// for Ethereum and base 64 for Solana.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Web3Body {
    #[serde(deserialize_with = "read_text")]
    chain: String,
    #[serde(deserialize_with = "read_text")]
    message: String,
    #[serde(deserialize_with = "read_text")]
    signature: String,
}

/// `POST /token?grant_type=web3` → 200 with a session, with `amr` `web3`. Creates the user at the first sign-in.
///
/// # Errors
/// 400 `validation_failed` or `web3_unsupported_chain`; 400 `invalid_grant` (OAuth body) for a wrong signature, site
/// or time; 422 `web3_provider_disabled` or `signup_disabled`; 403 `user_banned`.
pub(crate) async fn sign_in_with_wallet(
    request: &AuthRequest,
    body: Web3Body,
) -> Result<HttpResponse, AuthError> {
    let message = verify_message(&request.state, &body)?;
    let wallet_profile = build_profile(&message);
    let external = ExternalUser {
        provider: "web3",
        profile: &wallet_profile,
        email_optional: true,
    };
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let user_id = match external_accounts::find_or_create_account(request, &db, &external).await? {
        SignInOutcome::Allowed(user_id) => user_id,
        SignInOutcome::Refused(error) => {
            db.commit().await?;
            return Err(error);
        }
    };
    let user = accounts::reload_user(&db, user_id).await?;
    let traits = json!({
        "provider": "web3", "chain": message.chain.as_str(), "network": message.network,
        "address": message.address, "domain": message.domain, "uri": message.uri.as_str(),
    });
    accounts::log_user_action(request, &db, &user, Action::Login, traits).await?;
    let tokens = start_session(request, &db, user_id, "web3").await?;
    db.commit().await?;
    Ok(respond_with_session(&tokens))
}

/// Checks signature, site and time of the message; needs no database.
///
/// # Errors
/// See [`sign_in_with_wallet`].
fn verify_message(state: &AuthState, body: &Web3Body) -> Result<WalletMessage, AuthError> {
    let chain = parse_chain(state, &body.chain)?;
    if body.message.len() < SHORTEST_MESSAGE {
        return Err(AuthError::invalid("message is too short"));
    }
    if body.message.len() > LONGEST_MESSAGE {
        return Err(AuthError::invalid("message must not exceed 20KB"));
    }
    match chain {
        Chain::Ethereum if body.signature.trim_start_matches("0x").len() != 130 => {
            return Err(AuthError::invalid(
                "signature must be 65 bytes long, encoded as a 130 character-long hexadecimal string",
            ));
        }
        Chain::Solana if !matches!(body.signature.len(), 86 | 88) => {
            return Err(AuthError::invalid(
                "signature must be 64 bytes encoded as base64 with or without padding",
            ));
        }
        _ => {}
    }
    let message = WalletMessage::parse(chain, &body.message).map_err(AuthError::invalid)?;
    if !message.is_signed_by(&body.signature) {
        return Err(invalid_grant(
            "Signature does not match address in message".to_owned(),
        ));
    }
    // The site is checked after the signature, which proves that its text comes from the wallet.
    check_site(state, &message)?;
    message.check_time(state.now()).map_err(invalid_grant)?;
    Ok(message)
}

fn invalid_grant(description: String) -> AuthError {
    AuthError::oauth("invalid_grant", description)
}

/// Refuses the grant while no chain is enabled.
///
/// # Errors
/// 422 `web3_provider_disabled`.
pub(crate) fn check_web3_enabled(state: &AuthState) -> Result<(), AuthError> {
    let config = &state.config.web3;
    if config.solana || config.ethereum {
        return Ok(());
    }
    Err(FeatureError::Web3Disabled.into())
}

/// The chain of this name, if the project has enabled it.
///
/// # Errors
/// 422 `web3_provider_disabled`, 400 `web3_unsupported_chain`.
fn parse_chain(state: &AuthState, name: &str) -> Result<Chain, AuthError> {
    let config = &state.config.web3;
    match name {
        "solana" if config.solana => Ok(Chain::Solana),
        "solana" => Err(FeatureError::SolanaDisabled.into()),
        "ethereum" if config.ethereum => Ok(Chain::Ethereum),
        "ethereum" => Err(FeatureError::EthereumDisabled.into()),
        _ => Err(FeatureError::UnsupportedChain.into()),
    }
}

/// Checks that the message names this project's site; otherwise a message signed for another site could be replayed
/// here.
///
/// # Errors
/// 400 `invalid_grant` (OAuth body).
fn check_site(state: &AuthState, message: &WalletMessage) -> Result<(), AuthError> {
    let chain = message.chain.title();
    let uri = &message.uri;
    // Applications under development run on localhost without TLS.
    let is_local = uri.host_str() == Some("localhost");
    if uri.scheme() != "https" && !is_local {
        return Err(invalid_grant(format!(
            "Signed {chain} message is using URI which does not use HTTPS"
        )));
    }
    if !state.redirects.is_allowed(uri.as_str()) {
        return Err(invalid_grant(format!(
            "Signed {chain} message is using URI which is not allowed on this server, message was signed for another app"
        )));
    }
    let host = match (uri.host_str(), uri.port()) {
        (Some(host), Some(port)) => format!("{host}:{port}"),
        (host, _) => host.unwrap_or_default().to_owned(),
    };
    // The wallet shows the domain, so a message for another one was signed for another site, also if its URI is local.
    let is_allowed = is_local
        || state
            .redirects
            .is_allowed(&format!("https://{}/", message.domain));
    if host != message.domain || !is_allowed {
        return Err(invalid_grant(format!(
            "Signed {chain} message is using a Domain that does not match the one in URI which is not allowed on this server"
        )));
    }
    Ok(())
}

/// The profile of a wallet, which has no e-mail address. The subject is `web3:<chain>:<address>`.
fn build_profile(message: &WalletMessage) -> Profile {
    let mut profile = Profile::default();
    profile.subject = format!("web3:{}:{}", message.chain.as_str(), message.address);
    profile
        .with_custom_claim("address", json!(message.address))
        .with_custom_claim("chain", json!(message.chain.as_str()))
        .with_custom_claim("network", json!(message.network))
        .with_custom_claim("domain", json!(message.domain))
        .with_custom_claim("statement", json!(message.statement))
}
