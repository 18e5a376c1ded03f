import { ArrowUpRight } from "lucide-react";
import { Avatar } from "@/components/ui/avatar";
import { Skeleton } from "@/components/ui/skeleton";
import type { PublicProfile } from "../api/get-profile";

/** Header of a creator's page: avatar, names, bio and social links. */
export function ProfileHeader({ profile }: { profile: PublicProfile }) {
  const initial = (profile.username ?? "U").charAt(0).toUpperCase();
  const links = [
    { label: "Instagram", url: profile.instagram_url },
    { label: "Twitter", url: profile.twitter_url },
    { label: "Website", url: profile.website_url },
  ].filter((link): link is { label: string; url: string } => link.url !== null);
  return (
    <header className="flex flex-col items-center pt-6 text-center">
      <Avatar src={profile.avatar_url} initials={initial} size="lg" />
      <h1 className="mt-6 text-balance font-serif text-display">
        {profile.full_name || `@${profile.username}`}
      </h1>
      <p className="mt-3 text-ink-soft">@{profile.username}</p>
      {profile.bio !== null && (
        <p className="mt-5 max-w-xl whitespace-pre-line text-pretty text-body">{profile.bio}</p>
      )}
      {links.length > 0 && (
        <ul className="mt-4 flex flex-wrap justify-center gap-x-6">
          {links.map(({ label, url }) => (
            <li key={label}>
              <a
                href={url}
                target="_blank"
                rel="noreferrer noopener me"
                className="inline-flex min-h-11 items-center gap-1 text-small underline decoration-line-strong underline-offset-4 hover:decoration-ink"
              >
                {label}
                <ArrowUpRight aria-hidden="true" className="size-3.5" />
                <span className="sr-only">, opens in a new tab</span>
              </a>
            </li>
          ))}
        </ul>
      )}
    </header>
  );
}

export function ProfileHeaderSkeleton() {
  return (
    <div role="status" className="flex flex-col items-center pt-6">
      <span className="sr-only">Loading profile...</span>
      <Skeleton className="size-28 rounded-full" />
      <Skeleton className="mt-8 h-14 w-80 max-w-full" />
      <Skeleton className="mt-4 h-4 w-32" />
      <Skeleton className="mt-7 h-4 w-96 max-w-full" />
    </div>
  );
}
