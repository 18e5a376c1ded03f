import { cn } from "@ui/cn";
import { Picture } from "@/components/ui/picture";

interface ThumbnailProps {
  url: string | null;
  /** Its first letter is shown when there is no picture. */
  name: string;
  /** The picture is a brand's, whole and wide: most are words. */
  isLogo?: boolean;
}

/** The picture of a row, beside its name and therefore hidden from screen readers. */
export function Thumbnail({ url, name, isLogo = false }: ThumbnailProps) {
  return (
    <span aria-hidden="true">
      <Picture
        url={url}
        alt={name}
        sizes={isLogo ? "72px" : "40px"}
        width={240}
        height={isLogo ? 134 : 240}
        className={cn(
          "h-10 rounded-sm border border-line",
          isLogo ? "w-18 [&_img]:object-contain" : "w-10",
        )}
      />
    </span>
  );
}
