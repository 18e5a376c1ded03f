import { act, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { renderConsole } from "@/testing/render";
import { JobFailures } from "./job-failures";
import type { Job } from "./jobs-api";

afterEach(() => vi.unstubAllGlobals());

const job: Job = {
  id: "1",
  kind: "move",
  bucket: "photos",
  target_bucket: "photos",
  first: { from: "summer/", to: "autumn/" },
  steps: 1,
  state: "failed",
  account: null,
  created_at: "2026-01-01T00:00:00Z",
  finished_at: null,
  total: 2,
  done: 1,
  failed: 1,
  error: null,
};

it("console_031_the_failures_of_a_job_stay_when_they_cannot_be_read_again", async () => {
  const failures = [{ name: "summer/a.jpg", message: "It is locked." }];
  vi.stubGlobal("fetch", async () => Response.json({ ...job, failures }));
  const { client } = renderConsole(<JobFailures job={job} onClose={vi.fn()} />);
  await screen.findByText("summer/a.jpg");

  vi.stubGlobal("fetch", async () => Response.json({ message: "away" }, { status: 503 }));
  await act(() => client.invalidateQueries());
  expect(await screen.findByText(/could not be read again/)).toBeVisible();
  expect(screen.getByText("summer/a.jpg")).toBeVisible();
});
