import { IconButton } from "@ui/icon-button";
import { Share2 } from "lucide-react";
import { toast } from "@/lib/toast";

interface ShareButtonProps {
  /** Path of the page to share. */
  path: string;
  /** The name of the page's subject; part of the button's accessible name. */
  name: string;
  variant?: "plain" | "floating";
}

/** Shares the link to a page: by the system's share dialog, or by copying it if there is none. */
export function ShareButton({ path, name, variant = "plain" }: ShareButtonProps) {
  async function share() {
    const url = new URL(path, window.location.origin).href;
    try {
      if (typeof navigator.share === "function") {
        await navigator.share({ title: name, url });
        return;
      }
      await navigator.clipboard.writeText(url);
      toast("Link copied", "Paste it wherever you like.", "success");
    } catch (error) {
      // The user closed the share dialog.
      if (error instanceof DOMException && error.name === "AbortError") return;
      toast("Could not share", `Copy the address by hand: ${url}`, "danger");
    }
  }
  return (
    <IconButton label={`Share ${name}`} variant={variant} onClick={share}>
      <Share2 className="size-5" strokeWidth={1.6} />
    </IconButton>
  );
}
