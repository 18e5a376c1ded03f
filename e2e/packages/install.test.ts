// Installs the packages of `make package` by npm in an empty folder, and runs the commands with the PostgreSQL that npm installs.

import { type ChildProcessWithoutNullStreams, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { client } from "../support/clients.ts";
import { freePorts } from "../support/ports.ts";
import { binary } from "../support/selvedge.ts";
import { until } from "../support/until.ts";

const run = promisify(execFile);
const packager = resolve(import.meta.dirname, "../../tools/package.py");
const platform = `${process.platform}-${process.arch}`;
/** On a machine that is busy with other tests, packing and npm take minutes. */
const timeoutMs = 600_000;

let app: string;

beforeAll(async () => {
  const made = await mkdtemp(join(tmpdir(), "selvedge-made-"));
  app = await mkdtemp(join(tmpdir(), "selvedge-installed-"));
  // When the tests run as root, PostgreSQL runs as another user, who must be able to enter the folder with its programs.
  await chmod(app, 0o755);
  await run("python3", [packager, "--binary", binary(), "--output", made]);
  await writeFile(join(app, "package.json"), "{}");
  const packages = (await readdir(made)).filter((name) => name.endsWith(".tgz"));
  const files = packages.map((name) => join(made, name));
  const options = ["--no-audit", "--no-fund", "--prefer-offline"];
  await run("npm", ["install", ...options, ...files], { cwd: app });
  await rm(made, { recursive: true, force: true });
}, timeoutMs);

afterAll(async () => {
  await command("stop").catch(() => undefined);
  // The host of the stacks removes its own folder while it ends, which may be after this.
  await rm(app, { recursive: true, force: true, maxRetries: 10 });
}, timeoutMs);

/** The environment without the variables of the other tests. */
function environment(): NodeJS.ProcessEnv {
  const { SELVEDGE_BIN: _, SELVEDGE_DATA_DIR: __, ...others } = process.env;
  return others;
}

/** Path of the command that npm linked. */
const commandPath = () => join(app, "node_modules/.bin/selvedge");

/** Runs the installed command in its folder. */
const command = (...args: string[]) => run(commandPath(), args, { cwd: app, env: environment() });

/** Flags with free ports for `start`. */
async function portFlags(): Promise<string[]> {
  const ports = await freePorts(4);
  const flags = ["--port", "--db-port", "--inbox-port", "--studio-port"];
  return flags.flatMap((flag, index) => [flag, `${ports[index]}`]);
}

test(
  "npx selvedge runs a project on npm's PostgreSQL, for the stock supabase-js",
  async () => {
    const npx = (...args: string[]) =>
      run("npx", ["--no-install", "selvedge", ...args], { cwd: app, env: environment() });
    const manifest = await readFile(join(app, "node_modules/selvedge/package.json"), "utf8");
    const { version } = JSON.parse(manifest) as { version: string };
    expect((await npx("--version")).stdout.trim()).toBe(`selvedge ${version}`);

    await npx("init");
    const config = join(app, "supabase/config.toml");
    const text = await readFile(config, "utf8");
    // The version of npm's PostgreSQL, so that one of the machine is not used.
    await writeFile(config, text.replace("[db]\n", "[db]\nmajor_version = 18\n"));
    await npx("start", "--detach", ...(await portFlags()));
    const { stdout } = await command("status", "-o", "json");
    const { API_URL: url, SECRET_KEY: key } = JSON.parse(stdout) as Record<string, string>;
    await command("db", "query", "create table notes (id int primary key, body text)");
    const supabase = client(key ?? "", url);
    const isKnown = async () => (await supabase.from("notes").select()).error === null;
    await until(isKnown, "the new table is in the schema cache");
    await supabase.from("notes").insert({ id: 1, body: "installed" }).throwOnError();
    const { data } = await supabase.from("notes").select().throwOnError();

    expect(data).toEqual([{ id: 1, body: "installed" }]);
    expect((await command("db", "query", "show server_version")).stdout).toMatch(/^18\./m);
    await npx("stop");
    expect((await command("stop")).stdout).toContain("is not running");
  },
  timeoutMs,
);

test(
  "the command ends as the program does, and passes signals on",
  async () => {
    await expect(command("no-such-command")).rejects.toMatchObject({ code: 2 });

    const options = { cwd: app, env: environment() };
    const started = spawn(commandPath(), ["start", ...(await portFlags())], options);
    await untilPrinted(started, "is ready");
    started.kill("SIGTERM");

    expect(await once(started, "exit")).toEqual([0, null]);
    expect((await command("stop")).stdout).toContain("is not running");
  },
  timeoutMs,
);

test(
  "a link named supabase answers to the Supabase CLI's words",
  async () => {
    const link = join(app, "linked/supabase");
    await mkdir(join(app, "linked"));
    await symlink(commandPath(), link);

    const { stdout } = await run(link, ["--version"], { cwd: app, env: environment() });

    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  },
  timeoutMs,
);

test(
  "createStack() finds the program in the package",
  async () => {
    const script = `
    import { createStack } from "@selvedge/stack";
    const stack = await createStack();
    const response = await fetch(stack.url + "/health/live");
    console.log(response.status);
    await stack.dispose();`;
    await writeFile(join(app, "stack.mjs"), script);
    // The package must find the program: it is neither on the PATH nor in SELVEDGE_BIN.
    const { stdout } = await run(process.execPath, ["stack.mjs"], { cwd: app, env: environment() });

    expect(stdout).toBe("200\n");
  },
  timeoutMs,
);

test(
  "without the platform's package the command says what to install",
  async () => {
    const folder = join(app, "node_modules/@selvedge", platform);
    await rename(folder, `${folder}-away`);
    const refused = await command("--version").catch((error: unknown) => error);
    await rename(`${folder}-away`, folder);

    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`@selvedge/${platform} is not installed`),
    });
    expect(refused).toMatchObject({ stderr: expect.stringContaining("--include=optional") });
  },
  timeoutMs,
);

/** Waits until a process has printed a text. */
async function untilPrinted(child: ChildProcessWithoutNullStreams, text: string): Promise<void> {
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      printed += chunk;
    });
  }
  await until(() => {
    expect(child.exitCode, printed).toBeNull();
    return printed.includes(text);
  }, text);
}
