//! Redirect targets: where a browser may be sent after a mailed link or a provider's sign-in. Source: Auth contract
//! §3.1.
//!
//! The redirect carries tokens or a code, so a target that is wrongly allowed hands a session to a stranger. Where the
//! URL parser and browsers could read a target differently, it is rejected. A rejected target is never an error: the
//! site replaces it.

use url::{Host, Url};

use super::glob::{Glob, GlobError};

/// The allowed redirect targets of a project: its site and the patterns of `additional_redirect_urls`.
#[derive(Debug, Clone)]
pub(crate) struct RedirectRules {
    site_url: String,
    site: Option<Url>,
    allowed: Vec<Glob>,
}

impl RedirectRules {
    /// Compiles the patterns of `additional_redirect_urls`.
    ///
    /// # Errors
    /// [`GlobError`] names the pattern that cannot be parsed.
    pub(crate) fn new(site_url: &str, allow_list: &[String]) -> Result<Self, GlobError> {
        let allowed = allow_list
            .iter()
            .map(|pattern| Glob::new(pattern))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            site_url: site_url.to_owned(),
            site: Url::parse(site_url).ok(),
            allowed,
        })
    }

    /// Returns the first candidate that is allowed, else the site URL.
    pub(crate) fn choose<'a>(&self, candidates: impl IntoIterator<Item = &'a str>) -> String {
        let allowed = candidates.into_iter().find(|target| self.is_allowed(target));
        allowed.unwrap_or(&self.site_url).to_owned()
    }

    /// Whether a browser may be sent to `target`: any path of the site, any loopback address, or a URL that matches a
    /// pattern.
    pub(crate) fn is_allowed(&self, target: &str) -> bool {
        // Browsers remove control characters and turn `\` into `/`, so the URL that they open would not be the one
        // compared here.
        if target.is_empty() || target.contains(|c: char| c.is_control() || c == '\\') {
            return false;
        }
        let Ok(url) = Url::parse(target) else { return false };
        let host_text = host_as_written(target);
        if is_disguised_ipv4(&url, host_text) {
            return false;
        }
        if self.is_same_site(&url) {
            return true;
        }
        // With a scheme of its own, an app may read a host of digits only as an IPv4 address.
        if !host_text.is_empty() && host_text.bytes().all(|byte| byte.is_ascii_digit()) {
            return false;
        }
        // Patterns never allow other IP addresses. Loopback is the user's own machine, where native apps listen for the
        // redirect.
        match url.host() {
            Some(Host::Ipv4(ip)) => return ip.is_loopback() || ip.is_unspecified(),
            Some(Host::Ipv6(ip)) => return ip.is_loopback() || ip.is_unspecified(),
            _ => {}
        }
        // With a user name or password before the host, a pattern could match text that is not part of the host:
        // `https://app-x:y@attacker.host/` against `https://app-*.host/**`.
        let has_credentials = !url.username().is_empty() || url.password().is_some();
        if matches!(url.scheme(), "http" | "https") && (has_credentials || !is_plain_host(host_text)) {
            return false;
        }
        // The fragment is replaced before the redirect, so it must not help a pattern to match.
        let without_fragment = target.split('#').next().unwrap_or_default();
        self.allowed.iter().any(|glob| glob.matches(without_fragment))
    }

    /// Whether scheme, host and port are those of the site. On loopback names every port is accepted, because
    /// development servers change theirs.
    fn is_same_site(&self, url: &Url) -> bool {
        let Some(site) = &self.site else { return false };
        let same_port = site.port_or_known_default() == url.port_or_known_default();
        site.scheme() == url.scheme()
            && site.host_str().is_some()
            && site.host_str() == url.host_str()
            && url.username().is_empty()
            && (same_port || is_loopback_name(url))
    }
}

/// Whether the host is `localhost`, a name below it (RFC 6761 §6.3), or a loopback or unspecified address.
fn is_loopback_name(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(ip)) => ip.is_loopback() || ip.is_unspecified(),
        Some(Host::Ipv6(ip)) => ip.is_loopback() || ip.is_unspecified(),
        None => false,
    }
}

/// Whether the host is an IPv4 address in a spelling other than four decimal numbers. Browsers accept decimal, octal,
/// hexadecimal and short forms: `http://2130706433/`, `http://0177.0.0.1/` and `http://0x7f.1/` are `http://127.0.0.1/`.
/// Nobody writes the address of their site like that, but whoever wants to get past a filter does.
fn is_disguised_ipv4(url: &Url, host_text: &str) -> bool {
    matches!(url.host(), Some(Host::Ipv4(ip)) if ip.to_string() != host_text)
}

/// Returns the host as the client wrote it: the URL parser would turn `2130706433` into `127.0.0.1`. A user name before
/// `@` is not removed.
fn host_as_written(target: &str) -> &str {
    let after_scheme = target.split_once("://").map_or("", |(_, rest)| rest);
    let authority = after_scheme.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.starts_with('[') {
        return authority;
    }
    authority.split(':').next().unwrap_or_default()
}

/// Whether a host consists of letters and digits with inner dots and hyphens. `user@host` is rejected because of the
/// `@`.
fn is_plain_host(host: &str) -> bool {
    let edge = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    edge(host.bytes().next())
        && edge(host.bytes().last())
        && host
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'.')
}

/// Appends `pairs` to the query of `target` and drops its fragment.
pub(crate) fn append_query(target: &str, pairs: &[(&str, &str)]) -> String {
    let base = encode_for_header(target);
    let separator = if base.contains('?') { '&' } else { '?' };
    format!("{base}{separator}{}", encode_pairs(pairs))
}

/// Replaces the fragment of `target` by `pairs`. Browsers do not send fragments to servers, so tokens in it stay out of
/// logs.
pub(crate) fn replace_fragment(target: &str, pairs: &[(&str, &str)]) -> String {
    let base = encode_for_header(target);
    format!("{base}#{}", encode_pairs(pairs))
}

/// Drops the fragment and percent-encodes every byte outside of visible ASCII: a line break in a `Location` header
/// would let the target add headers.
fn encode_for_header(target: &str) -> String {
    let mut out = String::new();
    for byte in target.split('#').next().unwrap_or_default().bytes() {
        match byte {
            b'!'..=b'~' => out.push(char::from(byte)),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

/// Encodes `pairs` as `application/x-www-form-urlencoded`, with `+` for a space.
fn encode_pairs(pairs: &[(&str, &str)]) -> String {
    url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(pairs)
        .finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(site: &str, allow: &[&str]) -> RedirectRules {
        let allow: Vec<String> = allow.iter().map(|&pattern| pattern.to_owned()).collect();
        RedirectRules::new(site, &allow).expect("patterns are valid")
    }

    #[test]
    fn auth_028_any_path_of_the_site_is_allowed_but_no_other_scheme_host_or_port() {
        let rules = rules("https://site.example/app", &[]);
        let cases = [
            ("https://site.example/other?x=1", true),
            ("https://site.example", true),
            ("https://SITE.example/a", true),
            ("https://site.example:8443/other", false),
            ("http://site.example/other", false),
            ("https://site.example.evil.io/", false),
            ("https://site.example@evil.io/", false),
            ("https://evil.io/https://site.example", false),
            ("https://evil@site.example/", false),
            ("//site.example", false),
            ("/relative", false),
            ("javascript:alert(1)", false),
            ("https://site.example\\.evil.io", false),
            ("https:\t//evil.io", false),
        ];
        for (target, expected) in cases {
            assert_eq!(rules.is_allowed(target), expected, "{target}");
        }
    }

    #[test]
    fn with_a_loopback_site_loopback_targets_are_allowed_on_every_port() {
        let rules = rules("http://localhost:3000", &[]);
        assert!(rules.is_allowed("http://localhost:5173/auth"));
        assert!(rules.is_allowed("http://127.0.0.1:9000/"));
        assert!(rules.is_allowed("http://[::1]:9000/"));
        assert!(!rules.is_allowed("https://localhost:5173/auth"));
    }

    #[test]
    fn ip_addresses_and_malformed_hosts_are_rejected_even_when_a_pattern_matches() {
        let rules = rules("https://site.example", &["http://**", "https://**"]);
        for target in ["http://10.0.0.1/", "https://exa_mple.com/", "https://a@b.io/"] {
            assert!(!rules.is_allowed(target), "{target}");
        }
        assert!(rules.is_allowed("https://anything.io/x#fragment"));
    }

    #[test]
    fn auth_028_other_spellings_of_an_ipv4_address_are_rejected_even_for_the_site() {
        let rules = rules(
            "http://127.0.0.1:3000",
            &["http://**", "https://**", "myapp://**"],
        );
        assert!(rules.is_allowed("http://127.0.0.1:3000/x"));
        for host in [
            "2130706433",
            "0x7f000001",
            "0x7f.1",
            "0177.0.0.1",
            "127.1",
            "127.0.1",
            "127.0.0.1.",
        ] {
            let target = format!("http://{host}:3000/");
            assert!(!rules.is_allowed(&target), "{target}");
        }
        assert!(!rules.is_allowed("http://user@127.0.0.1:3000/"));
        assert!(!rules.is_allowed("myapp://2130706433/"));
    }

    #[test]
    fn auth_029_globs_for_subdomains_match_no_other_domain() {
        let patterns = ["https://*.preview.example/**", "https://app-*.host.example/**"];
        let rules = rules("https://site.example", &patterns);
        let cases = [
            ("https://a.preview.example/x/y?z=1", true),
            ("https://a.preview.example/", true),
            ("https://a.preview.example", false),
            ("https://a.b.preview.example/x", false),
            ("https://A.PREVIEW.example/x", false),
            ("https://a.preview.example.evil.io/x", false),
            ("https://evil.io/.preview.example/x", false),
            ("https://evil.io#a.preview.example/x", false),
            ("https://evil.io?.preview.example/x", false),
            ("https://evil.io%2f.preview.example/x", false),
            ("https://evil.io\\.preview.example/x", false),
            ("https://user:pass@a.preview.example/x", false),
            ("https://a%2epreview.example/x", false),
            ("https://.preview.example/x", false),
            ("http://a.preview.example/x", false),
            ("https://app-x.host.example/x", true),
            ("https://app-x:y@attacker.host.example/x", false),
            ("https://app-x@attacker.host.example/x", false),
        ];
        for (target, expected) in cases {
            assert_eq!(rules.is_allowed(target), expected, "{target}");
        }
    }

    #[test]
    fn auth_027_a_target_that_is_not_allowed_becomes_the_site_url() {
        let rules = rules("https://site.example", &["myapp://callback"]);
        assert_eq!(rules.choose(["https://evil.io"]), "https://site.example");
        assert_eq!(
            rules.choose(["https://evil.io", "myapp://callback"]),
            "myapp://callback"
        );
    }

    #[test]
    fn auth_021_results_are_appended_to_the_targets_own_query() {
        let target = "https://site/auth?reset=true#old";
        assert_eq!(
            replace_fragment(target, &[("a", "b c"), ("sb", "")]),
            "https://site/auth?reset=true#a=b+c&sb="
        );
        assert_eq!(
            append_query(target, &[("code", "x")]),
            "https://site/auth?reset=true&code=x"
        );
        assert_eq!(
            append_query("https://site", &[("code", "x")]),
            "https://site?code=x"
        );
    }
}
