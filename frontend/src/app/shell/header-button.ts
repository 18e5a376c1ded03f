/** Classes of the round buttons at the end of a header. */
export const headerButton =
  "inline-flex size-11 items-center justify-center rounded-full text-ink-soft transition-colors hover:bg-sheen hover:text-ink";
