import { cn } from "@ui/cn";
import { Link } from "react-router";
import { paths } from "@/lib/paths";

// The words are narrower than a finger, so the links are wider than their words.
const linkStyle = "inline-flex min-h-11 min-w-12 items-center hover:text-ink";

/** Links to the terms and to the page about privacy. */
export function LegalLinks({ className = "" }: { className?: string }) {
  return (
    <p className={cn("flex gap-3 text-caption text-ink-soft", className)}>
      <Link to={paths.terms} className={linkStyle}>
        Terms
      </Link>
      <Link to={paths.privacy} className={linkStyle}>
        Privacy
      </Link>
    </p>
  );
}
