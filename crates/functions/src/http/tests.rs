//! Calls through the gateway: functions in Rust, unknown names, and a machine without Deno.

use std::sync::Arc;

use actix_web::http::Method;
use actix_web::{App, HttpResponse, body::to_bytes, test, web};
use futures_util::future::LocalBoxFuture;
use selvedge_gateway::{Gateway, GatewayConfig, Keys};
use selvedge_token::development;

use crate::testing;
use crate::{Functions, NativeFunction, NativeRequest};

/// Answers method, path, query and `Authorization` of its calls.
struct Mirror;

impl NativeFunction for Mirror {
    fn slug(&self) -> &str {
        "mirror"
    }

    fn call(&self, request: NativeRequest) -> LocalBoxFuture<'static, HttpResponse> {
        Box::pin(async move {
            let authorization = request.headers.get("authorization").cloned();
            let authorization = authorization.as_ref().and_then(|value| value.to_str().ok());
            let text = format!(
                "{} {}?{} {}",
                request.method,
                request.path,
                request.query,
                authorization.unwrap_or("nobody")
            );
            HttpResponse::Ok().body(text)
        })
    }
}

/// Status and body of one call with these headers.
async fn call(method: Method, path: &str, headers: &[(&'static str, String)]) -> (u16, String) {
    let project = tempfile::tempdir().expect("a folder");
    let folder = project.path().join("functions/hello");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("index.ts"), "").expect("a file");
    let keys = testing::keys();
    let gateway_keys = Keys::new(keys.ring.clone(), keys.api_keys.clone(), false);
    let functions = Functions::new(testing::config(project.path()), keys, vec![Arc::new(Mirror)]);
    let app = test::init_service(
        App::new()
            .wrap(Gateway::new(gateway_keys, GatewayConfig::default()))
            .service(web::scope("/functions/v1").configure(functions.worker().configure())),
    )
    .await;
    let mut request = test::TestRequest::with_uri(path).method(method);
    for (name, value) in headers {
        request = request.insert_header((*name, value.as_str()));
    }
    let response = test::call_service(&app, request.to_request()).await;
    let status = response.status().as_u16();
    let body = to_bytes(response.into_body()).await.expect("a body");
    (status, String::from_utf8_lossy(&body).into_owned())
}

#[actix_web::test]
async fn gw_036_native_functions_are_called_under_the_same_rules() {
    let key = [("apikey", development::secret_key())];
    let without = call(Method::POST, "/functions/v1/mirror", &[]).await;
    let options = call(Method::OPTIONS, "/functions/v1/mirror", &[]).await;
    let with_key = call(Method::PUT, "/functions/v1/mirror/a/b?x=1", &key).await;

    assert_eq!(without.0, 401);
    assert_eq!(options, (200, "OPTIONS /mirror? nobody".to_owned()));
    let expected = format!("PUT /mirror/a/b?x=1 Bearer {}", development::service_role_key());
    assert_eq!(with_key, (200, expected));
}

#[actix_web::test]
async fn gw_044_without_deno_a_call_says_how_to_get_it() {
    let key = [("apikey", development::secret_key())];
    let hello = call(Method::POST, "/functions/v1/hello", &key).await;
    let health = call(Method::GET, "/functions/v1/_internal/health", &[]).await;
    let unknown = call(Method::GET, "/functions/v1/nothing", &key).await;

    assert_eq!(hello.0, 503);
    assert!(
        hello.1.contains("BOOT_ERROR") && hello.1.contains("npm install"),
        "{}",
        hello.1
    );
    assert_eq!(health, (200, r#"{"message":"ok"}"#.to_owned()));
    assert_eq!(unknown, (404, "Function not found".to_owned()));
}
