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

/** The picture of a kind of notification; its words say the same. */
export function NotificationGlyph({ kind }: { kind: NotificationKind }) {
  const Glyph = glyphs[kind];
  return <Glyph aria-hidden="true" className="size-4 shrink-0 text-ink-soft" strokeWidth={1.6} />;
}
