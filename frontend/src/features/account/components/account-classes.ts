/**
 * Classes of the account's section, which the first paint draws as the app does. Below `data-beside` it is the narrow column beside the
 * form of the settings; below `data-wide`, the wide one beside the short profile.
 */
export const accountClasses = {
  section:
    "mt-16 max-w-2xl border-line border-t pt-10 max-md:mt-12 xl:in-data-beside:mt-0 xl:in-data-beside:border-t-0 xl:in-data-beside:pt-0 xl:in-data-wide:mt-0 xl:in-data-wide:max-w-none xl:in-data-wide:border-t-0 xl:in-data-wide:pt-0",
  line: "mt-6 flex flex-wrap items-center justify-between gap-x-8 gap-y-3 xl:in-data-beside:flex-col xl:in-data-beside:flex-nowrap xl:in-data-beside:items-start",
  hint: "min-w-0 flex-1 basis-64 text-ink-soft text-small xl:in-data-beside:basis-auto",
  /** Of profile and account in the settings. */
  columns: "xl:grid xl:grid-cols-[minmax(0,42rem)_minmax(0,1fr)] xl:gap-x-20",
  /** Two columns on wide screens: the short profile and the account on My Profile. */
  profileColumns: "xl:grid xl:grid-cols-[22rem_minmax(0,1fr)] xl:items-start xl:gap-x-20",
  /** Picture, text and numbers of the short profile: in a line, or as a card where the account stands beside them. */
  summary:
    "flex flex-wrap items-center gap-6 max-sm:flex-col max-sm:text-center xl:flex-col xl:items-stretch xl:gap-5 xl:rounded-md xl:border xl:border-line xl:bg-surface xl:p-6",
  summaryText: "min-w-0 max-w-full flex-1 xl:flex-none",
  /** Below picture, text and button where these stand in a line. */
  summaryNumbers:
    "grid w-full grid-cols-4 gap-x-3 sm:max-xl:order-last xl:border-line xl:border-t xl:pt-5",
};
