// Times of the console's page, taken in the page itself, because waiting and clicking from outside would count otherwise.

/** Runs in the page before its scripts: tells when something is drawn, counted from the last click or from the page's start. */
const recordTimes = () => {
  let began = 0;
  addEventListener("click", (event) => { began = event.timeStamp; }, { capture: true });
  const isLoading = () => document.querySelector("main [role=status][aria-label^=Loading]") !== null;
  window.timeUntilDrawn = ({ selector, text = "", isLoaded = false }) =>
    new Promise((resolve) => {
      const look = () => {
        const isThere = [...document.querySelectorAll(selector)].some((each) => each.textContent.includes(text));
        if (!isThere || (isLoaded && isLoading())) return false;
        observer.disconnect();
        // The frame that shows it has been drawn when a task runs after the frame's own callbacks.
        requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began)));
        return true;
      };
      const observer = new MutationObserver(look);
      if (!look()) observer.observe(document, { childList: true, subtree: true, attributes: true });
    });
};

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** The rail's other screens, in an order in which none follows itself. */
const screens = ["Tables", "SQL", "Schema", "Policies", "API", "Users", "Storage", "Mail", "Logs", "Settings", "Audit"];

const nextScreen = { selector: "main:not([data-left]) h1" };

/** The promise of milliseconds until the rail is drawn, and until the first screen shows its data. Runs in the page. */
const recordStart = `(${recordTimes})();
  window.startTimes = Promise.all([
    window.timeUntilDrawn({ selector: "nav[aria-label=Screens] a", text: "Logs" }),
    window.timeUntilDrawn({ selector: "main h1", text: "Overview", isLoaded: true }),
  ]);`;

const visits = ["first", "second", "third"];

/** CONSOLE-151: the shell and the overview's data on a first visit (nothing in the cache) and on later ones. */
export async function measureStart(chromium, consoleUrl, repetitions) {
  const times = visits.map(() => []);
  for (let index = 0; index < repetitions; index += 1) {
    const profile = await chromium.newProfile();
    // Long enough for the other screens' scripts, which are loaded while nothing else happens.
    const how = { source: recordStart, seconds: 5, result: "window.startTimes" };
    for (const of of times) of.push(await profile.visit(consoleUrl, how));
    await profile.close();
  }
  const each = (which) => times.map((of) => median(of.map((pair) => pair[which])).toFixed(0)).join(", ");
  console.log(`\nCONSOLE-151 shell on a ${visits.join(", ")} visit: ${each(0)} ms (goal 300); with the overview's data ${each(1)} ms`);
}

/** Milliseconds from the click on a link until a screen's heading is drawn, and until its data are. */
async function timeScreen(page, name) {
  const link = page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name, exact: true });
  // The mark tells the screen that is left from the one that follows.
  await page.evaluate((what) => {
    document.querySelector("main")?.setAttribute("data-left", "");
    window.drawnTime = window.timeUntilDrawn(what);
    window.loadedTime = window.timeUntilDrawn({ ...what, isLoaded: true });
  }, nextScreen);
  await link.click();
  return {
    drawn: await page.evaluate(() => window.drawnTime),
    loaded: await page.evaluate(() => window.loadedTime),
  };
}

/** CONSOLE-151: each screen after a click on its link. */
export async function measureScreens(browser, consoleUrl, repetitions) {
  const times = new Map(screens.map((name) => [name, []]));
  for (let index = 0; index < repetitions; index += 1) {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await page.addInitScript(recordTimes);
    await page.goto(consoleUrl);
    // The other screens' scripts are loaded while nothing else happens.
    await page.waitForLoadState("networkidle");
    await page.waitForTimeout(4000);
    for (const name of screens) times.get(name).push(await timeScreen(page, name));
    await page.close();
  }
  const of = (visits, key) => median(visits.map((visit) => visit[key])).toFixed(0);
  const all = [...times].map(([name, each]) => [name, of(each, "drawn"), of(each, "loaded")]);
  const slowest = Math.max(...all.map(([, drawn]) => Number(drawn)));
  console.log(`CONSOLE-151 next screen: ${slowest} ms at most (goal 100); until drawn, and until its data are:`);
  console.log(all.map(([name, drawn, loaded]) => `  ${name} ${drawn}, ${loaded}`).join("\n"));
}

/** Milliseconds from the click on a table in the list until its first rows are drawn; the list was there for `restMs` before. */
async function timeFirstPage(browser, consoleUrl, restMs) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.addInitScript(recordTimes);
  await page.goto(`${consoleUrl}/tables`);
  const link = page.getByRole("link", { name: /^events/ });
  await link.waitFor();
  await page.waitForTimeout(restMs);
  await page.evaluate(() => {
    window.drawnTime = window.timeUntilDrawn({ selector: "[role=gridcell]" });
  });
  await link.click();
  const time = await page.evaluate(() => window.drawnTime);
  await page.close();
  return time;
}

/** CONSOLE-152: the first rows after a click at the moment at which the list appears, and when a person has read it. */
export async function measureFirstPage(browser, consoleUrl, repetitions) {
  const atOnce = [];
  const later = [];
  for (let index = 0; index < repetitions; index += 1) {
    atOnce.push(await timeFirstPage(browser, consoleUrl, 0));
    later.push(await timeFirstPage(browser, consoleUrl, 3000));
  }
  console.log(
    `CONSOLE-152 first page of ten million rows: ${median(atOnce).toFixed(0)} ms from a click as soon as the list is there, ` +
      `${median(later).toFixed(0)} ms from one three seconds later (goal 100)`,
  );
}
