//! `POST /token?grant_type=web3`: a wallet's owner signs in with a message that the wallet has signed. Source: Auth contract §2.4.

use actix_web::HttpResponse;
use serde::Deserialize;
use serde_json::json;

use crate::accounts;
use crate::error::AuthError;
use crate::external_accounts::{self, Admission, Visitor};
use crate::providers::Profile;
use crate::request::{RequestInfo, text};
use crate::rules::wallet_message::{Chain, WalletMessage};
use crate::sign_in::start_session;
use crate::state::AuthState;
use crate::store::audit::Action;

const SHORTEST_MESSAGE: usize = 64;
const LONGEST_MESSAGE: usize = 20 * 1024;

/// What a client sends.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Web3Body {
    #[serde(deserialize_with = "text")]
    chain: String,
    #[serde(deserialize_with = "text")]
    message: String,
    #[serde(deserialize_with = "text")]
    signature: String,
}

pub(crate) async fn grant(
    state: &AuthState,
    info: &RequestInfo,
    body: Web3Body,
) -> Result<HttpResponse, AuthError> {
    let message = read(state, &body)?;
    let visitor_profile = profile(&message);
    let visitor = Visitor {
        provider: "web3",
        profile: &visitor_profile,
        email_optional: true,
    };
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    let user_id = match external_accounts::admit(state, &db, info, &visitor).await? {
        Admission::Granted(user_id) => user_id,
        Admission::Refused(error) => {
            db.commit().await?;
            return Err(error);
        }
    };
    let user = accounts::get(&db, user_id).await?;
    let traits = json!({
        "provider": "web3", "chain": message.chain.as_str(), "network": message.network,
        "address": message.address, "domain": message.domain, "uri": message.uri.as_str(),
    });
    accounts::log_with(state, &db, info, &user, Action::Login, traits).await?;
    let tokens = start_session(state, &db, info, user_id, "web3").await?;
    db.commit().await?;
    Ok(tokens.response([]))
}

/// Checks everything that can be checked without the database.
fn read(state: &AuthState, body: &Web3Body) -> Result<WalletMessage, AuthError> {
    let chain = chain(state, &body.chain)?;
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
        return Err(refuse("Signature does not match address in message".to_owned()));
    }
    check_site(state, &message)?;
    message.check_time(state.now()).map_err(refuse)?;
    Ok(message)
}

fn refuse(description: String) -> AuthError {
    AuthError::oauth("invalid_grant", description)
}

/// Whether any chain is on.
pub(crate) fn check_offered(state: &AuthState) -> Result<(), AuthError> {
    let config = &state.config.web3;
    if config.solana || config.ethereum {
        return Ok(());
    }
    Err(off("Web3 provider is disabled"))
}

fn off(text: &'static str) -> AuthError {
    AuthError::FeatureOff {
        status: 422,
        code: "web3_provider_disabled",
        text,
    }
}

fn chain(state: &AuthState, name: &str) -> Result<Chain, AuthError> {
    let config = &state.config.web3;
    match name {
        "solana" if config.solana => Ok(Chain::Solana),
        "solana" => Err(off("Solana Web3 provider is disabled")),
        "ethereum" if config.ethereum => Ok(Chain::Ethereum),
        "ethereum" => Err(off("Ethereum Web3 provider is disabled")),
        _ => Err(AuthError::FeatureOff {
            status: 400,
            code: "web3_unsupported_chain",
            text: "Unsupported chain",
        }),
    }
}

/// The message must have been signed for this project's site, or another site could use it here.
fn check_site(state: &AuthState, message: &WalletMessage) -> Result<(), AuthError> {
    let chain = message.chain.title();
    let uri = &message.uri;
    let is_local = uri.host_str() == Some("localhost");
    if uri.scheme() != "https" && !is_local {
        return Err(refuse(format!(
            "Signed {chain} message is using URI which does not use HTTPS"
        )));
    }
    if !state.redirects.is_allowed(uri.as_str()) {
        return Err(refuse(format!(
            "Signed {chain} message is using URI which is not allowed on this server, message was signed for another app"
        )));
    }
    let host = match (uri.host_str(), uri.port()) {
        (Some(host), Some(port)) => format!("{host}:{port}"),
        (host, _) => host.unwrap_or_default().to_owned(),
    };
    let is_same_site = host == message.domain
        && state
            .redirects
            .is_allowed(&format!("https://{}/", message.domain));
    if !is_local && !is_same_site {
        return Err(refuse(format!(
            "Signed {chain} message is using a Domain that does not match the one in URI which is not allowed on this server"
        )));
    }
    Ok(())
}

/// The wallet as an identity; it has no address that mail could reach.
fn profile(message: &WalletMessage) -> Profile {
    let mut profile = Profile::default();
    profile.subject = format!("web3:{}:{}", message.chain.as_str(), message.address);
    profile
        .custom("address", json!(message.address))
        .custom("chain", json!(message.chain.as_str()))
        .custom("network", json!(message.network))
        .custom("domain", json!(message.domain))
        .custom("statement", json!(message.statement))
}
