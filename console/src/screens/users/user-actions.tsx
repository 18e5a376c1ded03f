import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { useIsShown } from "@ui/use-is-shown";
import { useState } from "react";
import { Link } from "react-router";
import { useSession } from "@/api/session";
import { ConfirmDialog } from "@/components/confirm-dialog";
import { copyText } from "@/components/copy-button";
import { ErrorNotice } from "@/components/error-state";
import { Select } from "@/components/input";
import { toast } from "@/lib/toast";
import { useSearchState } from "@/lib/use-search-state";
import { ActionGroup } from "./action-group";
import {
  createLink,
  deleteUser,
  type MailKind,
  sendMail,
  type User,
  updateUser,
  usersKey,
} from "./api";
import { Impersonation } from "./impersonation";
import { banDurations, claimsAddress, nameOfUser } from "./user-model";

interface UserActionsProps {
  user: User;
  isBanned: boolean;
  refusal: string | undefined;
}

/** Mails and links, the app as the user sees it, ban and deletion. */
export function UserActions({ user, isBanned, refusal }: UserActionsProps) {
  if (user.deleted_at != null) {
    return (
      <ActionGroup title="Deletion">
        <p className="text-caption text-ink-soft">
          This account was deleted softly: its address and metadata are gone, and the row stays for
          what refers to it.
        </p>
        <DeleteButtons user={user} refusal={refusal} />
      </ActionGroup>
    );
  }
  return (
    <>
      {claimsAddress(user) ? (
        <ActionGroup title="Mails">
          <p className="text-caption text-ink-soft">
            Somebody uses this account who has not proven its address, so no mail goes there.
            Whoever proves the address gets an account of their own.
          </p>
        </ActionGroup>
      ) : user.email ? (
        <Mails user={user} email={user.email} refusal={refusal} />
      ) : null}
      <Impersonation user={user} refusal={refusal} />
      <ActionGroup title="Access">
        <BanControl user={user} isBanned={isBanned} refusal={refusal} />
        <DeleteButtons user={user} refusal={refusal} />
      </ActionGroup>
    </>
  );
}

interface MailsProps {
  user: User;
  email: string;
  refusal: string | undefined;
}

function Mails({ user, email, refusal }: MailsProps) {
  const { mode } = useSession();
  const kinds: { kind: MailKind; label: string }[] = [
    { kind: "recovery", label: "Password recovery" },
    { kind: "magiclink", label: "Magic link" },
    ...(user.email_confirmed_at == null
      ? [{ kind: "signup" as const, label: "Confirmation" }]
      : []),
  ];
  const send = useMutation({
    mutationFn: (kind: MailKind) => sendMail(kind, email),
    onSuccess: () => toast({ title: `Mail sent to ${email}`, tone: "success" }),
  });
  const copy = useMutation({
    mutationFn: (kind: "recovery" | "magiclink") => createLink(kind, email),
    onSuccess: async ({ action_link: link }) => {
      if (await copyText(link)) {
        toast({
          title: "Link copied",
          description: "It signs in whoever opens it, once.",
          tone: "success",
        });
      }
    },
  });
  return (
    <ActionGroup title="Mails">
      <ul className="grid gap-1.5">
        {kinds.map(({ kind, label }) => (
          <li key={kind} className="flex flex-wrap items-center gap-2 text-caption">
            <span className="min-w-32 flex-1">{label}</span>
            <Button
              size="dense"
              disabled={refusal !== undefined}
              title={refusal}
              pending={send.isPending && send.variables === kind}
              onClick={() => send.mutate(kind)}
            >
              Send
            </Button>
            <Button
              size="dense"
              variant="quiet"
              disabled={refusal !== undefined}
              title={
                refusal ??
                (kind === "signup" ? "A magic link, which confirms the address" : undefined)
              }
              pending={copy.isPending && copy.variables === kind}
              onClick={() => copy.mutate(kind === "recovery" ? "recovery" : "magiclink")}
            >
              Copy link
            </Button>
          </li>
        ))}
      </ul>
      {send.isSuccess && mode === "start" && (
        <p role="status" className="text-caption">
          It arrived in this machine's inbox.{" "}
          <Link
            to={`/mail?find=${encodeURIComponent(email)}`}
            className="underline underline-offset-2"
          >
            Open the mail
          </Link>
        </p>
      )}
      {send.isError && <ErrorNotice title="The mail was not sent" error={send.error} />}
      {copy.isError && <ErrorNotice title="No link was made" error={copy.error} />}
    </ActionGroup>
  );
}

function BanControl({ user, isBanned, refusal }: UserActionsProps) {
  const client = useQueryClient();
  const [duration, setDuration] = useState<string>("24h");
  const ban = useMutation({
    mutationFn: (value: string) => updateUser(user.id, { ban_duration: value }),
    onSuccess: async (_, value) => {
      await client.invalidateQueries({ queryKey: usersKey });
      toast(
        value === "none"
          ? { title: "The ban was lifted", tone: "success" }
          : {
              title: "The user was banned",
              tone: "success",
              action: { label: "Undo", run: () => ban.mutate("none") },
            },
      );
    },
  });
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        {isBanned ? (
          <Button
            size="dense"
            disabled={refusal !== undefined}
            title={refusal}
            pending={ban.isPending}
            onClick={() => ban.mutate("none")}
          >
            Lift the ban
          </Button>
        ) : (
          <>
            <Select
              aria-label="Duration of the ban"
              className="w-32"
              value={duration}
              onChange={(event) => setDuration(event.target.value)}
            >
              {banDurations.map(({ value, label }) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </Select>
            <Button
              size="dense"
              disabled={refusal !== undefined}
              title={refusal}
              pending={ban.isPending}
              onClick={() => ban.mutate(duration)}
            >
              Ban
            </Button>
          </>
        )}
      </div>
      {ban.isError && <ErrorNotice title="The ban was not changed" error={ban.error} />}
    </>
  );
}

function DeleteButtons({ user, refusal }: { user: User; refusal: string | undefined }) {
  const [kind, setKind] = useState<DeletionKind | null>(null);
  return (
    <div className="flex flex-wrap gap-2">
      {user.deleted_at == null && (
        <Button
          size="dense"
          variant="danger"
          disabled={refusal !== undefined}
          title={refusal}
          onClick={() => setKind("soft")}
        >
          Delete softly
        </Button>
      )}
      <Button
        size="dense"
        variant="danger"
        disabled={refusal !== undefined}
        title={refusal}
        onClick={() => setKind("hard")}
      >
        Delete for good
      </Button>
      {kind !== null && <DeleteQuestion user={user} kind={kind} onClose={() => setKind(null)} />}
    </div>
  );
}

type DeletionKind = "soft" | "hard";

interface DeleteQuestionProps {
  user: User;
  kind: DeletionKind;
  onClose: () => void;
}

/** A question of its own each time, so that the answer about one closes no other, and its error is not shown in another. */
function DeleteQuestion({ user, kind, onClose }: DeleteQuestionProps) {
  const client = useQueryClient();
  const [, change] = useSearchState();
  const isShown = useIsShown();
  const isSoft = kind === "soft";
  const remove = useMutation({
    mutationFn: () => deleteUser(user.id, isSoft),
    onSuccess: async () => {
      if (isShown()) onClose();
      toast({ title: "The user was deleted", tone: "success" });
      if (!isSoft) change({ open: null, part: null }, { replace: true, where: { open: user.id } });
      // A deleted user cannot be read again, and the panel is still open at this moment.
      const isStale = (key: readonly unknown[]) => isSoft || key[1] !== "one";
      await client.invalidateQueries({
        queryKey: usersKey,
        predicate: ({ queryKey }) => isStale(queryKey),
      });
    },
  });
  return (
    <ConfirmDialog
      title={isSoft ? "Delete this user softly?" : "Delete this user for good?"}
      text={
        isSoft
          ? "Address, metadata, password and sessions are lost; the row stays, so that what refers to it stays valid. It cannot be undone."
          : "The row is deleted, and with it identities, sessions, factors and all rows of your tables that refer to it with ON DELETE CASCADE. It cannot be undone."
      }
      typedName={nameOfUser(user)}
      confirmLabel="Delete user"
      pending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    />
  );
}
