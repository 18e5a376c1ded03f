import { Button } from "@ui/button";
import { cn } from "@ui/cn";
import { FileImage } from "lucide-react";
import { useState } from "react";
import { isHeic, type TrainingPhoto } from "../api/list-photos";

interface PhotoPreviewProps {
  photo: TrainingPhoto;
  /** Called to fetch new signed URLs. */
  onRenew: () => void;
}

/** A photo by its signed URL. An expired URL is renewed once automatically, then by a button. */
export function PhotoPreview({ photo, onRenew }: PhotoPreviewProps) {
  const [failed, setFailed] = useState<{ url: string; count: number } | null>(null);
  const { path, url } = photo;
  const [isLoaded, setLoaded] = useState(false);
  const isShown = url !== null && failed?.url !== url;
  if (isShown) {
    return (
      <img
        src={url}
        // The frame's caption names it; what it shows is private.
        alt=""
        className={cn("size-full object-cover", !isLoaded && "skeleton")}
        onLoad={() => setLoaded(true)}
        onError={() => {
          const count = (failed?.count ?? 0) + 1;
          setFailed({ url, count });
          if (count === 1) onRenew();
        }}
      />
    );
  }
  if (isHeic(path)) {
    return (
      <span className="flex size-full flex-col items-center justify-center gap-2 text-ink-soft text-small">
        <FileImage aria-hidden="true" className="size-8" strokeWidth={1.4} />
        HEIC photo
      </span>
    );
  }
  return (
    <span className="flex size-full flex-col items-center justify-center gap-2.5 p-2 text-center text-caption text-ink-soft">
      The photo could not be shown.
      <Button className="max-sm:px-3" onClick={onRenew}>
        Try again
      </Button>
    </span>
  );
}
