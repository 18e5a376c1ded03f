import { useQuery, useQueryClient } from "@tanstack/react-query";
import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";
import { renderConsole } from "@/testing/render";
import { objectsKey } from "../api";
import { jobsQuery } from "./jobs-api";
import { JobsTray } from "./jobs-tray";

const job = {
  id: "1",
  kind: "move",
  bucket: "photos",
  target_bucket: "photos",
  first: { from: "summer/", to: "summer2/" },
  steps: 1,
  state: "done",
  account: null,
  created_at: "2026-01-01T00:00:00Z",
  finished_at: "2026-01-01T00:00:01Z",
  total: 2,
  done: 2,
  failed: 0,
  error: null,
};

/** How often the list of files was read, and a button for what a new job does. */
function Files({ read }: { read: () => number }) {
  const client = useQueryClient();
  const { data } = useQuery({ queryKey: objectsKey("photos"), queryFn: read });
  return (
    <>
      <p>read {data} times</p>
      <button
        type="button"
        onClick={() => client.invalidateQueries({ queryKey: jobsQuery.queryKey })}
      >
        Rename
      </button>
    </>
  );
}

afterEach(() => vi.unstubAllGlobals());

it("console_121_a_job_that_ended_before_it_was_seen_reloads_the_files", async () => {
  const jobs: unknown[] = [];
  vi.stubGlobal("fetch", async () => Response.json({ jobs }));
  let count = 0;
  renderConsole(
    <>
      <Files
        read={() => {
          count += 1;
          return count;
        }}
      />
      <JobsTray bucket="photos" refusal={undefined} />
    </>,
  );
  expect(await screen.findByText("read 1 times")).toBeVisible();
  await vi.waitFor(() => expect(count).toBe(1));

  jobs.push(job);
  await userEvent.click(screen.getByRole("button", { name: "Rename" }));
  expect(await screen.findByText("read 2 times")).toBeVisible();
});
