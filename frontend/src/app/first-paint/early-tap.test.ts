import { fireEvent, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { keepEarlyTap } from "./early-tap";

let root: HTMLElement;
let view: HTMLElement;
const opened = vi.fn();

/** The app's view, with a link where the first view shows a card. */
function render(): void {
  const link = document.createElement("a");
  link.addEventListener("click", opened);
  link.append(document.createElement("span"));
  document.elementFromPoint = () => link.firstElementChild;
  root.replaceChildren(link);
}

beforeEach(() => {
  opened.mockClear();
  root = document.createElement("div");
  view = document.createElement("div");
  root.append(view);
  document.body.replaceChildren(root);
  vi.stubGlobal("scrollY", 0);
});
afterEach(() => vi.unstubAllGlobals());

test("a click on the first view is done when the app has rendered its own, and once", async () => {
  keepEarlyTap(root, view);
  fireEvent.click(root, { clientX: 10, clientY: 20 });
  fireEvent.click(root, { clientX: 12, clientY: 21 });
  expect(opened).not.toHaveBeenCalled();
  render();

  await waitFor(() => expect(opened).toHaveBeenCalledOnce());
  fireEvent.click(root);
  root.append(document.createElement("p"));
  expect(opened).toHaveBeenCalledOnce();
});

test("a click that is meant for another tab opens nothing in this one", async () => {
  keepEarlyTap(root, view);
  for (const key of ["ctrlKey", "metaKey", "shiftKey", "altKey"]) {
    fireEvent.click(root, { clientX: 10, clientY: 20, [key]: true });
  }
  render();
  await new Promise((resolve) => setTimeout(resolve));

  expect(opened).not.toHaveBeenCalled();
});

test("no click is done at a place that was scrolled away, or where nobody has clicked", async () => {
  for (const scrolled of [300, null]) {
    keepEarlyTap(root, view);
    if (scrolled !== null) {
      fireEvent.click(root, { clientX: 10, clientY: 20 });
      vi.stubGlobal("scrollY", scrolled);
    }
    render();
    await new Promise((resolve) => setTimeout(resolve));
    root.replaceChildren(view);
  }
  expect(opened).not.toHaveBeenCalled();
});
