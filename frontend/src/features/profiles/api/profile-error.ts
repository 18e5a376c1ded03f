import { hasCode, insufficientPrivilege, messageOf } from "@/lib/service-error";
import { toast } from "@/lib/toast";

/** The specification's notice of a failed update. */
export function toastProfileError(error: unknown): void {
  if (hasCode(error, insufficientPrivilege)) {
    toast("Access denied", "You don't have permission to update this profile.", "danger");
    return;
  }
  toast(
    "Error updating profile",
    messageOf(error, "What you typed is kept in this browser. Please try again."),
    "danger",
  );
}
