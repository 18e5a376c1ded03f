/** Link for keyboard users: the first Tab stop, skips the navigation. */
export function SkipLink() {
  return (
    // biome-ignore lint/a11y/useValidAnchor: it leads to a part of the page, and screen readers list it among the links.
    <a
      href="#main"
      onClick={(event) => {
        // A step to a fragment would be an entry of the history that the router knows nothing of.
        event.preventDefault();
        document.getElementById("main")?.focus();
      }}
      className="fixed top-3 left-3 z-50 -translate-y-20 rounded-full bg-ink px-5 py-2.5 font-medium text-canvas text-small transition-transform focus:translate-y-0"
    >
      Skip to content
    </a>
  );
}
