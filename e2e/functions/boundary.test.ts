// What functions cannot reach: files of the machine that they import by name, and a debugger's port. One server for all.

import { execFileSync } from "node:child_process";
import { access, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { localKey } from "../support/clients.ts";
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

  test("gw_109 what has no end is refused before it is read, as a name and behind a link", async () => {
    await mkdir(join(server.folder, "functions/endless-link"), { recursive: true });
    await symlink("/dev/zero", join(server.folder, "functions/endless-link/data.txt"));
    await mkdir(join(server.folder, "functions/endless-pipe"), { recursive: true });
    execFileSync("mkfifo", [join(server.folder, "functions/endless-pipe/data.txt")]);
    const imported = {
      "endless-zero": "/dev/zero",
      "endless-random": "file:///dev/urandom",
      "endless-full": "file:///dev/full",
      "endless-link": "./data.txt",
      "endless-pipe": "./data.txt",
    };

    for (const [name, path] of Object.entries(imported)) {
      const source = `import value from "${path}" with { type: "text" }; ${answering("value")}`;
      const [status, text] = await run(name, source);
      expect([name, status]).toEqual([name, 503]);
      expect(text).toContain("BOOT_ERROR");
    }

    expect(server.output()).toContain("/dev/zero is not a file with a module");
    expect(server.output()).toContain("/dev/full. Functions are made of modules below");
    expect(server.output()).toContain("/dev/urandom. Functions are made of modules below");
    expect(server.output()).toContain("endless-pipe/data.txt is no regular file");
    expect(server.output()).not.toContain("takes too long");
  });

  test("a link in a function's folder opens no file that Deno itself may open", async () => {
    const links = {
      settings: ["package.json", "deno.json", "{}"],
      plain: ["inner/link", "deno.json", "{}"],
      vendored: ["vendor/host", "deno.json", '{ "vendor": true }'],
    };
    for (const [name, [link, settings, text]] of Object.entries(links)) {
      const path = join(server.folder, "functions", `link-${name}`, link ?? "");
      await write(`functions/link-${name}/${settings}`, text ?? "");
      await mkdir(dirname(path), { recursive: true });
      await symlink("/etc/hostname", path);

      const read = `Deno.readTextFile(new URL("./${link}", import.meta.url))`;
      const [status, answer] = await run(`link-${name}`, answering(read));

      expect([name, status]).toEqual([name, 503]);
      expect(answer).toContain("BOOT_ERROR");
    }
    // In two steps: the function's link stays in the project, and the one behind it does not.
    await mkdir(join(server.folder, "functions/_linked"), { recursive: true });
    await symlink("/etc/hostname", join(server.folder, "functions/_linked/rc"));
    await mkdir(join(server.folder, "functions/link-chain"), { recursive: true });
    await symlink("../_linked", join(server.folder, "functions/link-chain/shared"));
    const chained = `Deno.readTextFile(new URL("./shared/rc", import.meta.url))`;
    expect((await run("link-chain", answering(chained)))[0]).toBe(503);
    await write("functions/link-map/deno.json", '{ "importMap": "/etc/hostname" }');
    expect((await run("link-map", answering("1")))[0]).toBe(503);
    expect(server.output()).toContain("is a link that leads out of the project");
    expect(server.output()).toContain("import map /etc/hostname: it is outside of the project");
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

/** A module of WebAssembly whose function `value` gives 5, or what function `value` of another module gives. */
function webAssembly(imported?: string): Uint8Array {
  const text = (value: string) => [value.length, ...Buffer.from(value)];
  const section = (id: number, content: number[]) => [id, content.length, ...content];
  const calls = imported !== undefined;
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 0, 1, 0x7f]),
    ...(calls ? section(2, [1, ...text(imported), ...text("value"), 0, 0]) : []),
    ...section(3, [1, 0]),
    ...section(7, [1, ...text("value"), 0, calls ? 1 : 0]),
    // Either a call of the imported function or the constant.
    ...section(10, [1, 4, 0, ...(calls ? [0x10, 0] : [0x41, 5]), 0x0b]),
  ]);
}

describe("gw_040 WebAssembly and source maps", () => {
  let outside: string;

  beforeAll(async () => {
    outside = await mkdtemp(join(tmpdir(), "selvedge-outside-"));
    await writeFile(join(outside, "value.wasm"), webAssembly());
    await writeFile(join(outside, "value.ts"), "export const value = () => 7;");
  });

  afterAll(async () => {
    await rm(outside, { recursive: true, force: true });
  });

  const call = (module: string) => `import { value } from "${module}"; ${answering("value()")}`;

  test("a module of WebAssembly is part of a function, and what it imports is checked like the rest", async () => {
    for (const name of ["wasm-own", "wasm-helper", "wasm-inner"]) {
      await mkdir(join(server.folder, "functions", name), { recursive: true });
    }
    const put = (name: string, imported?: string) =>
      writeFile(join(server.folder, "functions", name, "value.wasm"), webAssembly(imported));
    await put("wasm-own");
    await put("wasm-helper", "./helper.ts");
    await write("functions/wasm-helper/helper.ts", "export const value = () => 6;");
    await put("wasm-inner", `file://${outside}/value.ts`);

    expect(await run("wasm-own", call("./value.wasm"))).toEqual([200, "got 5"]);
    expect(await run("wasm-helper", call("./value.wasm"))).toEqual([200, "got 6"]);
    for (const [name, module] of [
      ["wasm-outside", `file://${outside}/value.wasm`],
      ["wasm-inner", "./value.wasm"],
    ] as const) {
      const [status, text] = await run(name, call(module));

      expect([name, status]).toEqual([name, 503]);
      expect(text).toContain("BOOT_ERROR");
    }
    expect(server.output()).toContain(`${outside}/value.wasm. Functions are made of modules below`);
    expect(server.output()).toContain(`${outside}/value.ts. Functions are made of modules below`);
  });

  test("a source map outside of the repository is not read", async () => {
    const map = {
      version: 3,
      sources: ["leaked-name.ts"],
      names: [],
      mappings: "AAAA;AAAA;AAAA;AAAA",
    };
    await writeFile(join(outside, "index.js.map"), JSON.stringify(map));
    await write(
      "functions/mapped/thrown.js",
      `export function raise() { throw new Error("raised"); }\n//# sourceMappingURL=file://${outside}/index.js.map\n`,
    );

    const [status, text] = await run(
      "mapped",
      `import { raise } from "./thrown.js";
       Deno.serve(() => {
         try { raise(); } catch (error) { return new Response(error.stack); }
       });`,
    );

    expect(status).toBe(200);
    expect(text).toContain("thrown.js");
    expect(text).not.toContain("leaked-name");
  });

  test("a folder that the environment names is part of what functions are made of", async () => {
    const other = await startFunctions({ SELVEDGE_FUNCTIONS_MODULE_FOLDERS: outside });
    try {
      const path = join(other.folder, "functions/shared/index.ts");
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, call(`file://${outside}/value.ts`));

      const response = await other.call("shared");

      expect([response.status, await response.text()]).toEqual([200, "got 7"]);
    } finally {
      await other.stop();
    }
  });
});

test("gw_040 a program or a folder that config.toml names while the server runs needs the same trust as before a start", async () => {
  const marker = join(server.folder, "ran");
  await writeFile(join(server.folder, "deno"), `#!/bin/sh\ntouch ${marker}\n`, { mode: 0o755 });
  expect(await run("trusted", answering("1"))).toEqual([200, "got 1"]);
  for (const [key, setting] of [
    ["selvedge.functions.deno", 'deno = "./deno"'],
    ["selvedge.functions.module_folders", 'module_folders = ["/etc"]'],
  ] as const) {
    await write("config.toml", `project_id = "functions"\n[selvedge.functions]\n${setting}\n`);

    await expect.poll(() => server.output(), { timeout: 20_000 }).toContain(`${key} = `);
    expect(server.output()).toContain("is named by a file of this project");
    expect(await run("trusted", answering("2"))).toEqual([200, "got 2"]);
    await expect(access(marker)).rejects.toThrow();
  }
});

describe("gw_042 what a function shares with nobody", () => {
  test("it makes no threads, however it gets the module", async () => {
    const ways = {
      named: `import { Worker as Thread } from "node:worker_threads"; ${answering(`new Thread("", { eval: true }).threadId`)}`,
      builtin: answering(
        `new (globalThis.process.getBuiltinModule("worker_threads").Worker)("", { eval: true }).threadId`,
      ),
      require: answering(
        `new ((await import("node:module")).createRequire(import.meta.url)("worker_threads").Worker)("", { eval: true }).threadId`,
      ),
      web: answering(`new Worker("data:text/javascript,1", { type: "module" }) && 1`),
    };
    for (const [name, source] of Object.entries(ways)) {
      const [status, text] = await run(`thread-${name}`, source);

      expect([name, status, text.split(" ")[0]]).toEqual([name, 200, "refused"]);
    }
  });

  test("tokens for downloads are in no variable of a function", async () => {
    const other = await startFunctions({ DENO_AUTH_TOKENS: "secret-token@deno.example" });
    try {
      const path = join(other.folder, "functions/tokens/index.ts");
      await mkdir(dirname(path), { recursive: true });
      await writeFile(
        path,
        answering(
          "[Deno.env.get('DENO_AUTH_TOKENS') ?? null, Object.values(Deno.env.toObject()).join()]",
        ),
      );

      const response = await other.call("tokens");

      expect(response.status).toBe(200);
      const text = await response.text();
      expect(text).toMatch(/^got \[null,/);
      expect(text).not.toContain("secret-token");
    } finally {
      await other.stop();
    }
  });

  test("caches are its own, and end with its worker", async () => {
    const put = answering(
      "(await caches.open('a')).put('https://a.example/', new Response('kept')).then(() => 1)",
    );
    const read = (mark: string) =>
      answering(
        `(await (await (await caches.open('a')).match('https://a.example/'))?.text()) ?? "nothing" /* ${mark} */`,
      );
    expect(await run("cache-owner", put)).toEqual([200, "got 1"]);

    expect(await run("cache-reader", read("other"))).toEqual([200, 'got "nothing"']);
    expect(await run("cache-owner", read("next worker"))).toEqual([200, 'got "nothing"']);
  });

  test("a line end in what it prints begins no line of the server's log", async () => {
    const forged = "2026-11-28T12:00:00Z ERROR selvedge_server: forged";

    await run("printing", answering(`console.log("before\\n${forged}\\r${forged}") ?? 1`));

    await expect.poll(() => server.output(), { timeout: 20_000 }).toContain("forged");
    expect(server.output()).not.toMatch(/[\r\n]2026-11-28T12:00:00Z ERROR/);
  });

  test("a WebSocket gets the client's address, as a call does", async () => {
    await write(
      "functions/address/index.ts",
      `Deno.serve((request) => {
        const address = request.headers.get("x-forwarded-for");
        if (request.headers.get("upgrade") !== "websocket") return new Response(address);
        const { socket, response } = Deno.upgradeWebSocket(request);
        socket.onopen = () => socket.send(String(address));
        return response;
      });`,
    );
    const headers = {
      "X-Forwarded-For": "203.0.113.9",
      Authorization: `Bearer ${localKey("anon")}`,
    };
    const called = await server.call("address", { headers });
    const url = `${server.apiUrl.replace("http", "ws")}/functions/v1/address`;
    const socket = new WebSocket(url, { headers });

    const told = await new Promise((done, fail) => {
      socket.on("message", (data) => done(data.toString())).on("error", fail);
    });
    socket.close();

    expect([await called.text(), told]).toEqual(["127.0.0.1", "127.0.0.1"]);
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
