// Measures the console's page in Chromium: how soon it can be used, scrolling through ten million rows, the memory of the page,
// and the log's tail under load.
//
//   node browser.mjs CONSOLE_URL API_URL SECONDS
//
// Run it in e2e/, whose Playwright it uses. CHROMIUM names the browser.
import { createRequire } from "node:module";
import { join } from "node:path";
import { startChromium } from "./devtools.mjs";
import { measureFirstPage, measureScreens, measureStart } from "./page-times.mjs";

const require = createRequire(join(process.cwd(), "package.json"));
const { chromium } = require("@playwright/test");
const [consoleUrl, apiUrl, secondsText] = process.argv.slice(2);
const seconds = Number(secondsText);
const repetitions = 5;
/** A frame that takes longer than three frames of a 60 Hz screen is seen as a jerk. */
const longFrameMs = 50;
const linesPerSecond = 1000;

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

const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const unobserved = await startChromium(executablePath);
await measureStart(unobserved, consoleUrl, repetitions);
await unobserved.close();

const browser = await chromium.launch({
  executablePath,
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
});
const open = async (path) => {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(`${consoleUrl}${path}`);
  return page;
};

await measureScreens(browser, consoleUrl, repetitions);
await measureFirstPage(browser, consoleUrl, repetitions);

const table = await open("/tables/public/events");
await table.locator("[role=gridcell]").first().waitFor();
printFrames(`CONSOLE-152 scrolling for ${seconds} s (goal < 1 %)`, await table.evaluate(recordFrames, [seconds * 1000, 120]));
const reached = await table.locator("[role=row][aria-rowindex]").last().getAttribute("aria-rowindex");
const inspector = await table.context().newCDPSession(table);
await inspector.send("HeapProfiler.collectGarbage");
const { usedSize } = await inspector.send("Runtime.getHeapUsage");
console.log(`CONSOLE-152 reached row ${reached}; the page's memory afterwards: ${(usedSize / 1e6).toFixed(0)} MB (goal 100)`);
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
printFrames(`CONSOLE-154 log's tail with ${Math.round(sent / (seconds / 2))} lines per second`, frames);
await browser.close();
