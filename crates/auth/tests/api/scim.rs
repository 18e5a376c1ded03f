//! SCIM discovery, of which the original has no more either.

use reqwest::Method;

use crate::app::TestApp;

const LIST: &str = "urn:ietf:params:scim:api:messages:2.0:ListResponse";
const ERROR: &str = "urn:ietf:params:scim:api:messages:2.0:Error";

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_210_discovery_names_no_capability_and_no_resource() {
    let app = TestApp::start_with(|config| config.scim_enabled = true).await;

    let config = app.get("/scim/v2/ServiceProviderConfig").send().await;
    assert_eq!(
        (config.status, config.header("content-type")),
        (200, "application/scim+json")
    );
    for capability in ["patch", "bulk", "filter", "changePassword", "sort", "etag"] {
        assert_eq!(config.body[capability]["supported"], false, "{capability}");
    }
    let location = format!("{}/scim/v2/ServiceProviderConfig", app.base);
    assert_eq!(config.body["meta"]["location"], location);
    for path in ["/scim/v2/ResourceTypes", "/scim/v2/Schemas"] {
        let list = app.get(path).send().await;
        assert_eq!((list.status, &list.body["schemas"][0]), (200, &LIST.into()));
        assert_eq!(list.body["totalResults"], 0);
    }
    for path in ["/scim/v2/Users", "/scim/v2", "/scim/x/y"] {
        let unknown = app.get(path).send().await;
        assert_eq!(
            (unknown.status, unknown.header("content-type")),
            (404, "application/scim+json"),
            "{path}"
        );
        assert_eq!(
            (&unknown.body["schemas"][0], &unknown.body["status"]),
            (&ERROR.into(), &"404".into())
        );
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_210_switched_off_every_path_of_scim_says_so() {
    let app = TestApp::start().await;

    for (method, path) in [
        (Method::GET, "/scim/v2/ServiceProviderConfig"),
        (Method::GET, "/scim/v2/Users"),
        (Method::POST, "/scim/v2/Users"),
        (Method::DELETE, "/scim/v2/Schemas"),
    ] {
        let refused = app.call(method, path).send().await;
        assert_eq!(refused.error(), (404, "feature_disabled"), "{path}");
    }
}
