//! Address and credentials of the source: from arguments, `SUPABASE_…` variables, or typed at the terminal.

use std::io::IsTerminal;

use anyhow::{Context, Result, bail};
use secrecy::SecretString;
use selvedge_config::Environment;
use selvedge_database::external::ExternalDatabase;
use tokio_postgres::Config as Login;

use crate::cli::ImportArgs;
use crate::commands::prompt::ask_secret;

/// Address and credentials of the source's database and API.
pub(super) struct SourceSettings {
    pub(super) login: Login,
    /// The API from which objects are downloaded; `None` with `--no-objects`.
    pub(super) api: Option<ApiSettings>,
}

/// Address and service role key of the source's API.
pub(super) struct ApiSettings {
    /// The URL without a slash at its end.
    pub(super) url: String,
    pub(super) key: SecretString,
}

impl SourceSettings {
    /// Reads arguments and the process's environment. The project's `.env` files are not read, because they have the values of
    /// the target.
    ///
    /// # Errors
    /// When a value is missing or malformed.
    pub(super) fn read(args: &ImportArgs, environment: &Environment) -> Result<Self> {
        Ok(Self {
            login: read_login(args, environment)?,
            api: read_api(args, environment)?,
        })
    }
}

fn read_login(args: &ImportArgs, environment: &Environment) -> Result<Login> {
    let url = args
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

fn read_api(args: &ImportArgs, environment: &Environment) -> Result<Option<ApiSettings>> {
    if args.no_objects {
        return Ok(None);
    }
    let Some(url) = args
        .api_url
        .as_deref()
        .or_else(|| environment.get("SUPABASE_URL"))
    else {
        bail!(
            "objects are copied from the source's API: name it with --api-url or the variable SUPABASE_URL, or leave the \
             objects out with --no-objects"
        );
    };
    let key = args
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
        let read = |args: &ImportArgs, pairs: &[(&'static str, &'static str)]| {
            SourceSettings::read(args, &environment(pairs))
        };
        let database = ("SUPABASE_DB_URL", "postgresql://postgres@127.0.0.1/postgres");
        let password = ("SUPABASE_DB_PASSWORD", "s3cret");

        let settings = read(
            &ImportArgs::default(),
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

        let refusal = read(&ImportArgs::default(), &[database, password]).err().unwrap();
        assert!(refusal.to_string().contains("--no-objects"), "{refusal}");
        let without = ImportArgs {
            no_objects: true,
            ..ImportArgs::default()
        };
        assert!(read(&without, &[database, password]).unwrap().api.is_none());
        assert!(read(&without, &[]).is_err());
    }
}
