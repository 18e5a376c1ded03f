import { useInfiniteQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { cn } from "@ui/cn";
import { Mail, MessageSquare } from "lucide-react";
import { useEffect, useMemo, useRef } from "react";
import { Link } from "react-router";
import { useSession } from "@/api/session";
import { EmptyState } from "@/components/empty-state";
import { ErrorState } from "@/components/error-state";
import { ScreenLayout } from "@/components/screen-layout";
import { SearchInput } from "@/components/search-input";
import { SkeletonRows } from "@/components/skeleton";
import { Text } from "@/components/text";
import { formatAge } from "@/lib/format";
import { useSearchState } from "@/lib/use-search-state";
import { type MailSummary, mailQuery } from "./api";
import { MessageView } from "./message-view";
import { OutgoingList } from "./outgoing-list";

/** The inbox of a development server, which catches every mail and text message; in production the outgoing queue. */
export function Screen() {
  const { mode } = useSession();
  const [search, change] = useSearchState();
  const find = search.get("find") ?? "";
  const open = search.get("open");
  const mail = useInfiniteQuery(mailQuery(find));
  const messages = useMemo(
    () => mail.data?.pages.flatMap((page) => page.messages) ?? [],
    [mail.data],
  );
  const isEmpty = mail.isSuccess && messages.length === 0 && find === "";
  const failure = mail.isError && mail.data === undefined && (
    <ErrorState
      title="The mail could not be loaded"
      error={mail.error}
      onRetry={() => mail.refetch()}
    />
  );
  if (mode === "serve") {
    return (
      <ScreenLayout title="Outgoing mail">
        {mail.isPending ? (
          <SkeletonRows />
        ) : (
          failure || <OutgoingList messages={mail.data?.pages[0]?.outgoing ?? []} />
        )}
      </ScreenLayout>
    );
  }
  return (
    <ScreenLayout
      title="Mail"
      scrolls={false}
      // Phones show either the list or the work area; hints for an empty list and errors are in the work area.
      isObjectOpen={open !== null || isEmpty || failure !== false}
      onBack={open === null ? undefined : () => change({ open: null, view: null })}
      list={{
        label: "Messages",
        content: (
          <>
            <div className="border-line border-b p-1.5">
              <SearchInput
                label="Search mail"
                value={find}
                onChange={(value) => {
                  if (value !== find) change({ find: value }, { replace: true });
                }}
              />
            </div>
            {mail.isPending ? (
              <SkeletonRows />
            ) : failure ? null : (
              <MessageList
                messages={messages}
                open={open}
                isFiltered={find !== ""}
                onEndReached={() => {
                  if (mail.hasNextPage && !mail.isFetchingNextPage) void mail.fetchNextPage();
                }}
              />
            )}
          </>
        ),
      }}
    >
      {failure ||
        (open === null ? (
          <EmptyState
            icon={Mail}
            title={
              isEmpty
                ? "Mails that the project sends are caught here."
                : "Choose a message at the left."
            }
            text={
              isEmpty
                ? "Confirmations, invitations and codes appear as soon as they are sent. Nothing leaves this machine."
                : undefined
            }
          />
        ) : (
          <MessageView
            key={open}
            id={open}
            onDeleted={() => change({ open: null, view: null }, { replace: true, where: { open } })}
          />
        ))}
    </ScreenLayout>
  );
}

interface MessageListProps {
  messages: readonly MailSummary[];
  open: string | null;
  isFiltered: boolean;
  onEndReached: () => void;
}

const lineHeight = 64;

function MessageList({ messages, open, isFiltered, onEndReached }: MessageListProps) {
  const [search] = useSearchState();
  const scroller = useRef<HTMLUListElement>(null);
  const virtualizer = useVirtualizer({
    count: messages.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => lineHeight,
    overscan: 10,
  });
  const items = virtualizer.getVirtualItems();
  const last = items.at(-1)?.index ?? -1;
  const reachEnd = useRef(onEndReached);
  useEffect(() => {
    reachEnd.current = onEndReached;
  });
  useEffect(() => {
    if (messages.length > 0 && last >= messages.length - 10) reachEnd.current();
  }, [last, messages.length]);
  function addressOf(id: string): string {
    const next = new URLSearchParams(search);
    next.set("open", id);
    next.delete("view");
    return `?${next}`;
  }
  return (
    <ul ref={scroller} className="min-h-0 flex-1 overflow-y-auto">
      {messages.length === 0 && (
        <li className="px-4 py-3 text-caption text-ink-soft">
          {isFiltered ? "No message matches." : "There is no mail yet."}
        </li>
      )}
      <li aria-hidden="true" style={{ height: items[0]?.start ?? 0 }} />
      {items.map((item) => {
        const message = messages[item.index];
        if (message === undefined) return null;
        return (
          <li key={message.id} style={{ height: lineHeight }}>
            <Link
              to={addressOf(message.id)}
              aria-current={message.id === open ? "page" : undefined}
              className={cn(
                "flex h-full flex-col justify-center border-line-soft border-b px-4 text-caption outline-offset-[-2px]",
                message.id === open ? "bg-selected" : "hover:bg-hover",
              )}
            >
              <span className="flex items-center gap-1.5">
                {message.kind === "sms" && (
                  <MessageSquare aria-label="text message" className="size-3.5 text-ink-soft" />
                )}
                <span
                  className={cn("min-w-0 flex-1 truncate", message.read !== true && "font-medium")}
                >
                  <Text>{message.subject || message.snippet}</Text>
                </span>
                <span className="text-ink-soft text-label">
                  {formatAge(Date.parse(message.time))}
                </span>
              </span>
              <span className="truncate text-ink-soft">
                <Text>{message.to.join(", ")}</Text>
              </span>
            </Link>
          </li>
        );
      })}
      <li
        aria-hidden="true"
        style={{ height: Math.max(0, virtualizer.getTotalSize() - (items.at(-1)?.end ?? 0)) }}
      />
    </ul>
  );
}
