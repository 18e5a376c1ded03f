/** Classes of the words for visitors, which the first paint draws as the app does: on phones one line, with the button at its end. */
export const introClasses = {
  frame:
    "mb-8 flex items-center justify-between gap-x-10 gap-y-4 max-md:mb-5 max-md:gap-x-4 md:flex-wrap",
  text: "max-w-2xl text-pretty text-body text-ink-soft max-md:hidden",
  shortText: "text-balance text-ink-soft text-small md:hidden",
};
