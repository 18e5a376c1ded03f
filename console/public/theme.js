// Sets the theme before the first paint. src/lib/theme.ts explains the choices.
{
  let choice = null;
  try {
    choice = localStorage.getItem("console:theme");
  } catch {
    // Without storage the system decides.
  }
  const isDark =
    choice === "dark" || (choice !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
}
