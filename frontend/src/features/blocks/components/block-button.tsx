import { IconButton } from "@ui/icon-button";
import { Ban } from "lucide-react";
import { Suspense, useState } from "react";
import { lazyPart } from "@/lib/lazy-part";
import { useToggleBlock } from "../api/blocks";

const ConfirmDialog = lazyPart(
  async () => ({ default: (await import("@/components/ui/confirm-dialog")).ConfirmDialog }),
  "overlay",
);

interface BlockButtonProps {
  userId: string;
  person: { id: string; name: string };
}

/** Blocks a person after a question that says what it means. */
export function BlockButton({ userId, person }: BlockButtonProps) {
  const [isAsking, setAsking] = useState(false);
  const toggle = useToggleBlock(userId);
  const close = () => setAsking(false);
  return (
    <>
      <IconButton label={`Block ${person.name}`} onClick={() => setAsking(true)}>
        <Ban className="size-5" strokeWidth={1.6} />
      </IconButton>
      {isAsking && (
        <Suspense>
          <ConfirmDialog
            title={`Block ${person.name}?`}
            text="You no longer follow each other, you are not told what they do, and you do not see their outfits in lists. They are not told. You can unblock them on this page or in your account."
            confirmLabel="Block"
            pending={toggle.isPending}
            onConfirm={() => toggle.mutate({ id: person.id, on: true }, { onSettled: close })}
            onClose={close}
          />
        </Suspense>
      )}
    </>
  );
}
