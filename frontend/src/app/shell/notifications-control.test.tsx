import { screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { storeSession } from "@/testing/fake-session";

afterEach(() => vi.unstubAllGlobals());

it("the bell is named by the number that stands on it", async () => {
  storeSession("00000000-0000-4000-8000-000000000001");
  vi.stubGlobal("fetch", async (_: RequestInfo | URL, init?: RequestInit) =>
    init?.method === "HEAD"
      ? new Response(null, { headers: { "content-range": "*/12" } })
      : Response.json([]),
  );
  // The client reads the stored session when its module is loaded.
  const [{ NotificationsControl }, { renderAt }] = await Promise.all([
    import("./notifications-control"),
    import("@/testing/render"),
  ]);
  renderAt("/", <NotificationsControl />);

  const badge = await screen.findByText("9+");
  expect(badge.closest("button")).toHaveAccessibleName("Notifications, 9+ unread");
});
