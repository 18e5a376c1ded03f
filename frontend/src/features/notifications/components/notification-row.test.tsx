import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderAt } from "@/testing/render";
import type { Notification } from "../api/notification";
import { NotificationRow } from "./notification-row";

it("shows who follows, where there is no outfit to show", async () => {
  const notification: Notification = {
    id: "00000000-0000-4000-8000-000000000001",
    kind: "followed",
    reason: null,
    read_at: null,
    created_at: "2026-01-01T12:00:00Z",
    outfit: null,
    actor: { username: "noah", full_name: null, avatar_url: null },
  };
  renderAt(
    "/notifications",
    <NotificationRow notification={notification} to="/noah" onOpen={() => undefined} />,
  );

  expect(await screen.findByText("@noah follows you.")).toBeVisible();
  expect(screen.getByText("NO")).toBeInTheDocument();
});
