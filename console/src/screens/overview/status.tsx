import { useQuery } from "@tanstack/react-query";
import { cn } from "@ui/cn";
import { request } from "@/api/client";
import { useSession } from "@/api/session";
import { CopyButton } from "@/components/copy-button";
import { Text } from "@/components/text";

/** Whether the API answers, where it is, and which versions run. */
export function Status() {
  const session = useSession();
  const health = useQuery({
    queryKey: ["health"],
    queryFn: ({ signal }) => request<unknown>("/api/proxy/auth/health", { signal }),
    refetchInterval: 5000,
    retry: false,
  });
  const isUp = health.isSuccess;
  const facts: [string, string | undefined][] = [
    ["PostgreSQL", session.postgres_version],
    ["Selvedge", session.version],
    ["Mode", session.mode === "start" ? "development" : "production"],
  ];
  return (
    <div className="flex flex-wrap items-center gap-x-6 gap-y-1 text-caption">
      <p role="status" className="flex items-center gap-2">
        <span
          aria-hidden="true"
          className={cn(
            "size-2 rounded-full",
            health.isPending ? "bg-line-strong" : isUp ? "bg-success" : "bg-danger",
          )}
        />
        <span className="font-medium">
          {health.isPending
            ? "Asking the API…"
            : isUp
              ? "The API answers"
              : "The API does not answer"}
        </span>
      </p>
      {session.api_url !== undefined && (
        <p className="flex min-w-0 items-center gap-1">
          <code className="truncate font-mono text-label">{session.api_url}</code>
          <CopyButton text={session.api_url} label="Copy API URL" />
        </p>
      )}
      {facts.map(
        ([term, value]) =>
          value !== undefined && (
            <p key={term} className="text-ink-soft">
              {term}{" "}
              <span className="text-ink">
                <Text>{value}</Text>
              </span>
            </p>
          ),
      )}
    </div>
  );
}
