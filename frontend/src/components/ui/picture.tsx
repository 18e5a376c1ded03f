import { cn } from "@ui/cn";
import { type ComponentProps, useState } from "react";
import { imageSources } from "@/lib/images";

interface PictureProps extends Omit<ComponentProps<"img">, "src" | "srcSet" | "loading"> {
  url: string | null;
  alt: string;
  /** What the picture is of; where there is none, its first letter is shown. By default the alternative text. */
  name?: string;
  /** Rendered width, in the syntax of the `sizes` attribute. */
  sizes: string;
  /** Size of the stored file in pixels. It reserves the space, and no wider picture is requested. */
  width: number;
  height: number;
  /** Average color of the picture as `#rrggbb`, shown until it is loaded. */
  placeholderColor?: string | null;
  /** Whether it is visible without scrolling: it is then loaded immediately and with high priority. */
  eager?: boolean;
  /** Shows the picture in the width that another place has already loaded, until the right width is loaded. */
  preview?: boolean;
  /** `view-transition-name` of the frame. */
  transitionName?: string;
}

/** The address under which the browser loaded each picture last, for previews without another request. */
const loadedSources = new Map<string, string>();

/** Notes pictures that the page showed before the app was started, so that they do not fade in a second time. */
export function rememberLoadedPictures(container: HTMLElement): void {
  for (const image of container.querySelectorAll("img")) {
    const { url } = image.dataset;
    if (url !== undefined && image.complete && image.naturalWidth > 0) {
      loadedSources.set(url, image.currentSrc);
    }
  }
}

/**
 * A responsive picture in a frame. `className` belongs to the frame, which has size and color from the start; the picture
 * fades in when loaded. Without a picture, the frame shows the first letter of the name.
 */
export function Picture({
  url,
  alt,
  name = alt,
  placeholderColor = null,
  eager = false,
  preview = false,
  transitionName,
  className,
  ...rest
}: PictureProps) {
  const [wasLoaded] = useState(() => url !== null && loadedSources.has(url));
  const [loaded, setLoaded] = useState(wasLoaded);
  const [failures, setFailures] = useState(0);
  const sources = url === null || url === "" ? null : imageSources(url, rest.width);
  // First the rendered widths; if the renderer cannot read the file, the file itself.
  const attempts = sources?.srcSet === undefined ? 1 : 2;
  const frame = cn("block overflow-hidden bg-raised", className);
  if (url === null || sources === null || failures >= attempts) {
    // Without an alternative text the picture is decoration, and so is its replacement.
    return (
      <span {...(alt !== "" && { role: "img", "aria-label": alt })} className={frame}>
        <span
          aria-hidden="true"
          className="flex size-full items-center justify-center font-serif text-heading text-ink-soft italic"
        >
          {name.charAt(0)}
        </span>
      </span>
    );
  }
  const previewSource = preview ? loadedSources.get(url) : undefined;

  function markLoaded(source: string) {
    if (url !== null) loadedSources.set(url, source);
    setLoaded(true);
  }

  return (
    <span
      className={cn(frame, "bg-cover bg-center")}
      data-picture
      style={{
        ...(placeholderColor !== null && { backgroundColor: placeholderColor }),
        ...(previewSource !== undefined && { backgroundImage: `url("${previewSource}")` }),
        ...(transitionName !== undefined && { viewTransitionName: transitionName }),
      }}
    >
      <img
        src={sources.src}
        srcSet={failures === 0 ? sources.srcSet : undefined}
        {...rest}
        alt={alt}
        loading={eager ? "eager" : "lazy"}
        fetchPriority={eager ? "high" : "auto"}
        // A picture that has been shown already must not be missing while it is decoded again.
        decoding={eager && wasLoaded ? "sync" : "async"}
        data-loaded={loaded}
        ref={(image) => {
          // A cached picture may be complete before React attaches onLoad.
          if (!loaded && image?.complete === true && image.naturalWidth > 0) {
            markLoaded(image.currentSrc);
          }
        }}
        onLoad={(event) => markLoaded(event.currentTarget.currentSrc)}
        onError={() => setFailures((before) => before + 1)}
        className="picture-image size-full object-cover"
      />
    </span>
  );
}
