import type { FieldValues, Resolver } from "react-hook-form";
import { whenReleased } from "@/lib/press";

/**
 * Checks a form without moving it: errors wait for the release of the pointer, and a field that was only passed, empty as it is, is
 * not complained about before the form is submitted.
 */
export function calmResolver<Values extends FieldValues>(
  resolver: Resolver<Values>,
): Resolver<Values> {
  return async (values, context, options) => {
    const [name, ...others] = options.names ?? [];
    const isPassed = name !== undefined && others.length === 0 && values[name] === "";
    const checked = await resolver(values, context, options);
    // Pressing a control takes the focus from the field, so the check ends between the press and its release.
    await new Promise<void>(whenReleased);
    if (!isPassed || !(name in checked.errors)) return checked;
    const { [name]: _passed, ...errors } = checked.errors;
    return Object.keys(errors).length === 0
      ? { values, errors: {} }
      : { values: {}, errors: errors as typeof checked.errors };
  };
}
