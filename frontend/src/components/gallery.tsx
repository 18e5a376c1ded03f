import { cn } from "@ui/cn";
import { IconButton } from "@ui/icon-button";
import { ChevronLeft, ChevronRight } from "lucide-react";
import { type ReactNode, useRef, useState } from "react";
import { gallerySizes } from "@/components/gallery-sizes";
import { Picture } from "@/components/ui/picture";
import { Skeleton } from "@/components/ui/skeleton";

/** A picture of a gallery. */
export interface Slide {
  id: string;
  url: string | null;
  alt: string;
  /** Average color as `#rrggbb`. */
  color: string | null;
  /** Width of the stored file in pixels; pictures are 4:5. */
  width: number;
  /** A link or text over the lower edge of the picture. */
  caption?: ReactNode;
}

interface GalleryProps {
  slides: readonly Slide[];
  label: string;
  /** How many more pictures are still loading; their thumbnails keep the place. */
  pendingCount?: number;
}

/**
 * Pictures in a strip that is swiped, scrolled by arrow keys, or moved by buttons and thumbnails. The first one is loaded
 * immediately, the others when they come near.
 */
export function Gallery({ slides, label, pendingCount = 0 }: GalleryProps) {
  const strip = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState(0);

  function scrollToSlide(index: number) {
    const element = strip.current;
    if (element === null) return;
    const isCalm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    element.scrollTo({
      left: index * element.clientWidth,
      behavior: isCalm ? "instant" : "smooth",
    });
  }

  return (
    <section aria-label={label} aria-roledescription="carousel" className="group/gallery">
      <div className="relative max-md:-mx-4">
        <div
          ref={strip}
          tabIndex={slides.length > 1 ? 0 : undefined}
          onScroll={({ currentTarget }) =>
            setCurrent(Math.round(currentTarget.scrollLeft / currentTarget.clientWidth))
          }
          className="no-scrollbar flex snap-x snap-mandatory overflow-x-auto overscroll-x-contain md:rounded-lg"
        >
          {slides.map((slide, index) => (
            // biome-ignore lint/a11y/useSemanticElements: a slide is no fieldset.
            <div
              key={slide.id}
              role="group"
              aria-roledescription="slide"
              aria-label={`${index + 1} of ${slides.length}`}
              className="relative aspect-4/5 w-full shrink-0 snap-center snap-always"
            >
              <Picture
                url={slide.url}
                alt={slide.alt}
                placeholderColor={slide.color}
                sizes={gallerySizes}
                width={slide.width}
                height={slide.width * 1.25}
                eager={index === 0}
                className="size-full"
              />
              {slide.caption !== undefined && (
                <div className="absolute bottom-4 left-4 max-w-[calc(100%-2rem)]">
                  {slide.caption}
                </div>
              )}
            </div>
          ))}
        </div>
        {slides.length + pendingCount > 1 && (
          <p
            aria-hidden="true"
            className="absolute top-4 right-4 rounded-full bg-canvas/80 px-2.5 text-caption tabular-nums leading-6 backdrop-blur-sm md:hidden"
          >
            {current + 1} / {slides.length + pendingCount}
          </p>
        )}
        {slides.length > 1 && (
          <>
            <StepButton
              label="Previous picture"
              disabled={current === 0}
              onClick={() => scrollToSlide(current - 1)}
              className="left-3"
            >
              <ChevronLeft className="size-6" strokeWidth={1.4} />
            </StepButton>
            <StepButton
              label="Next picture"
              disabled={current >= slides.length - 1}
              onClick={() => scrollToSlide(current + 1)}
              className="right-3"
            >
              <ChevronRight className="size-6" strokeWidth={1.4} />
            </StepButton>
          </>
        )}
      </div>
      {slides.length + pendingCount > 1 && (
        // Phones swipe: the name of what is shown and its heart stand where the thumbnails would push them below the edge.
        <ul className="no-scrollbar -mx-1 mt-3 flex gap-1.5 overflow-x-auto p-1 max-md:hidden">
          {slides.map((slide, index) => (
            <li key={slide.id} className="w-16 shrink-0">
              <button
                type="button"
                aria-label={`Show picture ${index + 1}: ${slide.alt}`}
                aria-current={index === current ? "true" : undefined}
                onClick={() => scrollToSlide(index)}
                className={cn(
                  "block w-full overflow-hidden rounded-sm outline-offset-2 transition-opacity",
                  index === current
                    ? "ring-2 ring-ink ring-offset-2 ring-offset-canvas"
                    : "opacity-70 hover:opacity-100",
                )}
              >
                <Picture
                  url={slide.url}
                  alt=""
                  placeholderColor={slide.color}
                  sizes="64px"
                  width={slide.width}
                  height={slide.width * 1.25}
                  className="aspect-4/5 w-full"
                />
              </button>
            </li>
          ))}
          {Array.from({ length: pendingCount }, (_, index) => `pending-${index}`).map((key) => (
            <li key={key} aria-hidden="true" className="w-16 shrink-0">
              <Skeleton className="aspect-4/5 w-full" />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

interface StepButtonProps {
  label: string;
  disabled: boolean;
  onClick: () => void;
  className: string;
  children: ReactNode;
}

/** Moves the strip by one picture. Touch screens swipe, so the button appears with a mouse and on focus only. */
function StepButton({ label, disabled, onClick, className, children }: StepButtonProps) {
  return (
    <IconButton
      label={label}
      variant="floating"
      size="lg"
      disabled={disabled}
      onClick={onClick}
      className={cn(
        "absolute! top-1/2 -mt-6 opacity-0 transition-opacity focus-visible:opacity-100 disabled:invisible",
        "group-hover/gallery:opacity-100 pointer-coarse:hidden",
        className,
      )}
    >
      {children}
    </IconButton>
  );
}
