import { useQuery } from "@tanstack/react-query";
import { isMissing } from "@/api/error";
import { Badge } from "@/components/badge";
import { CopyButton } from "@/components/copy-button";
import { ErrorNotice } from "@/components/error-state";
import { Facts } from "@/components/facts";
import { SkeletonRows } from "@/components/skeleton";
import { GoneNotice, StaleNotice } from "@/components/stale-notice";
import { Tabs } from "@/components/tabs";
import { Text } from "@/components/text";
import { formatTime } from "@/lib/format-time";
import { useSearchState } from "@/lib/use-search-state";
import { type User, userQuery } from "./api";
import { UserActions } from "./user-actions";
import { UserMetadata } from "./user-metadata";
import { nameOfUser } from "./user-model";
import { Activity, Factors, Identities } from "./user-parts";
import { Sessions } from "./user-sessions";

interface UserPanelProps {
  id: string;
  /** Why nothing can be changed, or undefined. */
  refusal: string | undefined;
}

const parts = [
  { value: "account", label: "Account" },
  { value: "metadata", label: "Metadata" },
  { value: "sign-in", label: "Sign-in" },
  { value: "activity", label: "Activity" },
] as const;

/** One user: properties and actions, metadata, identities, factors and sessions, and what Auth recorded. */
export function UserPanel({ id, refusal }: UserPanelProps) {
  const [search, change] = useSearchState();
  const part = parts.find(({ value }) => value === search.get("part"))?.value ?? "account";
  const user = useQuery(userQuery(id));
  if (user.isPending) return <SkeletonRows rows={8} />;
  if (user.isLoadingError) {
    return (
      <div className="p-4">
        <ErrorNotice
          title="The user could not be loaded"
          error={user.error}
          onRetry={() => user.refetch()}
        />
      </div>
    );
  }
  const { data } = user;
  const isGone = isMissing(user.error);
  // Typed metadata can still be copied; nothing else can be done with a user who is gone.
  const whyNot = isGone ? "This user was deleted." : refusal;
  return (
    <>
      {isGone ? (
        <GoneNotice>
          Somebody has deleted this user. What was read stays until it is closed.
        </GoneNotice>
      ) : (
        <StaleNotice query={user} />
      )}
      <div className="flex items-center gap-2 px-4 pt-3">
        <p className="min-w-0 flex-1 truncate font-medium text-small">
          <Text>{nameOfUser(data)}</Text>
        </p>
        <StateBadge user={data} />
      </div>
      <div className="flex items-center gap-1 px-4 pb-2">
        <code className="min-w-0 truncate font-mono text-ink-soft text-label">{data.id}</code>
        <CopyButton text={data.id} label="Copy id" />
      </div>
      <Tabs
        label="Parts of the user"
        value={part}
        onChange={(value) => change({ part: value === "account" ? null : value })}
        tabs={parts}
      >
        <div className="min-h-0 flex-1 overflow-y-auto p-4">
          {part === "account" && <Account user={data} refusal={whyNot} />}
          {part === "metadata" && <UserMetadata user={data} refusal={refusal} />}
          {part === "sign-in" && (
            <div className="grid gap-6">
              <Identities user={data} />
              <Factors user={data} refusal={whyNot} />
              <Sessions userId={id} refusal={whyNot} />
            </div>
          )}
          {part === "activity" && <Activity user={data} />}
        </div>
      </Tabs>
    </>
  );
}

function isBanned(user: User): boolean {
  return user.banned_until != null && Date.parse(user.banned_until) > Date.now();
}

function StateBadge({ user }: { user: User }) {
  if (user.deleted_at != null) return <Badge tone="danger">deleted</Badge>;
  if (isBanned(user)) return <Badge tone="danger">banned</Badge>;
  if (user.is_anonymous === true) return <Badge>anonymous</Badge>;
  if (user.confirmed_at == null) return <Badge tone="warning">unconfirmed</Badge>;
  if (user.email && user.email_confirmed_at == null) {
    return <Badge tone="warning">mail unconfirmed</Badge>;
  }
  return <Badge tone="success">confirmed</Badge>;
}

function Account({ user, refusal }: UserPanelPartProps) {
  const time = (value: string | null | undefined) => (value == null ? null : formatTime(value));
  return (
    <div className="grid gap-5">
      <Facts
        facts={[
          ["Mail", user.email || null],
          ["New mail", user.new_email || null],
          ["Phone", user.phone ? `+${user.phone}` : null],
          ["Role", user.role ?? null],
          ["Created", time(user.created_at)],
          ["Invited", time(user.invited_at)],
          ["Mail confirmed", user.email ? (time(user.email_confirmed_at) ?? "not yet") : null],
          ["Phone confirmed", user.phone ? (time(user.phone_confirmed_at) ?? "not yet") : null],
          ["Last sign-in", time(user.last_sign_in_at) ?? "never"],
          ["Banned until", isBanned(user) ? time(user.banned_until) : null],
          ["Deleted", time(user.deleted_at)],
        ]}
      />
      <UserActions user={user} isBanned={isBanned(user)} refusal={refusal} />
    </div>
  );
}

interface UserPanelPartProps {
  user: User;
  refusal: string | undefined;
}
