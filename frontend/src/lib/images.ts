import { servicesUrl } from "@/lib/services";

/** Attributes of an `<img>`. */
export interface ImageSources {
  src: string;
  srcSet?: string;
}

/** Paths of pictures in public buckets whose format the image renderer reads. */
const storedPicture = /^\/storage\/v1\/object\/public\/([^?#]+\.(?:webp|png|jpe?g|gif))$/i;
/** Widths in pixels that are requested from the renderer. */
const widths = [240, 480, 720, 1200];

/**
 * Sources for the value of an image column: a root-relative path of our storage, or an absolute URL. The image renderer
 * scales stored pictures down and picks the best format that the browser accepts. `sourceWidth` is the width of the stored
 * file in pixels: wider candidates would be the same picture under another address.
 */
export function imageSources(url: string, sourceWidth: number): ImageSources {
  const src = url.startsWith("/") ? withOrigin(url) : url;
  const path = storedPicture.exec(url)?.[1];
  if (path === undefined) return { src };
  const available = new Set(widths.map((width) => Math.min(width, sourceWidth)));
  const render = withOrigin(`/storage/v1/render/image/public/${path}`);
  return {
    src,
    srcSet: [...available].map((width) => `${render}?width=${width} ${width}w`).join(", "),
  };
}

/** Adds the origin of the services where they are on another origin than the page. */
function withOrigin(path: string): string {
  return servicesUrl === window.location.origin ? path : `${servicesUrl}${path}`;
}
