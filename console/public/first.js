// Runs before the application's scripts. It sets the theme before the first paint (src/lib/theme.ts explains the choices), and sends
// the first request, whose response src/api/session.ts uses, so that the request does not wait for the scripts.
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
  window.firstSession.catch(() => undefined);
}
