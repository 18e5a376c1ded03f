import { useMutation, useQueryClient } from "@tanstack/react-query";
import { adminKey } from "@/lib/admin-key";
import { hasCode, insufficientPrivilege, messageOf } from "@/lib/service-error";
import { useSession } from "@/lib/session";
import { toast } from "@/lib/toast";

interface AdminChange<Variables, Result> {
  change: (variables: Variables) => Promise<Result>;
  /** Title of the toast after success; none when it is absent. */
  success?: string | ((result: Result) => string);
  /** Title of the toast after a failure. */
  failure?: string | ((error: unknown) => string);
  /** Text of the toast after a failure; by default the server's message. */
  failureText?: (error: unknown) => string;
}

/** A change by an administrator. Afterwards every list that is shown, and every vocabulary, is read anew. */
export function useAdminChange<Variables, Result>({
  change,
  success,
  failure = "Error",
  failureText = (error) => messageOf(error, "Please try again."),
}: AdminChange<Variables, Result>) {
  const queryClient = useQueryClient();
  const { refreshAdmin } = useSession();
  return useMutation({
    mutationFn: change,
    onSuccess: async (result) => {
      if (success !== undefined) {
        toast(typeof success === "string" ? success : success(result), undefined, "success");
      }
      await queryClient.invalidateQueries();
    },
    onError: (error) => {
      toast(typeof failure === "string" ? failure : failure(error), failureText(error), "danger");
      // What is shown may be older than what the server refused to change.
      void queryClient.invalidateQueries({ queryKey: adminKey });
      // The role may have been withdrawn; the guard then closes the area.
      if (hasCode(error, insufficientPrivilege)) {
        void refreshAdmin();
      }
    },
  });
}
