// The addresses of the server under test. They come from the environment when the tests run against a server that is
// already up; otherwise the run starts a server and sets them here (support/server.ts for Vitest, site/setup.ts for
// Playwright).

/** Address of the API and the site. */
export function apiUrl(): string {
  return readVariable("SELVEDGE_E2E_URL").replace(/\/$/, "");
}

/** Address of the development inbox. */
export function inboxUrl(): string {
  return readVariable("SELVEDGE_E2E_INBOX_URL").replace(/\/$/, "");
}

/** URL of the server's PostgreSQL. */
export function databaseUrl(): string {
  return readVariable("SELVEDGE_E2E_DATABASE_URL");
}

/** Sets the addresses, for this process and for every test process that it starts. */
export function setAddresses(url: string, inbox: string, database: string): void {
  process.env.SELVEDGE_E2E_URL = url;
  process.env.SELVEDGE_E2E_INBOX_URL = inbox;
  process.env.SELVEDGE_E2E_DATABASE_URL = database;
}

/**
 * Whether SELVEDGE_E2E_URL names a server. Its inbox and database have the default ports of `selvedge start` unless
 * they are named, too.
 */
export function hasServer(): boolean {
  if (!process.env.SELVEDGE_E2E_URL) {
    return false;
  }
  process.env.SELVEDGE_E2E_INBOX_URL ??= "http://127.0.0.1:54324";
  process.env.SELVEDGE_E2E_DATABASE_URL ??=
    "postgresql://postgres:postgres@127.0.0.1:54322/postgres";
  return true;
}

function readVariable(variable: string): string {
  const value = process.env[variable];
  if (!value) {
    throw new Error(`${variable} is not set: no server was started for this test.`);
  }
  return value;
}
