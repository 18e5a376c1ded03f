import { Button } from "@ui/button";
import { IconButton } from "@ui/icon-button";
import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { toast } from "@/lib/toast";

interface CopyButtonProps {
  text: string;
  /** Says what is copied, for example "Copy SQL". */
  label?: string;
  /** Shows the label beside the icon. */
  wide?: boolean;
}

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    toast({
      title: "The browser did not allow copying",
      description: "Select the text and copy it with the keyboard.",
      tone: "danger",
    });
    return false;
  }
}

/** Copies a text and shows for a moment that it did. */
export function CopyButton({ text, label = "Copy", wide = false }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = window.setTimeout(() => setCopied(false), 1500);
    return () => window.clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => setCopied(await copyText(text));
  const icon = isCopied ? (
    <Check aria-hidden="true" className="size-3.5 text-success" />
  ) : (
    <Copy aria-hidden="true" className="size-3.5" />
  );
  const announcement = (
    <span role="status" className="sr-only">
      {isCopied ? "Copied" : ""}
    </span>
  );
  return wide ? (
    <Button size="dense" onClick={copy}>
      {icon}
      {label}
      {announcement}
    </Button>
  ) : (
    <>
      <IconButton size="dense" label={label} onClick={copy}>
        {icon}
      </IconButton>
      {announcement}
    </>
  );
}
