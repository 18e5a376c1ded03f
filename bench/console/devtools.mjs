// A Chromium that is told as little as possible: Playwright switches on the runtime domain of the DevTools protocol in every page, and V8
// then looks up the place of every error that a script makes. React makes one while it starts, which takes 15 to 30 ms that no user waits.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const WebSocket = createRequire(join(process.cwd(), "package.json"))("ws");

/** The connection to a browser: sends commands and returns their results. */
class DevTools {
  #socket;
  #lastId = 0;
  #waiting = new Map();

  constructor(socket) {
    this.#socket = socket;
    socket.on("message", (data) => {
      const { id, result, error } = JSON.parse(data);
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) waiting?.resolve(result);
      else waiting?.reject(new Error(error.message));
    });
  }

  send(method, params = {}, sessionId) {
    this.#lastId += 1;
    const id = this.#lastId;
    this.#socket.send(JSON.stringify({ id, method, params, sessionId }));
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }
}

/**
 * Starts Chromium. A `profile` is an empty cache that several visits share. `visit` opens the URL in a new tab, where `source` runs before
 * the page's scripts, waits for `seconds`, and returns the value of the expression `result`, a promise or not.
 */
export async function startChromium(executable) {
  const folder = mkdtempSync(join(tmpdir(), "selvedge-chromium-"));
  const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"];
  const browser = spawn(executable, [...flags, "--remote-debugging-port=0", `--user-data-dir=${folder}`, "about:blank"], { stdio: "ignore" });
  const ended = new Promise((resolve) => browser.once("exit", resolve));
  const portFile = join(folder, "DevToolsActivePort");
  for (const until = Date.now() + 30_000; !existsSync(portFile) || !readFileSync(portFile, "utf8").includes("/"); ) {
    if (Date.now() > until) throw new Error("Chromium did not start within 30 seconds.");
    await sleep(50);
  }
  const [port, path] = readFileSync(portFile, "utf8").split("\n");
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`);
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  const devTools = new DevTools(socket);

  async function visit(browserContextId, url, { source, seconds, result }) {
    const { targetId } = await devTools.send("Target.createTarget", { url: "about:blank", browserContextId, newWindow: true, width: 1440, height: 900 });
    const { sessionId } = await devTools.send("Target.attachToTarget", { targetId, flatten: true });
    await devTools.send("Page.enable", {}, sessionId);
    await devTools.send("Page.addScriptToEvaluateOnNewDocument", { source }, sessionId);
    // The tab itself has been opened before a user enters an address.
    await sleep(500);
    await devTools.send("Page.navigate", { url }, sessionId);
    await sleep(seconds * 1000);
    const answer = await devTools.send("Runtime.evaluate", { expression: result, awaitPromise: true, returnByValue: true }, sessionId);
    if (answer.exceptionDetails) throw new Error(answer.exceptionDetails.exception?.description ?? answer.exceptionDetails.text);
    await devTools.send("Target.closeTarget", { targetId });
    return answer.result.value;
  }

  return {
    async newProfile() {
      const { browserContextId } = await devTools.send("Target.createBrowserContext");
      return {
        visit: (url, how) => visit(browserContextId, url, how),
        close: () => devTools.send("Target.disposeBrowserContext", { browserContextId }),
      };
    },
    async close() {
      socket.close();
      browser.kill();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
