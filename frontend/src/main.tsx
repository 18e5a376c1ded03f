import type { Session } from "@supabase/auth-js";
import { refuseStrayDrops } from "@ui/stray-drops";
import { StrictMode, startTransition } from "react";
import { createRoot } from "react-dom/client";
import { App } from "@/app/app";
import { readFirstUserRows } from "@/app/first-user-rows";
import { seedQueries } from "@/app/page-data";
import { readPageData } from "@/app/page-rows";
import { loadPages } from "@/app/router";
import { rememberPlaces } from "@/components/ui/list-places";
import { rememberLoadedPictures } from "@/components/ui/picture";
import { clearCallbackError } from "@/lib/auth-callback";
import { createQueryClient } from "@/lib/query-client";
import { whenInUse } from "@/lib/when-in-use";
import "@/styles/index.css";

clearCallbackError();
refuseStrayDrops();

const queryClient = createQueryClient();
seedQueries(queryClient, readPageData());

function renderApp(container: HTMLElement, session?: Session | null): void {
  // A first rendering is one task otherwise, in which a slow phone answers to nothing. As a transition it lets taps in between.
  startTransition(() =>
    createRoot(container).render(
      <StrictMode>
        <App queryClient={queryClient} session={session} />
      </StrictMode>,
    ),
  );
}

/** Renders the app in the place of the first view, which is left there until the page's code and first rows have been loaded. */
async function replaceFirstView(container: HTMLElement): Promise<void> {
  const isUserView = container.querySelector("[data-user-view]") !== null;
  const [session] = await Promise.all([
    isUserView ? readFirstUserRows(queryClient, window.location.pathname) : undefined,
    firstPage,
  ]);
  rememberLoadedPictures(container);
  rememberPlaces(container);
  renderApp(container, session);
}

const root = document.getElementById("root");
if (root === null) throw new Error('index.html has no element with the id "root".');

// Where the first view has been painted already (app/first-paint/), the app replaces it by the whole page and not by a spinner.
// Not within this script's own run: tools that note who asks for a file, such as Lighthouse, read all of a script again that is running.
const firstPage = Promise.resolve().then(() => loadPages(window.location));
if (root.hasChildNodes()) void replaceFirstView(root);
else renderApp(root);

void whenInUse()
  .then(() =>
    Promise.all([
      import("@/lib/press"),
      // Not in development, whose files have no lasting names.
      import.meta.env.PROD && import("@/lib/offline-copies"),
    ]),
  )
  .then(([{ guardClicks }, copies]) => {
    guardClicks();
    if (copies) copies.startKeeping();
  })
  // Without a network there is nothing to keep.
  .catch(() => undefined);
