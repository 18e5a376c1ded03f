import { Button } from "@ui/button";
import { ConfirmDialog } from "@/components/confirm-dialog";
import { Text } from "@/components/text";

interface SnippetQuestionProps {
  name: string;
  /** Whether it was deleted, not changed. */
  isGone: boolean;
  pending: boolean;
  onReplace: () => void;
  onOpenTheirs: () => void;
  onClose: () => void;
}

/** Asks before a snippet is replaced that was changed since it was opened, or made again that was deleted. */
export function SnippetQuestion(props: SnippetQuestionProps) {
  if (props.isGone) {
    return (
      <ConfirmDialog
        title="This snippet was deleted elsewhere"
        text={
          <>
            <Text>{props.name}</Text> is gone: an editor or somebody else has deleted it since you
            opened it here. Your text stays in this tab also without it.
          </>
        }
        confirmLabel="Save it again"
        pending={props.pending}
        onConfirm={props.onReplace}
        onClose={props.onClose}
      />
    );
  }
  return (
    <ConfirmDialog
      title="This snippet was changed elsewhere"
      text={
        <>
          <Text>{props.name}</Text> is not as it was when you opened it here: an editor or somebody
          else has saved it since. Replacing it loses that.
        </>
      }
      confirmLabel="Replace it"
      pending={props.pending}
      onConfirm={props.onReplace}
      onClose={props.onClose}
    >
      <Button size="dense" onClick={props.onOpenTheirs}>
        Open the saved one in a tab
      </Button>
    </ConfirmDialog>
  );
}
