import { Button } from "@ui/button";
import { Link } from "react-router";
import { paths } from "@/lib/paths";
import { product } from "@/lib/product";
import { hasStoredSession } from "@/lib/services";
import { useSession } from "@/lib/session";

/** Describes the site to visitors in one sentence. Signed-in users do not see it. */
export function VisitorIntro() {
  const { user, isLoading } = useSession();
  // Decided before the auth client is ready, because an intro that appears later would push the grid down.
  const isSignedIn = isLoading ? hasStoredSession() : user !== null;
  if (isSignedIn) return null;
  return (
    <aside
      aria-label={`About ${product.name}`}
      className="mb-8 flex flex-wrap items-center justify-between gap-x-10 gap-y-4 max-md:mb-6"
    >
      <p className="max-w-2xl text-pretty text-body text-ink-soft">{product.about}</p>
      <Button asChild>
        <Link to={paths.signUp}>Create Your Page</Link>
      </Button>
    </aside>
  );
}
