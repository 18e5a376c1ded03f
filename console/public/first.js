// Runs before the application's scripts. It sets the theme before the first paint (src/lib/theme.ts explains the choices), and sends
// the first requests, so that they do not wait for the scripts: the session, whose response src/api/session.ts uses, and for
// signed-in users the catalog, whose response src/api/catalog.ts uses.
{
  const read = (key) => {
    try {
      return localStorage.getItem(key);
    } catch {
      // If local storage is disabled, the system's theme applies and there is no session.
      return null;
    }
  };
  const choice = read("console:theme");
  const isDark =
    choice === "dark" || (choice !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = isDark ? "dark" : "light";

  // The same header as in src/api/client.ts. Errors are handled where the response is used.
  const headers = { "x-selvedge-console": read("console:secret") ?? "1" };
  window.firstSession = fetch("/api/session", { headers, cache: "no-store" });
  window.firstCatalog = window.firstSession
    .then((response) => response.clone().json())
    .then(({ login, account }) =>
      login && !account ? undefined : fetch("/api/catalog", { headers, cache: "no-store" }),
    )
    .catch(() => undefined);
}
