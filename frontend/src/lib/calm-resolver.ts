import type { FieldValues, Resolver } from "react-hook-form";

// Whether a mouse button or a finger is down. A field that loses the focus is checked between press and release of what was
// pressed; an error that appears then moves the button away from under the pointer, and the click is lost.
let isPressed = false;
const released = new Set<() => void>();

function release(): void {
  isPressed = false;
  // After the click, which follows the release.
  window.setTimeout(() => {
    for (const wake of released) wake();
    released.clear();
  });
}

window.addEventListener("pointerdown", () => (isPressed = true), { capture: true, passive: true });
for (const end of ["pointerup", "pointercancel", "blur"]) {
  window.addEventListener(end, release, { capture: true, passive: true });
}

function untilReleased(): Promise<void> {
  return isPressed ? new Promise((wake) => released.add(wake)) : Promise.resolve();
}

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
    await untilReleased();
    if (!isPassed || !(name in checked.errors)) return checked;
    const { [name]: _passed, ...errors } = checked.errors;
    return Object.keys(errors).length === 0
      ? { values, errors: {} }
      : { values: {}, errors: errors as typeof checked.errors };
  };
}
