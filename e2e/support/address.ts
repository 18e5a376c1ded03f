// Where the server under test answers. The person who runs the tests names one that is already up, or the
// run starts one and says so here (support/server.ts for Vitest, site/setup.ts for Playwright).

/** Address of the API and the site. */
export function apiUrl(): string {
  return named("SELVEDGE_E2E_URL").replace(/\/$/, "");
}

/** Address of the development inbox. */
export function inboxUrl(): string {
  return named("SELVEDGE_E2E_INBOX_URL").replace(/\/$/, "");
}

/** Tells every test process that is started from here on. */
export function announce(url: string, inbox: string): void {
  process.env.SELVEDGE_E2E_URL = url;
  process.env.SELVEDGE_E2E_INBOX_URL = inbox;
}

/** Whether somebody named a server; its inbox is where `selvedge start` puts it unless they say otherwise. */
export function isAnnounced(): boolean {
  if (!process.env.SELVEDGE_E2E_URL) {
    return false;
  }
  process.env.SELVEDGE_E2E_INBOX_URL ??= "http://127.0.0.1:54324";
  return true;
}

function named(variable: string): string {
  const value = process.env[variable];
  if (!value) {
    throw new Error(`${variable} is not set: no server was started for this test.`);
  }
  return value;
}
