/** Link for keyboard users: the first Tab stop, skips the navigation. */
export function SkipLink() {
  return (
    <a
      href="#main"
      className="fixed top-3 left-3 z-50 -translate-y-20 rounded-full bg-ink px-5 py-2.5 font-medium text-canvas text-small transition-transform focus:translate-y-0"
    >
      Skip to content
    </a>
  );
}
