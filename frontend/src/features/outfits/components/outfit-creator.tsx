import { Link } from "react-router";
import { Avatar } from "@/components/ui/avatar";
import { initialsOf } from "@/lib/format";
import { paths } from "@/lib/paths";
import type { OutfitCreator } from "../api/outfit";

/** The creator of an outfit, with a link to their page if they have a username. */
export function OutfitCreatorLine({ creator }: { creator: OutfitCreator | null }) {
  if (creator === null) return <p className="text-ink-soft text-small">No creator information</p>;
  if (creator.username === null)
    return <p className="text-ink-soft text-small">by Anonymous User</p>;
  return (
    <Link
      to={paths.profile(creator.username)}
      className="inline-flex min-h-11 items-center gap-3 rounded-full pr-3 text-ink-soft text-small transition-colors hover:text-ink"
    >
      <Avatar src={creator.avatar_url} initials={initialsOf(creator.username, null)} />
      by @{creator.username}
    </Link>
  );
}
