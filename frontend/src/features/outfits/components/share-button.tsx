import { Share2 } from "lucide-react";
import { IconButton } from "@/components/ui/icon-button";
import { paths } from "@/lib/paths";
import { toast } from "@/lib/toast";
import type { Outfit } from "../api/outfit";

/** Shares an outfit's own page: with the system's sheet where there is one, else by copying the link. */
export function ShareButton({
  outfit,
  variant = "plain",
}: {
  outfit: Pick<Outfit, "slug" | "name">;
  variant?: "plain" | "floating";
}) {
  async function share() {
    const url = new URL(paths.outfit(outfit.slug), window.location.origin).href;
    try {
      if (typeof navigator.share === "function") {
        await navigator.share({ title: outfit.name, url });
        return;
      }
      await navigator.clipboard.writeText(url);
      toast("Link copied", "Paste it wherever you like.", "success");
    } catch (error) {
      // Closing the system's sheet is no failure.
      if (error instanceof DOMException && error.name === "AbortError") return;
      toast("Could not share", `Copy the address by hand: ${url}`, "danger");
    }
  }
  return (
    <IconButton label={`Share ${outfit.name}`} variant={variant} onClick={share}>
      <Share2 className="size-5" strokeWidth={1.6} />
    </IconButton>
  );
}
