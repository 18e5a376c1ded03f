import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";
import { renderAt } from "@/testing/render";
import { ReportSection } from "./report-section";

afterEach(() => vi.unstubAllGlobals());

const decided = {
  id: "00000000-0000-4000-8000-000000000001",
  reason: "rights",
  note: "It is my photo.",
  state: "done",
  created_at: "2026-01-01T12:00:00Z",
  decided_at: "2026-01-02T12:00:00Z",
  combine: {
    id: "00000000-0000-4000-8000-0000000000aa",
    name: "Summer Look",
    slug: "summer-look",
    status: "approved",
  },
  person: null,
  reporter: {
    id: "00000000-0000-4000-8000-0000000000bb",
    username: "mira",
    full_name: null,
  },
};

/** Answers with the decided report where decided ones are asked for; `listed` is waited for before a list of them is. */
function serve(listed: Promise<void> = Promise.resolve()) {
  vi.stubGlobal("fetch", async (input: RequestInfo | URL) => {
    const url = new URL(String(input instanceof Request ? input.url : input));
    if (!url.pathname.endsWith("/reports")) return Response.json({ reports: 0 });
    const wanted = url.searchParams.get("state");
    if (wanted === "eq.open") {
      return Response.json([], { headers: { "content-range": "*/0" } });
    }
    if (wanted === "eq.done") await listed;
    return Response.json([decided], { headers: { "content-range": "0-0/1" } });
  });
}

it("an empty queue says what arrives there, and what was decided last", async () => {
  serve();
  renderAt("/admin/reports", <ReportSection />);

  expect(await screen.findByText("Nothing is reported.")).toBeVisible();
  const latest = await screen.findByRole("region", { name: "Decided last" });
  expect(latest).toHaveTextContent("It is my photo.");
  expect(latest).toHaveTextContent("Done · Jan 2, 2026");
  expect(screen.getByRole("link", { name: "Summer Look" })).toHaveAttribute(
    "href",
    `/admin/combines?row=${decided.combine.id}`,
  );

  await userEvent.click(screen.getByRole("button", { name: "Done" }));
  expect(await screen.findByRole("row", { name: /Summer Look/ })).toBeVisible();
  expect(screen.getByRole("radio", { name: "Done" })).toBeChecked();
});

it("an empty queue says nothing about the next state before that is read", async () => {
  let answer = () => {};
  serve(
    new Promise((resolve) => {
      answer = resolve;
    }),
  );
  renderAt("/admin/reports", <ReportSection />);
  expect(await screen.findByText("Nothing is reported.")).toBeVisible();

  await userEvent.click(screen.getByRole("radio", { name: "Done" }));
  expect(await screen.findByRole("table", { name: "Reports", busy: true })).toBeVisible();
  expect(screen.queryByText("No report is marked as done.")).toBeNull();
  answer();
  expect(await screen.findByRole("row", { name: /Summer Look/ })).toBeVisible();
});
