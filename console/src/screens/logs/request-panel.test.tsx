import { screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { renderConsole } from "@/testing/render";
import { RequestPanel } from "./request-panel";

afterEach(() => vi.unstubAllGlobals());

it("console_034_claims_of_a_logged_request_are_shown_with_all_digits", async () => {
  const entry = {
    id: "1",
    time: "2026-01-01T00:00:00Z",
    request_id: "r1",
    service: "rest",
    method: "GET",
    path: "/rest/v1/items",
    status: 200,
    duration_ms: 1,
    user: null,
    role: "authenticated",
    address: null,
  };
  // The duration has as many digits as a server writes of one.
  const answer = JSON.stringify({ entry, lines: [], statements: [], kept: true })
    .replace('"duration_ms":1', '"duration_ms":0.12345678901234567')
    .replace('"kept":true', '"kept":true,"claims":{"org":9007199254740993}');
  vi.stubGlobal("fetch", async () => new Response(answer));
  renderConsole(<RequestPanel requestId="r1" />);

  expect(await screen.findByText(/"org": 9007199254740993/)).toBeVisible();
  expect(screen.queryByText(/NaN/)).toBeNull();
});
