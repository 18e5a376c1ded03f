import type { User } from "@supabase/auth-js";
import { AlertWindow } from "@ui/alert-window";
import { Button } from "@ui/button";
import { useState } from "react";
import { ConfirmDialog } from "@/components/admin/confirm-dialog";
import { PasswordAgainForm, usePasswordAgain } from "@/features/auth/components/password-again";

const classNames = {
  window:
    "panel-in fixed top-1/2 left-1/2 z-50 max-h-[96dvh] w-[min(28rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 overflow-y-auto rounded-lg border border-line bg-raised p-6 text-ink shadow-raised outline-none",
  title: "font-serif text-heading",
  text: "mt-3 text-ink-soft text-small",
};

interface SessionEndedProps {
  /** Whose session has ended. */
  user: User;
  /** Gives up what was typed. */
  onLeave: () => void;
}

/** Over a page with typed text whose session has ended: the same person signs in again, here or in another tab, and goes on. */
export function SessionEnded({ user, onLeave }: SessionEndedProps) {
  const again = usePasswordAgain(user.email);
  const [isAsked, setAsked] = useState(false);
  const { email, app_metadata } = user;
  const methods = app_metadata.providers ?? ["email"];
  const takesPassword = email !== undefined && methods.includes("email");

  return (
    // What is below may be for its administrator's eyes alone, and somebody else may be here now.
    <AlertWindow
      title="Your session has ended"
      text={
        takesPassword
          ? `Sign in again as ${email}. What you have typed is still here.`
          : "Sign in again in another tab of this browser. What you have typed is still here, and goes on then."
      }
      classNames={classNames}
      isOpaque
      // Escape would throw away what the window is about.
      onClose={() => undefined}
    >
      {takesPassword && <PasswordAgainForm again={again} />}
      <div className="mt-6 flex flex-wrap justify-end gap-3">
        <Button onClick={() => setAsked(true)}>Leave</Button>
        {takesPassword && (
          <Button
            variant="primary"
            disabled={again.password === ""}
            pending={again.isPending}
            onClick={again.submit}
          >
            Sign in
          </Button>
        )}
      </div>
      {isAsked && (
        <ConfirmDialog
          title="Discard what is typed?"
          text="It has not been saved."
          action="Discard what is typed"
          onConfirm={onLeave}
          onCancel={() => setAsked(false)}
        />
      )}
    </AlertWindow>
  );
}
