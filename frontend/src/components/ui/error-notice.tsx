import { onlineManager } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { isTemporary, isUnreachable, messageOf } from "@/lib/service-error";

interface ErrorNoticeProps {
  /** A sentence that says what failed. */
  title: string;
  error: unknown;
  onRetry: () => void;
}

function explain(error: unknown): string {
  if (isUnreachable(error) && !onlineManager.isOnline()) {
    return "You are offline. It will be loaded when the network is back.";
  }
  if (isUnreachable(error)) {
    return "We could not reach the server. Nothing of yours is lost; check your connection and try again.";
  }
  if (isTemporary(error)) {
    return "The server has a problem. Nothing of yours is lost; please try again in a moment.";
  }
  return messageOf(error, "The server refused the request. Nothing of yours was changed.");
}

/** Replaces content that could not be loaded: what failed, whether data is lost, and a retry button. */
export function ErrorNotice({ title, error, onRetry }: ErrorNoticeProps) {
  return (
    <div
      role="alert"
      className="mx-auto flex min-h-[50vh] max-w-md flex-col items-center justify-center gap-3 px-6 py-16 text-center"
    >
      <p className="font-serif text-heading text-ink">{title}</p>
      <p className="text-ink-soft text-small">{explain(error)}</p>
      <Button className="mt-4" onClick={onRetry}>
        Try again
      </Button>
    </div>
  );
}
