//! Messages that a wallet has signed to sign its owner in: EIP-4361 (Ethereum) and its sibling for Solana. Pure: text and
//! signature in, what they say out. Source: Auth contract §2.4.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, TimeDelta, Utc};
use ed25519_dalek::{Signature as Ed25519Signature, Verifier, VerifyingKey as Ed25519Key};
use k256::ecdsa::{RecoveryId, Signature as EcdsaSignature, VerifyingKey as EcdsaKey};
use sha3::{Digest, Keccak256};
use url::Url;

/// A message is good for so long before and after it was issued.
const VALIDITY: TimeDelta = TimeDelta::minutes(10);

/// Whose wallet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Chain {
    Ethereum,
    Solana,
}

impl Chain {
    /// Name on the wire.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Ethereum => "ethereum",
            Self::Solana => "solana",
        }
    }

    /// Name in messages.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Ethereum => "Ethereum",
            Self::Solana => "Solana",
        }
    }

    /// Prefix of complaints about the text.
    fn dialect(self) -> &'static str {
        match self {
            Self::Ethereum => "siwe",
            Self::Solana => "siws",
        }
    }

    fn is_address(self, text: &str) -> bool {
        match self {
            Self::Ethereum => text
                .strip_prefix("0x")
                .is_some_and(|hex| hex.len() == 40 && hex.bytes().all(|byte| byte.is_ascii_hexdigit())),
            Self::Solana => {
                (32..=44).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
            }
        }
    }

    fn is_network(self, text: &str) -> bool {
        match self {
            Self::Ethereum => text.parse::<i64>().is_ok_and(|number| number > 0),
            Self::Solana => {
                text.is_empty()
                    || matches!(
                        text,
                        "solana:mainnet" | "solana:devnet" | "solana:testnet" | "solana:localnet"
                    )
            }
        }
    }
}

/// What a message says.
#[derive(Debug, Clone)]
pub(crate) struct WalletMessage {
    pub(crate) chain: Chain,
    pub(crate) domain: String,
    pub(crate) address: String,
    pub(crate) statement: Option<String>,
    pub(crate) uri: Url,
    pub(crate) network: String,
    issued_at: DateTime<Utc>,
    not_before: Option<DateTime<Utc>>,
    expires_at: Option<DateTime<Utc>>,
    text: String,
}

impl WalletMessage {
    /// Reads the text.
    ///
    /// # Errors
    /// What is wrong with it, as the contract words it.
    pub(crate) fn parse(chain: Chain, text: &str) -> Result<Self, String> {
        let complain = |what: &str| format!("{}: {what}", chain.dialect());
        let lines: Vec<&str> = text.split('\n').collect();
        if lines.len() < 6 {
            return Err(complain("message needs at least 6 lines"));
        }
        let suffix = format!(" wants you to sign in with your {} account:", chain.title());
        let domain = lines[0]
            .strip_suffix(suffix.as_str())
            .ok_or_else(|| complain(&format!("message first line does not end in \"{suffix}\"")))?
            .trim();
        if !is_domain(domain) {
            return Err(complain("domain in first line of message is not valid"));
        }
        let address = lines[1].trim();
        if !chain.is_address(address) {
            return Err(complain(match chain {
                Chain::Ethereum => "wallet address is not a valid Ethereum address",
                Chain::Solana => "wallet address is not in base58 format",
            }));
        }
        if !lines[2].is_empty() {
            return Err(complain("third line must be empty"));
        }
        let has_statement = !lines[3].is_empty() && lines[4].is_empty();
        let fields = Fields::parse(chain, &lines, if has_statement { 5 } else { 3 })
            .map_err(|what| complain(&what))?;
        Ok(Self {
            chain,
            domain: domain.to_owned(),
            address: address.to_owned(),
            statement: has_statement.then(|| lines[3].to_owned()),
            uri: fields.uri.ok_or_else(|| complain("URI is not specified"))?,
            network: fields.network,
            issued_at: fields
                .issued_at
                .ok_or_else(|| complain("Issued At is not specified"))?,
            not_before: fields.not_before,
            expires_at: fields.expires_at,
            text: text.to_owned(),
        })
    }

    /// Whether the address's key has signed exactly this text.
    pub(crate) fn is_signed_by(&self, signature: &str) -> bool {
        match self.chain {
            Chain::Ethereum => is_signed_by_ethereum(&self.text, &self.address, signature).unwrap_or(false),
            Chain::Solana => {
                is_signed_by_solana(&self.text, &self.domain, &self.address, signature).unwrap_or(false)
            }
        }
    }

    /// Whether the message is for now.
    ///
    /// # Errors
    /// Why not.
    pub(crate) fn check_time(&self, now: DateTime<Utc>) -> Result<(), String> {
        let chain = self.chain.title();
        if self.not_before.is_some_and(|from| now < from) {
            return Err(format!("Signed {chain} message becomes valid in the future"));
        }
        if self.expires_at.is_some_and(|until| now > until) {
            return Err(format!("Signed {chain} message is expired"));
        }
        if now > self.issued_at + VALIDITY {
            return Err(format!("{chain} message was issued too long ago"));
        }
        if now < self.issued_at - VALIDITY {
            return Err(format!("{chain} message was issued too far in the future"));
        }
        Ok(())
    }
}

/// The lines `Name: value` below the statement.
#[derive(Default)]
struct Fields {
    uri: Option<Url>,
    network: String,
    issued_at: Option<DateTime<Utc>>,
    not_before: Option<DateTime<Utc>>,
    expires_at: Option<DateTime<Utc>>,
}

impl Fields {
    fn parse(chain: Chain, lines: &[&str], start: usize) -> Result<Self, String> {
        let mut fields = Self::default();
        let mut version = "";
        let mut resources = None;
        for (index, line) in lines.iter().enumerate().skip(start) {
            let line = line.trim();
            if let (Some(count), Some(resource)) = (resources, line.strip_prefix("- ")) {
                Url::parse(resource.trim())
                    .map_err(|_| format!("Resource at position {count} has invalid URI"))?;
                resources = Some(count + 1);
                continue;
            }
            resources = None;
            if line == "Resources:" {
                resources = Some(0);
                continue;
            }
            if line.is_empty() {
                continue;
            }
            let (name, value) = line
                .split_once(':')
                .ok_or_else(|| format!("encountered unparsable line at index {index}"))?;
            let value = value.trim();
            let time = || {
                DateTime::parse_from_rfc3339(value)
                    .map(|time| Some(time.to_utc()))
                    .map_err(|_| format!("{name} is not a valid ISO8601 timestamp"))
            };
            match name {
                "URI" => fields.uri = Some(Url::parse(value).map_err(|_| "URI is not valid".to_owned())?),
                "Version" => version = value,
                "Chain ID" if chain.is_network(value) => fields.network = value.to_owned(),
                "Chain ID" => return Err("Chain ID is not valid".to_owned()),
                "Issued At" => fields.issued_at = time()?,
                "Expiration Time" => fields.expires_at = time()?,
                "Not Before" => fields.not_before = time()?,
                _ => {}
            }
        }
        if version != "1" {
            return Err(format!(
                "Version value is not supported, expected 1 got {version:?}"
            ));
        }
        fields.check_order()?;
        Ok(fields)
    }

    fn check_order(&self) -> Result<(), String> {
        let is_after = |from: Option<DateTime<Utc>>| {
            from.zip(self.expires_at)
                .is_some_and(|(from, until)| from > until)
        };
        if is_after(self.issued_at) {
            return Err("Issued At is after Expiration Time".to_owned());
        }
        if is_after(self.not_before) {
            return Err("Not Before is after Expiration Time".to_owned());
        }
        Ok(())
    }
}

/// `localhost` or a name with dots, with a port or without.
fn is_domain(text: &str) -> bool {
    let (name, port) = match text.split_once(':') {
        Some((name, port)) => (name, Some(port)),
        None => (text, None),
    };
    if port.is_some_and(|port| {
        port.is_empty() || port.len() > 5 || !port.bytes().all(|byte| byte.is_ascii_digit())
    }) {
        return false;
    }
    if name == "localhost" {
        return true;
    }
    let labels: Vec<&str> = name.split('.').collect();
    let is_label = |label: &&str| {
        let edge = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
        label.len() <= 63
            && edge(label.bytes().next())
            && edge(label.bytes().last())
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let is_top = |label: &str| label.len() >= 2 && label.bytes().all(|byte| byte.is_ascii_alphabetic());
    labels.len() >= 2 && labels.iter().all(is_label) && labels.last().is_some_and(|label| is_top(label))
}

/// Recovers the signer's address from the signature (EIP-191), and compares.
fn is_signed_by_ethereum(text: &str, address: &str, signature: &str) -> Option<bool> {
    let bytes = hex::decode(signature.strip_prefix("0x").unwrap_or(signature)).ok()?;
    let (body, last) = bytes.split_at_checked(64)?;
    let &[last] = last else { return None };
    let recovery = RecoveryId::from_byte(if last >= 27 { last - 27 } else { last })?;
    let signature = EcdsaSignature::from_slice(body).ok()?;
    let message = format!("\u{19}Ethereum Signed Message:\n{}{text}", text.len());
    let digest = Keccak256::digest(message.as_bytes());
    let key = EcdsaKey::recover_from_prehash(&digest, &signature, recovery).ok()?;
    let point = key.to_encoded_point(false);
    let hash = Keccak256::digest(point.as_bytes().get(1..)?);
    Some(hex::encode(&hash[12..]).eq_ignore_ascii_case(address.strip_prefix("0x")?))
}

/// The text itself is signed, or wrapped as hardware wallets do.
fn is_signed_by_solana(text: &str, domain: &str, address: &str, signature: &str) -> Option<bool> {
    let url_safe = signature
        .trim_end_matches('=')
        .replace('+', "-")
        .replace('/', "_");
    let signature = URL_SAFE_NO_PAD.decode(url_safe).ok()?;
    let signature = Ed25519Signature::from_slice(&signature).ok()?;
    let key: [u8; 32] = bs58::decode(address).into_vec().ok()?.try_into().ok()?;
    let verifying = Ed25519Key::from_bytes(&key).ok()?;
    // A key of low order would let one signature fit many messages.
    if verifying.is_weak() {
        return None;
    }
    if verifying.verify(text.as_bytes(), &signature).is_ok() {
        return Some(true);
    }
    let mut wrapped = b"\xffsolana offchain\x00".to_vec();
    let mut application = [0_u8; 32];
    let length = domain.len().min(32);
    application[..length].copy_from_slice(&domain.as_bytes()[..length]);
    wrapped.extend(application);
    wrapped.extend([0, 1]);
    wrapped.extend(key);
    wrapped.extend(u16::try_from(text.len()).ok()?.to_le_bytes());
    wrapped.extend(text.as_bytes());
    Some(verifying.verify(&wrapped, &signature).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(domain: &str, uri: &str) -> String {
        format!(
            "{domain} wants you to sign in with your Ethereum account:\n0x{}\n\nHello\n\nURI: {uri}\nVersion: 1\n\
             Chain ID: 1\nNonce: x\nIssued At: 2027-01-15T08:00:00Z\nResources:\n- https://a.example/",
            "ab".repeat(20)
        )
    }

    #[test]
    fn messages_are_read_and_complained_about() {
        let message = WalletMessage::parse(Chain::Ethereum, &text("site.example", "https://site.example/"));
        let message = message.expect("valid");
        assert_eq!(
            (message.statement.as_deref(), message.network.as_str()),
            (Some("Hello"), "1")
        );

        let complaint = |text: &str| {
            WalletMessage::parse(Chain::Ethereum, text)
                .err()
                .unwrap_or_default()
        };
        let good = text("site.example", "https://site.example/");
        for (from, to, expected) in [
            (
                "Version: 1",
                "Version: 2",
                "siwe: Version value is not supported, expected 1 got \"2\"",
            ),
            ("Chain ID: 1", "Chain ID: 0", "siwe: Chain ID is not valid"),
            ("\n\nHello", "\nx\nHello", "siwe: third line must be empty"),
            ("URI: https://site.example/\n", "", "siwe: URI is not specified"),
            (
                "Issued At: 2027",
                "Issued At: soon",
                "siwe: Issued At is not a valid ISO8601 timestamp",
            ),
            (
                "Nonce: x",
                "nonsense",
                "siwe: encountered unparsable line at index 8",
            ),
            (
                "- https://a.example/",
                "- no url",
                "siwe: Resource at position 0 has invalid URI",
            ),
            (
                "site.example wants",
                "exa_mple wants",
                "siwe: domain in first line of message is not valid",
            ),
        ] {
            assert_eq!(complaint(&good.replace(from, to)), expected);
        }
        assert_eq!(complaint("x"), "siwe: message needs at least 6 lines");
    }

    #[test]
    fn a_message_is_good_for_ten_minutes_around_its_issue() {
        let message =
            WalletMessage::parse(Chain::Ethereum, &text("localhost:3000", "http://localhost:3000/"));
        let message = message.expect("valid");
        let at = |minutes: i64| message.check_time(message.issued_at + TimeDelta::minutes(minutes));

        assert!(at(0).is_ok() && at(10).is_ok() && at(-10).is_ok());
        assert_eq!(
            at(11).err().as_deref(),
            Some("Ethereum message was issued too long ago")
        );
        assert_eq!(
            at(-11).err().as_deref(),
            Some("Ethereum message was issued too far in the future")
        );
    }
}
