//! Asks the host for a database, and starts the host when none runs.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use selvedge_config::Config;
use selvedge_postgres::cluster::Cluster;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use super::messages::{LeasedDatabase, REQUEST};
use super::state;

/// How long the first stack may wait for the template: many migrations and objects take their time.
const TIME_LIMIT: Duration = Duration::from_secs(600);

/// The pause between two looks at a host that is starting.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// A database for as long as this value exists. When the process ends, the host notices it and removes the database.
pub(super) struct Lease {
    pub(super) database: LeasedDatabase,
    /// The folder of the cluster.
    pub(super) folder: PathBuf,
    connection: BufReader<TcpStream>,
}

impl Lease {
    /// Gets a database from the host of the project's present state.
    ///
    /// # Errors
    /// What has kept the host from making the template, such as the message of a migration that fails.
    pub(super) async fn request(config: &Config) -> Result<Self> {
        let folder = state::state_folder(config)?;
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let deadline = Instant::now() + TIME_LIMIT;
        let mut host = None;
        while Instant::now() < deadline {
            if let Some(lease) = Self::request_from_host(&folder).await? {
                return Ok(lease);
            }
            // A host that ends well has found that another one runs.
            if host.as_mut().map(StartedHost::has_ended).transpose()? == Some(true) {
                host = None;
            }
            if host.is_none() && Cluster::find_running(&folder)?.is_none() {
                host = Some(StartedHost::spawn(config, &folder)?);
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        bail!("no database within {} s", TIME_LIMIT.as_secs())
    }

    /// `None` when no host answers, because none runs, it is not ready or it is just ending.
    async fn request_from_host(folder: &Path) -> Result<Option<Self>> {
        let holder = Cluster::find_running(folder)?;
        let Some(port) = holder.and_then(|holder| holder.service_ports.first().copied()) else {
            return Ok(None);
        };
        let Ok(stream) = TcpStream::connect(("127.0.0.1", port)).await else {
            return Ok(None);
        };
        let mut connection = BufReader::new(stream);
        let mut answer = String::new();
        let sent = connection.write_all(format!("{REQUEST}\n").as_bytes()).await;
        if sent.is_err() || connection.read_line(&mut answer).await.is_err() || answer.is_empty() {
            return Ok(None);
        }
        let database = serde_json::from_str(&answer).context("the host's answer is not understood")?;
        Ok(Some(Self {
            database,
            folder: folder.to_owned(),
            connection,
        }))
    }

    /// Returns when the host process, and the database with it, has ended.
    pub(super) async fn wait_until_lost(&mut self) {
        let mut ignored = [0; 64];
        while self
            .connection
            .read(&mut ignored)
            .await
            .is_ok_and(|length| length > 0)
        {}
    }
}

/// A host that this process has started.
struct StartedHost {
    child: Child,
    /// Its output. The file is unlinked, so it need not be deleted.
    output: File,
}

impl StartedHost {
    fn spawn(config: &Config, folder: &Path) -> Result<Self> {
        let program = std::env::current_exe().context("cannot find this program's own file")?;
        let path = folder.join(format!("output-{}", std::process::id()));
        let output = File::options()
            .read(true)
            .append(true)
            .create(true)
            .open(&path)
            .with_context(|| format!("cannot write {}", path.display()))?;
        std::fs::remove_file(&path).with_context(|| format!("cannot delete {}", path.display()))?;
        let mut command = Command::new(program);
        // Under the name of the Supabase CLI the program would not know this command.
        command.arg0("selvedge").args(["stack", "--host"]).arg(folder);
        if config.project.folder.is_dir() {
            command.arg("--project").arg(&config.project.folder);
        }
        if let Some(pg_bin) = &config.selvedge.pg_bin {
            command.arg("--pg-bin").arg(pg_bin);
        }
        let child = command
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output.try_clone()?)
            // A signal to the test runner's process group must not end the host before it has removed what they leave.
            .process_group(0)
            .spawn()
            .context("cannot start the host of the stacks")?;
        Ok(Self { child, output })
    }

    /// Whether it has ended because another host runs.
    ///
    /// # Errors
    /// Its output, when it has failed.
    fn has_ended(&mut self) -> Result<bool> {
        match self.child.try_wait()? {
            None => Ok(false),
            Some(status) if status.success() => Ok(true),
            Some(status) => {
                let mut printed = String::new();
                self.output.seek(SeekFrom::Start(0))?;
                self.output.read_to_string(&mut printed).ok();
                bail!(
                    "the template of the stacks could not be made ({status})\n{}",
                    printed.trim_end()
                )
            }
        }
    }
}
