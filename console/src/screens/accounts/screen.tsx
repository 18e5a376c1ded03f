import { queryOptions, useQuery } from "@tanstack/react-query";
import { UserRound } from "lucide-react";
import { request } from "@/api/client";
import { useSession } from "@/api/session";
import { Badge } from "@/components/badge";
import { CodeBlock } from "@/components/code-block";
import { EmptyState } from "@/components/empty-state";
import { ErrorState } from "@/components/error-state";
import { ScreenLayout } from "@/components/screen-layout";
import { SkeletonRows } from "@/components/skeleton";
import { Text } from "@/components/text";
import { formatTime } from "@/lib/format-time";

interface Account {
  name: string;
  level: string;
  created_at: string;
  last_sign_in_at: string | null;
}

const accountsQuery = queryOptions({
  queryKey: ["accounts"],
  queryFn: ({ signal }) => request<{ accounts: Account[] }>("/api/accounts", { signal }),
});

/** Who may sign in to this console, and at which level. Accounts are made and removed on the server alone. */
export function Screen() {
  return (
    <ScreenLayout title="Accounts">
      <Accounts />
    </ScreenLayout>
  );
}

function Accounts() {
  const { login } = useSession();
  const accounts = useQuery(accountsQuery);
  if (accounts.isPending) return <SkeletonRows rows={4} />;
  if (accounts.isError) {
    return (
      <ErrorState
        title="The accounts could not be loaded"
        error={accounts.error}
        onRetry={() => accounts.refetch()}
      />
    );
  }
  const command = "selvedge console user add NAME --level viewer";
  return (
    <div className="grid max-w-3xl grid-cols-[minmax(0,1fr)] gap-4 p-4 max-md:p-3">
      {accounts.data.accounts.length === 0 ? (
        <EmptyState
          icon={UserRound}
          title="There are no accounts."
          text={
            login
              ? "Accounts are made on the server."
              : "Nobody signs in to this console, because only this machine reaches it."
          }
        />
      ) : (
        <ul className="divide-y divide-line-soft rounded-md border border-line bg-surface">
          {accounts.data.accounts.map((account) => (
            <li
              key={account.name}
              className="flex flex-wrap items-center gap-3 px-3 py-2 text-caption"
            >
              <span className="min-w-0 flex-1 truncate font-medium">
                <Text>{account.name}</Text>
              </span>
              <Badge tone={account.level === "admin" ? "warning" : "neutral"}>
                {account.level}
              </Badge>
              <span className="text-ink-soft">
                {account.last_sign_in_at === null
                  ? "never signed in"
                  : `signed in ${formatTime(account.last_sign_in_at)}`}
              </span>
            </li>
          ))}
        </ul>
      )}
      <CodeBlock label="command" code={command} />
    </div>
  );
}
