// Measurements of a page: violations of axe's rules, layout shifts.

import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "@playwright/test";

/** Longer than any animation of the two front ends, in milliseconds. */
const longestAnimation = 5000;

async function analyze(page: Page): Promise<string[]> {
  await page.evaluate(
    (patience) =>
      Promise.race([
        Promise.all(
          document
            .getAnimations()
            .filter((animation) => animation.effect?.getComputedTiming().endTime !== Infinity)
            .map((animation) => animation.finished.catch(() => undefined)),
        ),
        // One of a page that the browser does not draw never ends.
        new Promise((resolve) => setTimeout(resolve, patience)),
      ]),
    longestAnimation,
  );
  // Without frames of other origins, for which axe would open a page of its own, and with details of violations alone: a fourth of
  // the time.
  const axe = new AxeBuilder({ page }).setLegacyMode(true).options({ resultTypes: ["violations"] });
  return listViolations(axe);
}

async function listViolations(axe: AxeBuilder): Promise<string[]> {
  const { violations } = await axe.analyze();
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map((node) => `${id}: ${help} at ${node.target.join(" ")}`),
  );
}

/** Violations of axe's rules, one line each. Waits for animations, because half-faded colours have too little contrast. */
export async function findViolations(page: Page): Promise<string[]> {
  const found = await analyze(page);
  // A notice that fades in while axe reads the page has too little contrast for a moment; what is wrong is found twice.
  return found.length === 0 ? found : analyze(page);
}

/**
 * Controls on which a text stands that is not in their names, one line each: people who use voice control say what they see. The rule
 * is experimental, and not among axe's by default.
 */
export function findMisnamed(page: Page): Promise<string[]> {
  const rules = ["label-content-name-mismatch"];
  return listViolations(new AxeBuilder({ page }).setLegacyMode(true).withRules(rules));
}

type Shift = PerformanceEntry & { value: number; hadRecentInput: boolean };

/** Records layout shifts of the pages opened from now on. Returns a function that reads the sum of the current page. */
export async function recordLayoutShifts(page: Page): Promise<() => Promise<number>> {
  await page.addInitScript(() => {
    Object.assign(window, { shifts: [] });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as Shift[]) {
        if (!entry.hadRecentInput) {
          (window as unknown as { shifts: number[] }).shifts.push(entry.value);
        }
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
  return () =>
    page.evaluate(() =>
      (window as unknown as { shifts: number[] }).shifts.reduce((sum, shift) => sum + shift, 0),
    );
}

/** How many pixels the page can be scrolled sideways. */
export function measureOverflow(page: Page): Promise<number> {
  return page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
}
