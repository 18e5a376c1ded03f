import { type ComponentProps, useState } from "react";
import { cn } from "@/lib/cn";
import { imageSources, smallImage } from "@/lib/images";

interface PictureProps extends Omit<ComponentProps<"img">, "src" | "srcSet" | "loading"> {
  url: string | null;
  alt: string;
  /** The width it is drawn at, in the words of the `sizes` attribute. */
  sizes: string;
  /** Intrinsic proportions: the space is kept before the first byte arrives. */
  width: number;
  height: number;
  /** In view at once: load now and first. */
  eager?: boolean;
  /** Shows the small width until the large one is there: for pictures opened from a list. */
  preview?: boolean;
  /** Under which name a view transition recognises its frame. */
  transitionName?: string;
}

/**
 * A picture that arrives out of its blur and never moves the page. The class names are the frame's: it
 * has the size and the tint from the start, and a missing picture leaves it with an initial.
 */
export function Picture({
  url,
  alt,
  eager = false,
  preview = false,
  transitionName,
  className,
  ...rest
}: PictureProps) {
  const [loaded, setLoaded] = useState(false);
  const [failures, setFailures] = useState(0);
  const sources = url === null || url === "" ? null : imageSources(url);
  // What cannot be rendered may still be shown as it is.
  const attempts = sources?.srcSet === undefined ? 1 : 2;
  const frame = cn("block overflow-hidden bg-raised", className);
  if (url === null || sources === null || failures >= attempts) {
    return (
      <span role="img" aria-label={alt} className={frame}>
        <span
          aria-hidden="true"
          className="flex size-full items-center justify-center font-serif text-heading text-ink-soft italic"
        >
          {alt.charAt(0)}
        </span>
      </span>
    );
  }
  const small = preview ? smallImage(url) : undefined;
  return (
    <span
      className={cn(frame, "bg-cover bg-center")}
      data-picture
      style={{
        ...(small !== undefined && { backgroundImage: `url("${small}")` }),
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
        decoding="async"
        data-loaded={loaded}
        ref={(image) => {
          // From the cache: complete before React could listen.
          if (image?.complete === true && image.naturalWidth > 0) setLoaded(true);
        }}
        onLoad={() => setLoaded(true)}
        onError={() => setFailures((before) => before + 1)}
        className="picture-image size-full object-cover"
      />
    </span>
  );
}
