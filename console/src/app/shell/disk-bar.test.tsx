import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { DiskBar } from "./disk-bar";

afterEach(() => vi.unstubAllGlobals());

function open(disk: string | null) {
  const session = { mode: "serve", login: false, project: { name: "shop" }, version: "1", disk };
  const answer = vi.fn(async () => Response.json(session));
  vi.stubGlobal("fetch", answer);
  render(
    <QueryClientProvider client={new QueryClient()}>
      <DiskBar />
    </QueryClientProvider>,
  );
  return answer;
}

it("prod_009 says so on every screen when the disk has little room", async () => {
  open("less than 5 % of the database's disk are free");

  const bar = await screen.findByRole("status");
  expect(bar.textContent).toContain("Less than 5 % of the database's disk are free.");
});

it("prod_009 says nothing while there is room", async () => {
  const answer = open(null);

  await vi.waitFor(() => expect(answer).toHaveBeenCalled());
  expect(screen.queryByRole("status")).toBeNull();
});
