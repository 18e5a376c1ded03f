import { cn } from "@ui/cn";
import { IconButton } from "@ui/icon-button";
import { Check, CircleAlert, Info, X } from "lucide-react";
import { Toast } from "radix-ui";
import { useSyncExternalStore } from "react";
import { Text } from "@/components/text";
import { currentToasts, dismissToast, subscribeToToasts } from "@/lib/toast";

const icons = { neutral: Info, success: Check, danger: CircleAlert };
const colors = { neutral: "text-ink-soft", success: "text-success", danger: "text-danger" };

/** Shows the notices at the bottom right. Escape or a swipe closes them. */
export function Toaster() {
  const toasts = useSyncExternalStore(subscribeToToasts, currentToasts);
  return (
    <Toast.Provider duration={5000} swipeDirection="right" label="Notice">
      {toasts.map(({ id, title, description, tone, action, durationMs }) => {
        const Icon = icons[tone];
        return (
          <Toast.Root
            key={id}
            duration={durationMs ?? (action === undefined ? 5000 : 10_000)}
            type={tone === "danger" ? "foreground" : "background"}
            onOpenChange={(open) => {
              if (!open) dismissToast(id);
            }}
            className="toast pointer-events-auto flex items-start gap-2.5 rounded-md border border-line bg-raised py-2 pr-1 pl-3 text-caption shadow-raised"
          >
            <Icon aria-hidden="true" className={cn("mt-1.5 size-4 shrink-0", colors[tone])} />
            <div className="min-w-0 flex-1 py-1">
              <Toast.Title className="font-medium">
                <Text>{title}</Text>
              </Toast.Title>
              {description !== undefined && (
                <Toast.Description className="break-words text-ink-soft">
                  <Text>{description}</Text>
                </Toast.Description>
              )}
            </div>
            {action !== undefined && (
              <Toast.Action
                altText={action.label}
                onClick={action.run}
                className="h-8 shrink-0 rounded-sm px-2 font-medium hover:bg-hover"
              >
                {action.label}
              </Toast.Action>
            )}
            <Toast.Close asChild>
              <IconButton label="Close" size="dense">
                <X className="size-3.5" />
              </IconButton>
            </Toast.Close>
          </Toast.Root>
        );
      })}
      <Toast.Viewport className="fixed inset-x-3 bottom-16 z-[60] mx-auto flex max-w-sm flex-col gap-2 outline-none md:right-4 md:left-auto md:mx-0 md:w-88" />
    </Toast.Provider>
  );
}
