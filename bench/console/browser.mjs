// Measures the console's page in Chromium: how soon it can be used, scrolling through ten million rows, the memory of the page,
// and the log's tail under load.
//
//   node browser.mjs CONSOLE_URL API_URL SECONDS
//
// Run it in e2e/, whose Playwright it uses. CHROMIUM names the browser.
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(join(process.cwd(), "package.json"));
const { chromium } = require("@playwright/test");
const [consoleUrl, apiUrl, secondsText] = process.argv.slice(2);
const seconds = Number(secondsText);
const repetitions = 5;
/** A frame that takes longer than three frames of a 60 Hz screen is seen as a jerk. */
const longFrameMs = 50;
const linesPerSecond = 1000;

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** Milliseconds until the page shows this, from before `action`. */
async function timeUntil(locator, action) {
  const began = performance.now();
  await action();
  await locator.waitFor();
  return performance.now() - began;
}

/** Runs in the page: lengths of the frames for some seconds, while `step` moves the page on each of them. */
const recordFrames = ([duration, pixelsPerFrame]) =>
  new Promise((resolve) => {
    const viewport = document.querySelector("[role=grid] [role=row]")?.closest(".overflow-auto");
    const frames = [];
    const began = performance.now();
    let last = began;
    const step = (now) => {
      frames.push(now - last);
      last = now;
      if (pixelsPerFrame > 0 && viewport) viewport.scrollTop += pixelsPerFrame;
      if (now - began < duration) requestAnimationFrame(step);
      else resolve(frames.slice(1));
    };
    requestAnimationFrame(step);
  });

function printFrames(name, frames) {
  const long = frames.filter((frame) => frame > longFrameMs).length;
  const share = ((100 * long) / frames.length).toFixed(2);
  console.log(`${name}: ${frames.length} frames, ${long} over ${longFrameMs} ms (${share} %), longest ${Math.max(...frames).toFixed(0)} ms`);
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
});
const open = async (path) => {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(`${consoleUrl}${path}`);
  return page;
};

const times = { shell: [], next: [], table: [] };
for (let index = 0; index <= repetitions; index += 1) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  const shell = await timeUntil(page.getByRole("navigation").first(), () =>
    page.goto(consoleUrl, { waitUntil: "commit" }),
  );
  await page.waitForLoadState("networkidle");
  const next = await timeUntil(page.getByRole("heading", { name: "Logs" }).first(), () =>
    page.getByRole("link", { name: "Logs" }).first().click(),
  );
  const table = await timeUntil(page.locator("[role=gridcell]").first(), () =>
    page.goto(`${consoleUrl}/tables/public/events`, { waitUntil: "commit" }),
  );
  await page.close();
  // The first round brings the files into the cache.
  if (index > 0) {
    times.shell.push(shell);
    times.next.push(next);
    times.table.push(table);
  }
}
console.log(
  `\npage: shell ${median(times.shell).toFixed(0)} ms (goal 300), next screen ${median(times.next).toFixed(0)} ms (goal 100), ` +
    `a table's first rows from nothing ${median(times.table).toFixed(0)} ms`,
);

const table = await open("/tables/public/events");
await table.locator("[role=gridcell]").first().waitFor();
printFrames(`scrolling for ${seconds} s (goal < 1 %)`, await table.evaluate(recordFrames, [seconds * 1000, 120]));
const reached = await table.locator("[role=row][aria-rowindex]").last().getAttribute("aria-rowindex");
const inspector = await table.context().newCDPSession(table);
await inspector.send("HeapProfiler.collectGarbage");
const { usedSize } = await inspector.send("Runtime.getHeapUsage");
console.log(`reached row ${reached}; the page's memory afterwards: ${(usedSize / 1e6).toFixed(0)} MB (goal 100)`);
await table.close();

const logs = await open("/logs?live=1");
let sent = 0;
const sender = setInterval(() => {
  for (let index = 0; index < linesPerSecond / 20; index += 1) {
    fetch(`${apiUrl}/events?id=eq.${sent}&select=id`).then((response) => response.arrayBuffer(), () => undefined);
    sent += 1;
  }
}, 50);
const frames = await logs.evaluate(recordFrames, [(seconds * 1000) / 2, 0]);
clearInterval(sender);
printFrames(`log's tail with ${Math.round(sent / (seconds / 2))} lines per second`, frames);
await browser.close();
