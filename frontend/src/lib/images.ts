import { servicesUrl } from "@/lib/supabase";

/** Where a picture is loaded from, and in which widths it exists. */
export interface ImageSources {
  src: string;
  srcSet?: string;
}

/** Pictures of public buckets, in formats that storage can render. */
const stored = /^\/storage\/v1\/object\/public\/([^?#]+\.(?:webp|png|jpe?g|gif))$/i;
/** Lists and thumbnails take the first, everything larger the second. */
const widths = [480, 1200] as const;

/** The small one of a picture's widths, where there are two: on lists it has been loaded already. */
export function smallImage(url: string): string | undefined {
  return rendered(url)?.[0];
}

/**
 * Sources of an image column. Columns hold root-relative paths of our own storage or absolute URLs; storage
 * renders its own pictures in the widths that we draw, in the best format the browser takes, and never larger
 * than they are.
 */
export function imageSources(url: string): ImageSources {
  const src = url.startsWith("/") ? hostOf(url) : url;
  const sources = rendered(url);
  if (sources === undefined) return { src };
  return { src, srcSet: sources.map((source, at) => `${source} ${widths[at]}w`).join(", ") };
}

/** The picture in each of our widths. */
function rendered(url: string): string[] | undefined {
  const path = stored.exec(url)?.[1];
  if (path === undefined) return undefined;
  return widths.map((width) => hostOf(`/storage/v1/render/image/public/${path}?width=${width}`));
}

/** Same-origin pages keep root-relative paths: they stay cacheable under one name. */
function hostOf(path: string): string {
  return servicesUrl === window.location.origin ? path : `${servicesUrl}${path}`;
}
