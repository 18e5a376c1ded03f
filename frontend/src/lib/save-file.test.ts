import { afterEach, expect, it, vi } from "vitest";
import { saveFile } from "./save-file";

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

it("a saved file keeps its address until the browser has begun to read it", () => {
  vi.useFakeTimers();
  const create = vi.fn(() => "blob:1");
  const revoke = vi.fn();
  Object.assign(URL, { createObjectURL: create, revokeObjectURL: revoke });
  const click = vi.spyOn(HTMLAnchorElement.prototype, "click").mockReturnValue();

  saveFile(new Blob(["x"]), "items.csv");

  expect(click).toHaveBeenCalledOnce();
  expect(click.mock.contexts[0]).toMatchObject({ download: "items.csv", href: "blob:1" });
  vi.advanceTimersByTime(10_000);
  expect(revoke).not.toHaveBeenCalled();
  vi.runAllTimers();
  expect(revoke).toHaveBeenCalledWith("blob:1");
});
