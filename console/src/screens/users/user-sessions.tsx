import {
  type UseMutationResult,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { Button } from "@ui/button";
import { useIsShown } from "@ui/use-is-shown";
import { useState } from "react";
import { ConfirmDialog } from "@/components/confirm-dialog";
import { ErrorNotice } from "@/components/error-state";
import { SkeletonRows } from "@/components/skeleton";
import { Text } from "@/components/text";
import { formatAge } from "@/lib/format";
import { type AuthSession, endSession, endSessions, sessionsQuery } from "./api";
import { Empty, listClasses, Part } from "./user-parts";

/** Signed-in devices; one or all can be signed out. */
export function Sessions({ userId, refusal }: { userId: string; refusal: string | undefined }) {
  const client = useQueryClient();
  const sessions = useQuery(sessionsQuery(userId));
  const [isEndingAll, setEndingAll] = useState(false);
  const end = useMutation({
    mutationFn: (id: string) => endSession(id),
    onSettled: () => client.invalidateQueries({ queryKey: sessionsQuery(userId).queryKey }),
  });
  const list = sessions.data ?? [];
  return (
    <Part
      title="Sessions"
      aside={
        list.length > 1 && (
          <Button
            size="dense"
            variant="quiet"
            disabled={refusal !== undefined}
            title={refusal}
            onClick={() => setEndingAll(true)}
          >
            End all
          </Button>
        )
      }
    >
      {sessions.isPending && <SkeletonRows rows={2} />}
      {sessions.isError && (
        <ErrorNotice
          title="The sessions could not be loaded"
          error={sessions.error}
          onRetry={() => sessions.refetch()}
        />
      )}
      {sessions.isSuccess && list.length === 0 && <Empty>The user is signed in nowhere.</Empty>}
      {list.length > 0 && (
        <ul className={listClasses}>
          {list.map((session) => (
            <SessionLine key={session.id} session={session} end={end} refusal={refusal} />
          ))}
        </ul>
      )}
      {end.isError && <ErrorNotice title="The session was not ended" error={end.error} />}
      {isEndingAll && (
        <EndAllQuestion userId={userId} count={list.length} onClose={() => setEndingAll(false)} />
      )}
    </Part>
  );
}

interface EndAllQuestionProps {
  userId: string;
  count: number;
  onClose: () => void;
}

function EndAllQuestion({ userId, count, onClose }: EndAllQuestionProps) {
  const client = useQueryClient();
  const isShown = useIsShown();
  const endAll = useMutation({
    mutationFn: () => endSessions(userId),
    onSuccess: () => {
      if (isShown()) onClose();
    },
    onSettled: () => client.invalidateQueries({ queryKey: sessionsQuery(userId).queryKey }),
  });
  return (
    <ConfirmDialog
      title={`End all ${count} sessions?`}
      text="The user has to sign in again everywhere. Access tokens stay valid until they expire, at most an hour."
      confirmLabel="End all sessions"
      pending={endAll.isPending}
      error={endAll.error}
      onConfirm={() => endAll.mutate()}
      onClose={onClose}
    />
  );
}

interface SessionLineProps {
  session: AuthSession;
  end: UseMutationResult<void, Error, string>;
  refusal: string | undefined;
}

function SessionLine({ session, end, refusal }: SessionLineProps) {
  const used = session.refreshed_at ?? session.created_at;
  return (
    <li className="flex items-center gap-2 px-3 py-1.5 text-caption">
      <div className="min-w-0 flex-1">
        <p className="truncate" title={session.user_agent ?? undefined}>
          <Text>{session.user_agent ?? "unknown device"}</Text>
        </p>
        <p className="text-ink-soft text-label">
          {session.ip !== null && (
            <>
              <Text>{session.ip}</Text>
              {" · "}
            </>
          )}
          {session.aal ?? "aal1"} · used {formatAge(Date.parse(used))} ago
        </p>
      </div>
      <Button
        size="dense"
        variant="quiet"
        disabled={refusal !== undefined || end.isPending}
        title={refusal}
        onClick={() => end.mutate(session.id)}
      >
        End
      </Button>
    </li>
  );
}
