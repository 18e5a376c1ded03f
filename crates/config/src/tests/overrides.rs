//! Environment variables and flags over `config.toml`, and the origin of each setting.

use super::*;

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

#[test]
fn gw_029_database_url_of_the_process_counts_unless_the_program_has_the_name_of_the_cli() {
    let read = |ignores_database_of_process| {
        let folder = tempfile::tempdir().unwrap();
        let project = Project::find(Some(folder.path()), Path::new("/")).unwrap();
        let environment = [("DATABASE_URL", "postgresql://u:p@db/x")].into_iter().collect();
        let flags = Flags {
            ignores_database_of_process,
            ..Flags::default()
        };
        Config::load_project(project, environment, &flags)
            .unwrap()
            .config
            .selvedge
    };

    let (ours, stock) = (read(false), read(true));

    assert!(ours.database_url.is_some() && ours.is_database_of_process);
    assert!(stock.database_url.is_none() && stock.ignored_database_url.is_none());
}

#[test]
fn gw_109_files_of_a_project_choose_no_proxies_and_certificates_for_denos_downloads() {
    let folder = tempfile::tempdir().unwrap();
    let text = "JSR_URL=http://attacker.example\nDENO_CERT=./attacker.pem\n";
    std::fs::write(folder.path().join(".env"), text).unwrap();
    let load = |environment: Environment| {
        let project = Project::find(Some(folder.path()), folder.path()).unwrap();
        let loaded = Config::load_project(project, environment, &Flags::default()).unwrap();
        format!("{:?}", loaded.config.functions.deno_environment)
    };

    let of_file = load(Environment::load(folder.path(), "development").unwrap());
    let of_process = load([("JSR_URL", "http://own.example")].into_iter().collect());

    assert!(!of_file.contains("attacker"), "{of_file}");
    assert!(of_process.contains("own.example"), "{of_process}");
}

#[test]
fn prod_006_a_secret_is_read_from_a_file_and_no_other_key_is() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let password = file("password", "p4ss word\r\n");
    let host = file("host", "smtp.example");
    let text = "[auth.email.smtp]\nenabled = true\nhost = \"127.0.0.1\"\npass = \"of the file\"\nadmin_email = \"a@b.example\"\n";

    let loaded = load(
        text,
        [
            ("SUPABASE_AUTH_EMAIL_SMTP_PASS_FILE", password.as_str()),
            ("SUPABASE_AUTH_EMAIL_SMTP_HOST_FILE", host.as_str()),
        ],
    )
    .unwrap();

    let smtp = loaded.config.auth.email.smtp.unwrap();
    assert_eq!(smtp.pass.unwrap().expose_secret(), "p4ss word");
    assert_eq!(smtp.host, "127.0.0.1");
    // The variable itself wins.
    let both = [
        ("SUPABASE_AUTH_EMAIL_SMTP_PASS_FILE", password.as_str()),
        ("SUPABASE_AUTH_EMAIL_SMTP_PASS", "direct"),
    ];
    let smtp = load(text, both).unwrap().config.auth.email.smtp.unwrap();
    assert_eq!(smtp.pass.unwrap().expose_secret(), "direct");
    let missing = [("SUPABASE_AUTH_EMAIL_SMTP_PASS_FILE", "/nowhere/at/all")];
    let refused = load(text, missing).unwrap_err();
    let empty = file("empty", "\n");
    let emptied = load(text, [("SUPABASE_AUTH_EMAIL_SMTP_PASS_FILE", empty.as_str())]).unwrap_err();
    assert!(emptied[0].ends_with("it is empty"), "{emptied:?}");
    assert!(
        refused[0].starts_with(
            "environment variable SUPABASE_AUTH_EMAIL_SMTP_PASS_FILE: auth.email.smtp.pass: cannot use"
        ),
        "{refused:?}"
    );
}
