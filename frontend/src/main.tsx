import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "@/app/app";
import { clearCallbackError } from "@/lib/auth-callback";
import "@/styles/index.css";

clearCallbackError();

const root = document.getElementById("root");
if (root === null) throw new Error('index.html has no element with the id "root".');

createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
