import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { KeyRound, MailPlus, UserPlus } from "lucide-react";
import { useMemo, useState } from "react";
import { useCatalog } from "@/api/catalog";
import { useSession, whyReadOnly } from "@/api/session";
import { EmptyState } from "@/components/empty-state";
import { ErrorState } from "@/components/error-state";
import { Select } from "@/components/input";
import { ScreenLayout } from "@/components/screen-layout";
import { SearchInput } from "@/components/search-input";
import { SkeletonRows } from "@/components/skeleton";
import { StaleNotice } from "@/components/stale-notice";
import { Tabs } from "@/components/tabs";
import { formatNumber } from "@/lib/format";
import { useSearchState } from "@/lib/use-search-state";
import { userCountQuery, usersQuery } from "./api";
import { Configuration } from "./configuration/configuration";
import { CreateUserDialog, InviteUserDialog } from "./new-user-dialogs";
import { UserList } from "./user-list";
import { nameOfUser } from "./user-model";
import { UserPanel } from "./user-panel";
import { parseUserKind, searchUsers, type UserKind } from "./user-search";

const kindLabels: Record<UserKind, string> = {
  all: "All users",
  banned: "Banned",
  anonymous: "Anonymous",
  unconfirmed: "Unconfirmed",
  sso: "Single sign-on",
};

const tabs = [
  { value: "users", label: "Users" },
  { value: "configuration", label: "Configuration" },
] as const;

/** The project's users, and Auth's configuration in a second tab. */
export function Screen() {
  const [search, change] = useSearchState();
  const open = search.get("open");
  const [dialog, setDialog] = useState<"create" | "invite" | null>(null);
  const refusal = whyReadOnly(useSession());
  const tab = search.get("tab") === "configuration" ? "configuration" : "users";
  return (
    <ScreenLayout
      title="Users"
      scrolls={false}
      actions={
        tab === "users" && (
          <>
            <Button
              size="dense"
              disabled={refusal !== undefined}
              title={refusal}
              onClick={() => setDialog("invite")}
            >
              <MailPlus aria-hidden="true" className="size-3.5" />
              Invite
            </Button>
            <Button
              size="dense"
              variant="primary"
              disabled={refusal !== undefined}
              title={refusal}
              onClick={() => setDialog("create")}
            >
              <UserPlus aria-hidden="true" className="size-3.5" />
              New user
            </Button>
          </>
        )
      }
      panel={
        open === null || tab === "configuration"
          ? undefined
          : {
              label: "User",
              onClose: () => change({ open: null, part: null }),
              content: <UserPanel key={open} id={open} refusal={refusal} />,
            }
      }
    >
      <Tabs
        label="Parts of Auth"
        value={tab}
        onChange={(value) => change({ tab: value === "users" ? null : value })}
        tabs={tabs}
      >
        {tab === "users" ? (
          <Users onCreate={() => setDialog("create")} refusal={refusal} />
        ) : (
          <Configuration />
        )}
      </Tabs>
      {dialog === "create" && (
        <CreateUserDialog
          onClose={() => setDialog(null)}
          onCreated={(id) => {
            setDialog(null);
            change({ open: id });
          }}
        />
      )}
      {dialog === "invite" && (
        <InviteUserDialog
          onClose={() => setDialog(null)}
          onInvited={(id) => {
            setDialog(null);
            change({ open: id });
          }}
        />
      )}
    </ScreenLayout>
  );
}

function Users({ onCreate, refusal }: { onCreate: () => void; refusal: string | undefined }) {
  const [search, change] = useSearchState();
  const text = search.get("find") ?? "";
  const kind = parseUserKind(search.get("kind"));
  const table = useCatalog()?.tables.find(
    ({ schema, name }) => schema === "auth" && name === "users",
  );
  // The present time decides about bans; it is taken anew with each search, not with each drawing.
  const found = useMemo(() => searchUsers(text, kind, new Date()), [text, kind]);
  const key = `${kind}:${text}`;
  const isReady = table !== undefined;
  const users = useInfiniteQuery({
    ...usersQuery(table?.oid ?? "", key, found),
    enabled: isReady,
  });
  const count = useQuery({ ...userCountQuery(table?.oid ?? "", key, found), enabled: isReady });
  const rows = useMemo(() => users.data?.pages.flatMap((page) => page.users) ?? [], [users.data]);
  return (
    <>
      <div className="flex min-h-12 flex-wrap items-center gap-2 border-line-soft border-b px-4 py-1.5 max-md:px-3">
        <SearchInput
          label="Id, mail or phone"
          className="w-80 min-w-0 max-md:w-full"
          value={text}
          onChange={(find) => {
            if (find !== text) change({ find }, { replace: true });
          }}
        />
        <Select
          aria-label="Kind of account"
          className="w-40"
          value={kind}
          onChange={(event) =>
            change({ kind: event.target.value === "all" ? null : event.target.value })
          }
        >
          {Object.entries(kindLabels).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </Select>
        <span role="status" className="ml-auto text-ink-soft text-label tabular-nums">
          {count.data !== undefined &&
            `${count.data.exact ? "" : "≈ "}${formatNumber(count.data.count)} users`}
        </span>
      </div>
      <StaleNotice query={users} />
      {users.isPending ? (
        <SkeletonRows rows={12} />
      ) : users.isLoadingError ? (
        <ErrorState
          title="The users could not be loaded"
          error={users.error}
          onRetry={() => users.refetch()}
        />
      ) : rows.length === 0 ? (
        <EmptyState
          icon={KeyRound}
          title={found.filters.length === 0 ? "Nobody has signed up yet." : "Nobody was found."}
          text={
            found.filters.length === 0
              ? "Users appear here when they sign up in your app, or when you make them."
              : "The search takes a whole id, or the beginning of an id, a mail address or a phone number."
          }
          action={
            found.filters.length === 0 && refusal === undefined ? (
              <Button size="dense" variant="primary" onClick={onCreate}>
                New user
              </Button>
            ) : undefined
          }
        />
      ) : (
        <UserList
          users={rows}
          total={count.data?.count}
          open={search.get("open")}
          onOpen={(user) => change({ open: user.id })}
          onEndReached={() => {
            if (users.hasNextPage && !users.isFetchingNextPage) void users.fetchNextPage();
          }}
        />
      )}
      <p className="sr-only" aria-live="polite">
        {rows[0] !== undefined && text !== ""
          ? `First of the found users: ${nameOfUser(rows[0])}`
          : ""}
      </p>
    </>
  );
}
