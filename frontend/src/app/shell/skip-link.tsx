/** First stop of the Tab key: past the navigation, to the content. */
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
