// Single sign-on in the browser: an application with the stock client, a real identity provider, and this server between
// them.

import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { apiUrl } from "../support/address.ts";
import { anonKey, serviceKey } from "../support/clients.ts";
import { startSamlProvider } from "../support/saml-provider.ts";
import { expect, test } from "./journey.ts";

const bundle = join(
  dirname(createRequire(import.meta.url).resolve("@supabase/supabase-js/package.json")),
  "dist/umd/supabase.js",
);

/** The page of an application that offers single sign-on. */
function applicationPage(flowType: string, domain: string): string {
  return `<!doctype html><html lang="en"><title>Application</title><script src="/supabase.js"></script>
    <main><button>Sign in with your company</button><output></output></main><script>
    const client = supabase.createClient(${JSON.stringify(apiUrl())}, ${JSON.stringify(anonKey)}, { auth: { flowType: "${flowType}" } })
    document.querySelector("button").onclick = async () => {
      const { data, error } = await client.auth.signInWithSSO({ domain: "${domain}", options: { redirectTo: location.href } })
      document.querySelector("output").textContent = error ? error.message : ""
      if (data?.url) location.href = data.url
    }
    client.auth.onAuthStateChange((_, session) => {
      if (session) document.querySelector("output").textContent = session.user.email + " by " + session.user.app_metadata.provider
    })</script></html>`;
}

for (const flowType of ["implicit", "pkce"]) {
  test(`a user signs in with the company's identity provider and comes back, flow ${flowType}`, {
    tag: "@once",
  }, async ({ page }) => {
    const domain = `${randomUUID()}.test`;
    const email = `ada@${domain}`;
    const script = await readFile(bundle);
    const application = createServer((request, response) => {
      const isScript = request.url === "/supabase.js";
      response
        .writeHead(200, { "content-type": isScript ? "text/javascript" : "text/html" })
        .end(isScript ? script : applicationPage(flowType, domain));
    });
    await new Promise<void>((ready) => application.listen(0, "127.0.0.1", ready));
    const provider = await startSamlProvider(apiUrl(), email);
    try {
      const created = await fetch(`${apiUrl()}/auth/v1/admin/sso/providers`, {
        method: "POST",
        headers: { authorization: `Bearer ${serviceKey}`, "content-type": "application/json" },
        body: JSON.stringify({
          type: "saml",
          metadata_xml: provider.metadata,
          domains: [domain],
        }),
      });
      expect(created.status, await created.clone().text()).toBe(201);
      const { id } = (await created.json()) as { id: string };

      await page.goto(`http://127.0.0.1:${(application.address() as AddressInfo).port}/`);
      await page.getByRole("button", { name: "Sign in with your company" }).click();
      await expect(page.getByRole("heading", { name: `Sign in as ${email}` })).toBeVisible();
      await page.getByRole("button", { name: "Sign in" }).click();

      await expect(page.getByText(`${email} by sso:${id}`)).toBeVisible();
      // The session survives a reload, so it was stored and not only shown.
      await page.reload();
      await expect(page.getByText(`${email} by sso:${id}`)).toBeVisible();
    } finally {
      await provider.stop();
      application.closeAllConnections();
      application.close();
    }
  });
}
