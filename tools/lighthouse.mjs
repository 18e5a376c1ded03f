// Measures the pages of a running site with Lighthouse: three runs each, medians, on a machine that does nothing else.
//
//   node tools/lighthouse.mjs [--as demo@address] [--runs 3] [--reports folder] [http://127.0.0.1:54321] [path …]
//
// With --as, a demo user is signed in: each run has a new browser profile in which only the session is stored. That needs the
// Playwright of e2e/ (`npm --prefix e2e ci`).
//
// Fetches the pinned version from npm at the first use. Chromium is the one of the machine (CHROMIUM=path names another). Exits
// with 1 when a median misses its goal: performance 95, the other categories 100, largest picture or text after 2.0 s.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";

const lighthouse = "lighthouse@12.2.3";
const goals = { performance: 95, accessibility: 100, "best-practices": 100, seo: 100 };
const maxLcpMs = 2000;
const demoPassword = "Lookbook-2026";
const publicPages = ["/", "/look/night-bus", "/discovery", "/product/camel-overcoat", "/auth"];
const privatePages = ["/", "/profile", "/profile/edit", "/profile-settings", "/create-outfit", "/notifications"];

const { values, positionals } = parseArgs({
  options: { as: { type: "string" }, runs: { type: "string", default: "3" }, reports: { type: "string" } },
  allowPositionals: true,
});
const runs = Number(values.runs);
const [base = "http://127.0.0.1:54321", ...given] = positionals;
const isSignedIn = values.as !== undefined;
const defaultPages = isSignedIn ? privatePages : publicPages;
const pages = given.length > 0 ? given : defaultPages;
// Search engines do not see the pages of signed-in people.
const categories = Object.keys(goals).filter((id) => !isSignedIn || id !== "seo");
const folder = mkdtempSync(join(tmpdir(), "lighthouse-"));
const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** Path of the browser: the one that CHROMIUM names, or the first that is installed. */
function findBrowser() {
  const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
  const folders = (process.env.PATH ?? "").split(delimiter);
  const installed = folders.flatMap((path) => names.map((name) => join(path, name)));
  return [process.env.CHROMIUM ?? "", ...installed].find(existsSync);
}

/** The session of a demo user, as the auth service answers it. */
async function signIn(email) {
  const page = await (await fetch(base)).text();
  const key = /<meta name="supabase-key" content="([^"]+)"/.exec(page)?.[1] ?? "";
  const response = await fetch(`${base}/auth/v1/token?grant_type=password`, {
    method: "POST",
    headers: { apikey: key, "Content-Type": "application/json" },
    body: JSON.stringify({ email, password: demoPassword }),
  });
  if (!response.ok) throw new Error(`${email} cannot sign in: ${await response.text()}`);
  return response.text();
}

function findFreePort() {
  return new Promise((resolve) => {
    const socket = createServer().listen(0, "127.0.0.1", () => {
      const { port } = socket.address();
      socket.close(() => resolve(port));
    });
  });
}

/** Starts a browser with an empty profile. Returns its port for the DevTools protocol and a function that closes it. */
async function startBrowser() {
  const port = await findFreePort();
  const profile = mkdtempSync(join(folder, "profile-"));
  const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"];
  const own = [`--user-data-dir=${profile}`, `--remote-debugging-port=${port}`];
  // A group of its own: Debian's program is a script, and ending that alone would leave the browser running beside the next measurements.
  const browser = spawn(findBrowser(), [...flags, ...own, "about:blank"], { stdio: "ignore", detached: true });
  const close = async () => {
    process.kill(-browser.pid);
    await once(browser, "exit");
  };
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const response = await fetch(`http://127.0.0.1:${port}/json/version`).catch(() => undefined);
    if (response?.ok) return { port, close };
    await setTimeout(200);
  }
  await close();
  throw new Error("the browser does not listen");
}

/** Stores the session in a browser. Playwright is disconnected afterwards, because it would hold up the pages that Lighthouse opens. */
async function storeSession(port, session) {
  const { chromium } = createRequire(new URL("../e2e/package.json", import.meta.url))("@playwright/test");
  const browser = await chromium.connectOverCDP(`http://127.0.0.1:${port}`);
  const page = await browser.contexts()[0].newPage();
  // A text file of the same origin: nothing of the site itself gets into the cache.
  await page.goto(`${base}/robots.txt`);
  const storageKey = `sb-${new URL(base).hostname.split(".")[0]}-auth-token`;
  await page.evaluate(([name, value]) => localStorage.setItem(name, value), [storageKey, session]);
  await page.close();
  await browser.close();
}

/** Keeps a report in the folder of --reports, the last run of each page. */
function keepReport(path, text) {
  if (values.reports === undefined) return;
  mkdirSync(values.reports, { recursive: true });
  const name = path.replace(/[^a-z0-9]+/gi, "-").replace(/^-|-$/g, "") || "home";
  writeFileSync(join(values.reports, `${name}.json`), text);
}

/** Runs Lighthouse once and returns its report. */
function run(path, flags) {
  const file = join(folder, "report.json");
  const chosen = [`--only-categories=${categories.join(",")}`, "--output=json", `--output-path=${file}`];
  execFileSync("npx", ["--yes", lighthouse, `${base}${path}`, "--quiet", ...chosen, ...flags], {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, ...(process.env.CHROMIUM && { CHROME_PATH: process.env.CHROMIUM }) },
  });
  const text = readFileSync(file, "utf8");
  keepReport(path, text);
  return JSON.parse(text);
}

async function runInBrowser(path) {
  if (!isSignedIn) return run(path, ["--chrome-flags=--headless=new --no-sandbox --disable-gpu"]);
  const { port, close } = await startBrowser();
  try {
    await storeSession(port, await signIn(values.as));
    return run(path, [`--port=${port}`, "--disable-storage-reset"]);
  } finally {
    await close();
  }
}

/** Scores from 0 to 100 and the largest contentful paint in milliseconds of one run. */
async function measure(path) {
  const report = await runInBrowser(path);
  const { pathname } = new URL(report.finalDisplayedUrl);
  if (pathname !== path.split("?")[0]) throw new Error(`${path} led to ${pathname}`);
  const failed = Object.values(report.audits)
    .filter(({ score, scoreDisplayMode }) => score !== null && score < 0.9 && scoreDisplayMode !== "informative")
    .map(({ id }) => id);
  return {
    scores: categories.map((id) => Math.round(100 * report.categories[id].score)),
    lcpMs: Math.round(report.audits["largest-contentful-paint"].numericValue),
    failed,
  };
}

let misses = 0;
console.log(["page".padEnd(28), ...categories.map((id) => id.padStart(15)), "LCP".padStart(9)].join(""));
for (const path of pages) {
  const measured = [];
  for (let index = 0; index < runs; index += 1) measured.push(await measure(path));
  const scores = categories.map((_, index) => median(measured.map((one) => one.scores[index])));
  const lcpMs = median(measured.map((one) => one.lcpMs));
  const isMissed = lcpMs > maxLcpMs || scores.some((score, index) => score < goals[categories[index]]);
  if (isMissed) misses += 1;
  console.log([path.padEnd(28), ...scores.map((score) => `${score}`.padStart(15)), `${lcpMs} ms`.padStart(9)].join(""));
  if (isMissed) console.log(`  below 90: ${[...new Set(measured.flatMap((one) => one.failed))].join(", ")}`);
}
rmSync(folder, { recursive: true, force: true });
if (misses > 0) {
  console.error(`${misses} pages miss their goal`);
  process.exit(1);
}
