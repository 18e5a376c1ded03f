//! Keys of `config.toml`: defaults, unknown and removed keys, wrong values and templates.

use super::*;

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
    let loaded = load(include_str!("fixtures/supabase-init.toml"), NO_VARIABLES).unwrap();

    assert_eq!(loaded.warnings, Vec::<String>::new());
    assert_eq!(loaded.config.project.id, "lookbook");
    assert_eq!(loaded.config.auth.sms.template, "Your code is {{ .Code }}");
}

#[test]
fn gw_028_no_key_of_the_contract_is_reported_as_unknown() {
    let loaded = load(include_str!("fixtures/every-key.toml"), [("SMTP_PASS", "p")]).unwrap();

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

/// Keys with a path of this machine whose files reach others, so that one outside of the project waits for trust.
const ASKED: [&str; 11] = [
    "auth.email.notification.password_changed.content_path",
    "auth.email.template.invite.content_path",
    "auth.signing_keys_path",
    "selvedge.functions.cache_dir",
    "selvedge.functions.deno",
    "selvedge.functions.module_folders",
    "selvedge.nats.credentials_file",
    "selvedge.pg_bin",
    "selvedge.site",
    "storage.buckets.files.objects_path",
    "db.seed.sql_paths",
];
/// Keys with a path that have a rule of their own, or whose files only this server and its database read, and others that sound like one.
const NOT_ASKED: [&str; 11] = [
    "api.extra_search_path",
    "api.tls.cert_path",
    "api.tls.key_path",
    "functions.hello.entrypoint",
    "functions.hello.import_map",
    "functions.hello.static_files",
    "selvedge.data_dir",
    "selvedge.functions.temporary_files",
    "selvedge.nats.ca_file",
    "selvedge.tls.ca_file",
    "selvedge.vault_key_file",
];

#[test]
fn gw_109_each_key_with_a_path_has_a_rule_about_files_outside_of_the_project() {
    let text = "[api.tls]\nenabled = false\n[auth.email.template.invite]\ncontent_path = \"supabase/config.toml\"\n\
        [auth.email.notification.password_changed]\nenabled = true\ncontent_path = \"config.toml\"\n\
        [auth]\nsigning_keys_path = \"../../v/x\"\n[db.seed]\nsql_paths = [\"../../v/x\"]\n\
        [storage.buckets.files]\nobjects_path = \"../../v/x\"\n[functions.hello]\nverify_jwt = true\n\
        [selvedge]\npg_bin = \"../../v/x\"\nsite = \"../../v/x\"\n[selvedge.nats]\nservers = [\"nats://127.0.0.1\"]\n\
        credentials_file = \"../../v/x\"\n[selvedge.functions]\ndeno = \"../../v/x\"\ncache_dir = \"../../v/x\"\n\
        module_folders = [\"../../v/x\"]\n";
    let config = load(text, NO_VARIABLES).unwrap().config;
    let is_path = |key: &str| {
        let name = key.rsplit('.').next().unwrap_or_default();
        let ends = ["_path", "_paths", "_file", "_files", "_dir", "_folders", "_bin"];
        let names = ["site", "deno", "entrypoint", "import_map"];
        // An address of the site's own.
        key != "auth.oauth_server.authorization_url_path"
            && (ends.iter().any(|end| name.ends_with(end)) || names.contains(&name))
    };
    let keys = config.settings.iter().map(|setting| setting.key.as_str());

    // Whoever adds a key with a path decides whether its files reach others, by adding it to ASKED or NOT_ASKED.
    let unknown: Vec<&str> = keys
        .filter(|key| is_path(key) && !ASKED.contains(key) && !NOT_ASKED.contains(key))
        .collect();
    let mut asked: Vec<&str> = config
        .selvedge
        .paths_of_files
        .iter()
        .map(NamedPath::key)
        .collect();
    asked.sort_unstable();
    let mut expected = ASKED;
    expected.sort_unstable();
    assert_eq!(unknown, [""; 0]);
    assert_eq!(asked, expected);
}

#[test]
fn prod_020_domains_of_certificates_are_the_servers_address_in_production_alone() {
    let text = "[selvedge.tls]\ndomains = [\"Shop.example\", \"www.shop.example\"]\nhttps_port = 8443\nhsts = \"24h\"\n";
    let load_for = |command: &str, variables: &[(&str, &str)]| {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("config.toml"), text).unwrap();
        let project = Project::find(Some(folder.path()), folder.path()).unwrap();
        let flags = Flags {
            purpose: selvedge_postgres::cluster::LockPurpose::server(command),
            ..Flags::default()
        };
        let environment: Environment = variables.iter().copied().collect();
        Config::load_project(project, environment, &flags).unwrap().config
    };

    let served = load_for("serve", &[("A", "b")]);
    assert_eq!(served.api_url(), "https://shop.example:8443");
    assert_eq!(served.acme().unwrap().hsts, Duration::from_secs(86_400));
    let given = load_for("serve", &[("SUPABASE_API_EXTERNAL_URL", "https://api.example")]);
    assert_eq!(given.api_url(), "https://api.example");
    let started = load_for("start", &[("A", "b")]);
    assert_eq!(started.api_url(), "http://127.0.0.1:54321");
    assert!(started.acme().is_none());
}

#[test]
fn prod_020_what_no_authority_would_accept_is_an_error_with_its_line() {
    let wrong = |lines: &str| errors(&format!("[selvedge.tls]\n{lines}\n"));

    for (lines, expected) in [
        (
            "domains = [\"*.shop.example\"]",
            "config.toml:2: selvedge.tls.domains holds",
        ),
        (
            "domains = [\"a.example\"]\ndirectory = \"http://ca.example\"",
            "config.toml:3: selvedge.tls.directory must be an https address",
        ),
        (
            "domains = [\"a.example\"]\neab_key_id = \"1\"",
            "config.toml:3: selvedge.tls.eab_key_id belongs to eab_hmac_key",
        ),
        (
            "domains = [\"a.example\"]\nhttp_port = 443",
            "config.toml:3: selvedge.tls.http_port must be another port",
        ),
    ] {
        let found = wrong(lines);
        assert!(
            found.iter().any(|line| line.starts_with(expected)),
            "{lines}: {found:?}"
        );
    }
}
