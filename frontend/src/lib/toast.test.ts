// @vitest-environment node
import { afterEach, expect, test, vi } from "vitest";
import { currentToasts, dismissToast, toast } from "./toast";

afterEach(() => {
  for (const { id } of currentToasts()) dismissToast(id, true);
});

function showUndoToast() {
  const action = { label: "Undo", onPress: vi.fn(), onMiss: vi.fn() };
  toast("Deleted", undefined, "neutral", action);
  return { action, id: currentToasts().at(-1)?.id ?? 0 };
}

test("a pressed button runs its action and nothing else", () => {
  const { action, id } = showUndoToast();

  dismissToast(id, true);

  expect([action.onPress.mock.calls.length, action.onMiss.mock.calls.length]).toEqual([1, 0]);
  expect(currentToasts()).toEqual([]);
});

test("a toast that goes away without its button reports it once", () => {
  const { action, id } = showUndoToast();

  dismissToast(id);
  dismissToast(id);

  expect([action.onPress.mock.calls.length, action.onMiss.mock.calls.length]).toEqual([0, 1]);
});

test("a toast that later ones replace reports it, too", () => {
  const { action } = showUndoToast();

  for (const title of ["One", "Two", "Three"]) toast(title);

  expect(action.onMiss).toHaveBeenCalledOnce();
  expect(currentToasts()).toHaveLength(3);
});
