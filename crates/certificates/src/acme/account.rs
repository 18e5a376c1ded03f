//! The account at the certificate authority: made once, kept in the folder, made anew for another authority or where it is forgotten.

use std::io::ErrorKind;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use instant_acme::{Account, AccountCredentials, ExternalAccountKey, NewAccount};
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};

use super::http::AuthorityClient;
use super::store::{in_file, read_json, write_json};
use super::{AcmeError, AcmeSettings};

const FILE: &str = "account.json";

/// The content of the file.
#[derive(Serialize, Deserialize)]
struct KeptAccount {
    /// The authority that knows it.
    directory: String,
    credentials: AccountCredentials,
}

/// The account of the folder, or a new one.
pub(super) async fn open_account(
    settings: &AcmeSettings,
    client: &AuthorityClient,
) -> Result<Account, AcmeError> {
    let path = settings.folder.join(FILE);
    let builder = Account::builder_with_http(Box::new(client.clone()));
    let kept: Option<KeptAccount> = match read_json(&path) {
        // A damaged one is replaced. One that cannot be read now is not: an account of an External Account Binding is often made once only.
        Err(AcmeError::File { source, .. })
            if [ErrorKind::InvalidData, ErrorKind::UnexpectedEof].contains(&source.kind()) =>
        {
            None
        }
        kept => kept?,
    };
    if let Some(kept) = kept.filter(|kept| kept.directory == settings.directory) {
        return Ok(builder.from_credentials(kept.credentials).await?);
    }
    let contact = settings.email.as_ref().map(|email| format!("mailto:{email}"));
    let contact: Vec<&str> = contact.as_deref().into_iter().collect();
    let account = NewAccount {
        contact: &contact,
        // The authority's terms: the documentation says that naming domains in the configuration agrees to them.
        terms_of_service_agreed: true,
        only_return_existing: false,
    };
    let external = read_external_account(settings)?;
    let made = builder.create(&account, settings.directory.clone(), external.as_ref());
    let (account, credentials) = made.await?;
    let kept = KeptAccount {
        directory: settings.directory.clone(),
        credentials,
    };
    write_json(&path, &kept)?;
    Ok(account)
}

/// Removes the stored account, so that the next attempt registers another one.
pub(super) fn forget_account(folder: &Path) -> Result<(), AcmeError> {
    let path = folder.join(FILE);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(in_file(&path)(error)),
        _ => Ok(()),
    }
}

fn read_external_account(settings: &AcmeSettings) -> Result<Option<ExternalAccountKey>, AcmeError> {
    let Some(external) = &settings.external_account else {
        return Ok(None);
    };
    let text = external.key.expose_secret().trim_end_matches('=');
    let key = URL_SAFE_NO_PAD.decode(text).map_err(|_| AcmeError::ExternalKey)?;
    Ok(Some(ExternalAccountKey::new(external.key_id.clone(), &key)))
}
