// @vitest-environment node
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { firstPaint } from "@/lib/first-paint";

/** Tells the observer that the page has painted. */
let paint: (name: string) => void = () => undefined;

class PaintObserver {
  constructor(callback: (entries: { getEntriesByName: (name: string) => string[] }) => void) {
    paint = (name) => callback({ getEntriesByName: (wanted) => (wanted === name ? [name] : []) });
  }
  observe(): void {}
  disconnect(): void {}
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("PerformanceObserver", PaintObserver);
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("console_151 waits for the first text and not for the background", async () => {
  let isPainted = false;
  const painted = firstPaint().then(() => {
    isPainted = true;
  });
  paint("first-paint");
  await vi.advanceTimersByTimeAsync(100);
  expect(isPainted).toBe(false);
  paint("first-contentful-paint");
  await painted;
  expect(vi.getTimerCount()).toBe(0);
});

test("console_151 a hidden page, which paints nothing, waits for half a second", async () => {
  let isOver = false;
  void firstPaint().then(() => {
    isOver = true;
  });
  await vi.advanceTimersByTimeAsync(499);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(isOver).toBe(true);
});
