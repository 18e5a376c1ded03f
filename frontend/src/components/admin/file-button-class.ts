/** The buttons of files are their signs alone on phones, where their words would push the button that adds a row into a second line. */
export const fileButtonClass = "max-sm:w-11 max-sm:px-0";
