//! SAML identity providers: administration works, sign-in is disabled.

use serde_json::{Value, json};

use crate::app::TestApp;

/// Builds SAML metadata of one identity provider.
fn build_metadata(entity: &str) -> String {
    format!(
        "<EntityDescriptor xmlns=\"urn:oasis:names:tc:SAML:2.0:metadata\" entityID=\"{entity}\"><IDPSSODescriptor/></EntityDescriptor>"
    )
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_095_saml_endpoints_answer_that_saml_is_disabled() {
    let app = TestApp::start().await;

    for body in [
        json!({"domain": "example.com"}),
        json!({"provider_id": uuid::Uuid::new_v4()}),
        json!({}),
    ] {
        assert_eq!(
            app.post("/sso", body).send().await.error(),
            (404, "saml_provider_disabled")
        );
    }
    assert_eq!(
        app.get("/sso/saml/metadata").send().await.error(),
        (404, "saml_provider_disabled")
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn administrators_create_list_update_and_delete_sso_providers() {
    let app = TestApp::start().await;
    let create = |change: Value| {
        let mut body = json!({
            "type": "saml", "metadata_xml": build_metadata("https://idp.example/a"), "domains": ["example.com"],
            "resource_id": "crm", "attribute_mapping": {"keys": {"email": {"name": "mail"}}},
        });
        for (name, value) in change.as_object().unwrap() {
            body[name.as_str()] = value.clone();
        }
        app.post("/admin/sso/providers", body).admin().send()
    };

    let made = create(json!({})).await;
    assert_eq!(made.status, 201, "{}", made.body);
    assert_eq!(made.body["saml"]["entity_id"], "https://idp.example/a");
    assert_eq!(made.body["domains"][0]["domain"], "example.com");
    assert_eq!(create(json!({})).await.error(), (422, "saml_idp_already_exists"));
    let other = json!({"metadata_xml": build_metadata("https://idp.example/b"), "resource_id": null});
    assert_eq!(create(other).await.error(), (400, "sso_domain_already_exists"));
    for bad in [
        json!({"type": "oidc"}),
        json!({"metadata_xml": "<x/>"}),
        json!({"metadata_url": "https://idp.example/m"}),
        json!({"metadata_xml": "", "metadata_url": "http://idp.example/m"}),
        json!({"name_id_format": "nonsense"}),
    ] {
        assert_eq!(
            create(bad.clone()).await.error(),
            (400, "validation_failed"),
            "{bad}"
        );
    }
    let listed = app.get("/admin/sso/providers").admin().send().await.body;
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(1));
    assert_eq!(listed["items"][0]["saml"].get("metadata_xml"), None);

    let path = "/admin/sso/providers/resource_crm";
    let changed = app
        .put(path, json!({"domains": ["example.org"], "disabled": true}))
        .admin()
        .send()
        .await;
    assert_eq!(changed.status, 200, "{}", changed.body);
    assert_eq!(
        (&changed.body["disabled"], &changed.body["domains"][0]["domain"]),
        (&json!(true), &json!("example.org"))
    );
    let moved = app
        .put(
            path,
            json!({"metadata_xml": build_metadata("https://idp.example/c")}),
        )
        .admin()
        .send()
        .await;
    assert_eq!(moved.error(), (400, "saml_entity_id_mismatch"));
    let by_id = format!("/admin/sso/providers/{}", made.body["id"].as_str().unwrap());
    let delete = || app.call(reqwest::Method::DELETE, &by_id).admin().send();
    let gone = delete().await;
    assert_eq!((gone.status, &gone.body["id"]), (200, &made.body["id"]));
    assert_eq!(delete().await.error(), (404, "sso_provider_not_found"));
    assert_eq!(app.get("/admin/sso/providers").send().await.status, 401);
}
