import { cn } from "@ui/cn";
import { Picture } from "@/components/ui/picture";

interface ThumbnailProps {
  url: string | null;
  /** Its first letter is shown when there is no picture. */
  name: string;
  /** Shows the whole picture, as of a logo, whose edges are part of it. */
  isWhole?: boolean;
}

/** The picture of a row, beside its name and therefore hidden from screen readers. */
export function Thumbnail({ url, name, isWhole = false }: ThumbnailProps) {
  return (
    <span aria-hidden="true">
      <Picture
        url={url}
        alt={name}
        sizes="40px"
        width={240}
        height={240}
        className={cn("size-10 rounded-sm border border-line", isWhole && "[&_img]:object-contain")}
      />
    </span>
  );
}
