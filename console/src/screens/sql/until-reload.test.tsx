import { act, renderHook } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { keepState } from "@/lib/forms/kept-state";
import { useCellDraft } from "@/lib/rows/cell-draft";
import { stageInsert } from "@/lib/rows/staged";
import { openStagedStore } from "@/lib/rows/staged-store";
import { addDocument, keepText, openDocuments } from "./documents";

const isAsked = () => !window.dispatchEvent(new Event("beforeunload", { cancelable: true }));

afterEach(() => vi.restoreAllMocks());

it("console_031_what_a_form_keeps_for_later_is_asked_about_on_every_screen", () => {
  expect(isAsked()).toBe(false);
  keepState("request", { body: "{}" }, true);
  expect(isAsked()).toBe(true);
  keepState("request", { body: "" }, false);
  expect(isAsked()).toBe(false);
});

it("console_031_the_draft_of_a_cell_is_asked_about_also_after_its_panel_was_closed", () => {
  const { result, unmount } = renderHook(() => useCellDraft("cell", "old"));
  act(() => result.current.change("new"));
  unmount();
  expect(isAsked()).toBe(true);
  const again = renderHook(() => useCellDraft("cell", "old"));
  expect(again.result.current.value).toBe("new");
  act(() => again.result.current.discard());
  expect(isAsked()).toBe(false);
});

it("console_031_staged_rows_and_sql_that_a_full_storage_has_refused_are_asked_about", () => {
  openDocuments("owner");
  const tab = addDocument();
  const store = openStagedStore("owner");
  expect(isAsked()).toBe(false);
  const full = vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
    throw new DOMException("full", "QuotaExceededError");
  });
  store.update((before) => stageInsert(before, "1", {}));
  expect(isAsked()).toBe(true);
  full.mockRestore();
  store.update(() => []);
  expect(isAsked()).toBe(false);

  vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
    throw new DOMException("full", "QuotaExceededError");
  });
  keepText(tab, "select 1");
  expect(isAsked()).toBe(true);
});
