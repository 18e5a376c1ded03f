import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { stale } from "@/lib/query-client";
import { collectionKeys, outfitKeys } from "@/lib/query-keys";
import { hasCode, messageOf, resultOf, rowsOf, uniqueViolation } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { toast } from "@/lib/toast";

/** A named collection of the user's bookmarks. */
export interface Collection {
  id: string;
  name: string;
  /** Whether everybody who has its link may read it. */
  is_shared: boolean;
  /** Ids of its outfits. */
  outfitIds: string[];
}

/** Letters of a name at most, as in the database. */
export const maxNameLength = 80;

/** All collections of the user, by name. There are at most 100. */
export function collectionsQuery(userId: string) {
  return queryOptions({
    queryKey: collectionKeys.ofUser(userId),
    staleTime: stale.mine,
    queryFn: async ({ signal }): Promise<Collection[]> => {
      const rows = rowsOf(
        await supabase
          .from("collections")
          .select("id, name, is_shared, collected_outfits(combine_id)")
          .eq("user_id", userId)
          .order("name")
          .order("id")
          .abortSignal(signal),
      );
      return rows.map(({ collected_outfits, ...row }) => ({
        ...row,
        outfitIds: collected_outfits.map(({ combine_id }) => combine_id),
      }));
    },
  });
}

/** Why a change was not saved. */
function explain(error: unknown): string {
  if (hasCode(error, uniqueViolation)) return "You have a collection with this name already.";
  return messageOf(error, "This could not be saved. Please try again.");
}

/** A change of the user's collections; afterwards they are read anew. */
function useChange<Variables>(
  userId: string,
  change: (variables: Variables) => Promise<void>,
  done: (variables: Variables) => string,
) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: (_, variables) => toast(done(variables), undefined, "success"),
    onError: (error) => toast("Error", explain(error), "danger"),
    onSettled: () => queryClient.invalidateQueries({ queryKey: collectionKeys.ofUser(userId) }),
  });
}

/** The id comes from the form, so that a repeated attempt makes no second collection. */
interface NewCollection {
  id: string;
  name: string;
}

export function useCreateCollection(userId: string) {
  return useChange(
    userId,
    async ({ id, name }: NewCollection) => {
      const response = await supabase.from("collections").insert({ id, user_id: userId, name });
      const isThere =
        hasCode(response.error, uniqueViolation) && response.error?.message.includes("_pkey");
      if (isThere !== true) resultOf(response);
      // An earlier attempt whose answer was lost has made it, perhaps by another name.
      else resultOf(await supabase.from("collections").update({ name }).eq("id", id));
    },
    ({ name }) => `Collection "${name}" made`,
  );
}

export function useChangeCollection(userId: string) {
  return useChange(
    userId,
    async ({ id, ...change }: { id: string; name?: string; is_shared?: boolean }) => {
      // Asked for, because an update of no row is no error.
      rowsOf(await supabase.from("collections").update(change).eq("id", id).select("id").single());
    },
    ({ is_shared }) =>
      is_shared === undefined
        ? "Collection renamed"
        : is_shared
          ? "Everybody with the link can see it now"
          : "Only you can see it now",
  );
}

export function useDeleteCollection(userId: string) {
  return useChange(
    userId,
    async ({ id }: { id: string }) => {
      resultOf(await supabase.from("collections").delete().eq("id", id));
    },
    () => "Collection deleted",
  );
}

interface Collected {
  collection: Collection;
  outfitId: string;
  on: boolean;
}

/** Puts an outfit into a collection, or takes it out: shown immediately, taken back when the service refuses. */
export function useCollect(userId: string) {
  const queryClient = useQueryClient();
  const queryKey = collectionKeys.ofUser(userId);
  const show = ({ collection, outfitId, on }: Collected) =>
    queryClient.setQueryData<Collection[]>(queryKey, (all) =>
      all?.map((one) => {
        if (one.id !== collection.id) return one;
        const others = one.outfitIds.filter((id) => id !== outfitId);
        return { ...one, outfitIds: on ? [...others, outfitId] : others };
      }),
    );
  return useMutation({
    mutationFn: async ({ collection, outfitId, on }: Collected) => {
      const members = supabase.from("collected_outfits");
      const row = { collection_id: collection.id, user_id: userId, combine_id: outfitId };
      const response = on ? await members.insert(row) : await members.delete().match(row);
      // Another tab has put it in already, which is what was wanted.
      if (!hasCode(response.error, uniqueViolation)) resultOf(response);
    },
    onMutate: async (change) => {
      await queryClient.cancelQueries({ queryKey });
      show(change);
    },
    onError: (error, change) => {
      show({ ...change, on: !change.on });
      toast("Error", explain(error), "danger");
    },
    onSettled: (_data, _error, { collection }) =>
      Promise.all([
        queryClient.invalidateQueries({ queryKey }),
        queryClient.invalidateQueries({ queryKey: outfitKeys.collected(collection.id) }),
      ]),
  });
}
