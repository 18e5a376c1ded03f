//! Signed messages of crypto wallets (`grant_type=web3`): Sign-In with Ethereum (EIP-4361) and its variant for Solana.
//!
//! The grant parses a message here, verifies its signature and its times, and then checks itself that the message was
//! signed for this project's site. Nothing here touches the database. Source: Auth contract §2.4.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, TimeDelta, Utc};
use ed25519_dalek::{Signature as Ed25519Signature, Verifier, VerifyingKey as Ed25519Key};
use k256::ecdsa::{RecoveryId, Signature as EcdsaSignature, VerifyingKey as EcdsaKey};
use sha3::{Digest, Keccak256};
use url::Url;

/// A message is accepted this long before and after its `Issued At`. Its nonce is not stored, so during this time the
/// same message signs in again, as with GoTrue.
const VALIDITY: TimeDelta = TimeDelta::minutes(10);

/// The blockchain that a wallet belongs to. It decides the form of addresses and signatures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Chain {
    Ethereum,
    Solana,
}

impl Chain {
    /// Value of `chain` in requests.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Ethereum => "ethereum",
            Self::Solana => "solana",
        }
    }

    /// The name in the first line of signed messages, and in error texts.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Ethereum => "Ethereum",
            Self::Solana => "Solana",
        }
    }

    /// Prefix of parse errors, as in GoTrue: Sign-In with Ethereum or with Solana.
    fn error_prefix(self) -> &'static str {
        match self {
            Self::Ethereum => "siwe",
            Self::Solana => "siws",
        }
    }

    /// Whether the text has the form of an address: `0x` and 40 hex digits, or the 32 to 44 characters that 32 bytes
    /// take in base58. The signature check decodes Solana's address and rejects letters that base58 lacks.
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

    /// Whether the text is a valid `Chain ID`: a positive number (EIP-155), or the name of a Solana cluster, which may
    /// be empty.
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

/// A parsed message. Parsing proves nothing: [`Self::is_signed_by`] and [`Self::check_time`] must follow.
#[derive(Debug, Clone)]
pub(crate) struct WalletMessage {
    pub(crate) chain: Chain,
    /// Host, with or without a port, that asked for the signature.
    pub(crate) domain: String,
    /// The account as the message spells it: hex with `0x`, or base58.
    pub(crate) address: String,
    /// Text that the wallet showed to the user.
    pub(crate) statement: Option<String>,
    /// The page that asked for the signature.
    pub(crate) uri: Url,
    /// `Chain ID`; empty when a Solana message has none.
    pub(crate) network: String,
    issued_at: DateTime<Utc>,
    not_before: Option<DateTime<Utc>>,
    expires_at: Option<DateTime<Utc>>,
    /// The message byte for byte, which is what the wallet has signed.
    text: String,
}

impl WalletMessage {
    /// Parses the text of a message.
    ///
    /// # Errors
    /// The message for the client, in GoTrue's words.
    pub(crate) fn parse(chain: Chain, text: &str) -> Result<Self, String> {
        let parse_error = |what: &str| format!("{}: {what}", chain.error_prefix());
        let lines: Vec<&str> = text.split('\n').collect();
        if lines.len() < 6 {
            return Err(parse_error("message needs at least 6 lines"));
        }
        let suffix = format!(" wants you to sign in with your {} account:", chain.title());
        let domain = lines[0]
            .strip_suffix(suffix.as_str())
            .ok_or_else(|| parse_error(&format!("message first line does not end in \"{suffix}\"")))?
            .trim();
        if !is_domain(domain) {
            return Err(parse_error("domain in first line of message is not valid"));
        }
        let address = lines[1].trim();
        if !chain.is_address(address) {
            return Err(parse_error(match chain {
                Chain::Ethereum => "wallet address is not a valid Ethereum address",
                Chain::Solana => "wallet address is not in base58 format",
            }));
        }
        if !lines[2].is_empty() {
            return Err(parse_error("third line must be empty"));
        }
        // EIP-4361: an empty line separates the address from the statement, and another one the statement from the
        // fields.
        let has_statement = !lines[3].is_empty() && lines[4].is_empty();
        let fields = Fields::parse(chain, &lines, if has_statement { 5 } else { 3 })
            .map_err(|what| parse_error(&what))?;
        Ok(Self {
            chain,
            domain: domain.to_owned(),
            address: address.to_owned(),
            statement: has_statement.then(|| lines[3].to_owned()),
            uri: fields.uri.ok_or_else(|| parse_error("URI is not specified"))?,
            network: fields.network,
            issued_at: fields
                .issued_at
                .ok_or_else(|| parse_error("Issued At is not specified"))?,
            not_before: fields.not_before,
            expires_at: fields.expires_at,
            text: text.to_owned(),
        })
    }

    /// Whether `signature` is a signature of exactly this text by the key of the message's address; `false` for a
    /// malformed one.
    pub(crate) fn is_signed_by(&self, signature: &str) -> bool {
        match self.chain {
            Chain::Ethereum => is_signed_by_ethereum(&self.text, &self.address, signature).unwrap_or(false),
            Chain::Solana => {
                is_signed_by_solana(&self.text, &self.domain, &self.address, signature).unwrap_or(false)
            }
        }
    }

    /// Checks `Not Before`, `Expiration Time` and `Issued At` against the clock.
    ///
    /// # Errors
    /// The message for the client.
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

/// The fields below the statement, one `Name: value` per line. Fields that decide nothing (`Nonce`, `Request ID`) are
/// skipped.
#[derive(Default)]
struct Fields {
    uri: Option<Url>,
    network: String,
    issued_at: Option<DateTime<Utc>>,
    not_before: Option<DateTime<Utc>>,
    expires_at: Option<DateTime<Utc>>,
}

impl Fields {
    /// Parses the lines from index `start`.
    ///
    /// # Errors
    /// What is wrong, without the prefix of the chain.
    fn parse(chain: Chain, lines: &[&str], start: usize) -> Result<Self, String> {
        let mut fields = Self::default();
        let mut version = "";
        // The number of resources read so far, while the lines after `Resources:` are being read.
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

    /// Rejects a message that would expire before it is issued or becomes valid.
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

/// Whether this is `localhost` or a domain name with a dot, with or without a port.
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

/// Recovers the signer's key from the signature (EIP-191) and compares its address. `None` for a malformed signature.
fn is_signed_by_ethereum(text: &str, address: &str, signature: &str) -> Option<bool> {
    let bytes = hex::decode(signature.strip_prefix("0x").unwrap_or(signature)).ok()?;
    let (body, last) = bytes.split_at_checked(64)?;
    let &[last] = last else { return None };
    // The last byte selects one of the possible keys. Bitcoin added 27 to it, and most Ethereum wallets still do.
    let recovery = RecoveryId::from_byte(if last >= 27 { last - 27 } else { last })?;
    // The address is the last 20 bytes of the Keccak-256 hash of the public key without its format byte.
    let signature = EcdsaSignature::from_slice(body).ok()?;
    let message = format!("\u{19}Ethereum Signed Message:\n{}{text}", text.len());
    let digest = Keccak256::digest(message.as_bytes());
    let key = EcdsaKey::recover_from_prehash(&digest, &signature, recovery).ok()?;
    let point = key.to_encoded_point(false);
    let hash = Keccak256::digest(point.as_bytes().get(1..)?);
    Some(hex::encode(&hash[12..]).eq_ignore_ascii_case(address.strip_prefix("0x")?))
}

/// Verifies an Ed25519 signature, in base64 or base64url, over the text or over Solana's off-chain message with the
/// text, which hardware wallets sign. `None` for a malformed signature or address.
fn is_signed_by_solana(text: &str, domain: &str, address: &str, signature: &str) -> Option<bool> {
    let url_safe = signature
        .trim_end_matches('=')
        .replace('+', "-")
        .replace('/', "_");
    let signature = URL_SAFE_NO_PAD.decode(url_safe).ok()?;
    let signature = Ed25519Signature::from_slice(&signature).ok()?;
    let key: [u8; 32] = bs58::decode(address).into_vec().ok()?.try_into().ok()?;
    let verifying = Ed25519Key::from_bytes(&key).ok()?;
    // With a public key of low order, one signature is valid for many messages, so it does not prove that anybody
    // signed this one.
    if verifying.is_weak() {
        return None;
    }
    if verifying.verify(text.as_bytes(), &signature).is_ok() {
        return Some(true);
    }
    // Off-chain message: signing domain, header version 0, application domain in 32 bytes, format 0 (ASCII), one
    // signer, its key, length of the text as a little-endian u16, text.
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
    fn a_valid_message_is_parsed_and_each_malformed_line_has_its_error() {
        let message = WalletMessage::parse(Chain::Ethereum, &text("site.example", "https://site.example/"));
        let message = message.expect("valid");
        assert_eq!(
            (message.statement.as_deref(), message.network.as_str()),
            (Some("Hello"), "1")
        );

        let error_of = |text: &str| {
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
            assert_eq!(error_of(&good.replace(from, to)), expected);
        }
        assert_eq!(error_of("x"), "siwe: message needs at least 6 lines");
    }

    #[test]
    fn a_message_is_accepted_from_ten_minutes_before_to_ten_minutes_after_issued_at() {
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
