import type { IdentityProvider } from "@/features/auth/api/enabled-providers";
import {
  providerButtonsShape,
  providerLabel,
  signOf,
} from "@/features/auth/components/provider-buttons-shape";
import { product } from "@/lib/product";
import { div, element, span, wordmark } from "./elements";

/** The sign-in page. The form is missing until {@link paintSignInForm} adds it. */
export function paintAuth(): HTMLElement {
  return div(
    "grid min-h-dvh bg-canvas text-ink lg:grid-cols-[minmax(0,1.05fr)_minmax(0,1fr)]",
    showcase(),
    div(
      "flex flex-col px-5 py-4 sm:px-10 lg:px-16 lg:py-8",
      wordmark("lg:hidden"),
      div("mx-auto flex w-full max-w-md flex-1 flex-col justify-center py-8"),
    ),
  );
}

/** The frame of the slideshow, on wide screens. */
function showcase(): HTMLElement {
  const aside = div(
    "sticky top-0 flex h-dvh flex-col overflow-hidden bg-canvas pt-6 pb-12 pl-12 text-ink max-lg:hidden",
    wordmark("self-start"),
    div("my-8 min-h-0 flex-1"),
    div(
      "pr-12",
      element("p", "text-balance font-serif text-display", product.claim),
      element("p", "mt-4 text-ink-soft", product.offer),
    ),
  );
  aside.dataset.theme = "dark";
  return aside;
}

/** Draws the form where {@link paintAuth} left room for it. */
export function paintSignInForm(page: HTMLElement, providers: IdentityProvider[]): void {
  page.lastElementChild?.lastElementChild?.append(...signInForm(providers));
}

function signInForm(providers: IdentityProvider[]): HTMLElement[] {
  const tab = "inline-flex h-11 items-center justify-center rounded-full font-medium text-small";
  return [
    element("h1", "font-serif text-title", "Sign In"),
    element("p", "mt-3 mb-8 text-ink-soft", product.promise),
    div(
      "mb-7 grid grid-cols-2 rounded-full border border-line bg-surface p-1",
      span(`${tab} bg-ink text-canvas`, "Log In"),
      span(`${tab} text-ink-soft`, "Sign Up"),
    ),
    ...providerButtons(providers),
    div(
      "flex flex-col gap-5",
      field("Email"),
      field(
        "Password",
        span(
          "-my-2.5 inline-flex min-h-11 items-center text-caption text-ink-soft underline decoration-line-strong underline-offset-4",
          "Forgot password?",
        ),
      ),
      span(
        "mt-1 inline-flex h-12 items-center justify-center rounded-full bg-accent px-6 font-medium text-on-accent text-small",
        "Sign In",
      ),
    ),
  ];
}

/** The same markup as in `features/auth/components/provider-buttons.tsx`. */
function providerButtons(providers: IdentityProvider[]): HTMLElement[] {
  if (providers.length === 0) return [];
  const button =
    "inline-flex h-12 items-center justify-center rounded-full border border-line-strong/60 px-6 font-medium text-ink text-small whitespace-nowrap";
  return [
    div(
      providerButtonsShape.list,
      ...providers.map(({ id, label }) => span(`${button} ${signOf(id)}`, providerLabel(label))),
      element("p", providerButtonsShape.divider, providerButtonsShape.dividerText),
    ),
  ];
}

/** The outline of a field, with `aside` beside the label. */
function field(label: string, ...aside: HTMLElement[]): HTMLElement {
  return div(
    "",
    div(
      "mb-1.5 flex items-baseline justify-between gap-4",
      span("font-medium text-small", label),
      ...aside,
    ),
    div("h-12 w-full rounded-md border border-line-strong/70 bg-surface"),
  );
}
