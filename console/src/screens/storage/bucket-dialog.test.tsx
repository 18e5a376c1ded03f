import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";
import { renderConsole } from "@/testing/render";
import type { Bucket } from "./api";
import { BucketDialog } from "./bucket-dialog";

const bucket = {
  id: "photos",
  name: "photos",
  public: true,
  file_size_limit: null,
  allowed_mime_types: null,
} as Bucket;

afterEach(() => vi.unstubAllGlobals());

it("console_033_saving_my_limit_does_not_make_a_bucket_public_again", async () => {
  const sent: unknown[] = [];
  vi.stubGlobal("fetch", async (_: string, init?: RequestInit) => {
    if (init?.method === undefined || init.method === "GET") {
      return Response.json([{ ...bucket, public: false, file_size_limit: 1_000_000 }]);
    }
    sent.push(JSON.parse(String(init.body)));
    return Response.json({});
  });
  renderConsole(<BucketDialog bucket={bucket} taken={[]} onClose={vi.fn()} onSaved={vi.fn()} />);
  await userEvent.type(screen.getByLabelText("Largest file"), "5 MB");
  await userEvent.click(screen.getByRole("button", { name: "Save" }));

  expect(await screen.findByRole("alert")).toHaveTextContent("public: false");
  await userEvent.click(screen.getByRole("button", { name: "Save mine" }));
  await waitFor(() =>
    expect(sent).toEqual([{ public: false, file_size_limit: 5_000_000, allowed_mime_types: null }]),
  );
});
