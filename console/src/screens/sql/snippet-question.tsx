import { Button } from "@ui/button";
import { ConfirmDialog } from "@/components/confirm-dialog";
import { Text } from "@/components/text";

interface SnippetQuestionProps {
  name: string;
  pending: boolean;
  onReplace: () => void;
  onOpenTheirs: () => void;
  onClose: () => void;
}

/** Asks before a snippet is replaced that was changed since it was opened. */
export function SnippetQuestion(props: SnippetQuestionProps) {
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
