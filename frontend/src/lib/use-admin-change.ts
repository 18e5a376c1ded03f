import { useMutation, useQueryClient } from "@tanstack/react-query";
import { adminKey } from "@/lib/admin-key";
import { OvertakenError } from "@/lib/save-changes";
import { hasCode, insufficientPrivilege, messageOf } from "@/lib/service-error";
import { useSession } from "@/lib/session";
import { type ToastAction, toast } from "@/lib/toast";

interface AdminChange<Variables, Result> {
  change: (variables: Variables) => Promise<Result>;
  /**
   * Called when the server has made the change, before any list is read anew: a form takes over what was created at once,
   * however long the lists take. Unlike the callbacks of `mutate`, it is called when the component is gone, too, and it is the
   * one of the last rendering.
   */
  onChanged?: (result: Result, variables: Variables) => void;
  /** Title of the toast after success; none when it is absent, or undefined for the result. */
  success?: string | ((result: Result) => string | undefined);
  /** Text of that toast. */
  successText?: (result: Result) => string | undefined;
  /** Failures that the form itself explains, and that have no toast. */
  isShownByForm?: (error: unknown) => boolean;
  /** Title of the toast after a failure. */
  failure?: string | ((error: unknown) => string);
  /** Text of the toast after a failure; by default the server's message. */
  failureText?: (error: unknown) => string;
  /** How the change is taken back; the toast after success then offers it. Null when it cannot be taken back. */
  undo?: (variables: Variables, result: Result) => (() => Promise<unknown>) | null;
  /**
   * Whether the change counts as running until the lists are read anew; by default it does. A form closes as soon as the server
   * has answered, however long the lists take.
   */
  awaitsLists?: boolean;
}

/** Called when the toast disappears without a press of Undo: nothing is left to do. */
function keepChange() {}

/** A change by an administrator. Afterwards every list that is shown, and every vocabulary, is read anew. */
export function useAdminChange<Variables, Result>({
  change,
  onChanged,
  success,
  successText,
  isShownByForm,
  failure = "Error",
  failureText = (error) => messageOf(error, "Please try again."),
  undo,
  awaitsLists = true,
}: AdminChange<Variables, Result>) {
  const queryClient = useQueryClient();
  const { refreshAdmin } = useSession();

  async function takeBack(action: () => Promise<unknown>) {
    try {
      await action();
      toast("Change undone", undefined, "success");
    } catch (error) {
      const text =
        error instanceof OvertakenError
          ? `It was not undone. ${error.undoText}`
          : messageOf(error, "The change could not be undone.");
      toast("Error", text, "danger");
    }
    await queryClient.invalidateQueries();
  }

  function undoAction(variables: Variables, result: Result): ToastAction | undefined {
    const action = undo?.(variables, result) ?? null;
    if (action === null) return undefined;
    return { label: "Undo", onPress: () => void takeBack(action), onMiss: keepChange };
  }

  return useMutation({
    mutationFn: change,
    onSuccess: async (result, variables) => {
      onChanged?.(result, variables);
      const title = typeof success === "function" ? success(result) : success;
      if (title !== undefined) {
        toast(title, successText?.(result), "success", undoAction(variables, result));
      }
      const reading = queryClient.invalidateQueries();
      if (awaitsLists) await reading;
    },
    onError: (error) => {
      if (isShownByForm?.(error) !== true) {
        toast(typeof failure === "string" ? failure : failure(error), failureText(error), "danger");
      }
      // The shown rows may be older than those that the server refused to change, so they are reloaded.
      void queryClient.invalidateQueries({ queryKey: adminKey });
      // The role may have been withdrawn; the guard then closes the area.
      if (hasCode(error, insufficientPrivilege)) {
        void refreshAdmin();
      }
    },
  });
}
