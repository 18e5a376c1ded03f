// Runs before the scripts that draw the page. It sets the theme before the first paint (src/lib/theme.ts explains the choices), and
// sends the page's first request, which src/api/session.ts takes, so that the answer is there when the page can be drawn.
{
  const read = (key) => {
    try {
      return localStorage.getItem(key);
    } catch {
      // Without storage the system decides, and there is no session.
      return null;
    }
  };
  const choice = read("console:theme");
  const isDark =
    choice === "dark" || (choice !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = isDark ? "dark" : "light";

  // As src/api/client.ts sends it; whoever takes the answer sees a failure.
  const headers = { "x-selvedge-console": read("console:secret") ?? "1" };
  window.firstSession = fetch("/api/session", { headers, cache: "no-store" });
  window.firstSession.catch(() => undefined);
}
