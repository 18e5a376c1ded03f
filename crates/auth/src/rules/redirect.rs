//! Where a browser may be sent after a link or a provider. Source: Auth contract §3.1.

use url::{Host, Url};

use super::glob::{Glob, GlobError};

/// The project's own site and the further targets that it allows.
#[derive(Debug, Clone)]
pub(crate) struct RedirectRules {
    site_url: String,
    site: Option<Url>,
    allowed: Vec<Glob>,
}

impl RedirectRules {
    /// Reads the configured patterns.
    ///
    /// # Errors
    /// [`GlobError`] names the pattern that cannot be read.
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

    /// The first candidate that is allowed, else the site.
    pub(crate) fn choose<'a>(&self, candidates: impl IntoIterator<Item = &'a str>) -> String {
        let allowed = candidates.into_iter().find(|target| self.is_allowed(target));
        allowed.unwrap_or(&self.site_url).to_owned()
    }

    /// Whether a browser may be sent to `target`.
    pub(crate) fn is_allowed(&self, target: &str) -> bool {
        // Browsers drop these while reading a URL, so what we compare would not be what they open.
        if target.is_empty() || target.contains(|c: char| c.is_control() || c == '\\') {
            return false;
        }
        let Ok(url) = Url::parse(target) else { return false };
        if self.is_site(&url) {
            return true;
        }
        let host_text = written_host(target);
        if !host_text.is_empty() && host_text.bytes().all(|byte| byte.is_ascii_digit()) {
            return false;
        }
        match url.host() {
            Some(Host::Ipv4(ip)) => return ip.is_loopback() || ip.is_unspecified(),
            Some(Host::Ipv6(ip)) => return ip.is_loopback() || ip.is_unspecified(),
            _ => {}
        }
        // A name or password in front of the host would let a pattern match what is no part of the host:
        // `https://app-x:y@attacker.host/` against `https://app-*.host/**`.
        let has_credentials = !url.username().is_empty() || url.password().is_some();
        if matches!(url.scheme(), "http" | "https") && (has_credentials || !is_plain_host(host_text)) {
            return false;
        }
        let without_fragment = target.split('#').next().unwrap_or_default();
        self.allowed.iter().any(|glob| glob.matches(without_fragment))
    }

    fn is_site(&self, url: &Url) -> bool {
        let Some(site) = &self.site else { return false };
        let same_port = site.port_or_known_default() == url.port_or_known_default();
        site.scheme() == url.scheme()
            && site.host_str().is_some()
            && site.host_str() == url.host_str()
            && url.username().is_empty()
            && (same_port || is_loopback_name(url))
    }
}

fn is_loopback_name(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(ip)) => ip.is_loopback() || ip.is_unspecified(),
        Some(Host::Ipv6(ip)) => ip.is_loopback() || ip.is_unspecified(),
        None => false,
    }
}

/// The host as it was written, before any normalisation.
fn written_host(target: &str) -> &str {
    let after_scheme = target.split_once("://").map_or("", |(_, rest)| rest);
    let authority = after_scheme.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.starts_with('[') {
        return authority;
    }
    authority.split(':').next().unwrap_or_default()
}

/// Letters and digits with inner dots and hyphens; this also refuses user names before an `@`.
fn is_plain_host(host: &str) -> bool {
    let edge = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    edge(host.bytes().next())
        && edge(host.bytes().last())
        && host
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'.')
}

/// `target` without its fragment, with `pairs` appended to its query.
pub(crate) fn with_query(target: &str, pairs: &[(&str, &str)]) -> String {
    let base = header_safe(target);
    let separator = if base.contains('?') { '&' } else { '?' };
    format!("{base}{separator}{}", encode(pairs))
}

/// `target` with `pairs` as its fragment.
pub(crate) fn with_fragment(target: &str, pairs: &[(&str, &str)]) -> String {
    let base = header_safe(target);
    format!("{base}#{}", encode(pairs))
}

/// The target without its fragment, in the characters that a header may hold.
fn header_safe(target: &str) -> String {
    let mut out = String::new();
    for byte in target.split('#').next().unwrap_or_default().bytes() {
        match byte {
            b'!'..=b'~' => out.push(char::from(byte)),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

fn encode(pairs: &[(&str, &str)]) -> String {
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
    fn auth_028_the_site_itself_is_allowed_with_any_path() {
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
    fn loopback_sites_are_allowed_on_every_port() {
        let rules = rules("http://localhost:3000", &[]);
        assert!(rules.is_allowed("http://localhost:5173/auth"));
        assert!(rules.is_allowed("http://127.0.0.1:9000/"));
        assert!(rules.is_allowed("http://[::1]:9000/"));
        assert!(!rules.is_allowed("https://localhost:5173/auth"));
    }

    #[test]
    fn addresses_in_disguise_are_refused_even_if_listed() {
        let rules = rules("https://site.example", &["http://**", "https://**"]);
        for target in [
            "http://2130706433/",
            "http://10.0.0.1/",
            "http://0x7f.1/",
            "https://exa_mple.com/",
            "https://a@b.io/",
        ] {
            let expected = target.contains("0x7f");
            // 0x7f.1 is loopback in another spelling, and loopback needs no list.
            assert_eq!(rules.is_allowed(target), expected, "{target}");
        }
        assert!(rules.is_allowed("https://anything.io/x#fragment"));
    }

    #[test]
    fn auth_029_globs_for_subdomains_let_nobody_else_in() {
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
    fn auth_027_a_target_that_is_not_allowed_is_replaced() {
        let rules = rules("https://site.example", &["myapp://callback"]);
        assert_eq!(rules.choose(["https://evil.io"]), "https://site.example");
        assert_eq!(
            rules.choose(["https://evil.io", "myapp://callback"]),
            "myapp://callback"
        );
    }

    #[test]
    fn auth_021_the_target_keeps_its_own_query() {
        let target = "https://site/auth?reset=true#old";
        assert_eq!(
            with_fragment(target, &[("a", "b c"), ("sb", "")]),
            "https://site/auth?reset=true#a=b+c&sb="
        );
        assert_eq!(
            with_query(target, &[("code", "x")]),
            "https://site/auth?reset=true&code=x"
        );
        assert_eq!(
            with_query("https://site", &[("code", "x")]),
            "https://site?code=x"
        );
    }
}
