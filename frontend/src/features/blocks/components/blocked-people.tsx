import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { ErrorNotice } from "@/components/ui/error-notice";
import { blockedPeopleQuery, useToggleBlock } from "../api/blocks";

/** Whom the user has blocked, each with a button that ends it; nothing where there is nobody. */
export function BlockedPeople({ userId }: { userId: string }) {
  const people = useQuery(blockedPeopleQuery(userId));
  const toggle = useToggleBlock(userId);
  if (people.isLoadingError) {
    return (
      <ErrorNotice
        title="Whom you have blocked could not be loaded."
        error={people.error}
        onRetry={people.refetch}
      />
    );
  }
  if (people.data === undefined || people.data.length === 0) return null;
  return (
    <section aria-labelledby="blocked-title" className="mt-10 max-w-2xl">
      <h2 id="blocked-title" className="font-serif text-heading">
        Blocked people
      </h2>
      <ul className="mt-4 divide-y divide-line border-line border-y">
        {people.data.map(({ id, username, full_name }) => (
          <li key={id} className="flex items-center justify-between gap-4 py-2.5">
            <span className="min-w-0 truncate text-small">
              {username === null ? (full_name ?? "Somebody without a name") : `@${username}`}
            </span>
            <Button
              aria-label={`Unblock ${username ?? full_name ?? "somebody"}`}
              disabled={toggle.isPending}
              onClick={() => toggle.mutate({ id, on: false })}
            >
              Unblock
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}
