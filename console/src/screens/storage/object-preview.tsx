import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { FileQuestion } from "lucide-react";
import { useEffect, useState } from "react";
import { ErrorNotice } from "@/components/error-state";
import { Skeleton } from "@/components/skeleton";
import { Text } from "@/components/text";
import { formatBytes } from "@/lib/format";
import { loadObject } from "./api";
import { lastPartOf, type PreviewKind } from "./object-path";
import { loadBeginning } from "./save-object";

interface ObjectPreviewProps {
  bucket: string;
  name: string;
  size: number | null;
  kind: PreviewKind;
  type: string | null;
}

/** Larger files are loaded only when they are asked for. */
const freeBytes = 8_000_000;
/** A larger file would have to be in the page's memory as a whole. */
const mostBytes = 200_000_000;
/** Bytes of a text that are shown. */
const textBytes = 128_000;

/**
 * Shows an object without giving it any power: images in an image element, where SVG runs no script; text as text; audio, video and
 * PDF from a blob of exactly that type, so that a file that pretends to be one cannot be a page.
 */
export function ObjectPreview({ bucket, name, size, kind, type }: ObjectPreviewProps) {
  const [isAsked, setAsked] = useState(false);
  const isFree = kind === "text" || (size ?? 0) <= freeBytes;
  if (kind !== "text" && kind !== "none" && (size ?? 0) > mostBytes) {
    return (
      <Frame>
        <FileQuestion aria-hidden="true" className="size-6" strokeWidth={1.4} />
        Too large for a preview ({formatBytes(size ?? 0)}): download it
      </Frame>
    );
  }
  if (kind === "none") {
    return (
      <Frame>
        <FileQuestion aria-hidden="true" className="size-6" strokeWidth={1.4} />
        No preview for this type
      </Frame>
    );
  }
  if (!isFree && !isAsked) {
    return (
      <Frame>
        <Button size="dense" onClick={() => setAsked(true)}>
          Load preview ({formatBytes(size ?? 0)})
        </Button>
      </Frame>
    );
  }
  return kind === "text" ? (
    <TextPreview bucket={bucket} name={name} size={size} />
  ) : (
    <MediaPreview bucket={bucket} name={name} kind={kind} type={type} />
  );
}

function Frame({ children }: { children: React.ReactNode }) {
  return (
    <div className="flex h-40 flex-col items-center justify-center gap-2 rounded-sm border border-line border-dashed text-caption text-ink-soft">
      {children}
    </div>
  );
}

function TextPreview({ bucket, name, size }: Pick<ObjectPreviewProps, "bucket" | "name" | "size">) {
  const text = useQuery({
    queryKey: ["storage", "text", bucket, name],
    queryFn: ({ signal }) => loadBeginning(bucket, name, textBytes, signal),
    retry: false,
  });
  if (text.isPending) return <Skeleton className="h-40" />;
  if (text.isLoadingError)
    return <ErrorNotice title="The text could not be loaded" error={text.error} />;
  return (
    <section aria-label={`Text of ${lastPartOf(name)}`}>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard.
        tabIndex={0}
        className="max-h-80 overflow-auto rounded-sm border border-line bg-canvas p-3 font-mono text-label leading-4.5"
      >
        <Text multiline>{text.data.text}</Text>
        {(size ?? textBytes) > text.data.bytes && `\n… cut at ${formatBytes(text.data.bytes)}`}
      </pre>
    </section>
  );
}

/** Types that the frame and the media elements may be given; anything else becomes bytes that no browser opens. */
const safeTypes =
  /^(image\/(png|jpe?g|gif|webp|avif|bmp|svg\+xml|x-icon|vnd\.microsoft\.icon)|audio\/[\w.+-]+|video\/[\w.+-]+|application\/pdf)$/;

function MediaPreview({ bucket, name, kind, type }: Omit<ObjectPreviewProps, "size">) {
  const media = useQuery({
    queryKey: ["storage", "blob", bucket, name],
    queryFn: async ({ signal }) => loadObject(bucket, name, signal),
    retry: false,
    gcTime: 0,
    structuralSharing: false,
  });
  const mime = kind === "pdf" ? "application/pdf" : (type?.split(";")[0]?.trim() ?? "");
  const url = useBlobUrl(media.data, safeTypes.test(mime) ? mime : "application/octet-stream");
  if (media.isLoadingError)
    return <ErrorNotice title="The file could not be loaded" error={media.error} />;
  if (url === null) return <Skeleton className="h-40" />;
  const label = `Preview of ${lastPartOf(name)}`;
  switch (kind) {
    case "image":
      return (
        <div className="flex bg-canvas max-h-80 justify-center overflow-hidden rounded-sm border border-line">
          <img src={url} alt={label} className="max-h-80 max-w-full object-contain" />
        </div>
      );
    case "audio":
      // biome-ignore lint/a11y/useMediaCaption: a stored file has no captions that the console could offer.
      return <audio src={url} aria-label={label} controls className="w-full" />;
    case "video":
      // biome-ignore lint/a11y/useMediaCaption: a stored file has no captions that the console could offer.
      return <video src={url} aria-label={label} controls className="max-h-80 w-full rounded-sm" />;
    default:
      return (
        <iframe src={url} title={label} className="h-96 w-full rounded-sm border border-line" />
      );
  }
}

/** An address of the bytes that only this page can open. It is given up when the preview closes. */
function useBlobUrl(blob: Blob | undefined, type: string): string | null {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    if (blob === undefined) return undefined;
    const made = URL.createObjectURL(new Blob([blob], { type }));
    setUrl(made);
    return () => {
      URL.revokeObjectURL(made);
      setUrl(null);
    };
  }, [blob, type]);
  return url;
}
