import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import { renderAt } from "@/testing/render";
import { Pagination } from "./pagination";

const table = {
  page: 2,
  pageCount: 3,
  total: 25,
  pageSize: 10,
  pageSizes: [10, 20],
  setPageSize: () => undefined,
};

it("turns by the arrow keys, and not while something is typed", async () => {
  const setPage = vi.fn();
  renderAt(
    "/admin/items",
    <>
      <input aria-label="Text" />
      <Pagination table={{ ...table, setPage }} noun="items" />
    </>,
  );

  await userEvent.keyboard("{ArrowRight}{ArrowLeft}");
  expect(setPage.mock.calls).toEqual([[3], [1]]);
  await userEvent.click(screen.getByLabelText("Text"));
  await userEvent.keyboard("{ArrowRight}");
  expect(setPage).toHaveBeenCalledTimes(2);
});
