/** Asks for sign-in over the open screen, which is hidden, when a session has ended. A script of its own, because few pages need it. */
import { Dialog } from "radix-ui";
import type { Session } from "@/api/session";
import { SignInForm } from "@/app/sign-in-form";

interface SignInAgainProps {
  session: Session;
  /** The account whose session has ended. */
  account: string | undefined;
  onSignedIn: () => void;
}

export function SignInAgain({ session, account, onSignedIn }: SignInAgainProps) {
  const stay = (event: Event) => event.preventDefault();
  return (
    <Dialog.Root open>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-60 bg-canvas" />
        <Dialog.Content
          onEscapeKeyDown={stay}
          onPointerDownOutside={stay}
          onInteractOutside={stay}
          className="panel-in fixed top-1/2 left-1/2 z-70 max-h-[96dvh] w-[min(24rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 overflow-y-auto rounded-md border border-line bg-raised p-5 shadow-raised outline-none"
        >
          <Dialog.Title className="font-medium text-small">Your session has ended</Dialog.Title>
          <Dialog.Description className="mt-1 mb-4 text-caption text-ink-soft">
            Sign in again to go on. What you have typed is still there.
          </Dialog.Description>
          <SignInForm session={session} account={account} onSignedIn={onSignedIn} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
