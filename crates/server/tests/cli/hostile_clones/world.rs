//! One hostile clone, the files of the person who uses it, and the folders that this person's programs may write.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::Ports;

/// Numbers that follow from a seed (`SplitMix64`, Steele, Lea and Flood 2014).
pub(super) struct Draw(u64);

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn pick_below(&mut self, count: usize) -> usize {
        let count = u64::try_from(count).expect("small");
        usize::try_from(self.next() % count).expect("small")
    }

    pub(super) fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.pick_below(list.len())]
    }

    /// True in so many of a hundred draws.
    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.pick_below(100) < percent
    }
}

/// What is known of a file that must not change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kept {
    mode: u32,
    owner: (u32, u32),
    modified: (i64, i64),
    inode: u64,
    /// Bytes of a file, target of a link.
    content: Option<Vec<u8>>,
}

/// The folders of one clone: `clone`, `victim`, `markers`, `home`, `state` and `tmp` in one temporary folder.
pub(super) struct World {
    root: tempfile::TempDir,
    pub(super) ports: Ports,
    /// What no output, answer or file of ours may contain.
    pub(super) secret: String,
    config: RefCell<BTreeMap<String, BTreeMap<String, String>>>,
}

/// Folders in which commands may write. All else in the temporary folder stays as it is.
const OWN: [&str; 4] = ["clone", "home", "state", "tmp"];

impl World {
    pub(super) fn new(seed: u64) -> Self {
        let root = tempfile::Builder::new()
            .prefix("selvedge-hostile-")
            // The cluster's user, which is another one when the tests run as root, has to enter it.
            .permissions(Permissions::from_mode(0o755))
            .tempdir_in(selvedge_testing::temporary_folder())
            .expect("a temporary folder");
        let world = Self {
            root,
            ports: Ports::free(),
            secret: format!("canary-{seed:016x}-of-the-victim"),
            config: RefCell::default(),
        };
        for folder in OWN
            .iter()
            .chain(&["victim/documents", "victim/ssh", "victim/empty", "markers"])
        {
            std::fs::create_dir_all(world.path(folder)).expect("created");
        }
        // A canary program may run as the cluster's user.
        for (folder, mode) in [("markers", 0o777), ("tmp", 0o1777), ("victim/ssh", 0o700)] {
            std::fs::set_permissions(world.path(folder), Permissions::from_mode(mode)).expect("ours");
        }
        world.write_victim();
        world.write_programs();
        world.write_ordinary_project();
        world.make_own_project();
        world
    }

    fn write_victim(&self) {
        let secret = &self.secret;
        for (name, text) in [
            ("documents/file", format!("precious {secret}\n")),
            ("ssh/authorized_keys", format!("ssh-ed25519 {secret}\n")),
            ("ssh/id_ed25519", format!("{secret}\n")),
            ("env", format!("STOLEN={secret}\n")),
            ("module.ts", format!("export default \"{secret}\";\n")),
            ("page.html", format!("<p>{secret}</p>\n")),
            (
                "20260101000000_notes.sql",
                "create table of_the_victim (id int);\n".to_owned(),
            ),
        ] {
            let path = self.path("victim").join(name);
            std::fs::write(&path, text).expect("written");
            std::fs::set_permissions(path, Permissions::from_mode(0o600)).expect("ours");
        }
        symlink("documents/file", self.path("victim/link")).expect("linked");
        symlink("/nowhere", self.path("victim/dangling")).expect("linked");
    }

    /// A project of the user's own, whose data folder is recorded as theirs.
    fn make_own_project(&self) {
        let folder = self.path("victim/own");
        std::fs::create_dir(&folder).expect("created");
        std::fs::write(folder.join("config.toml"), "project_id = \"own\"\n").expect("written");
        let made = self
            .command(Path::new(env!("CARGO_BIN_EXE_selvedge")))
            .arg("--project")
            .arg(&folder)
            .arg("trust")
            .output()
            .expect("the binary runs");
        assert!(made.status.success(), "{made:?}");
        std::fs::write(folder.join(".selvedge/superuser-password"), &self.secret).expect("written");
    }

    /// Programs of the clone, which leave a file in `markers` when they run.
    fn write_programs(&self) {
        for name in [
            "postgres", "initdb", "pg_dump", "psql", "deno", "git", "supabase", "hook", "sh",
        ] {
            let text = format!(
                "#!/bin/sh\ntouch {}\nexit 1\n",
                self.path("markers").join(name).display()
            );
            self.write(&format!("bin/{name}"), &text);
            let mode = Permissions::from_mode(0o755);
            std::fs::set_permissions(self.clone_path(&format!("bin/{name}")), mode).expect("ours");
        }
    }

    /// What any project has, so that commands go far when the drawn parts let them.
    fn write_ordinary_project(&self) {
        let Ports { api, database, inbox } = self.ports;
        for (section, key, value) in [
            ("", "project_id", "\"hostile\"".to_owned()),
            ("api", "port", api.to_string()),
            ("db", "port", database.to_string()),
            ("local_smtp", "port", inbox.to_string()),
            ("studio", "enabled", "false".to_owned()),
            ("storage.buckets.files", "public", "true".to_owned()),
        ] {
            self.set(section, key, value);
        }
        self.write(
            "migrations/20260101000000_notes.sql",
            "create table notes (id int);",
        );
        self.write("seed.sql", "insert into notes values (1);");
        self.write(
            "functions/hello/index.ts",
            "Deno.serve(() => new Response(\"hello\"));",
        );
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(super) fn clone_path(&self, name: &str) -> PathBuf {
        self.root.path().join("clone").join(name)
    }

    /// Writes a file of the clone, in place of whatever is there.
    pub(super) fn write(&self, name: &str, text: &str) {
        let path = self.make_room(name);
        std::fs::write(path, text).expect("written");
    }

    /// Removes what is at a path of the clone, and makes its parent. Where a drawn part has put something else in place of a parent, that
    /// goes as well: the test itself must not follow a link.
    pub(super) fn make_room(&self, name: &str) -> PathBuf {
        let mut path = self.clone_path("");
        let parts: Vec<&str> = name.split('/').collect();
        for (number, part) in parts.iter().enumerate() {
            path.push(part);
            let is_last = number + 1 == parts.len();
            match path.symlink_metadata() {
                Ok(meta) if meta.is_dir() && is_last => std::fs::remove_dir_all(&path).expect("removed"),
                Ok(meta) if meta.is_dir() => {}
                Ok(_) => std::fs::remove_file(&path).expect("removed"),
                Err(_) => {}
            }
            if !is_last {
                std::fs::create_dir_all(&path).expect("created");
            }
        }
        path
    }

    /// Sets a key of `config.toml` to a value as TOML writes it.
    pub(super) fn set(&self, section: &str, key: &str, value: String) {
        let mut config = self.config.borrow_mut();
        config
            .entry(section.to_owned())
            .or_default()
            .insert(key.to_owned(), value);
    }

    pub(super) fn write_config(&self) {
        let mut text = String::new();
        for (section, keys) in &*self.config.borrow() {
            if !section.is_empty() {
                text += &format!("[{section}]\n");
            }
            for (key, value) in keys {
                text += &format!("{key} = {value}\n");
            }
        }
        self.write("config.toml", &text);
    }

    /// A command of the binary in the clone, with folders of its own for everything that it keeps elsewhere.
    pub(super) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.clone_path(""));
        for name in [
            "DATABASE_URL",
            "SELVEDGE_DATA_DIR",
            "XDG_CONFIG_HOME",
            "XDG_DATA_HOME",
            "XDG_RUNTIME_DIR",
        ] {
            command.env_remove(name);
        }
        // Copying PostgreSQL's programs takes seconds, so all clones share the copies in the user's cache, as a user's projects do.
        let home = std::env::var_os("HOME").filter(|_| !nix::unistd::geteuid().is_root());
        if let (None, Some(home)) = (std::env::var_os("XDG_CACHE_HOME"), home) {
            command.env("XDG_CACHE_HOME", Path::new(&home).join(".cache"));
        }
        command
            .env("HOME", self.path("home"))
            .env("TMPDIR", self.path("tmp"))
            .env("XDG_STATE_HOME", self.path("home/.local/state"))
            .env("SELVEDGE_STATE_HOME", self.path("state"));
        command
    }

    /// Everything that must stay as it is: all of the temporary folder but the folders in which commands may write.
    pub(super) fn list_kept(&self) -> BTreeMap<PathBuf, Kept> {
        let own: Vec<PathBuf> = OWN.iter().map(|name| self.path(name)).collect();
        walkdir::WalkDir::new(self.root.path())
            .into_iter()
            .filter_entry(|entry| !own.iter().any(|folder| folder == entry.path()))
            .map(|entry| {
                let entry = entry.expect("readable");
                let meta = entry.path().symlink_metadata().expect("it exists");
                let content = if meta.is_symlink() {
                    let target = std::fs::read_link(entry.path()).expect("a link");
                    Some(target.into_os_string().into_encoded_bytes())
                } else {
                    meta.is_file()
                        .then(|| std::fs::read(entry.path()).expect("readable"))
                };
                let kept = Kept {
                    mode: meta.mode(),
                    owner: (meta.uid(), meta.gid()),
                    modified: (meta.mtime(), meta.mtime_nsec()),
                    inode: meta.ino(),
                    content,
                };
                (entry.into_path(), kept)
            })
            .collect()
    }

    /// Files in which commands write that contain the secret, one a line.
    pub(super) fn find_secret(&self) -> String {
        // The cluster's log has statements that fail, and is readable by the user alone.
        // Hundreds of megabytes, mostly of the cluster: a debug build would search them for minutes.
        let found = Command::new("grep")
            .args([
                "-rlF",
                "--devices=skip",
                "--exclude=postgres.log",
                "--",
                &self.secret,
            ])
            .args(OWN.map(|name| self.path(name)))
            .output();
        String::from_utf8_lossy(&found.expect("grep runs").stdout).into_owned()
    }
}
