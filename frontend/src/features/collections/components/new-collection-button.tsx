import { Plus } from "lucide-react";
import { useState } from "react";
import { DialogWindow } from "@/components/ui/dialog-window";
import { useCreateCollection } from "../api/collections";
import { CollectionForm } from "./collection-form";

interface NewCollectionButtonProps {
  userId: string;
  className: string;
  onMade: (id: string) => void;
}

/** Makes an empty collection. */
export function NewCollectionButton({ userId, className, onMade }: NewCollectionButtonProps) {
  const create = useCreateCollection(userId);
  const [id, setId] = useState<string | null>(null);
  return (
    <>
      <button type="button" className={className} onClick={() => setId(crypto.randomUUID())}>
        <Plus aria-hidden="true" className="size-4" strokeWidth={1.6} />
        New collection
      </button>
      {id !== null && (
        <DialogWindow title="New collection" onClose={() => setId(null)}>
          <CollectionForm
            name=""
            action="Make collection"
            pending={create.isPending}
            onSubmit={(name) =>
              create.mutate(
                { id, name },
                {
                  onSuccess: () => {
                    setId(null);
                    onMade(id);
                  },
                },
              )
            }
          />
        </DialogWindow>
      )}
    </>
  );
}
