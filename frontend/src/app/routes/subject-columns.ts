/** Pictures beside the details on pages of outfits and items; on phones one above the other. */
export const subjectColumns =
  "grid gap-8 md:grid-cols-[minmax(0,1.1fr)_minmax(0,1fr)] md:gap-10 lg:gap-14";
