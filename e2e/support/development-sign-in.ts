// Acts as a browser on the development sign-in pages of `selvedge start`: opens the page, submits its forms, and follows the
// redirects back to the application. No real browser is needed, because the pages work without scripts.

/** A person that the API for tests has made. */
export interface InventedPerson {
  id: string;
  name: string;
  email: string | null;
  ids: Record<string, string>;
}

/** Creates a person, or changes the one with this address. */
export async function savePerson(
  inboxUrl: string,
  fields: Record<string, unknown>,
): Promise<InventedPerson> {
  const response = await fetch(`${inboxUrl}/sign-in/api/people`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(fields),
  });
  if (!response.ok) {
    throw new Error(`the person was refused: ${response.status} ${await response.text()}`);
  }
  return (await response.json()) as InventedPerson;
}

/** A form of a page: where it is sent, and its fields. */
interface PageForm {
  action: string;
  fields: Record<string, string>;
}

/** Follows redirects from `url` to the first page. */
export async function openPage(
  url: string,
): Promise<{ url: string; html: string; status: number }> {
  let at = url;
  for (let step = 0; step < 10; step += 1) {
    const response = await fetch(at, { redirect: "manual" });
    const location = response.headers.get("location");
    if (location === null) {
      return { url: at, html: await response.text(), status: response.status };
    }
    at = new URL(location, at).href;
  }
  throw new Error(`no end of redirects from ${url}`);
}

/** Submits the first form of the sign-in page with this choice; returns the URL of the application that follows. */
export async function choose(
  page: { url: string; html: string },
  choice: Record<string, string>,
): Promise<URL> {
  const form = readForm(page.html);
  return finish(
    await post(new URL(form.action, page.url).href, { ...form.fields, ...choice }),
    page.url,
  );
}

/** Opens the page behind a client's URL and picks a person; returns the URL at which the application is opened again. */
export async function signInAs(url: string, person: string, outcome = "success"): Promise<URL> {
  return choose(await openPage(url), { person, outcome });
}

/** Goes from the provider over the auth service's callback to the application. */
async function finish(response: Response, from: string): Promise<URL> {
  const location = response.headers.get("location");
  if (location !== null) {
    return readLocation(await fetch(new URL(location, from), { redirect: "manual" }), location);
  }
  // Sign in with Apple: the page posts a form to the callback.
  const html = await response.text();
  if (response.status !== 200) {
    throw new Error(`the page responded ${response.status}: ${html}`);
  }
  const form = readForm(html);
  return readLocation(await post(form.action, form.fields), form.action);
}

function readLocation(response: Response, url: string): URL {
  const location = response.headers.get("location");
  if (location === null) {
    throw new Error(`${url} responded ${response.status} without a redirect`);
  }
  return new URL(location);
}

function post(url: string, fields: Record<string, string>): Promise<Response> {
  return fetch(url, { method: "POST", redirect: "manual", body: new URLSearchParams(fields) });
}

function readForm(html: string): PageForm {
  const action = /<form method="post" action="([^"]*)"/.exec(html)?.[1];
  if (action === undefined) {
    throw new Error(`no form in ${html.slice(html.indexOf("<body>"))}`);
  }
  const start = html.indexOf(action);
  const form = html.slice(start, html.indexOf("</form>", start));
  const hidden = form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g);
  return {
    action: unescapeHtml(action),
    fields: Object.fromEntries(
      [...hidden].map(([, name = "", value = ""]) => [name, unescapeHtml(value)]),
    ),
  };
}

function unescapeHtml(text: string): string {
  return text
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}
