//! Providers that are asked who somebody is, with the access token; each answers in its own words. Source: Auth contract §8.1.

use hmac::{Hmac, KeyInit, Mac};
use hyper::header::HeaderName;
use serde_json::{Map, Value};
use sha2::Sha256;

use super::exchange::ProviderTokens;
use super::id_token::{is_true, standard};
use super::profile::{Profile, ProviderEmail};
use super::{Provider, ProviderError};
use crate::http_client::{Call, HttpClient};

/// In whose words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UserInfo {
    /// OpenID Connect's claims; the address is the whole of `api`.
    Standard,
    Bitbucket,
    Discord,
    Facebook,
    Figma,
    Fly,
    GitHub,
    GitLab,
    /// Google's older endpoint, used when it gave no ID token; the address is the whole of `api`.
    Google,
    Kakao,
    Keycloak,
    LinkedIn,
    Notion,
    /// The older kind vouches for every address.
    Slack {
        vouches: bool,
    },
    Snapchat,
    Spotify,
    Twitch,
    WorkOs,
    X,
    Zoom,
}

/// One question, with the token as bearer.
struct Asker<'a> {
    http: &'a HttpClient,
    token: &'a str,
}

impl Asker<'_> {
    async fn ask(&self, url: String) -> Result<Value, ProviderError> {
        self.send(Call::get(url)).await
    }

    async fn send(&self, call: Call) -> Result<Value, ProviderError> {
        Ok(self.http.send(call.bearer(self.token)).await?.json()?)
    }
}

/// Asks the provider.
#[expect(
    clippy::too_many_lines,
    reason = "one provider after the other; a table reads best whole"
)]
pub(super) async fn fetch(
    http: &HttpClient,
    provider: &Provider,
    userinfo: UserInfo,
    api: &str,
    tokens: &ProviderTokens,
) -> Result<Profile, ProviderError> {
    let asker = Asker {
        http,
        token: &tokens.access_token,
    };
    let profile = match userinfo {
        UserInfo::Standard => of_claims(&fetch_claims(http, api, tokens).await?),
        UserInfo::Google => {
            let user = asker.ask(api.to_owned()).await?;
            Profile::new(api, text(&user["id"]))
                .named(text(&user["name"]))
                .pictured(text(&user["picture"]))
                .mailed(text(&user["email"]), is_true(user.get("verified_email")))
        }
        UserInfo::Bitbucket => {
            let user = asker.ask(format!("{api}/user")).await?;
            let emails = asker.ask(format!("{api}/user/emails")).await?;
            let mut profile = Profile::new(api, text(&user["uuid"]))
                .named(text(&user["display_name"]))
                .pictured(text(&user["avatar"]["href"]));
            profile.emails = emails_of(&emails["values"], "is_confirmed", "is_primary");
            profile
        }
        UserInfo::Discord => discord(api, &asker.ask(format!("{api}/users/@me")).await?),
        UserInfo::Facebook => {
            let proof = app_secret_proof(provider.secret(), &tokens.access_token);
            let fields = "fields=email,first_name,last_name,name,picture";
            let user = asker
                .ask(format!("{api}/me?{fields}&appsecret_proof={proof}"))
                .await?;
            let picture = text(&user["picture"]["data"]["url"]);
            Profile::new(&format!("{api}/me?{fields}"), text(&user["id"]))
                .named(&full_name(&user, "first_name", "last_name"))
                .with("nickname", text(&user["name"]))
                .with("slug", text(&user["name"]))
                .pictured(picture)
                .mailed(text(&user["email"]), true)
        }
        UserInfo::Figma => {
            let user = asker.ask(format!("{api}/v1/me")).await?;
            Profile::new(api, text(&user["id"]))
                .named(text(&user["handle"]))
                .with("avatar_url", text(&user["img_url"]))
                .mailed(text(&user["email"]), true)
        }
        UserInfo::Fly => {
            let user = asker.ask(format!("{api}/oauth/token/info")).await?;
            let names = [
                "resource_owner_id",
                "organizations",
                "application",
                "scope",
                "created_at",
            ];
            let profile = Profile::new(api, text(&user["user_id"]))
                .with("full_name", text(&user["user_name"]))
                .mailed(text(&user["email"]), true);
            names
                .iter()
                .fold(profile, |profile, name| profile.custom(name, user[*name].clone()))
        }
        UserInfo::GitHub => {
            let user = asker.ask(format!("{api}/user")).await?;
            let emails = asker.ask(format!("{api}/user/emails")).await?;
            let login = text(&user["login"]);
            let mut profile = Profile::new(api, id(&user["id"]))
                .named(text(&user["name"]))
                .with("avatar_url", text(&user["avatar_url"]))
                .with("preferred_username", login)
                .with("user_name", login);
            profile.emails = emails_of(&emails, "verified", "primary");
            profile
        }
        UserInfo::GitLab => {
            let user = asker.ask(format!("{api}/api/v4/user")).await?;
            let emails = asker.ask(format!("{api}/api/v4/user/emails")).await?;
            let mut profile = Profile::new(api, id(&user["id"]))
                .named(text(&user["name"]))
                .pictured(text(&user["avatar_url"]));
            profile.emails = emails_of(&emails, "", "");
            profile.mailed(text(&user["email"]), !text(&user["confirmed_at"]).is_empty())
        }
        UserInfo::Kakao => {
            let user = asker.ask(format!("{api}/v2/user/me")).await?;
            let account = &user["kakao_account"];
            let name = text(&account["profile"]["nickname"]);
            let verified =
                is_true(account.get("is_email_verified")) && is_true(account.get("is_email_valid"));
            Profile::new(api, id(&user["id"]))
                .named(name)
                .with("preferred_username", name)
                .with("user_name", name)
                .with("avatar_url", text(&account["profile"]["profile_image_url"]))
                .mailed(text(&account["email"]), verified)
        }
        UserInfo::Keycloak => {
            let user = object(
                asker
                    .ask(format!("{api}/protocol/openid-connect/userinfo"))
                    .await?,
            )?;
            let profile = Profile::new(api, text(&user["sub"]))
                .named(text(&user["name"]))
                .mailed(text(&user["email"]), is_true(user.get("email_verified")));
            let is_custom = |name: &str| !["name", "sub", "email", "email_verified"].contains(&name);
            user.iter()
                .filter(|(name, _)| is_custom(name))
                .fold(profile, |profile, (name, value)| {
                    profile.custom(name, value.clone())
                })
        }
        UserInfo::LinkedIn => linkedin(api, &asker).await?,
        UserInfo::Notion => {
            let version = HeaderName::from_static("notion-version");
            let call = Call::get(format!("{api}/v1/users/me")).header(version, "2021-08-16");
            let answer = asker.send(call).await?;
            let user = &answer["bot"]["owner"]["user"];
            Profile::new(api, text(&user["id"]))
                .named(text(&user["name"]))
                .pictured(text(&user["avatar_url"]))
                .mailed(text(&user["person"]["email"]), true)
        }
        UserInfo::Slack { vouches } => {
            let user = asker.ask(format!("{api}/openid.connect.userInfo")).await?;
            Profile::new(api, text(&user["https://slack.com/user_id"]))
                .named(text(&user["name"]))
                .pictured(text(&user["picture"]))
                .custom(
                    "https://slack.com/team_id",
                    user["https://slack.com/team_id"].clone(),
                )
                .mailed(
                    text(&user["email"]),
                    vouches || is_true(user.get("email_verified")),
                )
        }
        UserInfo::Snapchat => {
            let query = "%7Bme%20%7B%20externalId%20displayName%20bitmoji%20%7B%20avatar%20id%20%7D%20email%20%7D%20%7D";
            let answer = asker.ask(format!("{api}/v1/me?query={query}")).await?;
            let user = &answer["data"]["me"];
            let issuer = "https://accounts.snapchat.com/accounts/oauth2/token";
            Profile::new(issuer, text(&user["externalId"]))
                .named(text(&user["displayName"]))
                .with("slug", text(&user["displayName"]))
                .pictured(text(&user["bitmoji"]["avatar"]))
                .mailed(text(&user["email"]), true)
        }
        UserInfo::Spotify => {
            let user = asker.ask(format!("{api}/me")).await?;
            let area =
                |image: &&Value| image["height"].as_i64().unwrap_or(0) * image["width"].as_i64().unwrap_or(0);
            let largest = user["images"].as_array().into_iter().flatten().max_by_key(area);
            // Spotify does not say whether an address is proven, so none is.
            Profile::new(api, text(&user["id"]))
                .named(text(&user["display_name"]))
                .pictured(largest.map_or("", |image| text(&image["url"])))
                .mailed(text(&user["email"]), false)
        }
        UserInfo::Twitch => {
            let client_id = HeaderName::from_static("client-id");
            let call = Call::get(format!("{api}/helix/users")).header(client_id, provider.client_id());
            let answer = asker.send(call).await?;
            let user = &answer["data"][0];
            let names = [
                "broadcaster_type",
                "description",
                "type",
                "offline_image_url",
                "view_count",
            ];
            let profile = Profile::new(api, text(&user["id"]))
                .named(text(&user["login"]))
                .with("nickname", text(&user["display_name"]))
                .with("slug", text(&user["display_name"]))
                .pictured(text(&user["profile_image_url"]))
                .mailed(text(&user["email"]), true);
            names
                .iter()
                .fold(profile, |profile, name| profile.custom(name, user[*name].clone()))
        }
        UserInfo::WorkOs => {
            let user = &tokens.answer["profile"];
            let name = full_name(user, "first_name", "last_name");
            Profile::new(api, text(&user["id"]))
                .named(&name)
                .custom("connection_id", user["connection_id"].clone())
                .custom("organization_id", user["organization_id"].clone())
                .mailed(text(&user["email"]), true)
        }
        UserInfo::X => {
            let fields = "id,name,username,confirmed_email,profile_image_url,url,created_at";
            let answer = asker
                .ask(format!("{api}/2/users/me?user.fields={fields}"))
                .await?;
            let user = &answer["data"];
            let username = text(&user["username"]);
            Profile::new(api, text(&user["id"]))
                .named(text(&user["name"]))
                .with("preferred_username", username)
                .with("user_name", username)
                .with("profile", &format!("https://x.com/{username}"))
                .with("website", text(&user["url"]))
                .pictured(text(&user["profile_image_url"]))
                .custom("created_at", user["created_at"].clone())
                .mailed(text(&user["confirmed_email"]), true)
        }
        UserInfo::Zoom => {
            let user = asker.ask(format!("{api}/users/me")).await?;
            let by_password = id(&user["login_type"]) == "100";
            let verified = !by_password || user["verified"].as_i64().is_some_and(|flag| flag != 0);
            Profile::new(api, text(&user["id"]))
                .named(&full_name(&user, "first_name", "last_name"))
                .pictured(text(&user["pic_url"]))
                .mailed(text(&user["email"]), verified)
        }
    };
    if profile.subject.is_empty() {
        return Err(ProviderError::NoSubject);
    }
    Ok(profile)
}

/// The claims as an OpenID Connect userinfo endpoint gives them.
pub(super) async fn fetch_claims(
    http: &HttpClient,
    url: &str,
    tokens: &ProviderTokens,
) -> Result<Map<String, Value>, ProviderError> {
    object(
        http.send(Call::get(url).bearer(&tokens.access_token))
            .await?
            .json()?,
    )
}

/// Whom such claims describe.
pub(super) fn of_claims(claims: &Map<String, Value>) -> Profile {
    let member = |name: &str| claims.get(name).and_then(Value::as_str).unwrap_or_default();
    standard(claims).mailed(member("email"), is_true(claims.get("email_verified")))
}

fn discord(api: &str, user: &Value) -> Profile {
    let (subject, avatar) = (text(&user["id"]), text(&user["avatar"]));
    let picture = if avatar.is_empty() {
        let number: u32 = text(&user["discriminator"]).parse().unwrap_or(0);
        format!("https://cdn.discordapp.com/embed/avatars/{}.png", number % 5)
    } else {
        let extension = if avatar.starts_with("a_") { "gif" } else { "png" };
        format!("https://cdn.discordapp.com/avatars/{subject}/{avatar}.{extension}")
    };
    let name = text(&user["username"]);
    Profile::new(api, subject)
        .with("name", &format!("{name}#{}", text(&user["discriminator"])))
        .with("full_name", name)
        .pictured(&picture)
        .custom("global_name", user["global_name"].clone())
        .mailed(text(&user["email"]), is_true(user.get("verified")))
}

async fn linkedin(api: &str, asker: &Asker<'_>) -> Result<Profile, ProviderError> {
    let projection = "(id,firstName,lastName,profilePicture(displayImage~:playableStreams))";
    let user = asker.ask(format!("{api}/v2/me?projection={projection}")).await?;
    let url = format!("{api}/v2/emailAddress?q=members&projection=(elements*(handle~))");
    let address = asker.ask(url).await?;
    let localized = |name: &Value| {
        let locale = &name["preferredLocale"];
        let key = format!("{}_{}", text(&locale["language"]), text(&locale["country"]));
        text(&name["localized"][key]).to_owned()
    };
    let name = format!(
        "{} {}",
        localized(&user["firstName"]),
        localized(&user["lastName"])
    );
    let image = &user["profilePicture"]["displayImage~"]["elements"][0]["identifiers"][0]["identifier"];
    Ok(Profile::new(api, text(&user["id"]))
        .named(name.trim())
        .pictured(text(image))
        .mailed(text(&address["elements"][0]["handle~"]["emailAddress"]), true))
}

/// Proves to Facebook that the call comes from the holder of the app's secret.
fn app_secret_proof(secret: &str, token: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("HMAC takes keys of any length");
    mac.update(token.as_bytes());
    hex::encode(mac.finalize().into_bytes())
}

/// A list of addresses; `verified` and `primary` name the members that say so.
fn emails_of(list: &Value, verified: &str, primary: &str) -> Vec<ProviderEmail> {
    let entries = list.as_array().into_iter().flatten();
    entries
        .filter(|entry| !text(&entry["email"]).is_empty())
        .map(|entry| ProviderEmail {
            address: text(&entry["email"]).to_owned(),
            verified: is_true(entry.get(verified)),
            primary: is_true(entry.get(primary)),
        })
        .collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// An id that may be a number.
fn id(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) if number.as_i64() != Some(0) => number.to_string(),
        _ => String::new(),
    }
}

fn full_name(user: &Value, first: &str, last: &str) -> String {
    format!("{} {}", text(&user[first]), text(&user[last]))
        .trim()
        .to_owned()
}

fn object(value: Value) -> Result<Map<String, Value>, ProviderError> {
    match value {
        Value::Object(map) => Ok(map),
        _ => Err(ProviderError::NoSubject),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn discord_names_pictures_by_hash_and_by_number() {
        let user = json!({"id": "1", "username": "ana", "discriminator": "0007", "avatar": null});
        let data = discord("https://discord.com/api", &user).identity_data();
        assert_eq!(data["picture"], "https://cdn.discordapp.com/embed/avatars/2.png");
        assert_eq!(data["name"], "ana#0007");

        let user = json!({"id": "1", "username": "ana", "discriminator": "0", "avatar": "a_x"});
        let data = discord("https://discord.com/api", &user).identity_data();
        assert_eq!(data["avatar_url"], "https://cdn.discordapp.com/avatars/1/a_x.gif");
    }
}
