// @vitest-environment node
import { expect, it } from "vitest";
import { groupByDay } from "./group-by-day";
import type { Notification } from "./notification";

const at = (created_at: string) => ({ id: created_at, created_at }) as Notification;

it("notifications are divided by local days, and not by how many hours ago they came", () => {
  const now = new Date(2026, 10, 30, 0, 30);
  const times = [
    // A server whose clock is ahead.
    new Date(2026, 10, 30, 0, 31),
    new Date(2026, 10, 30, 0, 5),
    new Date(2026, 10, 29, 23, 50),
    new Date(2026, 10, 29, 0, 1),
    new Date(2026, 10, 28, 12),
    new Date(2026, 10, 24, 12),
    new Date(2026, 10, 23, 12),
  ].map((time) => time.toISOString());

  const groups = groupByDay([...times, "infinity"].map(at), now);

  const shape = groups.map(({ title, isOneDay, notifications }) => [
    title,
    isOneDay,
    notifications.length,
  ]);
  expect(shape).toEqual([
    ["Today", true, 2],
    ["Yesterday", true, 2],
    ["Last 7 days", false, 2],
    ["Earlier", false, 2],
  ]);
});
