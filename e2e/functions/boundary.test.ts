// What functions cannot reach: files of the machine that they import by name, and a debugger's port. One server for all.

import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FunctionsServer, startFunctions } from "../support/functions.ts";
import { freePorts } from "../support/ports.ts";

let server: FunctionsServer;

beforeAll(async () => {
  server = await startFunctions();
  await write("signing_keys.json", '{"kty":"secret of the project"}');
  await write("shared/prices.json", '{"price":5}');
});

afterAll(async () => {
  await server?.stop();
});

/** Writes a file of the project. */
async function write(name: string, text: string) {
  const path = join(server.folder, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

/** Deploys a function and calls it. */
async function run(name: string, source: string): Promise<[number, string]> {
  await write(`functions/${name}/index.ts`, source);
  const response = await server.call(name);
  return [response.status, await response.text()];
}

/** A function that answers with what an expression gives, or with its error. */
const answering = (expression: string) =>
  `Deno.serve(async () => {
    try { return new Response("got " + JSON.stringify(await (async () => ${expression})())); }
    catch (error) { return new Response("refused " + error.name); }
  });`;

describe("gw_040 modules", () => {
  const forbidden = {
    "outside-json": `import value from "file:///etc/shadow" with { type: "text" }; ${answering("value")}`,
    "outside-static": `import "/proc/self/environ"; ${answering("1")}`,
    "data-folder": answering(
      `(await import("../../.selvedge/superuser-password", { with: { type: "text" } })).default`,
    ),
    keys: answering(
      `(await import("../../signing_keys.json", { with: { type: "json" } })).default`,
    ),
    settings: answering(`(await import("../../config.toml", { with: { type: "text" } })).default`),
    "data-url": answering(`await import("data:text/javascript,import 'file:///etc/hostname'")`),
    indirect: `import value from "./inner.ts"; ${answering("value")}`,
    link: `import value from "./link.json" with { type: "json" }; ${answering("value")}`,
    map: `import value from "keys" with { type: "json" }; ${answering("value")}`,
  };

  test("files outside of the repository, secrets and settings are refused, whoever imports them", async () => {
    await write(
      "functions/indirect/inner.ts",
      'export { default } from "../../.env" with { type: "text" };',
    );
    await write(".env", "SECRET=1\n");
    await mkdir(join(server.folder, "functions/link"), { recursive: true });
    await symlink("/etc/hostname", join(server.folder, "functions/link/link.json"));
    await write("functions/map/deno.json", '{ "imports": { "keys": "../../signing_keys.json" } }');

    for (const [name, source] of Object.entries(forbidden)) {
      const [status, text] = await run(name, source);

      expect([name, status]).toEqual([name, 503]);
      expect(text).toContain("BOOT_ERROR");
    }
    for (const path of [
      "/etc/shadow",
      "/proc/self/environ",
      "signing_keys.json",
      "superuser-password",
      ".env",
    ]) {
      expect(server.output()).toContain(`${path}. Functions are made of modules below`);
    }
    expect(server.output()).not.toContain("secret of the project");
    expect(server.output()).not.toContain("root:");
  });

  test("modules elsewhere in the repository are part of a function, also after a change", async () => {
    const source = `import value from "../../shared/prices.json" with { type: "json" }; ${answering("value")}`;
    expect(await run("prices", source)).toEqual([200, 'got {"price":5}']);

    await write("functions/prices/index.ts", `import "file:///etc/hostname"; ${source}`);
    await new Promise((wake) => setTimeout(wake, 150));

    expect((await server.call("prices")).status).toBe(503);
  });

  test("what is named only while it runs is refused, also through a module of its own making", async () => {
    const ways = {
      computed: `await import(["file:///etc", "hostname"].join("/"), { with: { type: "text" } })`,
      read: `Deno.readTextFile("../../signing_keys.json")`,
      made: `(async () => {
        const path = Deno.env.get("TMPDIR") + "/made.ts";
        await Deno.writeTextFile(path, 'import v from "file:///etc/hostname" with { type: "text" }; export default v;');
        return (await import("file://" + path)).default;
      })()`,
      blob: `import(URL.createObjectURL(new Blob(['import v from "file:///etc/hostname" with { type: "text" }; export default v'],
        { type: "text/javascript" })))`,
      require: `(await import("node:module")).createRequire(import.meta.url)("../../signing_keys.json")`,
    };
    for (const [name, expression] of Object.entries(ways)) {
      const [status, text] = await run(`at-run-${name}`, answering(expression));

      expect([name, status, text.split(" ")[0]]).toEqual([name, 200, "refused"]);
    }
  });

  test("the project's own folder is not readable for a function that lies in it", async () => {
    await write(
      "config.toml",
      `project_id = "functions"\n[functions.inner]\nentrypoint = "./inner.ts"\n`,
    );
    await write("inner.ts", answering(`Deno.readTextFile("signing_keys.json")`));

    await expect
      .poll(async () => (await server.call("inner")).text(), { timeout: 20_000 })
      .toMatch(/^refused/);
  });
});

describe("gw_042 debugger", () => {
  test("a function opens no debugger, however it gets the module", async () => {
    const [port = 0] = await freePorts(1);
    const ways = {
      named: `import { open } from "node:inspector"; ${answering(`open(${port}, "127.0.0.1")`)}`,
      whole: `import * as inspector from "inspector"; ${answering(`inspector.open(${port}, "127.0.0.1")`)}`,
      promises: `import inspector from "node:inspector/promises"; ${answering(`inspector.open(${port})`)}`,
      computed: answering(`(await import(["node:insp", "ector"].join(""))).open(${port})`),
      builtin: answering(`globalThis.process.getBuiltinModule("inspector").open(${port})`),
      require: answering(
        `(await import("node:module")).createRequire(import.meta.url)("inspector").open(${port})`,
      ),
      session: `import { Session } from "node:inspector"; ${answering("new Session().connect()")}`,
    };
    for (const [name, source] of Object.entries(ways)) {
      const [status, text] = await run(`debug-${name}`, source);

      expect([name, status, text.split(" ")[0]]).toEqual([name, 200, "refused"]);
      await expect(fetch(`http://127.0.0.1:${port}/json`)).rejects.toThrow();
    }
  });
});
