//! The port of plain HTTP beside HTTPS: it answers the challenges of certificate authorities, and leads everybody else to HTTPS.

use actix_web::http::header::{CACHE_CONTROL, CONTENT_TYPE, HOST, LOCATION};
use actix_web::{HttpRequest, HttpResponse, web};
use selvedge_certificates::Challenges;
use selvedge_gateway::GatewayError;

/// What the port knows.
pub struct PlainPort {
    /// The answers that are given now.
    pub challenges: Challenges,
    /// The names to which it leads.
    pub domains: Vec<String>,
    /// The port of HTTPS.
    pub https_port: u16,
}

/// Mounts the challenges, and the redirect for everything else.
pub fn configure_plain_port(port: web::Data<PlainPort>) -> impl FnOnce(&mut web::ServiceConfig) {
    move |config| {
        config
            .app_data(port)
            .route(
                "/.well-known/acme-challenge/{token}",
                web::get().to(answer_challenge),
            )
            .default_service(web::to(lead_to_https));
    }
}

/// `GET /.well-known/acme-challenge/{token}` (RFC 8555 §8.3): the authorization, or 404 for a token that this server has not been given.
async fn answer_challenge(token: web::Path<String>, port: web::Data<PlainPort>) -> HttpResponse {
    match port.challenges.find_text(&token) {
        Some(text) => HttpResponse::Ok()
            .insert_header((CONTENT_TYPE, "application/octet-stream"))
            .insert_header((CACHE_CONTROL, "no-store"))
            .body(text),
        None => GatewayError::NoRoute.response(),
    }
}

/// 308, which keeps method and body. For a name that is not this server's, nothing is said of it.
async fn lead_to_https(request: HttpRequest, port: web::Data<PlainPort>) -> HttpResponse {
    match port.find_address(&request) {
        Some(address) => HttpResponse::PermanentRedirect()
            .insert_header((LOCATION, address))
            .finish(),
        None => GatewayError::NoRoute.response(),
    }
}

impl PlainPort {
    /// The same address by HTTPS. Only the path is the client's: the name is one of the configuration.
    fn find_address(&self, request: &HttpRequest) -> Option<String> {
        let host = request.headers().get(HOST)?.to_str().ok()?;
        let name = host.split_once(':').map_or(host, |(name, _)| name);
        let mut domains = self.domains.iter();
        let domain = domains.find(|domain| domain.eq_ignore_ascii_case(name))?;
        let path = request.uri().path_and_query().map(|path| path.as_str());
        // `OPTIONS *` has no path: a star behind the port would be part of the name.
        let path = path.filter(|path| path.starts_with('/')).unwrap_or("/");
        let port = match self.https_port {
            443 => String::new(),
            port => format!(":{port}"),
        };
        Some(format!("https://{domain}{port}{path}"))
    }
}

#[cfg(test)]
mod tests {
    use actix_web::App;
    use actix_web::test::{TestRequest, call_service, init_service};

    use super::*;

    #[actix_web::test]
    async fn prod_023_port_80_leads_to_https_and_nowhere_else() {
        let port = web::Data::new(PlainPort {
            challenges: Challenges::default(),
            domains: vec!["shop.example".to_owned()],
            https_port: 8443,
        });
        let app = init_service(App::new().configure(configure_plain_port(port))).await;
        for (host, path, expected) in [
            ("shop.example", "/a?b=c", Some("https://shop.example:8443/a?b=c")),
            (
                "SHOP.example:80",
                "//evil.example/",
                Some("https://shop.example:8443//evil.example/"),
            ),
            ("shop.example", "*", Some("https://shop.example:8443/")),
            ("evil.example", "/", None),
            ("shop.example.evil.example", "/", None),
        ] {
            let request = TestRequest::post().uri(path).insert_header((HOST, host));
            let response = call_service(&app, request.to_request()).await;

            let location = response
                .headers()
                .get(LOCATION)
                .map(|value| value.to_str().expect("text"));
            assert_eq!(location, expected, "{host}{path}");
            assert_eq!(response.status(), if expected.is_some() { 308 } else { 404 });
        }
        let unknown = TestRequest::get()
            .uri("/.well-known/acme-challenge/x")
            .insert_header((HOST, "shop.example"));
        assert_eq!(call_service(&app, unknown.to_request()).await.status(), 404);
    }
}
