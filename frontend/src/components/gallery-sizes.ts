/** Rendered width of the large picture in the syntax of `sizes`. `private.preload_page_picture` of the database has it too. */
export const gallerySizes = "(min-width: 1280px) 608px, (min-width: 768px) 50vw, 100vw";
