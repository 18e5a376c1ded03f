import { servicesUrl } from "@/lib/supabase";

/** Where a picture is loaded from, and in which widths it exists. */
export interface ImageSources {
  src: string;
  srcSet?: string;
}

/** The small one of a picture's widths, where there are two: on lists it has been loaded already. */
export function smallImage(url: string): string | undefined {
  return imageSources(url).srcSet?.split(" ")[0];
}

/**
 * Pictures of the seed come in two widths: `<slug>.webp`, and `<slug>-480.webp` beside it. Their slugs
 * have no digits; uploaded files always do (a timestamp), so the two cannot be confused.
 */
const seededPicture =
  /^(\/storage\/v1\/object\/public\/(combine-images|images\/items)\/[a-z][a-z-]*[a-z])\.webp$/;
const smallWidth = 480;
const largeWidths: Record<string, number> = { "combine-images": 1200, "images/items": 900 };

/**
 * Sources of an image column. Columns hold root-relative paths of our own storage or absolute URLs;
 * a second width is offered only for names that the seed made, because nothing else promises one.
 */
export function imageSources(url: string): ImageSources {
  const absolute = (path: string) => (path.startsWith("/") ? hostOf(path) : path);
  const seeded = seededPicture.exec(url);
  if (seeded === null) return { src: absolute(url) };
  const [, path = "", folder = ""] = seeded;
  const stem = absolute(path);
  return {
    src: `${stem}.webp`,
    srcSet: `${stem}-${smallWidth}.webp ${smallWidth}w, ${stem}.webp ${largeWidths[folder]}w`,
  };
}

/** Same-origin pages keep root-relative paths: they stay cacheable under one name. */
function hostOf(path: string): string {
  return servicesUrl === window.location.origin ? path : `${servicesUrl}${path}`;
}
