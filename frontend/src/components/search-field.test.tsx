import { notifyManager } from "@tanstack/react-query";
import { act, fireEvent, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useRef, useState } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { holdLists } from "@/lib/press";
import { SearchField } from "./search-field";

beforeEach(() => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  // Modules outlive a file of tests, and another one may have made searches wait for the end of a press.
  notifyManager.setScheduler((act) => setTimeout(act, 0));
});
afterEach(() => {
  vi.useRealTimers();
});

/** The address follows a search after this time, as it does when a list takes long to draw. */
const drawingMs = 120;

let searches: string[];

function SlowPage() {
  const [query, setQuery] = useState("");
  return (
    <>
      <SearchField
        query={query}
        label="Search"
        placeholder="Search..."
        onSearch={(text) => {
          searches.push(text);
          window.setTimeout(() => setQuery(text), drawingMs);
        }}
      />
      <button type="button" onClick={() => setQuery("linked")}>
        Link
      </button>
    </>
  );
}

const box = () => screen.getByRole<HTMLInputElement>("searchbox");
/** With a millisecond for the timer that hands a search on. */
const pass = (ms: number) => act(() => vi.advanceTimersByTime(ms + 1));
/** Adds letters to what the box shows at that moment, as typing does. */
const type = (letters: string) =>
  fireEvent.change(box(), { target: { value: box().value + letters } });

it("never drops a letter that is typed while the page of an earlier search is drawn", () => {
  searches = [];
  render(<SlowPage />);
  type("d");
  type("r");
  type("e");
  pass(250);
  expect(searches).toEqual(["dre"]);

  type("s");
  pass(drawingMs);
  type("t");

  expect(box()).toHaveValue("drest");
  pass(250 + drawingMs);
  expect(box()).toHaveValue("drest");
  expect(searches).toEqual(["dre", "drest"]);
});

it("shows what a link searches for, and forgets a search that was waiting", async () => {
  searches = [];
  render(<SlowPage />);
  type("dre");
  fireEvent.click(screen.getByRole("button", { name: "Link" }));
  expect(box()).toHaveValue("linked");

  pass(1000);
  expect(searches).toEqual([]);
});

/** A page that draws the newest address alone: one that is replaced before it was drawn is never seen. */
function SkippingPage() {
  const [query, setQuery] = useState("");
  const drawing = useRef<number>(undefined);
  return (
    <>
      <SearchField
        query={query}
        label="Search"
        placeholder="Search..."
        onSearch={(text) => {
          searches.push(text);
          window.clearTimeout(drawing.current);
          drawing.current = window.setTimeout(() => setQuery(text), drawingMs);
        }}
      />
      <button type="button" onClick={() => setQuery("coat")}>
        Link
      </button>
      <button
        type="button"
        onClick={() => {
          window.dispatchEvent(new PopStateEvent("popstate"));
          setQuery("coat");
        }}
      >
        Back
      </button>
    </>
  );
}

it.each(["Link", "Back"])(
  "shows the search of a %s after one of the same text was cleared before its page was drawn",
  (name) => {
    searches = [];
    render(<SkippingPage />);
    type("coat");
    pass(250);
    fireEvent.click(screen.getByRole("button", { name: "Clear search" }));
    expect(searches).toEqual(["coat", ""]);
    // The back button at once, a link when the page stands still.
    if (name === "Link") {
      pass(drawingMs);
      pass(1500);
    }
    fireEvent.click(screen.getByRole("button", { name }));

    expect(box()).toHaveValue("coat");
  },
);

it("keeps a letter that is typed while the cleared search is still shown", () => {
  searches = [];
  render(<SlowPage />);
  type("dre");
  pass(250 + drawingMs);
  fireEvent.click(screen.getByRole("button", { name: "Clear search" }));
  type("c");
  pass(drawingMs);
  type("o");
  expect(box()).toHaveValue("co");
  pass(250 + drawingMs);

  expect(box()).toHaveValue("co");
  expect(searches).toEqual(["dre", "", "co"]);
});

it("searches for nothing again when a text was emptied before its page was there", () => {
  searches = [];
  render(<SlowPage />);
  type("dre");
  pass(250);
  fireEvent.change(box(), { target: { value: "" } });
  pass(250);

  expect(searches).toEqual(["dre", ""]);
});

it("leaves the Escape of an input method alone", async () => {
  searches = [];
  render(<SlowPage />);
  type("dre");
  fireEvent.keyDown(box(), { key: "Escape", isComposing: true });
  expect(box()).toHaveValue("dre");
  await userEvent.type(box(), "{Escape}");
  expect(box()).toHaveValue("");
});

it("waits for the click where the pause in typing ends between press and release", () => {
  searches = [];
  holdLists();
  render(<SlowPage />);
  type("dre");
  const link = screen.getByRole("button", { name: "Link" });
  pass(200);
  fireEvent.pointerDown(link, { button: 0 });
  pass(100);
  expect(searches).toEqual([]);
  fireEvent.pointerUp(link, { button: 0 });
  fireEvent.click(document.body);
  pass(20);

  expect(searches).toEqual(["dre"]);
});

it("does not take away the page that a link leads to while the search waits", () => {
  searches = [];
  render(<SlowPage />);
  const { pathname } = window.location;
  type("dre");
  // The address is the new one before the code of its page is there.
  window.history.pushState(null, "", "/terms");
  pass(1000);
  window.history.replaceState(null, "", pathname);

  expect(searches).toEqual([]);
});
