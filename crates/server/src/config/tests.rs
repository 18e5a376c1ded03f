//! The loader: values, overrides, and messages with their line numbers.

use std::path::Path;
use std::time::Duration;

use secrecy::ExposeSecret;

use super::*;

const NO_VARIABLES: [(&str, &str); 0] = [];

/// A project folder with this `config.toml`, read under these variables.
fn load<const N: usize>(text: &str, variables: [(&str, &str); N]) -> Result<Loaded, Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let supabase = folder.path().join("supabase");
    std::fs::create_dir(&supabase).unwrap();
    std::fs::write(supabase.join("config.toml"), text).unwrap();
    let project = Project::find(Some(folder.path()), Path::new("/")).unwrap();
    let file = project.file.clone().unwrap().display().to_string();
    let relative = |lines: Vec<String>| {
        lines
            .iter()
            .map(|line| line.replace(&file, "config.toml"))
            .collect::<Vec<_>>()
    };
    Config::load_project(project, variables.into_iter().collect(), &Flags::default())
        .map(|loaded| Loaded {
            warnings: relative(loaded.warnings),
            ..loaded
        })
        .map_err(|error| relative(error.0))
}

fn errors(text: &str) -> Vec<String> {
    load(text, NO_VARIABLES)
        .map(|loaded| loaded.warnings)
        .expect_err("the configuration should be refused")
}

#[test]
fn gw_028_project_without_config_toml_has_all_defaults() {
    let folder = tempfile::tempdir().unwrap();
    let project = Project::find(None, folder.path()).unwrap();

    let loaded = Config::load_project(project, Environment::default(), &Flags::default()).unwrap();

    let config = loaded.config;
    assert_eq!(
        (config.api.port, config.db.port, config.inbox.port),
        (54321, 54322, 54324)
    );
    assert_eq!(config.api.schemas, ["public", "graphql_public"]);
    assert_eq!(
        (config.api.max_rows, config.auth.jwt_expiry_seconds),
        (1000, 3600)
    );
    assert_eq!(config.storage.file_size_limit_bytes, 52_428_800);
    assert_eq!(config.api_url(), "http://127.0.0.1:54321");
    assert!(loaded.warnings.is_empty());
}

#[test]
fn gw_030_config_toml_of_supabase_init_loads_without_warnings() {
    let loaded = load(
        include_str!("../../tests/fixtures/supabase-init.toml"),
        NO_VARIABLES,
    )
    .unwrap();

    assert_eq!(loaded.warnings, Vec::<String>::new());
    assert_eq!(loaded.config.project.id, "lookbook");
    assert_eq!(loaded.config.auth.sms.template, "Your code is {{ .Code }}");
}

#[test]
fn gw_028_no_key_of_the_contract_is_reported_as_unknown() {
    let loaded = load(
        include_str!("../../tests/fixtures/every-key.toml"),
        [("SMTP_PASS", "p")],
    )
    .unwrap();

    assert_eq!(loaded.warnings, Vec::<String>::new());
    let config = loaded.config;
    assert_eq!(config.auth.hooks.len(), 2);
    assert_eq!(
        config.auth.third_party.unwrap().issuer_url(),
        "https://api.workos.com/user_management/client"
    );
    assert_eq!(config.auth.session_timebox, Some(Duration::from_secs(86_400)));
    assert_eq!(config.auth.email.smtp.unwrap().pass.unwrap().expose_secret(), "p");
    assert_eq!(
        config.db.settings,
        [("max_connections".to_owned(), "80".to_owned())]
    );
    assert_eq!(config.storage.buckets[0].file_size_limit_bytes, Some(5_242_880));
    let hello = &config.functions.functions[0];
    assert!(!hello.verify_jwt);
    assert_eq!(hello.env[0].1.expose_secret(), "hello");
    assert_eq!(
        config.selvedge.functions.limits.wall_clock,
        Duration::from_secs(60)
    );
    assert_eq!(config.selvedge.workers, Some(2));
    let replicas = config.selvedge.replicas.unwrap();
    assert_eq!(
        (replicas.urls.len(), replicas.max_lag, replicas.max_lag_bytes),
        (1, Duration::from_secs(5), 16 * 1024 * 1024)
    );
}

#[test]
fn gw_011_third_party_issuers_have_the_addresses_of_the_cli() {
    let cases = [
        (
            "firebase]\nproject_id = \"shop\"",
            "https://securetoken.google.com/shop",
        ),
        ("auth0]\ntenant = \"shop\"", "https://shop.auth0.com"),
        (
            "auth0]\ntenant = \"shop\"\ntenant_region = \"eu\"",
            "https://shop.eu.auth0.com",
        ),
        (
            "aws_cognito]\nuser_pool_id = \"eu_1\"\nuser_pool_region = \"eu-west-1\"",
            "https://cognito-idp.eu-west-1.amazonaws.com/eu_1",
        ),
        (
            "clerk]\ndomain = \"clerk.shop.example\"",
            "https://clerk.shop.example",
        ),
        (
            "workos]\nissuer_url = \"https://api.workos.com/x/\"",
            "https://api.workos.com/x",
        ),
    ];
    for (section, expected) in cases {
        let text = format!("[auth.third_party.{section}\nenabled = true\n");

        let loaded = load(&text, NO_VARIABLES).unwrap();

        assert_eq!(loaded.warnings, Vec::<String>::new());
        assert_eq!(loaded.config.auth.third_party.unwrap().issuer_url(), expected);
    }
    let two = "[auth.third_party.clerk]\nenabled = true\ndomain = \"clerk.a.example\"\n\
               [auth.third_party.firebase]\nenabled = true\nproject_id = \"a\"\n";
    let expected = "config.toml:4: auth.third_party.firebase is one of several enabled issuers, and only one may be enabled";
    assert_eq!(errors(two), [expected]);
    let clerk = "[auth.third_party.clerk]\nenabled = true\ndomain = \"https://clerk.a.example\"\n";
    assert!(errors(clerk)[0].contains("auth.third_party.clerk.domain must be a host name"));
}

#[test]
fn gw_028_keys_that_the_cli_has_removed_are_named_with_their_replacement() {
    let text = "[experimental]\norioledb_version = \"16\"\n[auth.external.linkedin]\nenabled = false\n\
                [auth.external.slack]\nenabled = true\nclient_id = \"a\"\nsecret = \"b\"\n";

    let loaded = load(text, NO_VARIABLES).unwrap();

    assert_eq!(
        loaded.warnings,
        [
            "config.toml:2: experimental.orioledb_version was removed from the Supabase CLI, which reads \
             db.orioledb_version instead; neither has an effect here: tables are stored by PostgreSQL's own engine",
            "config.toml:3: auth.external.linkedin was removed from the Supabase CLI; use \
             [auth.external.linkedin_oidc] instead",
            "config.toml:5: auth.external.slack was removed from the Supabase CLI; use [auth.external.slack_oidc] instead",
        ]
    );
    // What older templates of the CLI contain is nothing to warn of.
    let template = "[experimental]\norioledb_version = \"\"\n[inbucket]\nenabled = true\nport = 54324\n";
    assert_eq!(
        load(template, NO_VARIABLES).unwrap().warnings,
        Vec::<String>::new()
    );
}

#[test]
fn gw_028_unknown_keys_warn_with_their_line_and_the_nearest_name() {
    let loaded = load(
        "[api]\nprot = 1\n\n[auth.emial]\nx = 1\n[nonsense]\n",
        NO_VARIABLES,
    )
    .unwrap();

    assert_eq!(
        loaded.warnings,
        [
            "config.toml:2: unknown key api.prot (did you mean port?); it has no effect",
            "config.toml:4: unknown key auth.emial (did you mean email?); it has no effect",
            "config.toml:6: unknown key nonsense; it has no effect",
        ]
    );
}

#[test]
fn gw_028_wrong_values_name_line_value_and_what_is_allowed() {
    let text = "[api]\nport = \"x\"\nenabled = 1\n\n[auth]\njwt_expiry = 604801\npassword_requirements = \"hard\"\n\
                \n[auth.email]\nmax_frequency = \"1 day\"\n[storage]\nfile_size_limit = \"big\"\n";

    assert_eq!(
        errors(text),
        [
            "config.toml:2: api.port = \"x\": expected a whole number from 1 to 65535",
            "config.toml:3: api.enabled = 1: expected true or false",
            "config.toml:6: auth.jwt_expiry = 604801: expected a whole number from 1 to 604800",
            "config.toml:7: auth.password_requirements = \"hard\": expected one of \"\", \"letters_digits\", \
             \"lower_upper_letters_digits\", \"lower_upper_letters_digits_symbols\"",
            "config.toml:10: auth.email.max_frequency = \"1 day\": expected a duration such as \"30s\", \"5m\" or \"24h\"",
            "config.toml:12: storage.file_size_limit = \"big\": expected a size such as \"50MiB\", \"500KB\" or a number of bytes",
        ]
    );
}

#[test]
fn gw_028_invalid_toml_is_reported_with_its_line() {
    let found = errors("[api]\nport = 1\nport = 2\n");

    assert!(found[0].starts_with("config.toml:3: "), "{found:?}");
}

#[test]
fn gw_028_value_in_place_of_a_table_is_an_error() {
    assert_eq!(
        errors("\nauth = true\n"),
        ["config.toml:2: auth must be a table ([auth])"]
    );
}

#[test]
fn gw_028_messages_do_not_quote_secrets() {
    let found = errors("[auth]\njwt_secret = 12345678\n");

    assert_eq!(
        found,
        ["config.toml:2: auth.jwt_secret: expected a text in quotes"]
    );
}

#[test]
fn gw_028_older_names_of_keys_are_read_and_the_newer_win() {
    let older = "[inbucket]\nport = 7001\nsmtp_port = 7002\n[auth.email]\nenable_signup = false\n[auth.sms]\nenable_signup = true\n";
    let newer = "[local_smtp]\nport = 8001\nenabled = false\n[auth.email]\nenabled = true\n[auth.sms]\nenabled = false\n";
    let both = format!(
        "{}{}",
        "[inbucket]\nport = 7001\nsmtp_port = 7002\n[local_smtp]\nport = 8001\n",
        "[auth.email]\nenable_signup = false\nenabled = true\n[auth.sms]\nenable_signup = true\nenabled = false\n"
    );
    let read = |text: &str| {
        let loaded = load(text, NO_VARIABLES).unwrap();
        assert_eq!(loaded.warnings, Vec::<String>::new(), "{text}");
        let (inbox, auth) = (loaded.config.inbox, loaded.config.auth);
        (
            inbox.enabled,
            inbox.port,
            inbox.smtp_port,
            auth.email.enabled,
            auth.sms.enabled,
        )
    };

    assert_eq!(read(older), (true, 7001, Some(7002), false, true));
    assert_eq!(read(newer), (false, 8001, None, true, false));
    assert_eq!(read(&both), (true, 8001, Some(7002), true, false));
}

#[test]
fn gw_028_values_that_the_cli_accepts_are_accepted() {
    let text =
        "[api]\nschemas = []\n[db]\norioledb_version = \"\"\n[auth]\nrefresh_token_reuse_interval = 604800\n";

    let loaded = load(text, NO_VARIABLES).unwrap();

    assert_eq!(loaded.warnings, Vec::<String>::new());
    assert_eq!(loaded.config.api.schemas, ["public"]);
    assert_eq!(loaded.config.auth.refresh_token_reuse_interval_seconds, 604_800);
}

#[test]
fn gw_028_another_storage_engine_is_warned_about() {
    let loaded = load("[db]\norioledb_version = \"16\"\n", NO_VARIABLES).unwrap();

    let expected =
        "config.toml:2: db.orioledb_version has no effect: tables are stored by PostgreSQL's own engine";
    assert_eq!(loaded.warnings, [expected]);
}

#[test]
fn gw_029_variables_override_the_file() {
    let variables = [
        ("SUPABASE_API_PORT", "4000"),
        ("SUPABASE_AUTH_EMAIL_ENABLE_CONFIRMATIONS", "true"),
        ("SUPABASE_API_SCHEMAS", "public, shop"),
        ("SELVEDGE_WORKERS", "3"),
        ("SELVEDGE_AUTH_SMTP_TLS", "implicit"),
        ("SELVEDGE_AUTH_RATE_LIMIT_MFA", "7"),
        ("DATABASE_URL", "postgresql://x"),
    ];

    let config = load("[api]\nport = 1\n", variables).unwrap().config;

    assert_eq!((config.api.port, config.selvedge.workers), (4000, Some(3)));
    assert!(config.auth.email.enable_confirmations);
    let selvedge = config.selvedge.auth;
    assert_eq!(
        (selvedge.smtp_tls, selvedge.rate_limit_mfa),
        (selvedge_mail::SmtpTls::Implicit, 7)
    );
    assert_eq!(config.api.schemas, ["public", "shop"]);
    assert_eq!(
        config.selvedge.database_url.unwrap().expose_secret(),
        "postgresql://x"
    );
}

#[test]
fn gw_029_the_claim_of_tenants_is_a_path_and_needs_a_pattern() {
    let file = |schemas: &str, claim: &str| {
        format!("[api]\nschemas = {schemas}\n[selvedge.tenants]\nclaim = \"{claim}\"\n")
    };
    let pattern = "[\"public\", \"tenant_*\"]";

    let config = load(&file(pattern, "tenant_id"), NO_VARIABLES).unwrap().config;
    let (rest, ..) = config.rest_settings();
    assert_eq!(
        rest.tenant_claim.map(|claim| claim.to_string()).as_deref(),
        Some("tenant_id")
    );

    let no_path = errors(&file(pattern, "$.a["));
    assert_eq!(no_path.len(), 1);
    assert!(
        no_path[0].contains("config.toml:4: selvedge.tenants.claim is no path of a claim"),
        "{no_path:?}"
    );
    assert_eq!(
        errors(&file("[\"public\"]", "tenant_id")),
        ["selvedge.tenants.claim needs a pattern such as \"tenant_*\" in api.schemas"]
    );
}

#[test]
fn gw_029_a_wrong_override_is_reported_with_its_variable() {
    let found = load("[api]\nport = 1\n", [("SUPABASE_API_PORT", "many")]).unwrap_err();

    let expected = "environment variable SUPABASE_API_PORT: api.port = \"many\": expected a whole number from 1 to 65535";
    assert_eq!(found, [expected]);
}

#[test]
fn gw_029_env_references_are_replaced_in_any_type() {
    let text =
        "[auth]\nsite_url = \"env(SITE)\"\nenable_signup = \"env(OPEN)\"\njwt_expiry = \"env(LIFE)\"\n";
    let variables = [("SITE", "https://shop.test"), ("OPEN", "false"), ("LIFE", "60")];

    let config = load(text, variables).unwrap().config;

    assert_eq!(config.auth.site_url, "https://shop.test");
    assert!(!config.auth.enable_signup);
    assert_eq!(config.auth.jwt_expiry_seconds, 60);
}

#[test]
fn gw_029_a_reference_to_an_unset_variable_is_kept_with_one_warning() {
    let text = "[auth]\n\njwt_issuer = \"env(NOWHERE)\"\n[auth.external.github]\nenabled = false\nsecret = \"env(ALSO)\"\n";

    let loaded = load(text, NO_VARIABLES).unwrap();

    assert_eq!(loaded.config.auth.jwt_issuer.as_deref(), Some("env(NOWHERE)"));
    assert_eq!(
        loaded.warnings,
        [
            "config.toml:3: auth.jwt_issuer: the environment variable NOWHERE is not set; the text env(NOWHERE) is used as it stands"
        ]
    );
}

#[test]
fn gw_028_template_paths_are_relative_to_the_repository_and_notifications_to_the_project() {
    let folder = tempfile::tempdir().unwrap();
    let supabase = folder.path().join("supabase");
    std::fs::create_dir_all(supabase.join("mails")).unwrap();
    std::fs::write(supabase.join("mails/a.html"), "").unwrap();
    std::fs::write(
        supabase.join("config.toml"),
        "[auth.email.template.invite]\ncontent_path = \"./supabase/mails/a.html\"\n\
         [auth.email.notification.password_changed]\nenabled = true\ncontent_path = \"./mails/a.html\"\n",
    )
    .unwrap();
    let project = Project::find(Some(folder.path()), Path::new("/")).unwrap();

    let email = Config::load_project(project, Environment::default(), &Flags::default())
        .unwrap()
        .config
        .auth
        .email;

    assert!(email.templates[0].content_path.as_ref().unwrap().is_file());
    assert!(
        email.notifications[0]
            .template
            .content_path
            .as_ref()
            .unwrap()
            .is_file()
    );
}

#[test]
fn gw_028_a_missing_template_file_is_an_error() {
    let found = errors("[auth.email.template.invite]\ncontent_path = \"./nowhere.html\"\n");

    assert!(
        found[0].starts_with("config.toml:2: auth.email.template.invite.content_path names "),
        "{found:?}"
    );
}

#[test]
fn gw_031_flags_win_over_everything() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("config.toml"), "[api]\nport = 1\n").unwrap();
    let project = Project::find(Some(folder.path()), Path::new("/")).unwrap();
    let environment = [("SUPABASE_API_PORT", "2")].into_iter().collect();
    let flags = Flags {
        port: Some(3),
        ..Flags::default()
    };

    let config = Config::load_project(project, environment, &flags).unwrap().config;

    assert_eq!(config.api.port, 3);
}

#[test]
fn gw_029_variables_of_supabase_storage_are_applied() {
    let loaded = load(
        "",
        [
            ("STORAGE_BACKEND", "s3"),
            ("GLOBAL_S3_BUCKET", "things"),
            ("STORAGE_S3_ENDPOINT", "http://127.0.0.1:9000"),
            ("STORAGE_S3_REGION", "eu-central-1"),
            ("STORAGE_S3_FORCE_PATH_STYLE", "false"),
            ("AWS_ACCESS_KEY_ID", "id"),
            ("AWS_SECRET_ACCESS_KEY", "hunter2"),
            ("S3_PROTOCOL_ACCESS_KEY_ID", "ours"),
            ("S3_PROTOCOL_ACCESS_KEY_SECRET", "hunter3"),
            ("FILE_SIZE_LIMIT", "1000"),
            ("UPLOAD_FILE_SIZE_LIMIT", "2000"),
            ("IMAGE_TRANSFORMATION_ENABLED", "true"),
            ("SIGNED_UPLOAD_URL_EXPIRATION_TIME", "60"),
            ("TUS_URL_EXPIRY_MS", "1500"),
            ("RATE_LIMITER_ENABLED", "true"),
            ("S3_PROTOCOL_ENABLED", "perhaps"),
        ],
    )
    .unwrap();

    let (selvedge, storage) = (loaded.config.selvedge, loaded.config.storage);
    let s3 = selvedge.s3.unwrap();
    assert_eq!(
        (
            s3.bucket.as_str(),
            s3.region.as_str(),
            s3.access_key_id.as_str(),
            s3.path_style
        ),
        ("things", "eu-central-1", "id", false)
    );
    assert_eq!(s3.endpoint.as_deref(), Some("http://127.0.0.1:9000"));
    assert_eq!(selvedge.s3_protocol.access_key_id.as_deref(), Some("ours"));
    assert_eq!(
        (storage.file_size_limit_bytes, storage.image_transformation),
        (2000, true)
    );
    assert_eq!(storage.signed_upload_url_lifetime, Some(Duration::from_secs(60)));
    assert_eq!(
        storage.resumable_upload_lifetime,
        Some(Duration::from_millis(1500))
    );
    assert_eq!(selvedge.limits.render_per_second, 5);
    assert_eq!(
        loaded.warnings,
        ["environment variable S3_PROTOCOL_ENABLED: expected true or false; it has no effect"]
    );
}

#[test]
fn gw_029_incomplete_s3_variables_are_errors_and_selvedge_keys_win() {
    assert_eq!(
        load(
            "",
            [
                ("STORAGE_BACKEND", "s3"),
                ("AWS_ACCESS_KEY_ID", "id"),
                ("S3_PROTOCOL_ACCESS_KEY_ID", "x")
            ]
        )
        .map(|_| ())
        .unwrap_err(),
        [
            "environment variable S3_PROTOCOL_ACCESS_KEY_ID: goes with S3_PROTOCOL_ACCESS_KEY_SECRET; one of them is missing",
            "environment variable STORAGE_S3_BUCKET: is needed with STORAGE_BACKEND=s3",
            "environment variable AWS_SECRET_ACCESS_KEY: is needed with STORAGE_BACKEND=s3",
        ]
    );
    let text = "[selvedge.s3]\nbucket = \"mine\"\naccess_key_id = \"a\"\nsecret_access_key = \"b\"\n";
    let loaded = load(text, [("STORAGE_BACKEND", "s3"), ("STORAGE_S3_BUCKET", "other")]).unwrap();
    assert_eq!(loaded.config.selvedge.s3.unwrap().bucket, "mine");
}

#[test]
fn saml_015_variables_of_the_original_switch_saml_on() {
    let variables = [
        ("GOTRUE_SAML_ENABLED", "true"),
        ("GOTRUE_SAML_PRIVATE_KEY", "key"),
        ("GOTRUE_SAML_RELAY_STATE_VALIDITY_PERIOD", "0s"),
        ("GOTRUE_RATE_LIMIT_SSO", "7"),
    ];
    let auth = load("[auth.saml]\nallow_encrypted_assertions = true\n", variables)
        .unwrap()
        .config
        .auth;

    assert!(auth.saml.enabled && auth.saml.allow_encrypted_assertions);
    assert_eq!(auth.saml.private_key.unwrap().expose_secret(), "key");
    assert_eq!(auth.saml.relay_state_validity_period, Duration::from_secs(120));
    assert_eq!(auth.rate_limit.sso, 7);
    assert_eq!(
        errors("[auth.saml]\nenabled = true\n"),
        ["config.toml:2: auth.saml.private_key is needed when auth.saml is enabled"]
    );
}

#[test]
fn console_141_each_setting_has_its_value_and_origin_and_no_secret_has_its_text() {
    let text = "project_id = \"shop\"\n[auth]\njwt_expiry = 1800\n[auth.email.smtp]\nhost = \"mail\"\n\
                admin_email = \"a@example.org\"\npass = \"env(MAIL_PASS)\"\n[auth.sms.test_otp]\n4915 = \"123456\"\n";
    let variables = [
        ("MAIL_PASS", "hunter2"),
        ("SUPABASE_AUTH_JWT_EXPIRY", "900"),
        ("DATABASE_URL", "postgresql://ana:hunter2@host/db"),
        ("PGRST_DB_MAX_ROWS", "50"),
        ("FILE_SIZE_LIMIT", "1000"),
        ("SELVEDGE_NATS_PASSWORD", "hunter2"),
    ];

    let config = load(text, variables).unwrap().config;

    let written = serde_json::to_value(config.settings.iter().collect::<Vec<_>>()).unwrap();
    let find = |key: &str| {
        let settings = written.as_array().unwrap();
        settings
            .iter()
            .find(|setting| setting["key"] == key)
            .unwrap()
            .clone()
    };
    assert_eq!(find("project_id")["value"], "shop");
    assert_eq!(find("project_id")["origin"]["line"], 1);
    assert_eq!(find("auth.jwt_expiry")["value"], "900");
    assert_eq!(
        find("auth.jwt_expiry")["origin"]["environment"],
        "SUPABASE_AUTH_JWT_EXPIRY"
    );
    assert_eq!(find("auth.email.otp_length")["value"], 6);
    assert_eq!(find("auth.email.otp_length")["origin"], "default");
    assert_eq!(find("auth.email.smtp.pass")["secret"], true);
    assert_eq!(find("auth.email.smtp.pass")["set"], true);
    assert_eq!(find("auth.email.smtp.pass")["origin"]["environment"], "MAIL_PASS");
    assert_eq!(find("auth.external.google.secret")["set"], false);
    assert_eq!(
        find("selvedge.database_url")["origin"]["environment"],
        "DATABASE_URL"
    );
    assert_eq!(find("postgrest.db-max-rows")["value"], "50");
    assert_eq!(find("storage.file_size_limit")["value"], 1000);
    for hidden in ["hunter2", "123456"] {
        assert!(!written.to_string().contains(hidden), "{hidden}");
    }
}

#[test]
fn console_141_a_flag_is_named_as_the_origin_of_its_setting() {
    let folder = tempfile::tempdir().unwrap();
    let project = Project::find(None, folder.path()).unwrap();
    let flags = Flags {
        port: Some(15000),
        ..Flags::default()
    };

    let loaded = Config::load_project(project, Environment::default(), &flags).unwrap();

    let port = loaded
        .config
        .settings
        .iter()
        .find(|setting| setting.key == "api.port");
    let port = serde_json::to_value(port.unwrap()).unwrap();
    assert_eq!(
        (&port["value"], &port["origin"]["flag"]),
        (&15000.into(), &"--port".into())
    );
}
