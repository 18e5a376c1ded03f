import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "@/app/app";
import { loadPages } from "@/app/router";
import { rememberPlaces } from "@/components/ui/list-places";
import { rememberLoadedPictures } from "@/components/ui/picture";
import { clearCallbackError } from "@/lib/auth-callback";
import "@/styles/index.css";

clearCallbackError();

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
const firstPage = loadPages(window.location);
if (root.hasChildNodes()) void firstPage.then(() => replaceFirstView(root));
else renderApp(root);
