import { cn } from "@ui/cn";
import { Link } from "react-router";
import { paths } from "@/lib/paths";

/** Links to the terms and to the page about privacy. */
export function LegalLinks({ className = "" }: { className?: string }) {
  return (
    <p className={cn("flex gap-5 text-caption text-ink-soft", className)}>
      <Link to={paths.terms} className="inline-flex min-h-11 items-center hover:text-ink">
        Terms
      </Link>
      <Link to={paths.privacy} className="inline-flex min-h-11 items-center hover:text-ink">
        Privacy
      </Link>
    </p>
  );
}
