import { act, screen, waitFor } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import { storeSession } from "@/testing/fake-session";

const mine = "00000000-0000-4000-8000-000000000001";
const next = "00000000-0000-4000-8000-000000000002";

/** What was sent: method and path, and whether a session's token came with it. */
let sent: string[];

beforeEach(() => {
  vi.resetModules();
  sent = [];
  vi.stubGlobal("fetch", async (input: RequestInfo | URL, init: RequestInit = {}) => {
    if (init.signal?.aborted) throw new DOMException("aborted", "AbortError");
    const token = new Headers(init.headers).get("Authorization")?.split(".")[1];
    const { pathname } = new URL(String(input), window.location.href);
    const who = token === undefined ? "a visitor" : JSON.parse(atob(token)).sub;
    sent.push(`${init.method ?? "GET"} ${pathname.split("/").at(-1)} by ${who}`);
    return Response.json(pathname.endsWith("is_admin_role") ? false : []);
  });
});

function ShownUser({ useSession }: { useSession: () => { user: { id: string } | null } }) {
  return <p>{useSession().user?.id ?? "nobody"}</p>;
}

/** Opens a page as a signed-in person. Modules are imported anew, because the client reads the stored session when it is loaded. */
async function openPage() {
  storeSession(mine);
  const [{ render }, query] = await Promise.all([
    import("@testing-library/react"),
    import("@tanstack/react-query"),
  ]);
  const [{ SessionProvider, useSession }, { supabase }] = await Promise.all([
    import("@/lib/session"),
    import("@/lib/supabase"),
  ]);
  const client = new query.QueryClient({ defaultOptions: { queries: { retry: false } } });
  render(
    <query.QueryClientProvider client={client}>
      <SessionProvider>
        <ShownUser useSession={useSession} />
      </SessionProvider>
    </query.QueryClientProvider>,
  );
  await screen.findByText(mine);
  await waitFor(() => expect(sent).toHaveLength(2));
  sent = [];
  /** Reads a list by a query with this key. */
  const read = (...queryKey: string[]) =>
    act(() =>
      client.prefetchQuery({
        queryKey,
        queryFn: ({ signal }) =>
          supabase
            .from("outfits" as never)
            .select()
            .abortSignal(signal),
      }),
    );
  return { read, supabase };
}

/** The session as another tab leaves it, before this one has heard of that. */
function replaceSession(userId?: string): void {
  localStorage.clear();
  if (userId !== undefined) storeSession(userId);
}

it("sends no query of a person whose session another tab has ended, and shows nobody", async () => {
  const { read } = await openPage();
  replaceSession();
  await read("lists", "of", mine);

  expect(sent).toEqual([]);
  expect(await screen.findByText("nobody")).toBeVisible();
});

it("sends what anybody may read as the visitor who is here now", async () => {
  const { read } = await openPage();
  replaceSession();
  await read("lists", "public");

  expect(sent).toEqual(["GET outfits by a visitor"]);
});

it("sends no change of one person as another one, and shows whoever is here", async () => {
  const { supabase } = await openPage();
  replaceSession(next);
  const change = await act(async () => supabase.from("likes").insert({ user_id: mine }));

  expect(change).toMatchObject({ status: 403, error: { code: "42501" } });
  expect(await screen.findByText(next)).toBeVisible();
  await waitFor(() => expect(sent).toHaveLength(2));
  expect(sent.every((one) => one.endsWith(next))).toBe(true);
});
