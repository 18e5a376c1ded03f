import { fireEvent } from "@testing-library/react";
import { afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { ignoreStrayClicks } from "./stray-clicks";

const clicked = vi.fn();
let time = 0;

function addButton(name: string): HTMLButtonElement {
  const button = document.createElement("button");
  button.textContent = name;
  button.addEventListener("click", () => clicked(name));
  document.body.append(button);
  return button;
}

/** What lies at the place of all clicks. */
let top: Element;

function click(button: Element, afterMs = 100): void {
  time += afterMs;
  const event = new MouseEvent("click", { bubbles: true, cancelable: true, detail: 1, clientX: 5 });
  Object.defineProperty(event, "timeStamp", { value: time });
  fireEvent(button, event);
}

beforeAll(() => {
  document.elementFromPoint = () => top;
  ignoreStrayClicks();
});
beforeEach(() => {
  time += 10_000;
});
afterEach(() => {
  document.body.replaceChildren();
  clicked.mockReset();
});

it("the second click of a double click does nothing to what has moved below the pointer", () => {
  const [boots, coat] = [addButton("Remove Boots"), addButton("Remove Coat")];
  top = boots;
  click(boots);
  boots.remove();
  top = coat;
  click(coat);
  expect(clicked.mock.calls).toEqual([["Remove Boots"]]);

  // A third one is meant: what is there has been there for a while.
  click(coat, 300);
  expect(clicked.mock.calls).toEqual([["Remove Boots"], ["Remove Coat"]]);
});

it("nor to what was opened over it", () => {
  const [opener, covering] = [addButton("Delete"), addButton("Delete for good")];
  top = covering;
  click(opener);
  click(covering);
  expect(clicked.mock.calls).toEqual([["Delete"]]);
});

it("two thumbs on neighbours that stay where they are both act", () => {
  const [like, bookmark] = [addButton("Like"), addButton("Bookmark")];
  top = like;
  click(like);
  click(bookmark);
  click(bookmark);
  expect(clicked.mock.calls).toEqual([["Like"], ["Bookmark"], ["Bookmark"]]);
});

it("a click after something was typed acts, however quickly", () => {
  const [edit, save] = [addButton("Edit"), addButton("Save")];
  const field = document.createElement("input");
  document.body.append(field);
  top = edit;
  click(edit);
  edit.remove();
  top = save;
  fireEvent.input(field, { target: { value: "Coat" } });
  click(save);
  expect(clicked.mock.calls).toEqual([["Edit"], ["Save"]]);
});

it("a click that comes later acts", () => {
  const [boots, coat] = [addButton("Remove Boots"), addButton("Remove Coat")];
  top = boots;
  click(boots);
  boots.remove();
  top = coat;
  click(coat, 600);
  expect(clicked).toHaveBeenCalledTimes(2);
});
