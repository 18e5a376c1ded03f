//! What a hostile clone may bring: in its data folder, beside it, and in its `config.toml`.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::world::{Draw, World};

/// Brings one thing, and says what.
pub(super) type Part = fn(&World, &mut Draw) -> String;

/// Names in a data folder that some command reads, writes or removes.
const STATE_FILES: [&str; 30] = [
    "lock",
    "location",
    "replacement.json",
    "superuser-password",
    "binding",
    "binding.new",
    ".gitignore",
    "socket-folder",
    "data-folder",
    "postgres.log",
    "start.log",
    "initialized",
    "restoring",
    "storage",
    "storage.deleted",
    "pgdata",
    "pgdata.unfinished",
    "pgdata.unfinished-1",
    "pgdata.replaced",
    "pgdata.restored",
    "pgdata/pg_wal",
    "functions",
    "functions-session.json",
    "spool",
    "mails",
    "stacks",
    "stacks/1/lock",
    "keys.json",
    "vault.key",
    "run",
];

/// Names in a project that some command reads, writes or replaces.
const PROJECT_FILES: [&str; 24] = [
    "seed.sql",
    "roles.sql",
    "migrations",
    "migrations/20260102000000_more.sql",
    "tenant_migrations",
    "functions",
    "functions/hello",
    "functions/hello/index.ts",
    "functions/hello/deno.json",
    "functions/.env",
    "functions/evil",
    "tests",
    ".env",
    ".env.local",
    ".env.development.local",
    ".temp",
    ".temp/database-url",
    ".gitignore",
    "copy.tar",
    "copy.tar.partial",
    "shipped.tar",
    "node_modules",
    "node_modules/.bin",
    "node_modules/.bin/supabase",
];

/// Each with how often it is drawn.
pub(super) const OUTSIDE_OF_STATE: [(usize, Part); 8] = [
    (6, |world, draw| {
        let name = draw.pick(&PROJECT_FILES);
        place(world, draw, name)
    }),
    (7, set_path),
    (1, set_program),
    (2, write_environment),
    (2, write_sql),
    (2, write_functions),
    (2, write_archive),
    (1, make_repository),
];

/// Draws one of the parts that are not in the data folder.
pub(super) fn draw_outside(world: &World, draw: &mut Draw) -> String {
    let all: Vec<Part> = OUTSIDE_OF_STATE
        .iter()
        .flat_map(|(weight, part)| std::iter::repeat_n(*part, *weight))
        .collect();
    draw.pick(&all)(world, draw)
}

/// Draws something in the data folder, or in its place.
pub(super) fn draw_state(world: &World, draw: &mut Draw) -> String {
    match draw.pick_below(8) {
        0 => place(world, draw, ".selvedge"),
        1 => write_journal(world, draw),
        2 | 3 => write_cluster(world, draw),
        _ => {
            let name = draw.pick(&STATE_FILES);
            place(world, draw, &format!(".selvedge/{name}"))
        }
    }
}

/// Puts a link into a data folder that its user has made.
pub(super) fn link_in_state(world: &World, draw: &mut Draw) -> String {
    let name = draw.pick(&STATE_FILES);
    let target = draw.pick(&VICTIM_FILES);
    let link = world.make_room(&format!(".selvedge/{name}"));
    symlink(world.path("victim").join(target), link).expect("linked");
    format!(".selvedge/{name} is a link to {target}")
}

/// A path of the victim in one of its spellings.
fn spell_outside_path(world: &World, draw: &mut Draw, name: &str) -> String {
    match draw.pick_below(5) {
        0 | 1 => world.path("victim").join(name).display().to_string(),
        2 => format!("../victim/{name}"),
        3 => format!("./functions/../../victim/{name}"),
        _ => {
            let link = world.make_room("shortcut");
            symlink(world.path("victim"), link).expect("linked");
            format!("shortcut/{name}")
        }
    }
}

const VICTIM_FILES: [&str; 7] = [
    "documents/file",
    "ssh/authorized_keys",
    "ssh/id_ed25519",
    "env",
    "module.ts",
    "page.html",
    "link",
];
const VICTIM_FOLDERS: [&str; 4] = ["documents", "ssh", "empty", ""];

/// Puts something that does not belong there in place of a file or folder.
fn place(world: &World, draw: &mut Draw, name: &str) -> String {
    let path = world.make_room(name);
    let what = match draw.pick_below(10) {
        0..4 => {
            let target = match draw.pick_below(4) {
                0 => draw.pick(&VICTIM_FOLDERS),
                1 => "new-file",
                _ => draw.pick(&VICTIM_FILES),
            };
            symlink(world.path("victim").join(target), &path).expect("linked");
            format!("link to {target}")
        }
        4 => {
            std::fs::create_dir_all(path.join("inner")).expect("created");
            symlink(world.path("victim/documents"), path.join("inner/link")).expect("linked");
            "folder with a link".to_owned()
        }
        5 => {
            let status = Command::new("mkfifo").arg(&path).status();
            assert!(status.expect("mkfifo runs").success());
            "FIFO".to_owned()
        }
        6 => {
            let file = std::fs::File::create(&path).expect("created");
            file.set_len(1 << 28).expect("sparse");
            "sparse file".to_owned()
        }
        7 => {
            let name = draw.pick(&VICTIM_FOLDERS);
            let target = spell_outside_path(world, draw, name);
            write_plainly(&path, &format!("{target}\n"));
            format!("text {target}")
        }
        8 => {
            write_plainly(&path, "\u{0}\u{1b}]0;owned\u{7}\n../../victim\n");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o4777)).expect("ours");
            "odd bytes".to_owned()
        }
        _ => {
            write_plainly(&path, "{}");
            if nix::unistd::geteuid().is_root() {
                std::os::unix::fs::lchown(&path, Some(12_345), Some(12_345)).expect("root may");
            }
            "file of another user".to_owned()
        }
    };
    format!("{name} is a {what}")
}

/// Writes at a path that was freed before, or where a part has put a folder into it, beside it.
fn write_plainly(path: &Path, text: &str) {
    std::fs::write(path, text).expect("written");
}

/// A journal of a replacement that moves files of the clone over the victim's, or deletes the victim's.
fn write_journal(world: &World, draw: &mut Draw) -> String {
    let file = draw.pick(&VICTIM_FILES);
    let target = spell_outside_path(world, draw, file);
    let staging = spell_outside_path(world, draw, "documents");
    let name = draw.pick(&["payload", "../bin/hook", ".selvedge/payload"]);
    world.write(".selvedge/payload", "of the clone");
    let journal = json!({
        "is_complete": draw.chance(50),
        "staging": staging,
        "paths": [{"staged": name, "target": target}, {"staged": staging, "target": ".selvedge/storage"}],
    });
    world.write(".selvedge/replacement.json", &journal.to_string());
    format!("journal to {target}")
}

/// A cluster whose settings run programs and read files.
fn write_cluster(world: &World, draw: &mut Draw) -> String {
    let markers = world.path("markers");
    let marker = |name: &str| format!("touch {}/{name}", markers.display());
    let settings = format!(
        "archive_mode = on\narchive_command = '{}'\nrestore_command = '{}'\narchive_cleanup_command = '{}'\nssl_passphrase_command = '{}'\n\
         shared_preload_libraries = '{}'\nlog_directory = '{}'\nlogging_collector = on\nhba_file = '{}'\n",
        marker("archive"),
        marker("restore"),
        marker("cleanup"),
        marker("passphrase"),
        draw.pick(&["", "/nowhere/evil.so"]),
        world.path("victim/documents").display(),
        world.path("victim/ssh/id_ed25519").display(),
    );
    let version = draw.pick(&["15\n", "17\n", "../15\n", ""]);
    world.write(".selvedge/pgdata/PG_VERSION", version);
    for name in ["postgresql.auto.conf", "postgresql.conf", "selvedge.conf"] {
        if draw.chance(70) {
            world.write(&format!(".selvedge/pgdata/{name}"), &settings);
        }
    }
    world.write(".selvedge/pgdata/pg_hba.conf", "host all all 0.0.0.0/0 trust\n");
    let pid = draw.pick(&[std::process::id(), 1]);
    let lock = format!(
        "{pid}\n{}\n1\n5432\n{}\n",
        world.path("victim").display(),
        world.path("victim").display()
    );
    world.write(".selvedge/pgdata/postmaster.pid", &lock);
    let tablespace = world.make_room(".selvedge/pgdata/pg_tblspc/16384");
    symlink(world.path("victim/documents"), tablespace).expect("linked");
    world.write(".selvedge/superuser-password", "x");
    if draw.chance(50) {
        world.write(".selvedge/binding", &"a".repeat(32));
    }
    "cluster with commands".to_owned()
}

/// A setting whose value is a path.
fn set_path(world: &World, draw: &mut Draw) -> String {
    let (section, key, name, is_list) = draw.pick(&[
        ("selvedge", "data_dir", "documents", false),
        ("selvedge", "data_dir", "new-folder", false),
        ("selvedge", "data_dir", "own/.selvedge", false),
        ("selvedge", "vault_key_file", "new-file", false),
        ("selvedge", "vault_key_file", "ssh/id_ed25519", false),
        ("selvedge.functions", "module_folders", "", true),
        ("functions.hello", "entrypoint", "module.ts", false),
        ("functions.hello", "import_map", "documents/file", false),
        ("functions.hello", "static_files", "ssh/*", true),
        ("functions.away", "entrypoint", "module.ts", false),
        ("auth", "signing_keys_path", "ssh/id_ed25519", false),
        ("auth.email.template.invite", "content_path", "page.html", false),
        ("db.seed", "sql_paths", "20260101000000_notes.sql", true),
        ("db.migrations", "schema_paths", "20260101000000_notes.sql", true),
        ("storage.buckets.files", "objects_path", "documents", false),
        ("storage.buckets.files", "objects_path", "ssh", false),
        ("selvedge", "site", "documents", false),
        ("selvedge", "site", "ssh", false),
        ("selvedge.functions", "cache_dir", "documents", false),
    ]);
    let path = spell_outside_path(world, draw, name);
    let value = if is_list {
        format!("[{path:?}]")
    } else {
        format!("{path:?}")
    };
    world.set(section, key, value.clone());
    format!("{section}.{key} = {value}")
}

/// A setting that names a program, or somebody who is called.
fn set_program(world: &World, draw: &mut Draw) -> String {
    let bin = world.clone_path("bin").display().to_string();
    let hook = format!("file://{bin}/hook");
    let archive = format!("touch {}/archived", world.path("markers").display());
    let (section, key, value) = draw.pick(&[
        ("selvedge", "pg_bin", "bin"),
        ("selvedge", "pg_bin", bin.as_str()),
        ("selvedge.functions", "deno", "bin/deno"),
        ("auth.hook.send_email", "uri", hook.as_str()),
        (
            "auth.hook.custom_access_token",
            "uri",
            "pg-functions://postgres/public/notes",
        ),
        ("experimental.webhooks", "command", "bin/hook"),
        ("selvedge", "superuser_password", "env(PATH)"),
        ("db.settings", "archive_command", archive.as_str()),
        ("db.settings", "shared_preload_libraries", "/nowhere/evil.so"),
    ]);
    world.set(section, key, format!("{value:?}"));
    if section.starts_with("auth.hook") {
        world.set(section, "enabled", "true".to_owned());
    }
    if key == "archive_command" {
        world.set(section, "archive_mode", "\"on\"".to_owned());
    }
    format!("{section}.{key} = {value}")
}

/// A `.env` file that would name programs and folders, or find them before those of the machine.
fn write_environment(world: &World, draw: &mut Draw) -> String {
    let bin = world.clone_path("bin").display().to_string();
    let victim = world.path("victim").display().to_string();
    let lines = [
        format!("SELVEDGE_PG_BIN={bin}"),
        format!("SELVEDGE_FUNCTIONS_DENO={bin}/deno"),
        format!("PATH={bin}"),
        format!("LD_PRELOAD={bin}/hook"),
        format!("SELVEDGE_STATE_HOME={victim}"),
        format!("HOME={victim}"),
        format!("TMPDIR={victim}"),
        format!("SELVEDGE_DATA_DIR={victim}/documents"),
        format!("PGDATA={victim}/documents"),
        format!("DENO_DIR={victim}/empty"),
        format!("XDG_CACHE_HOME={victim}"),
    ];
    let line = &lines[draw.pick_below(lines.len())];
    let name = draw.pick(&[".env", ".env.local", "functions/.env"]);
    world.write(name, &format!("{line}\n"));
    format!("{name}: {line}")
}

/// SQL that tries to read files and run programs; what it may not do it leaves.
fn write_sql(world: &World, draw: &mut Draw) -> String {
    let (victim, markers) = (world.path("victim"), world.path("markers"));
    let (victim, markers) = (victim.display(), markers.display());
    let statements = [
        format!("copy notes from program 'touch {markers}/copy'"),
        format!("copy stolen from '{victim}/documents/file'"),
        format!("copy (select 1) to '{victim}/new-file'"),
        format!("insert into stolen select pg_read_file('{victim}/documents/file')"),
        format!("select lo_export(lo_from_bytea(0, 'x'), '{victim}/new-file')"),
        format!("alter system set archive_command = 'touch {markers}/alter'"),
        "create extension file_fdw".to_owned(),
        "create extension plperlu".to_owned(),
        format!("create function evil() returns int language c as '{victim}/evil.so', 'evil'"),
    ];
    let statement = &statements[draw.pick_below(statements.len())];
    let name = draw.pick(&["migrations/20260103000000_try.sql", "seed.sql", "tests/try.sql"]);
    let text = format!(
        "create table if not exists stolen (line text);\ndo $do$ begin execute $sql${statement}$sql$;\nexception when others then null; end $do$;\n"
    );
    world.write(name, &text);
    format!("{name}: {statement}")
}

/// Functions that import files outside of the project, or read and run them.
fn write_functions(world: &World, draw: &mut Draw) -> String {
    let module = spell_outside_path(world, draw, "module.ts").replace("./functions/../", "../");
    let (victim, markers) = (world.path("victim"), world.path("markers"));
    let bodies = [
        format!("import stolen from \"../../{module}\";"),
        format!("import stolen from \"file://{}/module.ts\";", victim.display()),
        format!(
            "const stolen = await Deno.readTextFile(\"{}/documents/file\").catch(String);",
            victim.display()
        ),
        format!(
            "const stolen = await new Deno.Command(\"touch\", {{ args: [\"{}/function\"] }}).output().catch(String);",
            markers.display()
        ),
        format!(
            "const stolen = await Deno.writeTextFile(\"{}/new-file\", \"x\").catch(String);",
            victim.display()
        ),
        "import stolen from \"evil\";".to_owned(),
        "const stolen = JSON.stringify(Deno.env.toObject());".to_owned(),
        "const stolen = (await import(\"node:child_process\")).execSync(\"cat ../victim/env\");".to_owned(),
    ];
    let body = &bodies[draw.pick_below(bodies.len())];
    world.write(
        "functions/hello/index.ts",
        &format!("{body}\nDeno.serve(() => new Response(String(stolen)));\n"),
    );
    let map = json!({"imports": {"evil": "../../../victim/module.ts"}});
    world.write("functions/hello/deno.json", &map.to_string());
    format!("function: {body}")
}

/// A backup with entries that lead out of it.
fn write_archive(world: &World, draw: &mut Draw) -> String {
    let target = world.path("victim/documents/file").display().to_string();
    let entries = [
        ("manifest.json", b'0', ""),
        ("../victim/new-file", b'0', ""),
        (target.as_str(), b'0', ""),
        ("pgdata/link", b'2', "/etc"),
        ("storage/../../../victim/new-file", b'0', ""),
    ];
    let mut archive = Vec::new();
    let first = draw.pick_below(entries.len());
    for (name, kind, link) in &entries[first..] {
        let mut header = [0_u8; 512];
        header[..name.len().min(100)].copy_from_slice(&name.as_bytes()[..name.len().min(100)]);
        header[100..108].copy_from_slice(b"0000644\0");
        header[124..136].copy_from_slice(b"00000000002\0");
        header[148..156].copy_from_slice(b"        ");
        header[156] = *kind;
        header[157..157 + link.len()].copy_from_slice(link.as_bytes());
        header[257..265].copy_from_slice(b"ustar\x0000");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        archive.extend(header);
        if *kind == b'0' {
            let mut content = [0_u8; 512];
            content[..2].copy_from_slice(b"{}");
            archive.extend(content);
        }
    }
    archive.extend([0_u8; 1024]);
    std::fs::write(world.make_room("shipped.tar"), archive).expect("written");
    format!("archive from entry {first}")
}

/// A repository of Git whose settings and hooks name programs of the clone.
fn make_repository(world: &World, _draw: &mut Draw) -> String {
    let bin = world.clone_path("bin").display().to_string();
    world.write(
        ".git/config",
        &format!("[core]\n\tfsmonitor = {bin}/hook\n\thooksPath = {bin}\n\tpager = {bin}/hook\n\teditor = {bin}/hook\n"),
    );
    world.write(".git/HEAD", "ref: refs/heads/main\n");
    world.write(".git/index", "DIRC\u{0}\u{0}\u{0}\u{2}\u{0}\u{0}\u{0}\u{0}");
    "repository with programs".to_owned()
}
