import { cn } from "@ui/cn";
import { Check, CircleAlert, X } from "lucide-react";
import { Toast } from "radix-ui";
import { type CSSProperties, useEffect, useMemo, useSyncExternalStore } from "react";
import { currentToasts, dismissToast, subscribeToToasts } from "@/lib/toast";

/** Milliseconds for which a toast with a button stays: time to read it and to reach the button. */
const actionMs = 8000;

/** Shows the toasts at the bottom right, on phones above the navigation. Escape or a swipe closes them. */
export function Toaster() {
  const toasts = useSyncExternalStore(subscribeToToasts, currentToasts);
  const isShown = toasts.length > 0;
  // Once for the notices that are shown together, so that none of them moves under the pointer.
  const place = useMemo(() => (isShown ? findPlace() : undefined), [isShown]);
  useEffect(letFocusIn, []);
  return (
    <Toast.Provider duration={5000} swipeDirection="right" label="Notice">
      {toasts.map(({ id, title, description, tone, action }) => (
        <Toast.Root
          key={id}
          {...(action !== undefined && { duration: actionMs })}
          type={tone === "danger" ? "foreground" : "background"}
          onOpenChange={(open) => {
            if (!open) dismissToast(id);
          }}
          onEscapeKeyDown={leaveEscapeToPage}
          // A modal dialog takes the pointer away from everything else, by a style of elements that were there before; notices stay
          // usable above it.
          className="toast pointer-events-auto! flex items-start gap-3 rounded-md border border-line bg-raised py-3 pr-2 pl-4 text-ink shadow-raised"
        >
          <span aria-hidden="true" className="mt-0.5">
            {tone === "danger" ? (
              <CircleAlert className="size-5 text-danger" strokeWidth={1.75} />
            ) : (
              <Check
                className={cn("size-5", tone === "success" ? "text-success" : "text-ink-soft")}
                strokeWidth={1.75}
              />
            )}
          </span>
          <div className="min-w-0 flex-1">
            <Toast.Title className="font-medium text-small">{title}</Toast.Title>
            {description !== undefined && (
              <Toast.Description className="text-caption text-ink-soft">
                {description}
              </Toast.Description>
            )}
          </div>
          {action !== undefined && (
            <Toast.Action
              altText={action.label}
              onClick={() => dismissToast(id, true)}
              className="-my-1 inline-flex h-9 shrink-0 pointer-coarse:h-11 items-center rounded-full px-3 font-medium text-small underline decoration-line-strong underline-offset-4 hover:bg-sheen"
            >
              {action.label}
            </Toast.Action>
          )}
          <Toast.Close
            aria-label="Dismiss"
            className="-my-1.5 inline-flex size-9 shrink-0 pointer-coarse:size-11 items-center justify-center rounded-full text-ink-soft hover:bg-sheen hover:text-ink"
          >
            <X className="size-4" />
          </Toast.Close>
        </Toast.Root>
      ))}
      <Toast.Viewport
        style={place}
        className="notices fixed inset-x-4 bottom-20 z-[60] mx-auto flex max-w-sm flex-col gap-2 outline-none md:right-6 md:bottom-6 md:left-auto md:mx-0 md:w-88"
      />
    </Toast.Provider>
  );
}

const aboveHeading: CSSProperties = { top: "0.5rem", bottom: "auto" };
const atLeft: CSSProperties = { left: "1.5rem", right: "auto" };

/** What notices must not cover: buttons that send a form, which is often what a notice is about, and the pages of a table. */
const keptClear = '[type="submit"], [data-keep-clear]';
/** Room of three notices from the lower edge and from the side, in pixels. */
const room = { height: 300, width: 380 };

/** Where the notices stand: at the lower right, unless they would cover a button there; on phones above the heading of a form. */
function findPlace(): CSSProperties | undefined {
  if (!window.matchMedia("(min-width: 48rem)").matches) {
    return document.querySelector('main [type="submit"]') === null ? undefined : aboveHeading;
  }
  const places = [...document.querySelectorAll(keptClear)].map((element) =>
    element.getBoundingClientRect(),
  );
  const inRoom = places.filter(
    ({ top, bottom, width }) =>
      width > 0 && bottom > window.innerHeight - room.height && top < window.innerHeight,
  );
  if (!inRoom.some(({ right }) => right > window.innerWidth - room.width)) return undefined;
  return inRoom.some(({ left }) => left < room.width) ? aboveHeading : atLeft;
}

/**
 * An open dialog takes the focus back from everything else by listening at the document. The focus that goes to a notice, by F8, does
 * not get there, so that the button of a notice can be reached above a dialog, too.
 */
function letFocusIn(): () => void {
  function keepFromDialog(event: FocusEvent): void {
    const to = event.type === "focusin" ? event.target : event.relatedTarget;
    if (to instanceof Element && to.closest(".notices") !== null) event.stopPropagation();
  }
  document.body.addEventListener("focusin", keepFromDialog);
  document.body.addEventListener("focusout", keepFromDialog);
  return () => {
    document.body.removeEventListener("focusin", keepFromDialog);
    document.body.removeEventListener("focusout", keepFromDialog);
  };
}

/** The code of a press that an input method has taken, also in Safari, which says so after the composition. */
const takenByInputMethod = 229;

/**
 * Escape closes notices and, by the same press, the window below them. Radix gives the key to the topmost layer alone, and a notice is
 * one. In a notice that has the focus it closes only that. A line that is left by Escape, such as a list of choices, is left instead of
 * the window; an input method has the key for itself.
 */
function leaveEscapeToPage(event: KeyboardEvent): void {
  // As `isComposing` of ui/keys has it, whose file pages such as that of the sign-in do not load.
  if (event.isComposing || event.keyCode === takenByInputMethod) {
    event.preventDefault();
    return;
  }
  const focused = document.activeElement;
  const hasWindow = document.querySelector('[role="dialog"], [role="alertdialog"]') !== null;
  if (!hasWindow || focused?.closest(".notices") != null) return;
  event.preventDefault();
  for (const { id } of currentToasts()) dismissToast(id);
  // It is on its way there, and a second one would find the window.
  if (focused?.closest("[data-own-escape]") != null) return;
  // Once the notices are gone from the layers.
  setTimeout(() => {
    const again = new KeyboardEvent("keydown", { key: "Escape", bubbles: true, cancelable: true });
    (focused ?? document.body).dispatchEvent(again);
  });
}
