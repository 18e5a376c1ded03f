/** Asks what becomes of changes that were staged in this browser by another account, or for another database of the same name. */
import { AlertCancel, AlertWindow } from "@ui/alert-window";
import { Button } from "@ui/button";
import type { Session } from "@/api/session";
import { Text } from "@/components/text";
import { plural } from "@/lib/format";
import { type LeftOver, leaveLeftOver, moveLeftOver } from "@/lib/rows/left-overs";

interface StagedHandoverProps {
  leftOver: LeftOver;
  to: Session;
  onClose: () => void;
}

const classNames = {
  window:
    "panel-in fixed top-1/2 left-1/2 z-50 max-h-[96dvh] w-[min(28rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 overflow-y-auto rounded-md border border-line bg-raised p-5 shadow-raised outline-none",
  title: "font-medium text-small",
  text: "mt-1.5 text-caption text-ink-soft",
};

export function StagedHandover({ leftOver, to, onClose }: StagedHandoverProps) {
  const { account, count } = leftOver;
  function move(target: Session | null): void {
    moveLeftOver(leftOver, target);
    onClose();
  }
  function leave(): void {
    leaveLeftOver(leftOver);
    onClose();
  }
  return (
    <AlertWindow
      title={
        <>
          {plural(count, "staged change")} of{" "}
          {account === null ? "another database" : <Text>{account}</Text>}
        </>
      }
      text={
        account === null ? (
          <>
            They were staged for a database of <Text>{to.project.name}</Text> that is not this one:
            it was made anew since, or belongs to another project of the same name.
          </>
        ) : (
          <>
            They were staged in this browser before the session ended, and wait for{" "}
            <Text>{account}</Text>. Applied by you, the audit names you.
          </>
        )
      }
      classNames={classNames}
      onClose={leave}
    >
      <div className="mt-5 flex flex-wrap justify-end gap-2">
        <AlertCancel>
          <Button size="dense">Leave them</Button>
        </AlertCancel>
        {account === null && (
          <Button size="dense" onClick={() => move(null)}>
            Discard them
          </Button>
        )}
        <Button size="dense" variant="primary" onClick={() => move(to)}>
          Take them over
        </Button>
      </div>
    </AlertWindow>
  );
}
