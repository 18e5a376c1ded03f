import { IconButton } from "@ui/icon-button";
import { FolderPlus } from "lucide-react";
import { Suspense, useState } from "react";
import { lazyPart } from "@/lib/lazy-part";

const CollectWindow = lazyPart(
  async () => ({ default: (await import("./collect-window")).CollectWindow }),
  "overlay",
);

interface CollectButtonProps {
  userId: string;
  outfit: { id: string; name: string };
}

/** Opens the collections of a bookmarked outfit. */
export function CollectButton({ userId, outfit }: CollectButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <IconButton
        label={`Put ${outfit.name} into a collection`}
        variant="floating"
        onClick={() => setOpen(true)}
      >
        <FolderPlus className="size-5" strokeWidth={1.6} />
      </IconButton>
      {isOpen && (
        <Suspense>
          <CollectWindow userId={userId} outfit={outfit} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
