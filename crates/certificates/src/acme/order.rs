//! One order: the domains are proven, and a certificate is issued for a new key.

use std::time::Duration;

use instant_acme::{
    Account, AuthorizationStatus, CertificateIdentifier, ChallengeType, Identifier, NewOrder, Order,
    OrderStatus, RetryPolicy,
};
use rcgen::{CertificateParams, DistinguishedName, KeyPair};

use super::AcmeError;
use super::challenges::Challenges;

/// How the authority is asked whether it is done: every half a second at first, for five minutes.
const POLLS: RetryPolicy = RetryPolicy::new()
    .initial_delay(Duration::from_millis(500))
    .backoff(1.5)
    .timeout(Duration::from_secs(300));

/// A certificate that was issued, as PEM.
pub(super) struct Issued {
    pub(super) chain: String,
    pub(super) key: String,
}

/// Obtains a certificate. `preferred` is tried where the authority offers it, else the other challenge that this server can answer.
pub(super) async fn obtain_certificate(
    account: &Account,
    domains: &[String],
    replaced: Option<&CertificateIdentifier<'static>>,
    challenges: &Challenges,
    preferred: &ChallengeType,
) -> Result<Issued, AcmeError> {
    let identifiers: Vec<Identifier> = domains.iter().cloned().map(Identifier::Dns).collect();
    let mut order = place_order(account, &identifiers, replaced).await?;
    let outcome = prove_and_finalize(&mut order, domains, challenges, preferred).await;
    challenges.clear();
    outcome
}

/// Tells the authority which certificate is replaced, as it gives such orders precedence; one that does not take it gets the order without.
async fn place_order(
    account: &Account,
    identifiers: &[Identifier],
    replaced: Option<&CertificateIdentifier<'static>>,
) -> Result<Order, AcmeError> {
    if let Some(replaced) = replaced {
        let order = NewOrder::new(identifiers).replaces(replaced.clone());
        match account.new_order(&order).await.map_err(AcmeError::from) {
            Ok(order) => return Ok(order),
            Err(error) if error.problem_kind() == Some("rateLimited") => return Err(error),
            Err(error) => tracing::debug!(%error, "the order does not name the certificate that it replaces"),
        }
    }
    Ok(account.new_order(&NewOrder::new(identifiers)).await?)
}

async fn prove_and_finalize(
    order: &mut Order,
    domains: &[String],
    challenges: &Challenges,
    preferred: &ChallengeType,
) -> Result<Issued, AcmeError> {
    answer_challenges(order, challenges, preferred).await?;
    match order.poll_ready(&POLLS).await {
        Ok(OrderStatus::Ready) => {}
        Ok(_) => return Err(explain_failure(order, None).await),
        Err(error @ instant_acme::Error::Api(_)) => return Err(explain_failure(order, Some(error)).await),
        Err(error) => return Err(error.into()),
    }
    let key = KeyPair::generate()?;
    let mut parameters = CertificateParams::new(domains.to_vec())?;
    parameters.distinguished_name = DistinguishedName::new();
    let request = parameters.serialize_request(&key)?;
    order.finalize_csr(request.der()).await?;
    let chain = order.poll_certificate(&POLLS).await?;
    Ok(Issued {
        chain,
        key: key.serialize_pem(),
    })
}

/// Prepares the answers, and tells the authority of each. A domain that it has proven lately needs none.
async fn answer_challenges(
    order: &mut Order,
    challenges: &Challenges,
    preferred: &ChallengeType,
) -> Result<(), AcmeError> {
    let mut authorizations = order.authorizations();
    while let Some(authorization) = authorizations.next().await {
        let mut authorization = authorization?;
        if authorization.status == AuthorizationStatus::Valid {
            continue;
        }
        let domain = authorization.identifier().to_string();
        let offers =
            |kind: &ChallengeType| authorization.challenges.iter().any(|offer| offer.r#type == *kind);
        let answered = [ChallengeType::Http01, ChallengeType::TlsAlpn01];
        let kind = std::iter::once(preferred)
            .chain(&answered)
            .find(|kind| offers(kind))
            .cloned()
            .ok_or_else(|| AcmeError::NoChallenge(domain.clone()))?;
        let Some(mut challenge) = authorization.challenge(kind.clone()) else {
            return Err(AcmeError::NoChallenge(domain));
        };
        let key_authorization = challenge.key_authorization();
        match kind {
            ChallengeType::TlsAlpn01 => challenges.add_certificate(&domain, &key_authorization)?,
            _ => challenges.add_text(&challenge.token, &key_authorization),
        }
        challenge.set_ready().await?;
    }
    Ok(())
}

/// What the authority says of the domains that it could not prove, else what it has answered.
async fn explain_failure(order: &mut Order, answered: Option<instant_acme::Error>) -> AcmeError {
    let mut reasons = Vec::new();
    let mut authorizations = order.authorizations();
    while let Some(authorization) = authorizations.next().await {
        let Ok(mut authorization) = authorization else {
            continue;
        };
        let Ok(state) = authorization.refresh().await else {
            continue;
        };
        let domain = state.identifier().to_string();
        let problems = state
            .challenges
            .iter()
            .filter_map(|challenge| challenge.error.as_ref());
        reasons.extend(problems.map(|problem| format!("{domain}: {problem}")));
    }
    match answered {
        Some(error) if reasons.is_empty() => error.into(),
        None if reasons.is_empty() => AcmeError::NotProven("the authority does not say why".to_owned()),
        _ => AcmeError::NotProven(reasons.join("; ")),
    }
}
