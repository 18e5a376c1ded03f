import { cn } from "@ui/cn";
import { useState } from "react";

interface AvatarProps {
  src: string | null | undefined;
  /** One or two letters, shown when there is no picture or it cannot be loaded. */
  initials: string;
  size?: "sm" | "md" | "row" | "lg";
}

const sizes = {
  sm: "size-9 text-label",
  md: "size-10 text-label",
  row: "size-11 text-label",
  lg: "size-28 text-title",
};

/** A portrait, or initials. Hidden from screen readers, because the name is always shown beside it or labels its button. */
export function Avatar({ src, initials, size = "sm" }: AvatarProps) {
  const [failed, setFailed] = useState(false);
  const hasPicture = src !== null && src !== undefined && src !== "" && !failed;
  return (
    <span
      aria-hidden="true"
      className={cn(
        "inline-flex shrink-0 items-center justify-center overflow-hidden rounded-full",
        "border border-line bg-raised font-medium text-ink select-none",
        sizes[size],
      )}
    >
      {hasPicture ? (
        <img
          src={src}
          alt=""
          className="size-full object-cover"
          loading="lazy"
          onError={() => setFailed(true)}
        />
      ) : (
        initials
      )}
    </span>
  );
}
