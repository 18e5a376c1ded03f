import { act, screen } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { parseCount } from "./live-like-count";

const outfitId = "00000000-0000-4000-8000-0000000000aa";

/** Stands for the socket: what the page asked for, and how the test lets things happen. */
const socket = vi.hoisted(() => ({
  topics: [] as string[],
  removed: 0,
  announce: (_message: { payload: unknown }) => {},
  notify: (_system: { extension: string; status: string }) => {},
  report: (_status: string) => {},
}));

vi.mock("@/lib/when-in-use", () => ({ whenInUse: async () => undefined }));

vi.mock("@/lib/realtime", () => {
  const channel = {
    on: (kind: string, _filter: object, handle: typeof socket.announce & typeof socket.notify) => {
      if (kind === "system") socket.notify = handle;
      else socket.announce = handle;
      return channel;
    },
    subscribe: (handle: typeof socket.report) => {
      socket.report = handle;
      return channel;
    },
  };
  return {
    realtime: {
      channel: (topic: string) => {
        socket.topics.push(topic);
        return channel;
      },
      removeChannel: async () => {
        socket.removed += 1;
      },
    },
  };
});

/** Serves these counts, one after the other, and then the last one repeatedly. Returns a function with the number of reads. */
function serveCounts(...counts: number[]): () => number {
  let reads = 0;
  vi.stubGlobal("fetch", async () => {
    const likes = counts[Math.min(reads, counts.length - 1)];
    reads += 1;
    return Response.json({ likes });
  });
  return () => reads;
}

async function openCount() {
  const [{ LikeCount }, { renderAt }] = await Promise.all([
    import("../components/like-count"),
    import("@/testing/render"),
  ]);
  const page = renderAt("/look/rain-plan", <LikeCount outfitId={outfitId} />);
  await vi.waitFor(() => expect(socket.topics).toEqual([`outfit-likes:${outfitId}`]));
  return page;
}

describe("LikeCount", () => {
  beforeEach(() => {
    socket.topics = [];
    socket.removed = 0;
  });

  it("shows the number that the database announces", async () => {
    serveCounts(3);
    await openCount();
    expect(await screen.findByText("3 likes")).toBeVisible();

    act(() => socket.announce({ payload: { outfit: outfitId, likes: 1 } }));

    expect(await screen.findByText("1 like")).toBeVisible();
    expect(screen.queryByText("Reconnecting…")).toBeNull();
  });

  it("says that it reconnects, and reads the number again afterwards", async () => {
    const reads = serveCounts(3, 3, 5);
    await openCount();
    expect(await screen.findByText("3 likes")).toBeVisible();
    act(() => socket.report("SUBSCRIBED"));
    act(() => socket.notify({ extension: "system", status: "ok" }));
    await vi.waitFor(() => expect(reads()).toBe(2));

    act(() => socket.report("CHANNEL_ERROR"));
    expect(screen.getByText("Reconnecting…")).toBeVisible();
    expect(screen.getByText("3 likes")).toBeVisible();

    act(() => socket.report("SUBSCRIBED"));
    expect(screen.queryByText("Reconnecting…")).toBeNull();
    act(() => socket.notify({ extension: "system", status: "ok" }));
    expect(await screen.findByText("5 likes")).toBeVisible();
  });

  it("says nothing when there never was a connection, and leaves its channel", async () => {
    serveCounts(3);
    const page = await openCount();
    expect(await screen.findByText("3 likes")).toBeVisible();

    act(() => socket.report("CHANNEL_ERROR"));
    expect(screen.queryByText("Reconnecting…")).toBeNull();
    page.unmount();

    expect(socket.removed).toBe(1);
  });

  it.each([[null], ["7"], [{}], [{ likes: "7" }], [{ likes: -1 }], [{ likes: 1.5 }]])(
    "ignores %j",
    (payload) => expect(parseCount(payload)).toBeNull(),
  );
});
