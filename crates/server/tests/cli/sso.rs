//! `selvedge sso` on a running project, with the words of the Supabase CLI.

use serde_json::{Value, json};

use crate::support::Project;

/// A service key and the metadata of an identity provider, from the tests of the SAML crate.
fn saml_data() -> Value {
    serde_json::from_str(include_str!("../../../saml/tests/data/responses.json")).expect("JSON")
}

fn project_with_saml() -> Project {
    let project = Project::new();
    let data = saml_data();
    let key = data["keys"]["sp"].as_str().expect("a key");
    let config = format!("project_id = \"cli\"\n[auth.saml]\nenabled = true\nprivate_key = \"{key}\"\n");
    project.write("config.toml", &config);
    project.write("metadata.xml", data["metadata"].as_str().expect("a document"));
    project.write(
        "mapping.json",
        r#"{"keys": {"full_name": {"name": "displayName"}}}"#,
    );
    project
}

impl Project {
    fn sso_json(&self, arguments: &[&str]) -> Value {
        let arguments = [&["sso", "-o", "json"], arguments].concat();
        serde_json::from_str(&self.run_and_expect_success(&arguments)).expect("JSON")
    }
}

fn domains_of(provider: &Value) -> Vec<&str> {
    let domains = provider["domains"].as_array().expect("a list");
    domains
        .iter()
        .map(|domain| domain["domain"].as_str().expect("text"))
        .collect()
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn saml_014_sso_commands_manage_the_providers_of_a_running_project() {
    let project = project_with_saml();
    let _running = project.start().await;
    let base = format!("http://127.0.0.1:{}", project.ports.api);
    let file = project.path("metadata.xml");
    let file = file.to_str().expect("a path");
    let mapping = project.path("mapping.json");

    let info = project.sso_json(&["info"]);
    assert_eq!(
        info,
        json!({
            "acs_url": format!("{base}/auth/v1/sso/saml/acs"),
            "entity_id": format!("{base}/auth/v1/sso/saml/metadata"),
            "relay_state": base,
        })
    );
    let variables = project.run_and_expect_success(&["sso", "info", "-o", "env"]);
    assert!(
        variables.contains(&format!("ENTITY_ID=\"{base}/auth/v1/sso/saml/metadata\"")),
        "{variables}"
    );
    assert_eq!(project.sso_json(&["list"]), json!({ "providers": [] }));

    let add = [
        "add",
        "--type",
        "saml",
        "--metadata-file",
        file,
        "--domains",
        "one.example,two.example",
    ];
    let added = project.sso_json(&add);
    let id = added["id"].as_str().expect("an id");
    assert_eq!(added["saml"]["entity_id"], "https://idp.example/saml");
    assert_eq!(domains_of(&added), ["one.example", "two.example"]);
    let again = project.run_and_expect_failure(&[&["sso"], &add[..]].concat());
    assert!(
        again.contains("Unexpected error adding identity provider: "),
        "{again}"
    );
    assert!(again.contains("saml_idp_already_exists"), "{again}");

    let format = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent";
    let mapping = mapping.to_str().expect("a path");
    let update = [
        "update",
        id,
        "--attribute-mapping-file",
        mapping,
        "--name-id-format",
        format,
    ];
    let updated = project.sso_json(&update);
    assert_eq!(
        updated["saml"]["attribute_mapping"]["keys"]["full_name"]["name"],
        "displayName"
    );
    let moved = [
        "update",
        id,
        "--add-domains",
        "three.example",
        "--remove-domains",
        "one.example",
    ];
    let updated = project.sso_json(&moved);
    assert_eq!(domains_of(&updated), ["two.example", "three.example"]);
    assert_eq!(
        updated["saml"]["name_id_format"], format,
        "kept by an update that does not name it"
    );
    let updated = project.sso_json(&["update", id, "--domains", "four.example"]);
    assert_eq!(domains_of(&updated), ["four.example"]);

    let shown = project.run_and_expect_success(&["sso", "show", id]);
    assert!(shown.contains("| FILE "), "{shown}");
    assert!(shown.contains("## Attribute Mapping"), "{shown}");
    let metadata = project.run_and_expect_success(&["sso", "show", id, "--metadata"]);
    assert_eq!(
        metadata.trim(),
        saml_data()["metadata"].as_str().expect("a document")
    );
    let list = project.run_and_expect_success(&["sso", "list"]);
    assert!(
        list.contains(&format!(" {id} | four.example | https://idp.example/saml | ")),
        "{list}"
    );

    // By its address and a key, as for a server on another machine.
    let keys: Value =
        serde_json::from_str(&project.run_and_expect_success(&["status", "-o", "json"])).expect("JSON");
    let key = keys["SECRET_KEY"].as_str().expect("a key");
    let remove = ["remove", id, "--url", &base, "--service-key", key];
    assert_eq!(project.sso_json(&remove)["id"], id);
    let gone = project.run_and_expect_failure(&["sso", "show", id]);
    assert!(gone.contains("could not be found"), "{gone}");
}

#[test]
fn saml_014_sso_commands_refuse_what_cannot_be_meant() {
    let project = project_with_saml();
    for (arguments, expected) in [
        (&["list"][..], "is not running"),
        (&["list", "--url", "http://127.0.0.1:9"], "--service-key"),
        (&["show", "../users"], "is not a UUID"),
        (&["add", "--metadata-url", "https://idp.example"], "--type"),
        (
            &["add", "-t", "saml", "--metadata-file", "a", "--metadata-url", "b"],
            "cannot be used with",
        ),
        (
            &[
                "update",
                "b5ae62f9-ef1d-4f11-a02b-731c8bbb11e8",
                "--domains",
                "a",
                "--add-domains",
                "b",
            ],
            "cannot be used with",
        ),
        (
            &["add", "-t", "saml", "--name-id-format", "email"],
            "invalid value",
        ),
        (
            &[
                "add",
                "-t",
                "saml",
                "--url",
                "http://127.0.0.1:9",
                "--service-key",
                "k",
                "--metadata-url",
                "http://idp.example",
            ],
            "only HTTPS Metadata URLs are supported. Use --skip-url-validation",
        ),
        (
            &["list", "--url", "http://127.0.0.1:9", "--service-key", "k"],
            "failed to list sso providers",
        ),
    ] {
        let errors = project.run_and_expect_failure(&[&["sso"], arguments].concat());
        assert!(errors.contains(expected), "{arguments:?}: {errors}");
    }
}
