import { setNonce } from "get-nonce";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "@/app/app";
import { cspNonce } from "@/lib/csp-nonce";
import "@/styles/index.css";

// Radix's dialogs add a style element that locks scrolling; without the nonce the content security policy would refuse it.
const nonce = cspNonce();
if (nonce !== undefined) setNonce(nonce);

const root = document.getElementById("root");
if (root === null) throw new Error('index.html has no element with the id "root".');
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
