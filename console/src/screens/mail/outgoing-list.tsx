import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { MailCheck } from "lucide-react";
import { useSession, whyReadOnly } from "@/api/session";
import { Badge } from "@/components/badge";
import { EmptyState } from "@/components/empty-state";
import { ErrorNotice } from "@/components/error-state";
import { Text } from "@/components/text";
import { plural } from "@/lib/format";
import { formatTime } from "@/lib/format-time";
import { mailKey, type OutgoingMail, retryMessage } from "./api";

/** Messages that wait for delivery, with the mail server's last error, and a button to try now. */
export function OutgoingList({ messages }: { messages: readonly OutgoingMail[] }) {
  if (messages.length === 0) {
    return <EmptyState icon={MailCheck} title="Every message was handed to the mail server." />;
  }
  return (
    <ul className="divide-y divide-line-soft">
      {messages.map((message) => (
        <OutgoingLine key={message.id} message={message} />
      ))}
    </ul>
  );
}

function OutgoingLine({ message }: { message: OutgoingMail }) {
  const client = useQueryClient();
  const refusal = whyReadOnly(useSession());
  const retry = useMutation({
    mutationFn: () => retryMessage(message.id),
    onSettled: () => client.invalidateQueries({ queryKey: mailKey }),
  });
  return (
    <li className="grid gap-1.5 px-4 py-2.5 text-caption">
      <div className="flex flex-wrap items-center gap-2">
        <span className="min-w-0 flex-1 truncate font-medium">
          <Text>{message.subject}</Text>
        </span>
        <Badge tone={message.error === null ? "neutral" : "danger"}>
          {plural(message.attempts, "attempt")}
        </Badge>
        <Button
          size="dense"
          disabled={refusal !== undefined}
          title={refusal}
          pending={retry.isPending}
          onClick={() => retry.mutate()}
        >
          Try now
        </Button>
      </div>
      <p className="text-ink-soft">
        to <Text>{typeof message.to === "string" ? message.to : message.to.join(", ")}</Text>
        {message.next_attempt_at !== null &&
          `, next attempt ${formatTime(message.next_attempt_at)}`}
      </p>
      {message.error !== null && (
        <p className="text-danger">
          <Text multiline>{message.error}</Text>
        </p>
      )}
      {retry.isError && <ErrorNotice title="The attempt was not made" error={retry.error} />}
    </li>
  );
}
