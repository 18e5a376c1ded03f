// Measures the pages of a running site with Lighthouse: three runs each, medians, on a machine that does nothing else.
//
//   node tools/lighthouse.mjs [http://127.0.0.1:54321] [path …]
//
// Fetches the pinned version from npm at the first use. Chromium is the one of the machine (CHROMIUM=path names another). Exits
// with 1 when a median misses its goal: performance 95, the other categories 100, largest picture or text after 2.0 s.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const lighthouse = "lighthouse@12.2.3";
const runs = 3;
const categories = ["performance", "accessibility", "best-practices", "seo"];
const goals = { performance: 95, accessibility: 100, "best-practices": 100, seo: 100 };
const maxLcpMs = 2000;

const [base = "http://127.0.0.1:54321", ...given] = process.argv.slice(2);
const pages = given.length > 0 ? given : ["/", "/look/night-bus", "/discovery", "/product/camel-overcoat", "/auth"];
const folder = mkdtempSync(join(tmpdir(), "lighthouse-"));
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** Scores from 0 to 100 and the largest contentful paint in milliseconds of one run. */
function measure(path) {
  const file = join(folder, "report.json");
  execFileSync(
    "npx",
    [
      "--yes",
      lighthouse,
      `${base}${path}`,
      "--quiet",
      "--output=json",
      `--output-path=${file}`,
      `--only-categories=${categories.join(",")}`,
      "--chrome-flags=--headless=new --no-sandbox --disable-gpu",
    ],
    {
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, ...(process.env.CHROMIUM && { CHROME_PATH: process.env.CHROMIUM }) },
    },
  );
  const report = JSON.parse(readFileSync(file, "utf8"));
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
  const measured = Array.from({ length: runs }, () => measure(path));
  const scores = categories.map((_, index) => median(measured.map((run) => run.scores[index])));
  const lcpMs = median(measured.map((run) => run.lcpMs));
  const isMissed = lcpMs > maxLcpMs || scores.some((score, index) => score < goals[categories[index]]);
  if (isMissed) misses += 1;
  console.log([path.padEnd(28), ...scores.map((score) => `${score}`.padStart(15)), `${lcpMs} ms`.padStart(9)].join(""));
  if (isMissed) console.log(`  below 90: ${[...new Set(measured.flatMap((run) => run.failed))].join(", ")}`);
}
rmSync(folder, { recursive: true, force: true });
if (misses > 0) {
  console.error(`${misses} pages miss their goal`);
  process.exit(1);
}
