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

  const place = { clientX: 2000 };
  fireEvent.click(screen.getByRole("button", { name: "Approve one" }), { detail: 1, ...place });
  fireEvent.click(screen.getByRole("button", { name: "Approve two" }), { detail: 2, ...place });
  expect(approve.mock.calls).toEqual([["one"]]);

  // Keys are pressed on a button that has the focus, so nothing moves below them.
  fireEvent.click(screen.getByRole("button", { name: "Approve two" }), { detail: 0 });
  expect(approve.mock.calls).toEqual([["one"], ["two"]]);
});

it("a click at another place is no second click, however soon it comes", () => {
  const act = vi.fn();
  render(
    <>
      <RowButton label="Edit" onClick={() => act("edit")} />
      <RowButton label="Delete" onClick={() => act("delete")} />
    </>,
  );
  const click = (name: string, clientX: number) =>
    fireEvent.click(screen.getByRole("button", { name }), { detail: 1, clientX });
  click("Edit", 1000);
  click("Delete", 1040);

  expect(act.mock.calls).toEqual([["edit"], ["delete"]]);
});

it("a click after one on something else is no second click, however quickly somebody has edited and saved", () => {
  const look = vi.fn();
  render(
    <>
      <RowButton label="Look at" onClick={look} />
      <button type="button">Save</button>
    </>,
  );
  const place = { detail: 1, clientX: 4000 };
  fireEvent.click(screen.getByRole("button", { name: "Look at" }), place);
  fireEvent.click(screen.getByRole("button", { name: "Save" }), place);
  fireEvent.click(screen.getByRole("button", { name: "Look at" }), place);

  expect(look).toHaveBeenCalledTimes(2);
});

it("the second tap of a thumb is one also where the thumb has moved", () => {
  const approve = vi.fn();
  render(<RowButton label="Approve" onClick={approve} />);
  const tap = (clientX: number) => {
    const event = new MouseEvent("click", { bubbles: true, detail: 1, clientX });
    Object.defineProperty(event, "pointerType", { value: "touch" });
    fireEvent(screen.getByRole("button", { name: "Approve" }), event);
  };
  tap(3000);
  tap(3020);

  expect(approve).toHaveBeenCalledOnce();
});
