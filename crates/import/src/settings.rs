//! Address and credentials of the source: from arguments, `SUPABASE_…` variables, or typed at the terminal.

use std::io::IsTerminal;

use anyhow::{Context, Result, bail};
use secrecy::SecretString;
use selvedge_config::Environment;
use selvedge_database::external::ExternalDatabase;
use selvedge_terminal::ask_secret;
use tokio_postgres::Config as Login;

use crate::options::ImportOptions;

/// Address and credentials of the source's database and API.
pub(crate) struct SourceSettings {
    pub(crate) login: Login,
    /// The API from which objects are downloaded; `None` with `--no-objects`.
    pub(crate) api: Option<ApiSettings>,
}

/// Address and service role key of the source's API.
pub(crate) struct ApiSettings {
    /// The URL without a slash at its end.
    pub(crate) url: String,
    pub(crate) key: SecretString,
}

impl SourceSettings {
    /// Reads arguments and the process's environment. The project's `.env` files are not read, because they have the values of
    /// the target.
    ///
    /// # Errors
    /// When a value is missing or malformed.
    pub(crate) fn read(options: &ImportOptions, environment: &Environment) -> Result<Self> {
        Ok(Self {
            login: read_login(options, environment)?,
            api: read_api(options, environment)?,
        })
    }
}

fn read_login(options: &ImportOptions, environment: &Environment) -> Result<Login> {
    let url = options
        .db_url
        .as_deref()
        .or_else(|| environment.get("SUPABASE_DB_URL"))
        .context("the source needs an address: --db-url URL, or the variable SUPABASE_DB_URL")?;
    let mut login = ExternalDatabase::parse_named("the address of the source", &url.into())?
        .login()
        .clone();
    if login.get_password().is_none() {
        match environment.get("SUPABASE_DB_PASSWORD") {
            Some(password) => login.password(password),
            None if std::io::stdin().is_terminal() => {
                use secrecy::ExposeSecret;
                login.password(ask_secret("Password of the source's database: ")?.expose_secret())
            }
            None => &mut login,
        };
    }
    login.application_name("selvedge import");
    Ok(login)
}

fn read_api(options: &ImportOptions, environment: &Environment) -> Result<Option<ApiSettings>> {
    if options.no_objects {
        return Ok(None);
    }
    let Some(url) = options
        .api_url
        .as_deref()
        .or_else(|| environment.get("SUPABASE_URL"))
    else {
        bail!(
            "objects are copied from the source's API: name it with --api-url or the variable SUPABASE_URL, or leave the \
             objects out with --no-objects"
        );
    };
    let key = options
        .service_role_key
        .as_deref()
        .or_else(|| environment.get("SUPABASE_SERVICE_ROLE_KEY"))
        .or_else(|| environment.get("SUPABASE_SECRET_KEY"));
    let key = match key {
        Some(key) => key.to_owned().into(),
        None if std::io::stdin().is_terminal() => ask_secret("Service role key of the source: ")?,
        None => bail!("the source's API needs its key: set the variable SUPABASE_SERVICE_ROLE_KEY"),
    };
    Ok(Some(ApiSettings {
        url: url.trim_end_matches('/').to_owned(),
        key,
    }))
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn read_takes_arguments_before_variables_and_requires_an_api_unless_no_objects() {
        let environment = |pairs: &[(&'static str, &'static str)]| pairs.iter().copied().collect();
        let read = |options: &ImportOptions, pairs: &[(&'static str, &'static str)]| {
            SourceSettings::read(options, &environment(pairs))
        };
        let database = ("SUPABASE_DB_URL", "postgresql://postgres@127.0.0.1/postgres");
        let password = ("SUPABASE_DB_PASSWORD", "s3cret");

        let settings = read(
            &ImportOptions::default(),
            &[
                database,
                password,
                ("SUPABASE_URL", "https://a.example/"),
                ("SUPABASE_SERVICE_ROLE_KEY", "key"),
            ],
        )
        .unwrap();
        let api = settings.api.unwrap();
        assert_eq!(settings.login.get_password(), Some(&b"s3cret"[..]));
        assert_eq!(
            (api.url.as_str(), api.key.expose_secret()),
            ("https://a.example", "key")
        );

        let refusal = read(&ImportOptions::default(), &[database, password])
            .err()
            .unwrap();
        assert!(refusal.to_string().contains("--no-objects"), "{refusal}");
        let without = ImportOptions {
            no_objects: true,
            ..ImportOptions::default()
        };
        assert!(read(&without, &[database, password]).unwrap().api.is_none());
        assert!(read(&without, &[]).is_err());
    }
}
