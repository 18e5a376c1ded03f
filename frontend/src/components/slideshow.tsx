import { Pause, Play } from "lucide-react";
import { useEffect, useState, useSyncExternalStore } from "react";
import { IconButton } from "@/components/ui/icon-button";
import { Picture } from "@/components/ui/picture";
import { cn } from "@/lib/cn";

export interface Slide {
  url: string | null;
  alt: string;
}

const slideMs = 3000;

function subscribeToMotion(listener: () => void): () => void {
  const query = window.matchMedia("(prefers-reduced-motion: reduce)");
  query.addEventListener("change", listener);
  return () => query.removeEventListener("change", listener);
}

function prefersStillness(): boolean {
  return window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Pictures that follow one another in a loop. Who asked for less motion presses play first. */
export function Slideshow({ slides }: { slides: readonly Slide[] }) {
  const still = useSyncExternalStore(subscribeToMotion, prefersStillness);
  const [chosen, setChosen] = useState<"playing" | "paused" | null>(null);
  const [index, setIndex] = useState(0);
  const playing = chosen === null ? !still : chosen === "playing";

  useEffect(() => {
    if (!playing || slides.length < 2) return;
    const timer = window.setInterval(
      () => setIndex((current) => (current + 1) % slides.length),
      slideMs,
    );
    return () => window.clearInterval(timer);
  }, [playing, slides.length]);

  return (
    <section aria-roledescription="carousel" aria-label="Outfits" className="absolute inset-0">
      {slides.map((slide, place) => {
        const shown = place === index;
        // Only the picture on show and the next one are loaded.
        const near = shown || place === (index + 1) % slides.length;
        return (
          <div
            key={slide.url ?? place}
            aria-hidden={!shown}
            className={cn(
              "absolute inset-0 transition-opacity duration-700",
              shown ? "opacity-100" : "opacity-0",
            )}
          >
            {near && (
              <Picture
                url={slide.url}
                alt={slide.alt}
                sizes="50vw"
                width={960}
                height={1200}
                eager={place === 0}
                className="size-full"
              />
            )}
          </div>
        );
      })}
      {slides.length > 1 && (
        <IconButton
          label={playing ? "Pause slideshow" : "Play slideshow"}
          variant="floating"
          onClick={() => setChosen(playing ? "paused" : "playing")}
          className="absolute top-5 right-5"
        >
          {playing ? (
            <Pause className="size-4.5" strokeWidth={1.6} />
          ) : (
            <Play className="size-4.5" strokeWidth={1.6} />
          )}
        </IconButton>
      )}
    </section>
  );
}
