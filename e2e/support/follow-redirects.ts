// Acts as a browser between a client's redirect to a provider and its return: follows redirects and keeps cookies.

/** Follows redirects from `start` until one leads to `target`. Returns that URL with its query and fragment. */
export async function followRedirectsTo(start: string, target: string): Promise<URL> {
  const cookies = new Map<string, string>();
  let url = start;
  for (let step = 0; step < 20; step += 1) {
    const here = new URL(url);
    if (here.origin + here.pathname === target) {
      return here;
    }
    const { origin } = here;
    const jar = [...cookies].filter(([name]) => name.startsWith(origin));
    const response = await fetch(url, {
      redirect: "manual",
      headers: {
        cookie: jar.map(([name, value]) => `${name.slice(origin.length + 1)}=${value}`).join("; "),
      },
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [name = "", value = ""] = (cookie.split(";")[0] ?? "").split("=", 2);
      cookies.set(`${origin} ${name}`, value);
    }
    const location = response.headers.get("location");
    if (location === null) {
      throw new Error(`${url} responded ${response.status} ${await response.text()}`);
    }
    url = new URL(location, url).href;
  }
  throw new Error(`no end of redirects, last to ${url}`);
}
