import type { Session } from "@supabase/auth-js";
import type { QueryClient } from "@tanstack/react-query";
import { pickableItemsQuery } from "@/features/items/api/list-pickable-items";
import { unfilteredSearch } from "@/lib/catalogue-search";
import { paths } from "@/lib/paths";
import { myProfileQuery } from "@/lib/session";
import { loadUserRequests } from "@/lib/supabase";

/** How long the painted view of a page stays without rows, in milliseconds. After that the page shows that it is loading. */
const longestWaitMs = 2000;

/**
 * Reads the stored session and the rows of a signed-in person's first view, so that the app's first rendering shows the whole page
 * in the place of the painted one, and not a spinner between the two. Undefined when the session is not known in time.
 */
export async function readFirstUserRows(
  queryClient: QueryClient,
  pathname: string,
): Promise<Session | null | undefined> {
  let session: Session | null | undefined;
  async function read(): Promise<void> {
    const { client, showUser } = await loadUserRequests();
    session = (await client.getSession()).data.session;
    if (session === null) return;
    showUser(session.user.id, () => queryClient.clear());
    // Neither of them throws: a page shows by itself that its rows could not be loaded.
    await Promise.all([
      queryClient.prefetchQuery(myProfileQuery(session.user.id)),
      pathname === paths.createOutfit &&
        queryClient.prefetchInfiniteQuery(pickableItemsQuery(unfilteredSearch)),
    ]);
  }
  const deadline = new Promise((resolve) => setTimeout(resolve, longestWaitMs));
  await Promise.race([read().catch(() => undefined), deadline]);
  return session;
}
