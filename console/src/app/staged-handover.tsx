/** Asks what becomes of the changes that another account has staged in this browser. */
import { AlertCancel, AlertWindow } from "@ui/alert-window";
import { Button } from "@ui/button";
import { useState } from "react";
import { ownerOf, type Session } from "@/api/session";
import { Text } from "@/components/text";
import { plural } from "@/lib/format";
import { stagedStore } from "@/lib/rows/staged-store";

interface StagedHandoverProps {
  from: Session;
  to: Session;
  onClose: () => void;
}

const classNames = {
  window:
    "panel-in fixed top-1/2 left-1/2 z-50 max-h-[96dvh] w-[min(28rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 overflow-y-auto rounded-md border border-line bg-raised p-5 shadow-raised outline-none",
  title: "font-medium text-small",
  text: "mt-1.5 text-caption text-ink-soft",
};

export function StagedHandover({ from, to, onClose }: StagedHandoverProps) {
  const theirs = stagedStore(ownerOf(from));
  const [count] = useState(() => theirs.current().length);
  const name = from.account?.name ?? "";
  function takeOver(): void {
    const changes = theirs.current();
    stagedStore(ownerOf(to)).update((own) => [...own, ...changes]);
    theirs.update(() => []);
    onClose();
  }
  if (count === 0) return null;
  return (
    <AlertWindow
      title={
        <>
          {plural(count, "staged change")} of <Text>{name}</Text>
        </>
      }
      text={
        <>
          They were staged in this browser before the session ended, and wait for{" "}
          <Text>{name}</Text>. Applied by you, the audit names you.
        </>
      }
      classNames={classNames}
      onClose={onClose}
    >
      <div className="mt-5 flex flex-wrap justify-end gap-2">
        <AlertCancel>
          <Button size="dense">Leave them</Button>
        </AlertCancel>
        <Button size="dense" variant="primary" onClick={takeOver}>
          Take them over
        </Button>
      </div>
    </AlertWindow>
  );
}
