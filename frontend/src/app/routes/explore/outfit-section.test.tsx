import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { buildOutfit } from "@/testing/outfits";

const userId = "00000000-0000-4000-8000-000000000001";
const spammer = "00000000-0000-4000-8000-0000000000bb";

beforeEach(() => vi.resetModules());

/** Opens a list of outfits as somebody who has blocked a person; imported anew, because the client reads the stored session then. */
async function openList(list: { hasNextPage: boolean; fetchNextPage: () => void }) {
  const { storeSession } = await import("@/testing/fake-session");
  storeSession(userId);
  vi.stubGlobal("fetch", async (input: RequestInfo | URL) => {
    const { pathname } = new URL(String(input instanceof Request ? input.url : input));
    return Response.json(pathname.endsWith("/blocks") ? [{ blocked_id: spammer }] : []);
  });
  const [{ OutfitSection }, { renderAt: render }] = await Promise.all([
    import("./outfit-section"),
    import("@/testing/render"),
  ]);
  const creator = { id: spammer, username: "spammer", full_name: null, avatar_url: null };
  render(
    "/",
    <OutfitSection
      title="Newest"
      list={{
        data: ["one", "two"].map((slug) => buildOutfit(slug, { creator })),
        isPending: false,
        isError: false,
        error: null,
        refetch: () => undefined,
        ...list,
      }}
      empty={<p>Nothing here.</p>}
    />,
  );
}

it("a page of blocked people alone leads on to the next one", async () => {
  const fetchNextPage = vi.fn();
  await openList({ hasNextPage: true, fetchNextPage });

  await vi.waitFor(() => expect(screen.queryByRole("link", { name: /one/ })).toBeNull());
  expect(screen.queryByText("Nothing here.")).toBeNull();
  await userEvent.click(screen.getByRole("button", { name: "Load more" }));
  expect(fetchNextPage).toHaveBeenCalled();
});

it("a list of blocked people alone is empty", async () => {
  await openList({ hasNextPage: false, fetchNextPage: () => undefined });

  expect(await screen.findByText("Nothing here.")).toBeVisible();
});
