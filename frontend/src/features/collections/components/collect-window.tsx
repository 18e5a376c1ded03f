import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { DialogWindow } from "@/components/ui/dialog-window";
import { ErrorNotice } from "@/components/ui/error-notice";
import { Skeleton } from "@/components/ui/skeleton";
import { collectionsQuery, useCollect, useCreateCollection } from "../api/collections";
import { CollectionForm } from "./collection-form";

interface CollectWindowProps {
  userId: string;
  outfit: { id: string; name: string };
  onClose: () => void;
}

/** In which collections a bookmarked outfit is; each tick is saved at once. */
export function CollectWindow({ userId, outfit, onClose }: CollectWindowProps) {
  const collections = useQuery(collectionsQuery(userId));
  const collect = useCollect(userId);
  const create = useCreateCollection(userId);
  const [newId, setNewId] = useState(() => crypto.randomUUID());

  function make(name: string) {
    create.mutate(
      { id: newId, name },
      {
        onSuccess: () => {
          const collection = { id: newId, name, is_shared: false, outfitIds: [] };
          setNewId(crypto.randomUUID());
          collect.mutate({ collection, outfitId: outfit.id, on: true });
        },
      },
    );
  }

  return (
    <DialogWindow title={`Collections of ${outfit.name}`} onClose={onClose}>
      {collections.isLoadingError ? (
        <ErrorNotice
          title="The collections could not be loaded."
          error={collections.error}
          onRetry={collections.refetch}
        />
      ) : collections.data === undefined ? (
        <Skeleton className="h-11 w-full" />
      ) : (
        <ul aria-label="Collections" className="mb-5 empty:hidden">
          {collections.data.map((collection) => (
            <li key={collection.id}>
              <label className="flex min-h-11 cursor-pointer items-center gap-3 text-small">
                <input
                  type="checkbox"
                  className="size-5 shrink-0 accent-accent"
                  checked={collection.outfitIds.includes(outfit.id)}
                  onChange={(event) =>
                    collect.mutate({ collection, outfitId: outfit.id, on: event.target.checked })
                  }
                />
                <span className="min-w-0 [overflow-wrap:anywhere]">{collection.name}</span>
              </label>
            </li>
          ))}
        </ul>
      )}
      <CollectionForm
        // Another key with each new collection empties the form for the next one.
        key={newId}
        name=""
        action="Make a collection with it"
        pending={create.isPending}
        onSubmit={make}
      />
    </DialogWindow>
  );
}
