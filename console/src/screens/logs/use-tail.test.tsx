import { act, renderHook } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { parseLogFilter } from "./log-filter";
import { useTail } from "./use-tail";

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const everything = parseLogFilter(new URLSearchParams());

test("console_154_lines_are_added_ten_times_a_second_also_while_the_page_is_hidden", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  // A hidden page gets no animation frames.
  vi.stubGlobal("requestAnimationFrame", () => 0);
  let stream: ReadableStreamDefaultController<Uint8Array> | undefined;
  vi.stubGlobal("fetch", async () => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        stream = controller;
      },
    });
    return new Response(body);
  });
  async function send(id: number): Promise<void> {
    const line = JSON.stringify({ id: String(id), time: "2026-01-01T10:00:00Z" });
    stream?.enqueue(new TextEncoder().encode(`${line}\n`));
    // The stream's decoder works in tasks of its own, for which the fake timers do not stand.
    await new Promise((resolve) => setImmediate(resolve));
  }
  let renders = 0;
  const { result } = renderHook(() => {
    renders += 1;
    return useTail(everything, true);
  });
  await act(() => vi.advanceTimersByTimeAsync(1));
  const before = renders;

  for (let id = 1; id <= 30; id += 1) await send(id);
  expect(result.current.entries).toEqual([]);
  await act(() => vi.advanceTimersByTimeAsync(100));

  expect(result.current.entries.map(({ id }) => id)).toEqual(
    Array.from({ length: 30 }, (_, index) => String(30 - index)),
  );
  expect(renders - before).toBe(1);
});
