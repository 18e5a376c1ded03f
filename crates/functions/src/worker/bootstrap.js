// Runs in Deno before a function's own modules. It gives the function the surroundings of Supabase's edge runtime, has it
// served on a unix socket, and reports to the server that started this process.
//
// Deno.args[0] holds the settings as JSON. Reports go to standard output as lines of JSON after a record separator; what
// the function prints itself goes there, too, as plain lines. Commands come from standard input; its end means that the
// server is gone.

import { AsyncLocalStorage } from "node:async_hooks";

const settings = JSON.parse(Deno.args[0]);

/** Deno's own functions that are replaced below. */
const original = {
  serve: Deno.serve,
  listen: Deno.listen,
  exit: Deno.exit,
  inspect: Deno.inspect,
  stdin: Deno.stdin,
  stdout: Deno.stdout,
};

// ---- Reports

const encoder = new TextEncoder();

/** Sends one report to the server. */
function report(message) {
  let bytes = encoder.encode(`\x1e${JSON.stringify(message)}\n`);
  try {
    while (bytes.length > 0) {
      bytes = bytes.subarray(original.stdout.writeSync(bytes));
    }
  } catch {
    // The server is gone, and the end of standard input ends this process.
  }
}

/** The request that the running code belongs to, also after an await. */
const requests = new AsyncLocalStorage();

function currentRequestId() {
  try {
    return requests.getStore()?.headers.get("x-request-id") ?? undefined;
  } catch {
    // The headers of a finished request may no longer be readable.
    return undefined;
  }
}

// ---- Console

/** Most characters of a message that reach the log. The server cuts lines that are longer than 64 KiB. */
const longestMessage = 10_000;

/** Text of the arguments of a console method, as Deno prints them. */
function formatArguments(values) {
  const [first, ...rest] = values;
  if (typeof first === "string" && rest.length > 0 && first.includes("%")) {
    return globalThis.process.getBuiltinModule("node:util").format(...values);
  }
  const texts = values.map((value) =>
    typeof value === "string" ? value : original.inspect(value, { colors: false })
  );
  return texts.join(" ");
}

function logAs(level) {
  return (...values) => {
    const text = formatArguments(values).slice(0, longestMessage);
    report({ log: level, request_id: currentRequestId(), text });
  };
}

Object.assign(console, {
  debug: logAs("debug"),
  log: logAs("info"),
  info: logAs("info"),
  warn: logAs("warn"),
  error: logAs("error"),
});

// ---- Serving

/** What the function gave to the first of Deno.serve, Deno.listen and its default export. */
let handle;

/** The address that functions see. Source: functions contract §8, which fixes the port. */
const address = { transport: "tcp", hostname: "0.0.0.0", port: 9999 };

function remoteAddress(request) {
  const hostname = request.headers.get("x-forwarded-for")?.split(",")[0].trim() || "127.0.0.1";
  return { transport: "tcp", hostname, port: 0 };
}

/** Serves requests on the socket. A function that serves twice replaces its handler. */
function serveRequests(handler, options) {
  if (typeof handler !== "function") {
    throw new TypeError("A function's handler must be a function");
  }
  const isFirst = handle === undefined;
  handle = handler;
  readCommands();
  if (isFirst) {
    server = original.serve({
      path: settings.socket,
      automaticCompression: false,
      onListen() {
        report({ ready: true });
        options.onListen?.(address);
      },
      onError: options.onError ?? answerError,
    }, dispatch);
  }
  return server;
}

let server;

function dispatch(request, info) {
  const seen = {
    get remoteAddr() {
      return remoteAddress(request);
    },
    completed: info.completed,
  };
  return requests.run(request, handle, request, seen);
}

function answerError(error) {
  console.error(error);
  return new Response("Internal Server Error", { status: 500 });
}

Deno.serve = (first, second) => {
  const options = (typeof first === "function" ? second : first) ?? {};
  const handler = [first, second, options.handler].find((value) => typeof value === "function");
  const { finished, ref, unref, shutdown } = serveRequests(handler, options);
  return { addr: address, finished, ref, unref, shutdown, [Symbol.asyncDispose]: shutdown };
};

// Deno gives requests of a unix socket URLs with the scheme http+unix, which no router of a framework knows. Replaced in the
// prototype, it also holds for copies of a request.
const { get: readUrl } = Object.getOwnPropertyDescriptor(Request.prototype, "url");
Object.defineProperty(Request.prototype, "url", {
  configurable: true,
  enumerable: true,
  get() {
    const url = readUrl.call(this);
    return url.startsWith("http+unix:") ? `http:${url.slice(10)}` : url;
  },
});

// std/http/server.ts, which most functions import, listens by Deno.listen and reads requests by Deno.serveHttp. Deno 2 has
// no serveHttp; here a "connection" is one request.
class FunctionListener {
  addr = address;
  rid = -1;
  #waiting = [];
  #arrived = [];

  constructor() {
    serveRequests((request, info) => {
      const answered = Promise.withResolvers();
      const connection = new RequestConnection(request, info, answered);
      const next = this.#waiting.shift();
      if (next) {
        next(connection);
      } else {
        this.#arrived.push(connection);
      }
      return answered.promise;
    }, {});
  }

  accept() {
    const connection = this.#arrived.shift();
    return connection
      ? Promise.resolve(connection)
      : new Promise((resolve) => this.#waiting.push(resolve));
  }

  close() {}
  ref() {}
  unref() {}

  async *[Symbol.asyncIterator]() {
    while (true) {
      yield await this.accept();
    }
  }
}

class RequestConnection {
  rid = -1;
  localAddr = address;
  #request;
  #answered;

  constructor(request, info, answered) {
    this.#request = request;
    this.#answered = answered;
    this.remoteAddr = info.remoteAddr;
  }

  /** The request, then null once it is answered. */
  async nextRequest() {
    const request = this.#request;
    if (request === undefined) {
      await this.#answered.promise.catch(() => {});
      return null;
    }
    this.#request = undefined;
    return {
      request,
      respondWith: async (response) => {
        this.#answered.resolve(response);
        await this.#answered.promise;
      },
    };
  }

  close() {}

  async *[Symbol.asyncIterator]() {
    let event = await this.nextRequest();
    while (event !== null) {
      yield event;
      event = await this.nextRequest();
    }
  }
}

Deno.listen = (options) =>
  options?.transport === "unix" ? original.listen(options) : new FunctionListener();
Deno.serveHttp = (connection) => connection;

/** `export default { fetch }`, once the main module has run. */
async function serveDefaultExport() {
  const { default: exported } = await import(Deno.mainModule);
  if (handle !== undefined || exported === null || typeof exported !== "object" || !("fetch" in exported)) {
    return;
  }
  if (typeof exported.fetch !== "function") {
    throw new TypeError("Invalid type for fetch: must be a function");
  }
  serveRequests((request, info) => exported.fetch(request, info), exported);
}

// ---- Background work and the end

/** Promises given to EdgeRuntime.waitUntil that are not settled. */
const background = new Set();

function waitUntil(promise) {
  const work = Promise.resolve(promise)
    .catch((error) => console.error(error))
    .finally(() => {
      background.delete(work);
      if (background.size === 0) {
        report({ background: false });
      }
    });
  background.add(work);
  if (background.size === 1) {
    report({ background: true });
  }
  return promise;
}

function warnOfEnd(reason) {
  dispatchEvent(new CustomEvent("beforeunload", { cancelable: true, detail: { reason } }));
}

async function finish(reason) {
  if (reason) {
    warnOfEnd(reason);
  }
  while (background.size > 0) {
    await Promise.allSettled(background);
  }
  original.exit(0);
}

let isReading = false;

/**
 * Obeys the commands of the server until it is gone. Not begun before the main module runs: Deno waits for everything that
 * this module has begun.
 */
async function readCommands() {
  if (isReading) {
    return;
  }
  isReading = true;
  const text = original.stdin.readable.pipeThrough(new TextDecoderStream());
  let unread = "";
  for await (const part of text) {
    const lines = (unread + part).split("\n");
    unread = lines.pop();
    for (const command of lines.map((line) => JSON.parse(line))) {
      if (command.warn) {
        warnOfEnd(command.warn);
      } else {
        finish(command.end);
      }
    }
  }
  original.exit(0);
}

// ---- Deno's functions as the original gives them (functions contract §8)

let isLoading = true;

/** `/tmp` is the worker's own folder, except where the project itself is there. */
function mapPath(path) {
  if (typeof path !== "string" && !(path instanceof URL)) {
    return path;
  }
  const text = path instanceof URL ? decodeURIComponent(path.pathname) : path;
  if (path instanceof URL && path.protocol !== "file:") {
    return path;
  }
  const isOwn = settings.readable.some((folder) => text === folder || text.startsWith(`${folder}/`));
  const isTemporary = text === "/tmp" || text.startsWith("/tmp/");
  return isTemporary && !isOwn ? settings.temporary + text.slice(4) : path;
}

/** Paths that a function gets back begin with `/tmp` again. */
function unmapPath(path) {
  return path.startsWith(settings.temporary) ? `/tmp${path.slice(settings.temporary.length)}` : path;
}

const blocked = (name, where = "") => () => {
  throw new Deno.errors.PermissionDenied(`Deno.${name} is blocklisted${where}`);
};

const withPath = (method) => (path, ...rest) => method(mapPath(path), ...rest);

/** makeTempDir and makeTempFile, sync or not. */
const withTemporaryFolder = (method) => (options = {}) => {
  const made = method({ ...options, dir: options.dir ? mapPath(options.dir) : settings.temporary });
  return typeof made === "string" ? unmapPath(made) : made.then(unmapPath);
};

const whileLoading = (name, method) => (...values) =>
  isLoading ? method(...values) : blocked(name, " on the current context")();

const warned = (name, method) => (...values) => {
  if (!isLoading) {
    console.error(
      `WARNING: Do not use Deno.${name} inside the async callback. This has performance impacts and will be disallowed in the future.\nUse the async version instead.`,
    );
  }
  return method(...values);
};

const allowed = ["open", "lstat", "stat", "realPath", "realPathSync", "create", "remove", "writeFile", "writeTextFile"]
  .concat(["readFile", "readTextFile", "mkdir", "readDir"]);
const allowedWhileLoading = ["lstatSync", "statSync", "removeSync", "writeFileSync", "writeTextFileSync"]
  .concat(["mkdirSync", "readDirSync"]);
const forbidden = ["chmod", "chown", "copyFile", "chdir", "readLink", "rename", "truncate", "symlink", "link", "utime"]
  .flatMap((name) => [name, `${name}Sync`])
  .concat(["openSync", "createSync", "umask"]);

function restrictDeno() {
  const replaced = {};
  for (const name of allowed) {
    replaced[name] = withPath(Deno[name]);
  }
  for (const name of allowedWhileLoading) {
    replaced[name] = whileLoading(name, withPath(Deno[name]));
  }
  for (const name of ["readFileSync", "readTextFileSync"]) {
    replaced[name] = warned(name, withPath(Deno[name]));
  }
  for (const name of forbidden) {
    replaced[name] = blocked(name);
  }
  for (const name of ["makeTempDir", "makeTempFile"]) {
    replaced[name] = withTemporaryFolder(Deno[name]);
    replaced[`${name}Sync`] = whileLoading(`${name}Sync`, withTemporaryFolder(Deno[`${name}Sync`]));
  }
  for (const name of ["kill", "exit", "addSignalListener", "removeSignalListener"]) {
    replaced[name] = () => {};
  }
  const version = {
    ...Deno.version,
    deno: `supabase-edge-runtime-${settings.version} (compatible with Deno v${Deno.version.deno})`,
  };
  const values = { ...replaced, args: [], version };
  for (const [name, value] of Object.entries(values)) {
    Object.defineProperty(Deno, name, { value, configurable: true, enumerable: true, writable: true });
  }
}

/** Hides variables without removing them: Deno reads them when it downloads the main module's imports. */
function hideVariables(names) {
  const { get, has, toObject } = Deno.env;
  Object.assign(Deno.env, {
    get: (name) => names.includes(name) ? undefined : get(name),
    has: (name) => !names.includes(name) && has(name),
    toObject: () => {
      const visible = Object.entries(toObject()).filter(([name]) => !names.includes(name));
      return Object.fromEntries(visible);
    },
  });
}

// ---- Installing the globals, then serving

class UnavailableSession {
  constructor() {
    throw new Error("Supabase.ai is not available: this server has no models");
  }
}

const globals = {
  EdgeRuntime: { waitUntil },
  Supabase: { ai: { Session: UnavailableSession } },
  SUPABASE_VERSION: settings.version,
  DENO_VERSION: Deno.version.deno,
};
for (const [name, value] of Object.entries(globals)) {
  Object.defineProperty(globalThis, name, { value, configurable: true, enumerable: true });
}
// The original has neither: a worker's memory could not be counted. Threads of Node would have a whole `Deno` and all variables.
delete globalThis.Worker;
delete globalThis.SharedArrayBuffer;
/** Replaces exports of a module of Node. Its named exports follow its default export, in imports as in `require`. */
function replaceExports(module, names, value) {
  for (const name of names.filter((name) => name in module)) {
    Object.defineProperty(module, name, { value, enumerable: true, configurable: false, writable: false });
  }
}

/** A class or function that is refused, with `new` and without. */
const refused = (text) =>
  function () {
    throw new Deno.errors.PermissionDenied(text);
  };

const { getBuiltinModule } = globalThis.process;
replaceExports(
  getBuiltinModule("node:worker_threads"),
  ["Worker"],
  refused("node:worker_threads: an edge function has no threads"),
);
// A debugger would be open to everybody on the machine, and stop the function for any time. `node:inspector/promises` takes these functions
// from here, and must not be loaded before they are replaced. Sessions need a right that Deno does not give.
replaceExports(
  getBuiltinModule("node:inspector"),
  ["open", "close", "url", "waitForDebugger"],
  refused("node:inspector: an edge function has no debugger"),
);

for (const name of settings.removed) {
  Deno.env.delete(name);
}
hideVariables(settings.hidden);
restrictDeno();
addEventListener("load", () => {
  readCommands();
  serveDefaultExport().finally(() => {
    isLoading = false;
  });
}, { once: true });
