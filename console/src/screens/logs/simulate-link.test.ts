// @vitest-environment node
import { expect, test } from "vitest";
import type { LogEntry } from "./log-entry";
import { simulateLink } from "./simulate-link";

const entry: LogEntry = {
  id: "1",
  time: "2026-01-01T10:00:00Z",
  request_id: "req-1",
  service: "rest",
  method: "GET",
  path: "/rest/v1/items?name=eq.secret",
  status: 200,
  duration_ms: 1,
  user: null,
  role: "anon",
  address: null,
};

test("CONSOLE-130 the simulator is given the request's id and who sent it, and nothing of its content", () => {
  expect(simulateLink(entry)).toBe("/policies/simulator?request=req-1&as=anon");
  expect(simulateLink({ ...entry, user: "u-1", role: "authenticated" })).toContain("as=u-1");
  expect(simulateLink(entry)).not.toContain("secret");
});
