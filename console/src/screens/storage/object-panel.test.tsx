import { act, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { renderConsole } from "@/testing/render";
import type { Bucket } from "./api";
import { ObjectPanel } from "./object-panel";

afterEach(() => vi.unstubAllGlobals());

const bucket: Bucket = {
  id: "photos",
  name: "photos",
  public: true,
  file_size_limit: null,
  allowed_mime_types: null,
  created_at: "2026-01-01T00:00:00Z",
  updated_at: "2026-01-01T00:00:00Z",
};

it("console_031_a_file_that_somebody_else_has_deleted_has_neither_buttons_nor_an_address", async () => {
  let isGone = false;
  vi.stubGlobal("fetch", async () =>
    isGone
      ? Response.json(
          { statusCode: "404", error: "not_found", message: "Object not found", code: "NoSuchKey" },
          { status: 400 },
        )
      : Response.json({
          id: "1",
          name: "a.bin",
          size: 3,
          content_type: "application/octet-stream",
          cache_control: null,
          etag: "e",
          created_at: "2026-01-01T00:00:00Z",
          last_modified: null,
          metadata: null,
        }),
  );
  const { client } = renderConsole(
    <ObjectPanel bucket={bucket} name="a.bin" refusal={undefined} onAct={() => undefined} />,
  );
  expect(await screen.findByRole("button", { name: "Rename" })).toBeEnabled();
  isGone = true;
  await act(() => client.invalidateQueries({ queryKey: ["storage"] }));

  expect(await screen.findByText(/This file is not there any more/)).toBeVisible();
  expect(screen.queryByRole("button")).not.toBeInTheDocument();
  expect(screen.queryByText(/object\/public/)).not.toBeInTheDocument();
});
