import { cn } from "@ui/cn";
import { Link } from "react-router";
import { paths } from "@/lib/paths";
import { useSite } from "@/lib/use-site";

/** The site's name as a link to the home page. `short` shows only its first letter, for the collapsed sidebar. */
export function Wordmark({ short = false, className }: { short?: boolean; className?: string }) {
  const { name } = useSite();
  return (
    <Link
      to={paths.explore}
      aria-label={`${name}, home`}
      className={cn(
        "inline-flex h-11 items-center rounded-sm font-serif text-[1.75rem] text-ink leading-none tracking-tight",
        short && "w-11 justify-center italic",
        className,
      )}
    >
      {short ? name.charAt(0) : name}
    </Link>
  );
}
