import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { useIsShown } from "@ui/use-is-shown";
import { type ReactNode, useState } from "react";
import { Badge } from "@/components/badge";
import { ConfirmDialog } from "@/components/confirm-dialog";
import { ErrorNotice } from "@/components/error-state";
import { SkeletonRows } from "@/components/skeleton";
import { StaleNotice } from "@/components/stale-notice";
import { Text } from "@/components/text";
import { formatAge } from "@/lib/format";
import { formatTime } from "@/lib/format-time";
import { deleteFactor, type Factor, type User, userAuditQuery, usersKey } from "./api";
import { nameOfUser } from "./user-model";

interface PartProps {
  title: string;
  aside?: ReactNode;
  children: ReactNode;
}

/** A part of the panel under its heading. */
export function Part({ title, aside, children }: PartProps) {
  return (
    <section aria-label={title}>
      <div className="mb-1.5 flex min-h-8 items-center justify-between gap-2">
        <h3 className="font-medium text-caption">{title}</h3>
        {aside}
      </div>
      {children}
    </section>
  );
}

/** The sentence in place of a list without entries. */
export function Empty({ children }: { children: ReactNode }) {
  return <p className="text-caption text-ink-soft">{children}</p>;
}

export const listClasses = "divide-y divide-line-soft rounded-sm border border-line";

/** The accounts of providers with which the user can sign in. */
export function Identities({ user }: { user: User }) {
  const identities = user.identities ?? [];
  return (
    <Part title="Identities">
      {identities.length === 0 ? (
        <Empty>The user has no identity.</Empty>
      ) : (
        <ul className={listClasses}>
          {identities.map((identity) => (
            <li key={identity.identity_id} className="px-3 py-2 text-caption">
              <div className="flex justify-between gap-2">
                <span className="font-medium">
                  <Text>{identity.provider}</Text>
                </span>
                <span className="text-ink-soft">
                  {identity.last_sign_in_at !== null &&
                    `used ${formatAge(Date.parse(identity.last_sign_in_at))} ago`}
                </span>
              </div>
              <p className="truncate text-ink-soft">
                <Text>{identity.email ?? identity.id}</Text>
              </p>
            </li>
          ))}
        </ul>
      )}
    </Part>
  );
}

/** Second factors; one that was lost can be taken away, so that the user can sign in again. */
export function Factors({ user, refusal }: { user: User; refusal: string | undefined }) {
  const [leaving, setLeaving] = useState<Factor | null>(null);
  const factors = user.factors ?? [];
  return (
    <Part title="Second factors">
      {factors.length === 0 ? (
        <Empty>The user has no second factor.</Empty>
      ) : (
        <ul className={listClasses}>
          {factors.map((factor) => (
            <li key={factor.id} className="flex items-center gap-2 px-3 py-1.5 text-caption">
              <span className="min-w-0 flex-1 truncate">
                <Text>{nameOf(factor)}</Text>{" "}
                <span className="text-ink-soft">{factor.factor_type}</span>
              </span>
              <Badge tone={factor.status === "verified" ? "success" : "warning"}>
                {factor.status}
              </Badge>
              <Button
                size="dense"
                variant="quiet"
                disabled={refusal !== undefined}
                title={refusal}
                onClick={() => setLeaving(factor)}
              >
                Remove
              </Button>
            </li>
          ))}
        </ul>
      )}
      {leaving !== null && (
        <FactorQuestion userId={user.id} factor={leaving} onClose={() => setLeaving(null)} />
      )}
    </Part>
  );
}

const nameOf = (factor: Factor): string => factor.friendly_name || factor.factor_type;

interface FactorQuestionProps {
  userId: string;
  factor: Factor;
  onClose: () => void;
}

/** A question of its own for each factor, so that the answer about one closes no other. */
function FactorQuestion({ userId, factor, onClose }: FactorQuestionProps) {
  const client = useQueryClient();
  const isShown = useIsShown();
  const remove = useMutation({
    mutationFn: () => deleteFactor(userId, factor.id),
    onSuccess: async () => {
      if (isShown()) onClose();
      await client.invalidateQueries({ queryKey: usersKey });
    },
  });
  return (
    <ConfirmDialog
      title={`Remove the factor ${nameOf(factor)}?`}
      text="It cannot be undone. The user signs in without it, and sessions that verified it fall back to aal1."
      typedName={nameOf(factor)}
      confirmLabel="Remove factor"
      pending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    />
  );
}

/** Auth's audit entries about the user, newest first. */
export function Activity({ user }: { user: User }) {
  const entries = useQuery(userAuditQuery(nameOfUser(user).replace(/^\+/, "")));
  if (entries.isPending) return <SkeletonRows rows={5} />;
  if (entries.isLoadingError) {
    return (
      <ErrorNotice
        title="The activity could not be loaded"
        error={entries.error}
        onRetry={() => entries.refetch()}
      />
    );
  }
  return (
    <>
      <StaleNotice query={entries} />
      {entries.data.length === 0 && <Empty>Auth has recorded nothing of this user.</Empty>}
      <ol className={listClasses}>
        {entries.data.map((entry) => (
          <li key={entry.id} className="px-3 py-1.5 text-caption">
            <div className="flex justify-between gap-2">
              <span>
                <Text>{(entry.payload.action ?? "unknown").replaceAll("_", " ")}</Text>
              </span>
              <span className="text-ink-soft">{formatTime(entry.created_at)}</span>
            </div>
            {entry.ip_address !== null && entry.ip_address !== "" && (
              <p className="text-ink-soft text-label">
                <Text>{entry.ip_address}</Text>
              </p>
            )}
          </li>
        ))}
      </ol>
    </>
  );
}
