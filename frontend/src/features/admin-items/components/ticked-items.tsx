import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { useState } from "react";
import { ConfirmDialog } from "@/components/admin/confirm-dialog";
import type { Ticked } from "@/components/admin/use-ticked";
import { countItems, mostItems, useDeleteItems, wearingQuery } from "../api/edit-items";
import type { AdminItem } from "../api/items";
import { EditItems } from "./edit-items";

/** What can be done with the ticked items; nothing is drawn without one. */
export function TickedItems({ ticked }: { ticked: Ticked<AdminItem> }) {
  const [action, setAction] = useState<"edit" | "delete" | null>(null);
  const { rows } = ticked;
  const close = () => setAction(null);
  const done = () => {
    close();
    ticked.clear();
  };
  return (
    <>
      <div role="status" className="empty:hidden">
        {rows.length > 0 && (
          <div className="mb-3 flex flex-wrap items-center gap-2 rounded-md border border-line bg-surface px-3 py-2">
            <p className="mr-auto font-medium text-small">
              {rows.length} selected
              {rows.length > mostItems && `; at most ${mostItems} are changed at once`}
            </p>
            <Button variant="quiet" onClick={ticked.clear}>
              Clear
            </Button>
            <Button disabled={rows.length > mostItems} onClick={() => setAction("delete")}>
              Delete selected
            </Button>
            <Button
              variant="primary"
              disabled={rows.length > mostItems}
              onClick={() => setAction("edit")}
            >
              Edit selected
            </Button>
          </div>
        )}
      </div>
      {action === "edit" && <EditItems items={rows} onDone={done} onClose={close} />}
      {action === "delete" && <DeleteItems items={rows} onDone={done} onClose={close} />}
    </>
  );
}

interface DeleteItemsProps {
  items: readonly AdminItem[];
  onDone: () => void;
  onClose: () => void;
}

function DeleteItems({ items, onDone, onClose }: DeleteItemsProps) {
  const remove = useDeleteItems();
  const { data: count } = useQuery(wearingQuery(items.map(({ id }) => id)));
  const outfits = count === 1 ? "1 outfit" : `${count ?? "…"} outfits`;
  return (
    <ConfirmDialog
      title={`Delete ${countItems(items.length)}?`}
      text={
        count === 0
          ? "They are in no outfit. It cannot be undone."
          : `They are taken out of ${outfits}. It cannot be undone.`
      }
      action="Delete"
      pending={remove.isPending}
      onConfirm={() => remove.mutate(items, { onSuccess: onDone, onError: onClose })}
      onCancel={onClose}
    />
  );
}
