import { refuseStrayDrops } from "@ui/stray-drops";
import { setNonce } from "get-nonce";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { catalogQuery } from "@/api/catalog";
import { queryClient } from "@/api/query-client";
import { isSignedIn, sessionQuery } from "@/api/session";
import { App } from "@/app/app";
import { loadOpenedScreen } from "@/app/screen-modules";
import { cspNonce } from "@/lib/csp-nonce";
import "@/styles/index.css";

/** How long the first render waits for the session's response: rendering twice would take longer than such a short wait. */
const patienceMs = 100;

// Radix's dialogs add a style element that locks scrolling; without the nonce the content security policy would refuse it.
const nonce = cspNonce();
if (nonce !== undefined) setNonce(nonce);

refuseStrayDrops();

function draw(): void {
  const root = document.getElementById("root");
  if (root === null) throw new Error('index.html has no element with the id "root".');
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
  // After the shell was rendered, because running the screen's script first would delay it.
  loadOpenedScreen(window.location.pathname);
}

/** Loads the session, and the catalog if the session permits it. */
async function loadFirstData(): Promise<void> {
  await queryClient.prefetchQuery(sessionQuery);
  const session = queryClient.getQueryData(sessionQuery.queryKey);
  if (session !== undefined && isSignedIn(session)) void queryClient.prefetchQuery(catalogQuery);
}

const patience = new Promise((wake) => setTimeout(wake, patienceMs));
void Promise.race([loadFirstData(), patience]).then(draw);
