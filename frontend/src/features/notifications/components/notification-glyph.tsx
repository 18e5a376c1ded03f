import { cn } from "@ui/cn";
import { CircleCheck, CircleX, Heart, Image, ImageOff, UserRound } from "lucide-react";
import type { NotificationKind } from "@/lib/database";

const glyphs = {
  liked: Heart,
  approved: CircleCheck,
  rejected: CircleX,
  picture_ready: Image,
  picture_failed: ImageOff,
  followed: UserRound,
} as const;

const colors: Readonly<Record<NotificationKind, string>> = {
  liked: "fill-accent text-accent",
  approved: "text-success",
  rejected: "text-danger",
  picture_ready: "text-ink",
  picture_failed: "text-danger",
  followed: "text-ink",
};

interface NotificationGlyphProps {
  kind: NotificationKind;
  /** Whether it has the color of what it tells; else that of the text beside it. */
  colored?: boolean;
  className?: string;
}

/** The picture of a kind of notification; its words say the same. */
export function NotificationGlyph({
  kind,
  colored = false,
  className = "size-4",
}: NotificationGlyphProps) {
  const Glyph = glyphs[kind];
  return (
    <Glyph
      aria-hidden="true"
      className={cn("shrink-0", colored ? colors[kind] : "text-ink-soft", className)}
      strokeWidth={1.6}
    />
  );
}
