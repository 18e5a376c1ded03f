import { Button } from "@ui/button";
import { CircleAlert } from "lucide-react";
import { Link } from "react-router";
import { ApiError, isUnreachable } from "@/api/error";
import { Text } from "@/components/text";

interface ErrorStateProps {
  /** A sentence that says what failed. */
  title: string;
  error: unknown;
  /** Says what was not affected, if that is more than "nothing was changed". */
  safe?: string;
  onRetry?: (() => void) | undefined;
}

function whatIsSafe(error: unknown): string {
  if (isUnreachable(error)) return "What you have typed and staged is kept in this browser.";
  return "Nothing was changed.";
}

/**
 * Shown instead of content that could not be loaded: the service's code and message, what was not affected, a retry
 * button, and a link to the log line.
 */
export function ErrorState({ title, error, safe, onRetry }: ErrorStateProps) {
  return (
    <div className="mx-auto w-full max-w-lg px-4 py-10">
      <ErrorNotice
        title={title}
        error={error}
        {...(safe !== undefined && { safe })}
        onRetry={onRetry}
      />
    </div>
  );
}

/** An error message within a form or panel. */
export function ErrorNotice({ title, error, safe, onRetry }: ErrorStateProps) {
  const known = error instanceof ApiError ? error : null;
  const message = error instanceof Error ? error.message : String(error);
  return (
    <div role="alert" className="rounded-md border border-danger/40 bg-removed p-3 text-caption">
      <div className="flex gap-2.5">
        <CircleAlert aria-hidden="true" className="mt-0.5 size-4 shrink-0 text-danger" />
        <div className="min-w-0 flex-1">
          <p className="font-medium">{title}</p>
          <p className="mt-0.5 [overflow-wrap:anywhere]">
            {known !== null && (
              <code className="mr-1.5 rounded-[4px] bg-hover px-1 font-mono text-label">
                <Text>{known.code}</Text>
              </code>
            )}
            <Text multiline>{message}</Text>
          </p>
          {[known?.details, known?.hint].map(
            (line) =>
              line !== undefined && (
                <p key={line} className="mt-0.5 text-ink-soft [overflow-wrap:anywhere]">
                  <Text multiline>{line}</Text>
                </p>
              ),
          )}
          <p className="mt-1.5 text-ink-soft">{safe ?? whatIsSafe(error)}</p>
          {(onRetry !== undefined || known?.requestId) && (
            <div className="mt-2 flex flex-wrap items-center gap-3">
              {onRetry !== undefined && (
                <Button size="dense" onClick={onRetry}>
                  Try again
                </Button>
              )}
              {known?.requestId && (
                <Link
                  to={`/logs?request=${encodeURIComponent(known.requestId)}`}
                  className="underline underline-offset-2"
                >
                  Show its log line
                </Link>
              )}
            </div>
          )}
        </div>
      </div>
    </div>
  );
}
