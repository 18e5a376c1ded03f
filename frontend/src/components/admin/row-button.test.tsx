import { fireEvent, render, screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { RowButton } from "./row-button";

it("the second click of a double click does nothing, also where another row has moved up", () => {
  const approve = vi.fn();
  render(
    <>
      <RowButton label="Approve one" onClick={() => approve("one")} />
      <RowButton label="Approve two" onClick={() => approve("two")} />
    </>,
  );

  fireEvent.click(screen.getByRole("button", { name: "Approve one" }), { detail: 1 });
  fireEvent.click(screen.getByRole("button", { name: "Approve two" }), { detail: 2 });
  expect(approve.mock.calls).toEqual([["one"]]);

  // Keys are pressed on a button that has the focus, so nothing moves below them.
  fireEvent.click(screen.getByRole("button", { name: "Approve two" }), { detail: 0 });
  expect(approve.mock.calls).toEqual([["one"], ["two"]]);
});
