import { cn } from "@ui/cn";
import { IconButton } from "@ui/icon-button";
import { useMediaQuery } from "@ui/use-media-query";
import { Pause, Play } from "lucide-react";
import { useEffect, useState } from "react";
import { Picture } from "@/components/ui/picture";

export interface Slide {
  key: string;
  url: string | null;
  alt: string;
}

const slideMs = 3000;
/** Width to height of the pictures. */
const slideRatio = "4 / 5";

/**
 * A carousel as tall as its container: the current picture, and the next one cut off at the edge. To loop without a visible
 * jump, it moves on to copies of the first two pictures and then returns to the start without a transition.
 */
export function Slideshow({ slides, label }: { slides: readonly Slide[]; label: string }) {
  const isMotionReduced = useMediaQuery("(prefers-reduced-motion: reduce)");
  const [chosen, setChosen] = useState<"playing" | "paused" | null>(null);
  const [position, setPosition] = useState({ index: 0, animated: true });
  // With reduced motion the slideshow starts only when play is pressed.
  const playing = chosen === null ? !isMotionReduced : chosen === "playing";
  const count = slides.length;

  useEffect(() => {
    if (!playing || count < 2) return;
    const timer = window.setInterval(
      () => setPosition(({ index }) => ({ index: (index % count) + 1, animated: true })),
      slideMs,
    );
    return () => window.clearInterval(timer);
  }, [playing, count]);

  const copies = slides.slice(0, 2).map((slide) => ({ ...slide, key: `${slide.key}-again` }));
  return (
    <section
      aria-roledescription="carousel"
      aria-label={label}
      className="relative h-full min-h-0 overflow-hidden"
    >
      <div
        className={cn(
          "flex h-full gap-5",
          position.animated && "transition-transform duration-700",
        )}
        style={{ transform: `translateX(calc(${-position.index} * (100cqh * 0.8 + 1.25rem)))` }}
        onTransitionEnd={(event) => {
          if (event.target !== event.currentTarget || position.index < count) return;
          setPosition({ index: 0, animated: false });
        }}
      >
        {[...slides, ...copies].map((slide, place) => {
          const shown = place === position.index;
          return (
            <div
              key={slide.key}
              aria-hidden={!shown}
              className={cn(
                "h-full shrink-0 overflow-hidden rounded-lg bg-raised transition-opacity duration-700",
                shown ? "opacity-100" : "opacity-45",
              )}
              style={{ aspectRatio: slideRatio }}
            >
              {/* Only the current picture and the next two are loaded. */}
              {place <= position.index + 2 && (
                <Picture
                  url={slide.url}
                  alt={slide.alt}
                  sizes="460px"
                  width={1200}
                  height={1500}
                  eager={place < 2}
                  className="size-full"
                />
              )}
            </div>
          );
        })}
      </div>
      {count > 1 && (
        <IconButton
          label={playing ? "Pause slideshow" : "Play slideshow"}
          variant="floating"
          onClick={() => setChosen(playing ? "paused" : "playing")}
          className="absolute! bottom-3 left-3"
        >
          {playing ? (
            <Pause className="size-4" strokeWidth={1.6} />
          ) : (
            <Play className="size-4" strokeWidth={1.6} />
          )}
        </IconButton>
      )}
    </section>
  );
}
