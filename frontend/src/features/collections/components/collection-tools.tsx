import { Button } from "@ui/button";
import { IconButton } from "@ui/icon-button";
import { Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import { ShareButton } from "@/components/share-button";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { DialogWindow } from "@/components/ui/dialog-window";
import { paths } from "@/lib/paths";
import { type Collection, useChangeCollection, useDeleteCollection } from "../api/collections";
import { CollectionForm } from "./collection-form";

interface CollectionToolsProps {
  userId: string;
  collection: Collection;
  /** Called when it is deleted. */
  onDeleted: () => void;
}

/** What the owner does with a collection: share its link, rename and delete it. */
export function CollectionTools({ userId, collection, onDeleted }: CollectionToolsProps) {
  const change = useChangeCollection(userId);
  const remove = useDeleteCollection(userId);
  const [open, setOpen] = useState<"rename" | "delete" | null>(null);
  const { id, name, is_shared: isShared } = collection;
  const close = () => setOpen(null);
  return (
    <div className="mb-6 flex flex-wrap items-center gap-2">
      <p className="mr-2 text-ink-soft text-small">
        {isShared ? "Everybody with the link can see it." : "Only you can see it."}
      </p>
      <Button
        pending={change.isPending}
        onClick={() => change.mutate({ id, is_shared: !isShared })}
      >
        {isShared ? "Stop sharing" : "Share by link"}
      </Button>
      {isShared && <ShareButton path={paths.collection(id)} name={name} />}
      <IconButton label={`Rename ${name}`} onClick={() => setOpen("rename")}>
        <Pencil className="size-5" strokeWidth={1.6} />
      </IconButton>
      <IconButton label={`Delete ${name}`} onClick={() => setOpen("delete")}>
        <Trash2 className="size-5" strokeWidth={1.6} />
      </IconButton>
      {open === "rename" && (
        <DialogWindow title={`Rename ${name}`} onClose={close}>
          <CollectionForm
            name={name}
            action="Rename"
            pending={change.isPending}
            onSubmit={(wanted) => change.mutate({ id, name: wanted }, { onSuccess: close })}
          />
        </DialogWindow>
      )}
      {open === "delete" && (
        <ConfirmDialog
          title={`Delete ${name}?`}
          text="Its outfits stay in your bookmarks. Its link no longer works."
          confirmLabel="Delete"
          pending={remove.isPending}
          onConfirm={() => remove.mutate({ id }, { onSuccess: onDeleted })}
          onClose={close}
        />
      )}
    </div>
  );
}
