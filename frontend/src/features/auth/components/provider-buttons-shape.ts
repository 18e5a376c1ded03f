/** Shared with the drawing of the first view, so that nothing moves when the app takes it over. */
export const providerButtonsShape = {
  list: "mb-6 flex flex-col gap-3",
  divider:
    "mt-3 flex items-center gap-4 text-caption text-ink-soft before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line",
  dividerText: "Or continue with",
} as const;

/** The class of a button with the sign of its provider; the others have none. */
export function signOf(provider: string): string {
  return provider === "google" ? "google-sign" : "";
}

export function providerLabel(label: string): string {
  return `Continue with ${label}`;
}
