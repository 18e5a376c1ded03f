import { act, renderHook, waitFor } from "@testing-library/react";
import { useHeldSteps } from "@ui/held-steps";
import { useKeepTyped } from "@ui/use-keep-typed";
import { expect, it, vi } from "vitest";

const here = { pathname: "/form", search: "" };
const elsewhere = { pathname: "/elsewhere", search: "" };

it("takes quick presses of Back back by one step, and asks once", async () => {
  const go = vi.fn();
  const ask = vi.fn();
  const history = { location: here, createURL: () => elsewhere, go };
  window.history.replaceState({ idx: 2 }, "");
  const { result } = renderHook(() => {
    useKeepTyped({ isDirty: true, isLost: () => true, ask });
    return useHeldSteps(history);
  });
  /** The browser has arrived at an entry. */
  function arriveAt(idx: number): boolean {
    window.history.replaceState({ idx }, "");
    let isHeld = false;
    act(() => {
      isHeld = result.current.isHeld(idx === 2 ? here : elsewhere);
    });
    return isHeld;
  }

  expect(arriveAt(1)).toBe(true);
  expect(go.mock.calls).toEqual([[1]]);
  // The second press comes before the way back has begun, which then leads to the place of the first.
  expect([arriveAt(0), arriveAt(1)]).toEqual([true, true]);
  expect(go.mock.calls).toEqual([[1]]);
  await waitFor(() => expect(go.mock.calls).toEqual([[1], [1]]));
  expect(arriveAt(2)).toBe(true);
  await waitFor(() => expect(ask).toHaveBeenCalledOnce());
});
