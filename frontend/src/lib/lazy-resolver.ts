import type { FieldErrors, FieldValues, Resolver } from "react-hook-form";
import { calmResolver } from "@/lib/calm-resolver";
import { toast } from "@/lib/toast";

/**
 * Checks a form by a resolver that is loaded for the first check: the library for schemas is 7 kB, which is not needed
 * before something was typed. If it cannot be loaded, nothing is submitted, and the next check tries again.
 */
export function lazyResolver<Values extends FieldValues>(
  load: () => Promise<Resolver<Values>>,
): Resolver<Values> {
  return async (values, context, options) => {
    let resolve: Resolver<Values>;
    try {
      resolve = await load();
    } catch {
      toast("Error", "The form could not be checked. Please try again.", "danger");
      return { values: {}, errors: { root: { type: "unchecked" } } as FieldErrors<Values> };
    }
    return calmResolver(resolve)(values, context, options);
  };
}
