// The number of likes of an open outfit changes with the likes of others, also after a lost connection.

import type { Page, WebSocketRoute } from "@playwright/test";
import { expectData, makeOutfit, type Outfit } from "../support/catalogue.ts";
import { type Person, signUp } from "../support/clients.ts";
import { expect, saveScreenshot, test } from "./journey.ts";

/** Connects and disconnects the page from the realtime service. */
interface Cable {
  /** Cuts the open connections, and those that the page opens from now on. */
  pull(): Promise<void>;
  plug(): void;
}

async function layCable(page: Page): Promise<Cable> {
  const open = new Set<WebSocketRoute>();
  let isPlugged = true;
  await page.routeWebSocket(/\/realtime\/v1\/websocket/, (socket) => {
    if (!isPlugged) {
      // Closes as a server does when it restarts.
      void socket.close({ code: 1012 });
      return;
    }
    socket.connectToServer();
    open.add(socket);
  });
  return {
    async pull() {
      isPlugged = false;
      for (const socket of open) {
        await socket.close({ code: 1012 });
      }
      open.clear();
    },
    plug() {
      isPlugged = true;
    },
  };
}

async function like(person: Person, outfit: Outfit): Promise<void> {
  const { client, id } = person;
  expectData(
    await client.from("likes").insert({ user_id: id, combine_id: outfit.id }).select().single(),
  );
}

test("a visitor sees the likes of others as they come, and those that came while the connection was lost", async ({
  page,
  person,
}) => {
  test.setTimeout(120_000);
  const outfit = await makeOutfit(person, "approved");
  const [ada, bob, cleo] = await Promise.all([signUp(), signUp(), signUp()]);
  await like(person, outfit);
  const cable = await layCable(page);
  const joined = page.waitForEvent("websocket");
  await page.goto(`/look/${outfit.id}`);
  await expect(page.getByText("1 like", { exact: true })).toBeVisible();

  // The like may come before the page has joined its channel; it is read then.
  await joined;
  await like(ada, outfit);
  await expect(page.getByText("2 likes", { exact: true })).toBeVisible();
  await like(bob, outfit);
  await expect(page.getByText("3 likes", { exact: true })).toBeVisible();

  const notice = page.getByText("Reconnecting…");
  await expect(notice).toBeHidden();
  await cable.pull();
  await expect(notice).toBeVisible();
  await saveScreenshot(page, "likes-reconnecting");
  await like(cleo, outfit);
  await expect(page.getByText("3 likes", { exact: true })).toBeVisible();

  cable.plug();
  // The client's pauses between its attempts grow to ten seconds.
  await expect(notice).toBeHidden({ timeout: 45_000 });
  await expect(page.getByText("4 likes", { exact: true })).toBeVisible();

  expectData(await bob.client.from("likes").delete().eq("user_id", bob.id).select());
  await expect(page.getByText("3 likes", { exact: true })).toBeVisible();
});
