//! Discord: OAuth 2.0. One API call returns the profile, with an address that may be unverified.

use crate::http_client::Call;
use crate::providers::definition::{Definition, NO_ID_TOKENS, NamedProvider, choose_base_url};
use crate::providers::json_fields::Fields;
use crate::providers::profile::Profile;
use crate::providers::profile_api::{ApiContext, ProfileApi, Responses};

pub(super) const PROVIDER: NamedProvider = NamedProvider {
    name: "discord",
    define,
    id_token_rules: NO_ID_TOKENS,
};

/// All endpoints are below `/api` of one host, which a configured `url` replaces.
fn define(url: Option<&str>) -> Option<Definition> {
    let base = format!("{}/api", choose_base_url(url, "https://discord.com"));
    let authorize = format!("{base}/oauth2/authorize");
    let token = format!("{base}/oauth2/token");
    let api = ProfileApi {
        base,
        build_calls,
        read_profile,
    };
    Some(Definition::with_api(
        authorize,
        token,
        api,
        &["email", "identify"],
    ))
}

fn build_calls(api: &ApiContext<'_>) -> Vec<Call> {
    vec![api.get("/users/@me")]
}

/// Reads `{id, username, discriminator, global_name, avatar, email, verified}`.
fn read_profile(api: &ApiContext<'_>, responses: &Responses) -> Profile {
    let user = responses.object(0);
    let name = user.text("username");
    Profile::new(api.base, user.text("id"))
        // Compat: GoTrue appends the discriminator to the name, also the "0" of newer accounts, which have none.
        .with_claim("name", &format!("{name}#{}", user.text("discriminator")))
        .with_claim("full_name", name)
        .with_picture(&build_picture_url(user))
        .with_custom_claim("global_name", user.value("global_name"))
        .with_email(user.text("email"), user.is_true("verified"))
}

/// Builds the URL of a user's picture, because Discord's API returns only a hash (`avatar`).
///
/// A hash that starts with `a_` is an animation. A user without a picture has one of five default pictures, which the
/// discriminator determines.
fn build_picture_url(user: Fields<'_>) -> String {
    let (id, avatar) = (user.text("id"), user.text("avatar"));
    if avatar.is_empty() {
        let discriminator: u32 = user.text("discriminator").parse().unwrap_or(0);
        return format!(
            "https://cdn.discordapp.com/embed/avatars/{}.png",
            discriminator % 5
        );
    }
    let extension = if avatar.starts_with("a_") { "gif" } else { "png" };
    format!("https://cdn.discordapp.com/avatars/{id}/{avatar}.{extension}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn discord_picture_url_is_built_from_the_hash_or_the_discriminator() {
        let without_picture = json!({"id": "1", "username": "ana", "discriminator": "0007", "avatar": null});
        let animated = json!({"id": "1", "username": "ana", "discriminator": "0", "avatar": "a_x"});

        assert_eq!(
            build_picture_url(Fields::from(&without_picture)),
            "https://cdn.discordapp.com/embed/avatars/2.png"
        );
        assert_eq!(
            build_picture_url(Fields::from(&animated)),
            "https://cdn.discordapp.com/avatars/1/a_x.gif"
        );
    }
}
