import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "@/app/app";
import { router } from "@/app/router";
import { rememberPlaces } from "@/components/ui/list-places";
import { rememberLoadedPictures } from "@/components/ui/picture";
import { clearCallbackError } from "@/lib/auth-callback";
import "@/styles/index.css";

clearCallbackError();

/** Resolves when the code of the first page has been loaded, or could not be. */
function waitForFirstPage(): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      if (!router.state.initialized) return;
      stop();
      resolve();
    };
    const stop = router.subscribe(finish);
    finish();
  });
}

function renderApp(container: HTMLElement): void {
  createRoot(container).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}

/** Renders the app in the place of the first view. */
function replaceFirstView(container: HTMLElement): void {
  rememberLoadedPictures(container);
  rememberPlaces(container);
  renderApp(container);
}

const root = document.getElementById("root");
if (root === null) throw new Error('index.html has no element with the id "root".');

// Where the first view has been painted already (app/first-paint/), the app replaces it by the whole page and not by a spinner.
if (root.hasChildNodes()) void waitForFirstPage().then(() => replaceFirstView(root));
else renderApp(root);
